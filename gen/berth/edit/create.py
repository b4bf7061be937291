"""Create reservation files from flags and answers."""

import stat
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.dates.zone import DAY, day_of, number
from berth.edit.prompts import PROMPTS
from berth.edit.recurrencetext import recurrence_lines
from berth.edit.seatcounts import parse_counts
from berth.findings import Origin
from berth.notation import days, weekdays, zones
from berth.notation.refusal import CommandError, raise_all, read_all, read_at, taken
from berth.notation.times import TimeSpan, split_spans, time_span
from berth.output.folder import AGAIN, refusal
from berth.output.stage import link_on_way, write_files
from berth.output.yamltext import block, flow, quote
from berth.reading.source import SCHEMA
from berth.schema import grammar
from berth.schema.basemodel import Model
from berth.schema.documentproblems import Refusal, close, nearest, shown
from berth.schema.entry import Monthly
from berth.schema.plainfields import plain_fields
from berth.schema.recurrencespec import RecurrenceSpec
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import DEFAULT_LEAD, OwnerSpec, Provisioning, ReservationSpec
from berth.schema.validate import read_text
from berth.schema.values import Entry, EntryDates, Recurrence, Seats

# Reservations from flags and answers

USUAL_BUFFER = {"percent": 20, "minimum": 5}  # what `--behavior buffer` writes, to be edited


class NamedSpan(NamedTuple):
    """Times of day, and the name of the group that they are for; empty for the only one."""

    name: str
    times: TimeSpan


