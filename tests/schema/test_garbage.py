"""Whatever stands wherever: reading goes on, and answers with sentences where the fault is."""

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from berth.checks import autoscalers, cloudchecks, references
from berth.checks.ceilings import Ceilings
from berth.checks.collisions import RenderedNames
from berth.dates.recurrence import expand
from berth.findings import ERROR, Path, Problem, severity
from berth.manifests.placed import placed
from berth.reading.scalar import ZeroPrefixedNumber

from tests.saying import document, lines, payload, read, resource_class, site, weekly

# fmt: off
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**299, float("nan"), "", "x", "A b", "a\n\x1b" * 9999,
    ZeroPrefixedNumber("0" * 9999),
    [], ["x"], {}, {"x": "y"}, {"a\n" * 999: "y"}, [[None]],
)
# fmt: on
TIMES = {"startTime": "09:00", "endTime": "13:00"}
SEATS = {"resourceClass": "small", "placeholderCount": 20}
PROD = {
    "name": "prod",
    "destination": {"server": "https://a"},
    "autoscaler": "karpenter",
    "ceilings": [
        {"seats": {"small": 900}, "requests": {"cpu": "900"}, "from": "2026-02-01", "until": "2026-03-01"}
    ],
    "runtime": {"tolerations": [{"operator": "Exists"}], "resources": {"limits": {"memory": "1Gi"}}},
}
SITE = site(
    PROD,
    {"name": "lab", "engine": {"type": "argocd", "automated": False, "syncOptions": ["Validate=false"]}},
    timeZone="Europe/Zurich",
    engine={"type": "flux", "sourceKind": "Bucket", "dependsOn": ["a"], "labels": {"a": "b"}},
    repository={"url": "https://git.example.org/a", "revision": "main", "path": "a/b"},
    images={"pullSecrets": ["a"]},
    priority=-5,
)
TERM = {"topologyKey": "a", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["c"]}
CLASS = resource_class(
    cluster="prod",
    renkuId=5,
    limits={"cpu": 2},
    sessions={"source": "renku", "namespaces": ["renku"]},
    podLabels={"a": "b"},
    nodeSelector={"a": "b"},
    affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}},
    topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"}],
)
CALENDAR = document(
    "Calendar", "holidays", {"dates": ["2026-02-09", {"from": "2026-02-23", "to": "2026-02-24"}]}
)
COURSE = document(
    "CapacityReservation",
    "course",
    {
        "title": "A course",
        "recurrence": weekly(
            {"dayOfWeek": 1, **TIMES},
            {"daysOfWeek": ["tue"], **TIMES, "endDay": 1, "seats": [{**SEATS}]},
            timeZone="Europe/Zurich",
            calendars=["holidays"],
            **{"except": ["2026-02-03", {"date": "2026-02-16", "startTime": "09:00"}]},
            moved=[{"date": "2026-02-02", "startTime": "09:00", "to": {"date": "2026-02-04"}}],
            extra=[{"date": "2026-03-02", **TIMES}],
        ),
        "provisioning": {"seats": [{**SEATS}], "leadTimeMinutes": 5},
        "sessions": {"matchLabels": {"a": "b"}, "earlier": "ignore"},
        "backend": {"type": "placeholder"},
        "suspend": False,
    },
    labels={"a": "b"},
    annotations={"c": "d", "berth.dev/ignore": "B031: meant"},
)  # fmt: skip
WHOLE: list[Any] = [
    SITE,
    CLASS,
    CALENDAR,
    COURSE,
    [payload(project_template_id="01JC3CB5426KC7P5STS5X3KSS8")],
]


