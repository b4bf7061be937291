"""`berth occurrences`: every dated occurrence, in local time and UTC, with what is special about it."""

from typing import NamedTuple

from gen import report, table
from gen.command import ics, selection
from gen.command.answer import tell
from gen.command.asked import Asked
from gen.command.exits import GOOD
from gen.command.progress import watched
from gen.command.say import say
from gen.core.instants import instant_text
from gen.dates.moment import day_span, local_day, named, near_span_text, near_text, span_text
from gen.dates.occurrence import Occurrence, Skipped
from gen.pipeline import Item, Part, Pipeline
from gen.placed import has_nodes, stands
from gen.report import seats_text

END_OF_TIME = 2**40


class _Row(NamedTuple):
    """One occurrence in one cluster, with the seats that were asked for."""

    occurrence: Occurrence
    cluster: str
    seats: tuple[tuple[str, int], ...]
    title: str
    nodes: bool

    @property
    def seats_text(self) -> str:
        return seats_text(self.seats, nodes=self.nodes)


class _Standing(NamedTuple):
    """What stands in one cluster without windows; `until` in seconds, None for ever."""

    reservation: str
    cluster: str
    seats: tuple[tuple[str, int], ...]
    until: int | None


class _Wanted(NamedTuple):
    names: frozenset[str]
    at: int | None
    since: int | None
    until: int | None
    resource_class: str | None
    cluster: str | None

    def time(self, first: int, end: int) -> bool:
        """Whether [first, end) has the instant, and overlaps [since, until)."""
        return (
            (self.at is None or first <= self.at < end)
            and (self.since is None or end > self.since)
            and (self.until is None or first < self.until)
        )

    def classes(self, part: Part) -> frozenset[str]:
        """The wanted ones among those of this part."""
        if self.cluster not in (None, part.placed.cluster.name):
            return frozenset()
        names = [one.name for one in part.placed.classes]
        return frozenset(name for name in names if self.resource_class in (None, name))


def run(asked: Asked) -> int:
    pipeline = Pipeline()
    wanted = _wanted(asked, pipeline)
    rows: list[_Row] = []
    skipped: list[tuple[str, Skipped]] = []
    standing: list[_Standing] = []
    for item in watched(pipeline.items(), len(pipeline.declared.reservations)):
        if not wanted.names or item.reservation.name in wanted.names:
            rows += _rows(item, wanted)
            skipped += [(item.reservation.name, one) for one in _skipped(item, wanted)]
            standing += _standing(item, wanted)
    code = tell(pipeline.findings(), asked)
    if code == GOOD:
        rows.sort(key=_place)
        say(_answer(rows, skipped, standing, asked.form))
    return code


def _place(row: _Row) -> tuple[int, str, str, str]:
    found = row.occurrence
    return found.start, found.reservation, found.id, row.cluster


def _wanted(asked: Asked, pipeline: Pipeline) -> _Wanted:
    return _Wanted(
        selection.reservations(asked, pipeline),
        selection.instant("--at", asked, pipeline),
        selection.instant("--from", asked, pipeline),
        selection.instant("--until", asked, pipeline),
        selection.resource_class(asked, pipeline),
        selection.cluster(asked, pipeline),
    )


def _rows(item: Item, wanted: _Wanted) -> list[_Row]:
    rows = []
    for part in item.parts:
        here = wanted.classes(part)
        for found in part.occurrences:
            seats = tuple(pair for pair in found.seats if pair[0] in here)
            if seats and wanted.time(found.open, found.end):
                cluster, reservation = part.placed.cluster.name, item.reservation
                rows.append(_Row(found, cluster, seats, reservation.title, has_nodes(reservation)))
    return rows


def _skipped(item: Item, wanted: _Wanted) -> list[Skipped]:
    """What would have begun on a day, and of a reservation with seats in a place, that were asked for."""
    if not any(wanted.classes(part) for part in item.parts):
        return []
    zone = named(item.reservation.recurrence.zone)
    return [one for one in item.expansion.skipped if wanted.time(*day_span(one.date, zone))]


def _standing(item: Item, wanted: _Wanted) -> list[_Standing]:
    """What stands without windows in the time that was asked for: no occurrence, but open all the same."""
    found = stands(item.reservation)
    if found is None or not wanted.time(0, END_OF_TIME if found.until is None else found.until):
        return []
    rows = []
    for part in item.parts:
        here = wanted.classes(part)
        seats = tuple(pair for pair in item.reservation.seats if pair[0] in here)
        if seats:
            rows.append(_Standing(item.reservation.name, part.placed.cluster.name, seats, found.until))
    return rows