class ReservationRequest(NamedTuple):
    """What a new reservation should be. `given`: values by the names of flags.

    `type`: weekly, daily, once or dates; empty if it is not given. `today` is a number of days since 1970,
    which dates such as `7 March` count from, and with `has_words` also `monday`. `terms`: those that are
    declared.
    """

    name: str
    type: str
    times: tuple[str, ...]
    given: dict[str, str]
    today: int | None = None
    terms: tuple[str, ...] = ()
    has_words: bool = True

    def missing(self) -> list[str]:
        """Return the keys of PROMPTS that have no value yet."""
        found = [] if self.name else ["name"]
        found += [] if "class" in self.given else ["class"]
        found += [] if self.type else ["when"]
        found += [] if self.times else ["times"]
        found += [] if "seats" in self.given else ["seats"]
        has_span = self.type != "dates" and "within" not in self.given
        return found + [one for one in ("from", "until") if has_span and one not in self.given]

    def example(self, question: str) -> str:
        """Return an answer to a key of PROMPTS; dates begin next Monday, and a course lasts 15 weeks."""
        if question == "seats" and "class" in self.given and self.times:
            names = self._seat_names()
            return _each_name(names, PROMPTS["seats"].example) if len(names) > 1 else PROMPTS["seats"].example
        if question not in ("from", "until") or self.today is None:
            return PROMPTS[question].example
        first = self.value("from") or days.day("monday", self.today + 1)
        return str(first if question == "from" else day_of((number(first) + _COURSE) * DAY))

    def with_answer(self, question: str, answer: str) -> "ReservationRequest":
        """Return the request with an answer to a key of PROMPTS. Raise CommandError if it is refused."""
        if question == "name":
            return self._replace(name=read_at("NAME", lambda: grammar.dns_label(answer)))
        if question == "times":
            return self._replace(times=read_at("TIMES", lambda: split_spans(answer))).checked()
        key = self._key(question, answer)
        request = self._replace(given={**self.given, key: answer})
        return (request._replace(type=key) if question == "when" else request).checked()

    def _key(self, question: str, answer: str) -> str:
        """Return the flag that an answer is for: some questions take values of several."""
        if question == "when":
            if answer.lower() in _EVERY_DAY:
                return "daily"
            has_digit = any(character.isdigit() for character in answer)
            return "dates" if has_digit or answer.lower() in RELATIVE_DAYS else "weekly"
        if question != "from":
            return question
        names = _names(answer)
        if names and all(name in self.terms for name in names):
            return "within"
        try:
            taken(lambda: days.day(answer, self.today, self.has_words))
        except Refusal as refusal:
            if any(character.isdigit() for character in answer) and not close(answer, self.terms):
                raise CommandError.at("--from", refusal) from None
            unknown = next((name for name in names if name not in self.terms), "")
            hint = nearest(unknown, self.terms) if self.terms else "No calendar declares one."
            fix = f"{hint} For a date: {refusal.fix}"
            no_term = Refusal(f'no term is named "{unknown}".', fix, "B061")
            raise CommandError.at("--from or --within", no_term) from None
        return "from"

    def without(self, question: str) -> "ReservationRequest":
        """Return the request without what the answer to a key of PROMPTS gave."""
        if question == "name":
            return self._replace(name="")
        if question == "times":
            return self._replace(times=())
        keys = {"when": (self.type,), "from": ("from", "within")}.get(question, (question,))
        given = {key: value for key, value in self.given.items() if key not in keys}
        return self._replace(given=given, type="" if question == "when" else self.type)

    def checked(self) -> "ReservationRequest":
        """Return the request. Raise CommandError with each value that cannot be parsed, and a wrong order."""
        checks: list[Callable[[], object]] = [partial(self.value, key) for key in self.given]
        checks += [partial(read_at, "NAME", partial(grammar.dns_label, self.name))] if self.name else []
        checks += [partial(read_at, "TIMES", partial(_named_span, text)) for text in self.times]
        checks += [self.seats] if self.times and {"class", "seats"} <= self.given.keys() else []
        read_all(*checks, self._check_order, self._check_pointless)
        return self

    def _check_pointless(self) -> None:
        """Raise CommandError for dates that other ones make pointless: one of the two would be lost."""
        keys = ("from", "until", "within") if self.type == "dates" else ("from", "until")
        why = f"the {'dates are listed' if self.type == 'dates' else 'terms have these dates'} already."
        if self.type == "dates" or "within" in self.given:
            refusal = Refusal(why, "Leave it out.", "B016")
            raise_all(CommandError.at(f"--{key}", refusal) for key in keys if key in self.given)

    def _check_order(self) -> None:
        first, last = self.value("from"), self.value("until")
        if first is not None and last is not None and last < first:
            refusal = Refusal(f"{last} is before {first}.", "Write a date on or after the first.", "B024")
            raise CommandError.at("--until", refusal)

    def value(self, key: str) -> Any:
        """Return what the value of a flag means, by the grammar of its field; None if it is not given."""
        text = self.given.get(key)
        if text is None or key not in FLAGS:
            return text
        return read_at(f"--{key}", lambda: FLAGS[key].read(text, self))

    def check_zone(self, starts: Iterable[int]) -> None:
        """Raise CommandError for a zone such as EST that clocks do not show at each of the instants."""
        if text := self.given.get("time-zone"):
            read_at("--time-zone", lambda: zones.zone_at(text, starts))

    def spans(self) -> list[NamedSpan]:
        """Return the times of each group."""
        return [read_at("TIMES", partial(_named_span, text)) for text in self.times]

    def seats(self) -> list[Seats]:
        """Return the seats of each span: of one class by the names of the spans, of several by class."""
        classes = self.value("class")
        numbers = self._numbers(self.value("seats"), self._seat_names())
        if len(classes) > 1:
            return [tuple(zip(classes, numbers, strict=True))] * len(self.times)
        return [((classes[0], number),) for number in numbers]

    def _seat_names(self) -> list[str]:
        """Return what `--seats` gives numbers to: the classes if there are several, or else the spans."""
        classes = self.value("class")
        return [*classes] if len(classes) > 1 else [span.name for span in self.spans()]

    def _numbers(self, counts: dict[str, int], names: Sequence[str]) -> list[int]:
        """Return the number of each name. One number is for times without names, or the only name."""
        if "" in counts and len(counts) == 1:
            if len({*names}) > 1:
                message = (
                    f"{counts['']} does not say how many are for each of {', '.join(filter(None, names))}."
                )
                fix = f"Write a number for each: {_each_name(names, str(counts['']))}."
                raise CommandError.at("--seats", Refusal(message, fix, "B011"))
            return [counts[""]] * len(names)
        for name in counts:
            if name not in names:
                advice = nearest(name, names) if any(names) else "Name the times: regular=09:00-11:00."
                refusal = Refusal(f'neither times nor classes are named "{name}".', advice, "B014")
                raise CommandError.at("--seats", refusal)
        for name in names:
            if name not in counts:
                what = f'"{name}" has no number.' if name else "times without a name have no number."
                raise CommandError.at("--seats", Refusal(what, "Write NAME=NUMBER for each of them.", "B011"))
        return [counts[name] for name in names]