def everything(documents: list[Any]) -> list[Problem]:
    """What is told of documents from reading to ceilings, as the whole line goes."""
    known = read(*documents)
    found = list(known.problems)
    if known.site is None:
        return found
    limited = cloudchecks.limited(known)
    names = RenderedNames(known.site, known.classes.values())
    ceilings = Ceilings(known.site, known.classes, also=limited)
    found += autoscalers.of_site(known.site)
    found += autoscalers.of_classes(known, known.site)
    found += cloudchecks.of_documents(known, known.site)
    found += references.of_classes(known, known.site)
    found += references.of_renku_ids(known)
    found += references.of_ceilings(known, known.site)
    for one in known.reservations:
        found += references.of_reservation(one, known)
        expansion = expand(one, known.calendars)
        found += expansion.problems
        found += cloudchecks.of_reservation(one, known, known.site, expansion.occurrences)
        for part in placed(one, known, known.site):
            found += names.take(part, 1)
            ceilings.take(part, ceilings.loads(part, expansion.occurrences))
    found += cloudchecks.of_limits(known, known.site, ceilings.pools)
    return [*found, *ceilings.problems({one.name: one for one in known.reservations})]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    pairs: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in pairs:
        yield from places(inner, (*path, key))


def changed(value: Any, path: Path, junk: Any) -> Any:
    if not path:
        return junk
    made = deepcopy(value)
    holder = made
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = junk
    return made


def misspelt(value: Any, path: Path) -> Any:
    """The last key of the path with a letter too much."""
    made = deepcopy(value)
    holder = made
    for part in path[:-1]:
        holder = holder[part]
    holder[f"{path[-1]}s"] = holder.pop(path[-1])
    return made


def judge(file: int, documents: list[Any]) -> None:
    """Problems are sentences; and a document with an error in it makes no error in others."""
    problems = everything(documents)
    errors = [one for one in problems if severity(one.code) == ERROR]
    for one in problems:
        assert one.message.endswith("."), one
        assert one.fix.endswith((".", "?", '"')), one
        assert "object at 0x" not in one.message + one.fix, one
        assert (one.message + one.fix).isprintable(), one
        assert len(one.message + one.fix) < 500, one
    name = f"{chr(97 + file)}.yaml"
    if any(one.file == name for one in errors):
        assert {one.file for one in errors} == {name}, documents[file]


def test_the_documents_themselves_are_good() -> None:
    assert [one for one in everything(WHOLE) if severity(one.code) == ERROR] == []


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=["site", "class", "calendar", "course", "payload"])
def test_junk_at_any_place_is_told_there_or_does_no_harm(file: int) -> None:
    for path in places(WHOLE[file]):
        for junk in JUNK if path else JUNK[1:]:  # a document that is nothing is none
            judge(file, [*WHOLE[:file], changed(WHOLE[file], path, junk), *WHOLE[file + 1 :]])


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=["site", "class", "calendar", "course", "payload"])
def test_a_misspelt_key_at_any_place_is_told_there_or_does_no_harm(file: int) -> None:
    for path in places(WHOLE[file]):
        if path and isinstance(path[-1], str):
            judge(file, [*WHOLE[:file], misspelt(WHOLE[file], path), *WHOLE[file + 1 :]])


def faults(value: Any) -> list[tuple[Path, Any]]:
    """Places and junk for them; not the kind, without which nothing else is known."""
    chosen = [path for path in places(value) if path and path != ("kind",)]
    return [(path, junk) for path in chosen for junk in ("A b", -1)]


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=["site", "class", "calendar", "course", "payload"])
def test_of_two_faults_in_a_document_both_are_told(file: int) -> None:
    random = Random(file)
    name = f"{chr(97 + file)}.yaml"

    def errors(value: Any) -> set[str]:
        problems = read(*WHOLE[:file], value, *WHOLE[file + 1 :]).problems
        own = [one for one in problems if one.file == name and severity(one.code) == ERROR]
        return set(lines(own))

    all_faults = faults(WHOLE[file])
    for path, junk in all_faults:
        for other, second in random.sample(all_faults, 4):
            if path[: len(other)] == other or other[: len(path)] == path:
                continue
            one, two = changed(WHOLE[file], path, junk), changed(WHOLE[file], other, second)

            assert errors(one) | errors(two) <= errors(changed(one, other, second)), (path, other)
