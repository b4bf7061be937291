"""Projects by chance, with one course that has dates of every kind, changes of them, and comments."""

import re
from datetime import date, timedelta
from typing import NamedTuple

from berth.dates.expansion import Expansion
from berth.dates.recurrence import expand, local_occurrences
from berth.findings import ERROR
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.reservation import Reservation
from hypothesis import assume
from hypothesis import strategies as st

FILE = "reservations/course.yaml"
SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: uni}
spec: {engine: none, clusters: [{name: prod}]}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec: {cluster: prod, requests: {cpu: 1}, sessions: {source: pods, namespaces: [hub]}}
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: holidays}
spec:
  dates:
    - 2026-03-21
    - {date: 2026-03-27, from: "12:00", title: Half}
    - {date: 2026-06-02, until: "10:00"}
    - {from: 2026-10-21, to: 2026-10-26, title: Break}
  terms:
    - {name: march, from: 2026-03-20, to: 2026-03-29}
    - {name: june, from: 2026-06-01, to: 2026-06-14}
    - {name: october, from: 2026-10-19, to: 2026-10-31}
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: closure}
spec:
  closes: true
  dates: [2026-03-24, {date: 2026-06-05, until: "08:00"}, {date: 2026-10-29, title: Closed}]
"""
HEAD = """\
# course
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: course, annotations: {berth.dev/ignore: "B031: by chance"}}
spec:
  title: Course  # its title
  resourceClass: small
  # how many
  provisioning:
    placeholderCount: 5  # seats
    scaleDownBehavior: none
  # when
  recurrence:
"""
ZONES = ("UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo")
FIRSTS = (date(2026, 3, 20), date(2026, 10, 19), date(2026, 6, 1))
TERMS = dict(zip(FIRSTS, ("march", "october", "june"), strict=True))
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY = 86_400

names = st.sampled_from(["", ", name: late", ", name: extra-time"])
together = st.sampled_from(["09:00", "14:00"])
times = st.builds(lambda hour, minute: f"{hour:02}:{minute:02}", st.integers(0, 23), st.sampled_from([0, 30]))


class Project(NamedTuple):
    """A valid project with one reservation."""

    text: str
    pipeline: Pipeline

    @property
    def reservation(self) -> Reservation:
        return self.pipeline.declared.reservations[0]

    @property
    def dates(self) -> Expansion:
        return expand(self.reservation, self.pipeline.declared.calendars)


def project(text: str) -> Project | None:
    """None if it has errors."""
    pipeline = Pipeline(
        sources=[Source(FILE, text.encode()), Source("reservations/site.yaml", SITE.encode())]
    )
    pipeline.items()
    return (
        None if any(finding.severity == ERROR for finding in pipeline.findings()) else Project(text, pipeline)
    )


def commented(draw: st.DrawFn, key: str, items: list[str]) -> list[str]:
    """A list of the recurrence in one of the usual styles, with comments around everything."""
    if not items:
        return []
    style = draw(st.sampled_from(["block", "flush", "flow"]))
    if style == "flow":
        return [f"    # above {key}", f"    {key}: [{', '.join(items)}]  # beside {key}"]
    indent = "      " if style == "block" else "    "
    lines = [f"    # above {key}", f"    {key}:"]
    for number, item in enumerate(items):
        lines += [f"{indent}# {key} {number}", f"{indent}- {item}  # beside {key} {number}"]
    return lines


@st.composite
def hours(draw: st.DrawFn, *, ends: bool = False) -> str:
    """`ends`: on a day of its own, which the schedule does not say."""
    # Often one of two, so that several start together.
    start, end = draw(st.one_of(times, together)), draw(st.one_of(times, st.just("24:00")))
    more = draw(st.sampled_from(["", "", "", ", endDay: 1", ", endDay: 2"])) if not ends else ""
    if not more and not ends and start == end:
        more = ", endDay: 1"
    return f'startTime: "{start}", endTime: "{end}"{more}'


@st.composite
def projects(draw: st.DrawFn) -> Project:
    kind = draw(st.sampled_from(["weekly", "weekly", "daily", "dates", "once"]))
    first = draw(st.sampled_from(FIRSTS))
    last = first + timedelta(days=draw(st.integers(0, 21 if kind == "weekly" else 6)))
    term = draw(st.sampled_from([None, TERMS[first]])) if kind in ("weekly", "daily") else None
    any_day = st.sampled_from([first + timedelta(days=number) for number in range((last - first).days + 1)])

    def entry() -> str:
        weekday = f"dayOfWeek: {draw(st.sampled_from(WEEKDAYS))}, " if kind == "weekly" else ""
        rules = [""] * 3 + [", weeks: odd", ", monthly: {week: 4}"] * (kind == "weekly")
        rules += [f", from: {draw(any_day)}", f", until: {draw(any_day)}"] * (kind in ("weekly", "daily"))
        length = draw(hours(ends=kind == "once" and first != last))
        return f"{{{weekday}{length}{draw(st.sampled_from(rules))}{draw(names)}}}"

    lines = [
        *HEAD.splitlines(),
        f"    type: {kind}",
        f"    timeZone: {draw(st.sampled_from(ZONES))}  # where it is",
    ]
    if kind == "dates":
        chosen = sorted(draw(st.sets(any_day, min_size=1, max_size=4)))
        own = [
            f"{{date: {day}, {draw(hours())}{draw(names)}}}" for day in draw(st.lists(any_day, max_size=2))
        ]
        lines += commented(draw, "dates", [*map(str, chosen), *own])
    elif term is not None:
        lines += [f"    within: [{term}]  # the last"]
    else:
        lines += [f"    startDate: {first}", f"    endDate: {last}  # the last"]
    if draw(st.booleans()):
        lines.append("    calendars: [holidays]  # of the site")
    lines += commented(draw, "schedule", [entry() for _ in range(draw(st.integers(1, 2)))])
    lines += draw(exceptions(project("\n".join(lines) + "\n"), any_day))
    extra = [
        f"{{date: {draw(any_day)}, {draw(hours())}{draw(names)}}}"
        for _ in range(draw(st.sampled_from([0, 0, 1, 2])))
    ]
    lines += commented(draw, "extra", extra)
    made = project("\n".join(lines) + "\n")
    assume(made is not None and made.dates.occurrences)
    assert made is not None
    known = local_occurrences(made.reservation, made.pipeline.declared.calendars)
    scheduled = [
        (local_occurrence.original, local_occurrence.name)
        for local_occurrence in known
        if not local_occurrence.is_extra
    ]
    assume(len({*scheduled}) == len(scheduled))  # of two with one id, a calendar may leave out one (B049)
    return made


@st.composite
def exceptions(draw: st.DrawFn, plain: Project | None, any_day: st.SearchStrategy[date]) -> list[str]:
    """`except` and `moved`, for occurrences of a reservation that has none yet."""
    if plain is None:
        return []
    ids = [occurrence.id for occurrence in plain.dates.occurrences] + [one.id for one in plain.dates.skipped]
    some = draw(st.lists(st.sampled_from(ids), max_size=4, unique=True)) if ids else []
    where = {name: re.split("[T~]", f"{name.rpartition('/')[2]}~") for name in some}
    one_of = {
        name: f'date: {day}, startTime: "{start}", name: "{entry}"'
        for name, (day, start, entry, *_) in where.items()
    }

    def moved(name: str) -> str:
        at = draw(st.sampled_from(["", f', startTime: "{draw(times)}"']))
        end = draw(
            st.sampled_from(["", f', endTime: "{draw(times)}"', f', endTime: "{draw(times)}", endDay: 3'])
        )
        return f"{{{one_of[name]}, to: {{date: {draw(any_day)}{at}{end}}}}}"

    gone = draw(st.integers(0, 1))
    excepted = [f"{{{one_of[name]}}}" for name in some[:gone]]
    return [
        *commented(draw, "except", excepted),
        *commented(draw, "moved", [moved(name) for name in some[gone:]]),
    ]