def _each_name(names: Sequence[str], count: str) -> str:
    return ",".join(f"{name or 'NAME'}={count}" for name in names)


def _named_span(text: str) -> NamedSpan:
    name, equals, times = text.rpartition("=")
    named_span = NamedSpan(grammar.dns_label(name) if equals else "", taken(lambda: time_span(times)))
    if named_span.times.start == named_span.times.end:
        raise Refusal("the end equals the start.", "Write another time.", "B024")
    return named_span


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _declared_names(text: str, _: ReservationRequest) -> tuple[str, ...]:
    """Read names of documents or terms, which commas separate."""
    names = tuple(name.strip() for name in text.split(","))
    return tuple(grammar.dns_label(name) for name in names)


def _labels(text: str, _: ReservationRequest) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _names(text):
        key, equals, value = name.partition("=")
        if not equals:
            raise Refusal(f"{shown(name)} is not KEY=VALUE.", "Example: course=algebra.", "B019")
        if grammar.label_key(key) in found:
            raise Refusal(f"{shown(key)} has two values.", "Write each key once.", "B019")
        found[key] = grammar.label_value(value)
    return found


def _spans(text: str, request: ReservationRequest) -> tuple[days.DateSpan, ...]:
    return days.spans(text, request.today, request.has_words)


def _span_texts(spans: tuple[days.DateSpan, ...]) -> list[str]:
    return [str(span.first) if span.first == span.last else f"{span.first}..{span.last}" for span in spans]


def _day(text: str, request: ReservationRequest) -> date:
    return days.day(text, request.today, request.has_words)


def _of_field(model: type[Model], key: str) -> Callable[[str, ReservationRequest], Any]:
    return lambda text, _: read_text(model, key, text)


RELATIVE_DAYS = ("yesterday", "today", "tomorrow")
_EVERY_DAY = ("daily", "every day", "each day")
_COURSE = 14 * 7 + 4  # days from its first Monday to its last Friday


class Flag(NamedTuple):
    """A flag of `berth new`.

    `path` leads to its field, or is where findings about its value are. `read` is the grammar of the field in
    a file. `plain` makes what a file has of the value, for `berth set`; None if that does not know the flag.
    """

    path: str
    read: Callable[[str, ReservationRequest], Any]
    plain: Callable[[Any], Any] | None = None


FLAGS: dict[str, Flag] = {
    "class": Flag("spec.resourceClass", _declared_names, ",".join),
    "seats": Flag("spec.provisioning", lambda text, _: parse_counts(text)),
    "weekly": Flag("spec.recurrence.schedule.daysOfWeek", lambda text, _: weekdays.weekdays(text)),
    "weeks": Flag("spec.recurrence.schedule.weeks", lambda text, _: weekdays.weeks(text)),
    "monthly": Flag("spec.recurrence.schedule.monthly", _of_field(Monthly, "week")),
    "interval": Flag("spec.recurrence.interval", _of_field(RecurrenceSpec, "interval")),
    "dates": Flag("spec.recurrence.dates", _spans, _span_texts),
    "from": Flag("spec.recurrence.startDate", _day, str),
    "until": Flag("spec.recurrence.endDate", _day, str),
    "within": Flag("spec.recurrence.within", _declared_names, list),
    "calendars": Flag("spec.recurrence.calendars", _declared_names, list),
    "time-zone": Flag("spec.recurrence.timeZone", lambda text, _: zones.zone_text(text).place, str),
    "title": Flag("spec.title", _of_field(ReservationSpec, "title")),
    "lead": Flag("spec.provisioning.leadTimeMinutes", _of_field(Provisioning, "leadTimeMinutes"), int),
    "behavior": Flag(
        "spec.provisioning.scaleDownBehavior", _of_field(Provisioning, "scaleDownBehavior"), str
    ),
    "match-labels": Flag("spec.sessions.matchLabels", _labels, dict),
    "owner": Flag("spec.owner.name", _of_field(OwnerSpec, "name"), str),
    "contact": Flag("spec.owner.contact", _of_field(OwnerSpec, "contact"), str),
}
_STRUCTURED = ("[", "{", '"', "'")  # how a value in YAML begins, which is that of the field of this name