def _answer(
    rows: list[_Row], skipped: list[tuple[str, Skipped]], standing: list[_Standing], form: str
) -> str:
    if form == "json":
        return _json(rows, skipped, standing)
    if form == "ics":
        return ics.text(_events(rows))
    write = table.markdown if form == "markdown" else table.text
    cells = _brief(rows) if form == "text" else _full(rows)
    answer = write(cells[0], cells[1:]) if rows else "No occurrence.\n"
    if skipped:
        left_out = [(name, one.id.rpartition("/")[2].replace("T", " "), one.reason) for name, one in skipped]
        answer += "\n" + write(("skipped", "local time", "because of"), left_out)
    if standing:
        cells = [[one.reservation, _until(one), seats_text(one.seats), one.cluster] for one in standing]
        answer += "\n" + write(("without windows", "stands", "seats", "cluster"), cells)
    return answer


def _until(one: _Standing) -> str:
    return "always" if one.until is None else f"until {instant_text(one.until)}"


def _json(rows: list[_Row], skipped: list[tuple[str, Skipped]], standing: list[_Standing]) -> str:
    items = [
        {
            "reservation": row.occurrence.reservation,
            "id": row.occurrence.id,
            "cluster": row.cluster,
            **report.counts_json(row.seats, nodes=row.nodes),
            "open": instant_text(row.occurrence.open),
            "start": instant_text(row.occurrence.start),
            "end": instant_text(row.occurrence.end),
            "timeZone": row.occurrence.zone,
            "marks": row.occurrence.marks,
        }
        for row in rows
    ]
    left_out = [
        {"reservation": name, "id": one.id, "date": one.date, "reason": one.reason} for name, one in skipped
    ]
    stand = [
        {
            "reservation": one.reservation,
            "cluster": one.cluster,
            "seats": dict(one.seats),
            "until": None if one.until is None else instant_text(one.until),
        }
        for one in standing
    ]
    return report.document("OccurrenceList", {"items": items, "skipped": left_out, "standing": stand})


def _brief(rows: list[_Row]) -> list[list[str]]:
    """For terminals: UTC as time of day; zone and cluster only if they differ from row to row."""
    utc = named("UTC")
    lines = [["reservation", "local time", "zone", "opens UTC", "UTC", "seats", "cluster", "marks"]]
    for row in rows:
        found, cluster, seats = row.occurrence, row.cluster, row.seats_text
        zone = named(found.zone)
        day = local_day(found.start, zone)
        local = span_text(found.start, found.end, zone)
        times = near_text(found.open, utc, day), near_span_text(found.start, found.end, utc, day)
        marks = " ".join(found.marks)
        lines.append([found.reservation, local, found.zone, *times, seats, cluster, marks])
    same = [i for i in (2, 6) if len({line[i] for line in lines[1:]}) == 1]
    return [[cell for i, cell in enumerate(line) if i not in same] for line in lines]


def _full(rows: list[_Row]) -> list[list[str]]:
    opens = "open (UTC)"
    lines = [["reservation", "local time", "zone", opens, "start", "end", "seats", "cluster", "marks"]]
    for row in rows:
        found, cluster, seats = row.occurrence, row.cluster, row.seats_text
        local = span_text(found.start, found.end, named(found.zone))
        times = [instant_text(at)[:16].replace("T", " ") for at in (found.open, found.start, found.end)]
        marks = " ".join(found.marks)
        lines.append([found.reservation, local, found.zone, *times, seats, cluster, marks])
    return lines


def _events(rows: list[_Row]) -> list[ics.Event]:
    """One for each occurrence, whatever its clusters; in the order of the rows."""
    events: dict[str, ics.Event] = {}
    for row in rows:
        found = row.occurrence
        line = f"{row.seats_text} in {row.cluster}, from {instant_text(found.open)} on"
        before = events.get(found.id)
        if before is None:
            cancelled = "suspended" in found.marks
            events[found.id] = ics.Event(found.id, found.start, found.end, row.title, line, cancelled)
        else:
            events[found.id] = before._replace(description=f"{before.description}\n{line}")
    return list(events.values())