def read_flag(name: str, text: str, today: int) -> Any:
    """Return what `NAME=TEXT` of `berth set` means, by the grammar of the flag of this name."""
    if name == "time-zone":
        return read_at(f"{name}=", lambda: zones.zone_at(text))
    return read_at(f"{name}=", lambda: FLAGS[name].read(text, ReservationRequest("", "", (), {}, today)))


def flag_assignment(name: str, text: str, today: int) -> tuple[tuple[str, ...], Any] | None:
    """Return the field of `lead=45`, the name of a flag in `berth set`, and its value; None for an empty one.

    Return None for what is not such a flag. Raise CommandError for a value that the flag refuses.
    """
    flag = FLAGS.get(name)
    if flag is None or flag.plain is None or text.startswith(_STRUCTURED):
        return None
    return tuple(flag.path.split(".")), flag.plain(read_flag(name, text, today)) if text else None


def option_places(kind: str) -> dict[str, str]:
    """Return which argument or option of `berth new` each field comes from, by its path without indices."""
    schedule = "spec.recurrence.schedule"
    times = "--weekly" if kind == "weekly" else "TIMES"
    return {
        **{flag.path: f"--{name}" for name, flag in FLAGS.items()},
        "metadata.name": "NAME",
        "spec.recurrence": "--dates" if kind == "dates" else "--until",
        schedule: times,
        **{f"{schedule}.{key}": "TIMES" for key in ("startTime", "endTime", "name")},
        f"{schedule}.placeholderCount": "--seats",
        "spec.provisioning.seats.resourceClass": "--class",
        "spec.sessions": "--match-labels",
    }


QUESTIONS = {
    "NAME": "name",
    "TIMES": "times",
    **{f"--{kind}": "when" for kind in ("weekly", "daily", "once", "dates")},
    "--within": "from",
    **{f"--{key}": key for key in ("class", "seats", "from", "until")},
}
"""The key of PROMPTS whose answer an argument or option stands for."""


def new_reservation(request: ReservationRequest) -> Reservation:
    """Create a reservation from a complete request. Raise CommandError for a value that cannot be parsed."""
    request = request.checked()
    spans, by_span = request.spans(), request.seats()
    weekly = request.value("weekly") if request.type == "weekly" else ()
    dates = EntryDates(weeks=request.value("weeks") or (), nth=request.value("monthly") or 0)
    within = request.value("within") or ()
    has_span = request.type != "dates" and not within
    behavior = request.value("behavior") or DEFAULT_HOLDER.behaviors[0]
    lead = request.value("lead")
    return Reservation(
        origin=Origin("", 0),
        name=request.name,
        spec=_spec(request, behavior),
        labels=(),
        annotations=(),
        recurrence=Recurrence(
            type=request.type,
            zone=request.value("time-zone") or "",
            first=request.value("from") if has_span else None,
            last=request.value("until") if has_span else None,
            dates=request.value("dates") if request.type == "dates" else (),
            interval=request.value("interval") or 1,
            schedule=tuple(
                Entry(weekly, *span.times, None, seats, name=span.name, dates=dates)
                for span, seats in zip(spans, by_span, strict=True)
            ),
            calendars=request.value("calendars") or (),
            within=within,
        ),
        seats=by_span[0],
        seats_listed=len(by_span[0]) > 1,
        lead=DEFAULT_LEAD if lead is None else lead,
        behavior=behavior,
        holder=DEFAULT_HOLDER,
    )


def _spec(request: ReservationRequest, behavior: str) -> ReservationSpec:
    """Return the fields that have a flag and are not resolved."""
    given, labels = request.given, request.value("match-labels")
    owner = {"name": given["owner"], "contact": given.get("contact") or None} if "owner" in given else None
    provisioning = {"buffer": USUAL_BUFFER if behavior == "buffer" else None}
    sessions = {"matchLabels": labels} if labels else None
    return ReservationSpec.model_validate(
        {"title": given.get("title"), "provisioning": provisioning, "owner": owner, "sessions": sessions}
    )


# Reservations as YAML

MODELINE = "# yaml-language-server: $schema={}\n"
HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
"""


def reservation_yaml(one: Reservation, depth: int = 0, sized: str = "") -> str:
    """Return a file that declares the reservation. `depth`: the folders between it and reservations/.

    `sized` says where its seats and lead come from.
    """
    plain = [field for field in plain_fields(one.spec) if not field.is_default]
    lines = [f"metadata:\n  name: {quote(one.name)}\n"]
    if one.annotations:
        lines.append("  annotations:\n")
        lines += [f"    {key}: {quote(value)}\n" for key, value in one.annotations]
    lines.append("spec:\n")
    if one.title != one.name:
        lines.append(f"  title: {quote(one.title)}\n")
    if not one.seats_listed:
        lines.append(f"  resourceClass: {quote(one.seats[0][0])}\n")
    lines += recurrence_lines(one.recurrence, one.seats)
    lines += [f"  # {sized}\n"] if sized else []
    lines.append(_provisioning(one))
    sessions = one.sessions.model_dump(by_alias=True, exclude_defaults=True)
    lines += ["  sessions:\n"] if sessions else []
    lines += [f"    {key}: {flow(value)}\n" for key, value in sessions.items()]
    lines += [f"  {block({field.path: field.written}, 2)}\n" for field in plain if "." not in field.path]
    return MODELINE.format("../" * depth + SCHEMA) + HEAD + "".join(lines)


def _provisioning(one: Reservation) -> str:
    lines = ["  provisioning:\n"]
    if one.seats_listed:
        lines.append("    seats:\n")
        lines += [
            f"      - {{resourceClass: {quote(name)}, placeholderCount: {count}}}\n"
            for name, count in one.seats
        ]
    else:
        lines.append(f"    placeholderCount: {one.seats[0][1]}\n")
    lines.append(f"    leadTimeMinutes: {one.lead}\n    scaleDownBehavior: {one.behavior}\n")
    parts = [field for field in plain_fields(one.spec.provisioning) if not field.is_default]
    lines += [f"    {field.path}: {flow(field.written)}\n" for field in parts]
    return "".join(lines)


# Files


def refuse_link(file: str, project: str = ".") -> None:
    """Raise CommandError if a file of the project, or a folder on the way to it, is a symbolic link.

    What is behind a link may be out of the project, where nobody reviews it.
    """
    link = link_on_way(project, file)
    if link is not None:
        raise CommandError(
            f"{link} is a symbolic link, and Berth writes through none. Replace it with what it leads to"
        )


def write_file(file: str, content: str | bytes, expected: bytes | None, project: str = ".") -> None:
    """Replace a file in one step and keep its permissions.

    `expected` is what the file must still contain; None if it must not exist yet. Otherwise, and if the file
    or a folder of the project on the way to it is a link, raise CommandError.
    """
    path = Path(file)
    refuse_link(file, project)
    try:
        found = path.read_bytes() if path.exists() else None
        if found != expected:
            what = "the file exists" if expected is None else "the file has been changed meanwhile"
            raise CommandError(f"{file}: {what}; nothing was written")
        permissions = None if found is None else stat.S_IMODE(path.stat().st_mode)
        data = content.encode() if isinstance(content, str) else content
        write_files(str(path.parent), {path.name: data}, permissions)
    except OSError as error:
        raise refusal(str(path.parent), path.name, error, AGAIN) from error


def remove_file(file: str, expected: bytes | None) -> None:
    """Remove a file that still contains what is expected. Raise CommandError otherwise, and for a link."""
    path = Path(file)
    refuse_link(file)
    try:
        if path.read_bytes() != expected:
            raise CommandError(f"{file}: the file has been changed meanwhile; nothing was removed")
        path.unlink()
    except OSError as error:
        raise refusal(str(path.parent), path.name, error, AGAIN) from error
