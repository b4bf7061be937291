"""The layout of a report: tables, proposals, and the answer for programs."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import NamedTuple

from berth.cost.attendance import Attendance, ClassSummary, summaries
from berth.cost.proposals import Proposal
from berth.cost.rehearsalresults import RehearsalResult
from berth.dates.moments import local_day, local_text, named, near_text, span_text
from berth.dates.zone import Zone
from berth.findings import Finding
from berth.machines.formatting import minutes, money_json, money_text, percent
from berth.machines.results import Money, PoolKey
from berth.output.answers import Answer, document, instant_column, owner_column
from berth.output.columns import Column, Table, as_json
from berth.output.escape import in_markdown
from berth.output.table import Fit
from berth.schema.reservationspec import OwnerSpec
from berth.schema.seatholders import Unit
from berth.webcalendar.outcomes import CAUSES

_NO_PROPOSALS = "No proposals.\n"
_WIDTH = 110  # of explanations where nobody says how wide a line may be


class ReservationProposal(NamedTuple):
    """A proposal, and where it would be written."""

    reservation: str
    resource_class: str
    place: Finding
    proposal: Proposal


class Report(NamedTuple):
    """The dates, and what they propose. `prices`: dollars an hour of a seat; the rest is by name."""

    dates: tuple[Attendance, ...]
    proposals: tuple[ReservationProposal, ...]
    prices: Mapping[PoolKey, Money]
    zones: Mapping[str, str]
    owners: Mapping[str, OwnerSpec]
    units: Mapping[str, Unit]  # what is counted
    zone: str  # of the site, for reservations that are gone
    rehearsals: tuple[RehearsalResult, ...] = ()  # which are no dates

    def unit(self, reservation: str) -> Unit:
        """Return what the numbers of a reservation count; seats if it is gone."""
        return self.units.get(reservation, Unit.SEAT)

    def counted(self, reservation: str, numbers: str) -> str:
        """Return numbers with what they count, if that is not seats."""
        unit = self.unit(reservation)
        return numbers if unit is Unit.SEAT else f"{numbers} {unit.word if numbers == '1' else unit.plural}"

    def cost(self, reservation: str, resource_class: str, seconds: int | None) -> Money | None:
        """Return what so many seat-seconds cost; None if it is not known."""
        price = self.prices.get((reservation, resource_class))
        return None if price is None or seconds is None else price * seconds


def text(report: Report, form: str, columns: int | None, *, each_date: bool) -> str:
    """Return the report for people: a line for each class, or with `each_date` one for each date."""
    if not report.dates and not report.rehearsals:
        return "No date is over that has a record.\n"
    if form == "markdown":
        sentences = (in_markdown(_sentence(report, placed)) for placed in report.proposals)
        lines = "".join(f"- {sentence}\n" for sentence in sentences) or _NO_PROPOSALS
        tables = {
            "Reservations": _summary_table(report),
            "Dates": _date_table(report),
            "Rehearsals": _rehearsal_table(report),
        }
        written = [f"#### {title}\n\n{table.written(form)}" for title, table in tables.items() if table.rows]
        return "\n".join([f"#### Proposals\n\n{lines}", *written])
    parts = []
    if report.dates:
        parts.append(_dates_text(report, form, columns, each_date=each_date))
    if report.rehearsals:
        parts.append(_rehearsal_table(report).written(form, Fit(columns, ("rehearsed", "note"))))
    lines = "".join(f"{fill(_sentence(report, placed), columns or _WIDTH)}\n" for placed in report.proposals)
    return "\n".join([*parts, lines or _NO_PROPOSALS])


def _dates_text(report: Report, form: str, columns: int | None, *, each_date: bool) -> str:
    if not each_date:
        fit = Fit(columns)
        return _summary_table(report).written(form, fit)
    table = _date_table(report)
    if len(table.values("reservation")) == 1:
        table = table.without("reservation")
    return table.written(form, Fit(columns, ("note",)))


def _sentence(report: Report, placed: ReservationProposal) -> str:
    """Return a proposal with its place, its reason and its rule."""
    place, proposal, saved = placed.place, placed.proposal, _saved(report, placed)
    return (
        f"{place.file}:{place.line}: {placed.reservation}, {placed.resource_class}: "
        f"{proposal.advice}: {proposal.why}{f'; {saved}' if saved else ''} ({proposal.code})."
    )


def _saved(report: Report, placed: ReservationProposal) -> str:
    seconds = placed.proposal.saved
    if not seconds:
        return ""
    cost = report.cost(placed.reservation, placed.resource_class, abs(seconds))
    money = "" if cost is None else f", {money_text(cost)} USD"
    return f"{'saves' if seconds > 0 else 'needs'} {_hours(abs(seconds))} seat-hours{money}"


def _hours(seconds: int) -> str:
    """Return whole hours from ten on, else tenths."""
    return f"{round(seconds / 3600):,}" if seconds >= 36_000 else f"{seconds / 3600:.1f}".removesuffix(".0")


def _hours_json(seconds: int) -> float:
    return round(seconds / 3600, 2)


def _cost(report: Report, row: Attendance | ClassSummary) -> Money | None:
    """Return what the unused seats cost."""
    return report.cost(row.reservation, row.resource_class, row.unused)


def _summary_table(report: Report) -> Table:
    def promised(row: ClassSummary) -> str:
        return report.counted(row.reservation, _range_text([date.promised for date in row.dates]))

    columns: tuple[Column[ClassSummary], ...] = (
        Column("reservation", "", lambda row: row.reservation),
        owner_column(lambda row: report.owners.get(row.reservation)),
        Column("class", "", lambda row: row.resource_class),
        Column("dates", "", lambda row: len(row.dates)),
        Column("seats", "", promised),
        Column("most sessions", "", lambda row: row.peak, none="?"),
        Column("late", "", lambda row: sum(1 for date in row.dates if date.late or date.missing)),
        Column("unused h", "", lambda row: row.unused, _hours),
        Column("share", "", _share),
        Column("cost USD", "", lambda row: _cost(report, row), money_text),
    )
    return Table.of(columns, summaries(report.dates)).without_empty()


def _range_text(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"


def _share(row: ClassSummary) -> str | None:
    held = sum(date.held for date in row.dates)
    return None if row.unused is None else f"{percent(row.unused, held)}%"


def _date_columns(report: Report) -> Sequence[Column[Attendance]]:
    def zone(date: Attendance) -> Zone:
        return named(report.zones.get(date.reservation, report.zone))

    return (
        Column("reservation", "reservation", lambda date: date.reservation),
        owner_column(lambda date: report.owners.get(date.reservation)),
        Column("", "id", lambda date: date.id),
        Column("date", "", lambda date: span_text(date.start, date.end, zone(date))),
        Column("class", "class", lambda date: date.resource_class),
        instant_column("", "open", lambda date: date.open),
        instant_column("", "start", lambda date: date.start),
        instant_column("", "end", lambda date: date.end),
        Column("seats", "", lambda date: report.counted(date.reservation, str(date.promised))),
        Column("", "promised", lambda date: date.promised),
        Column("", "unit", lambda date: _unit_json(report, date.reservation), is_optional=True),
        instant_column("", "due", lambda date: date.due),
        instant_column("", "firstReadyAt", lambda date: date.first_ready),
        instant_column("", "readyAt", lambda date: date.ready),
        Column("ready", "", lambda date: _ready(date, zone(date))),
        Column("", "lateSeconds", lambda date: date.late),
        Column("most sessions", "sessionsPeak", lambda date: date.peak, none="?"),
        Column("unused h", "unusedSeatHours", lambda date: date.unused, _hours, _hours_json),
        Column("cost USD", "unusedCost", lambda date: _cost(report, date), money_text, money_json),
        Column("", "missing", lambda date: date.missing),
        Column("", "causes", lambda date: [cause for cause, _ in date.shortfalls]),
        Column("", "faults", lambda date: list(date.faults)),
        Column("note", "", lambda date: "; ".join(_notes(date))),
    )


def _unit_json(report: Report, reservation: str) -> str | None:
    """Return what is counted; None for seats."""
    unit = report.unit(reservation)
    return None if unit is Unit.SEAT else unit.word


def _date_table(report: Report) -> Table:
    return Table.of(_date_columns(report), report.dates).without("owner").without_empty()


def _rehearsal_columns(report: Report) -> Sequence[Column[RehearsalResult]]:
    def when(row: RehearsalResult) -> str:
        return local_text(row.open, named(report.zones.get(row.reservation, report.zone)))

    return (
        Column("rehearsal of", "reservation", lambda row: row.reservation),
        Column("", "id", lambda row: row.id),
        Column("", "rehearses", lambda row: row.rehearses),
        Column("date", "", _rehearsed_date),
        Column("rehearsed", "", when),
        Column("class", "class", lambda row: row.resource_class),
        instant_column("", "open", lambda row: row.open),
        instant_column("", "end", lambda row: row.end),
        Column("seats", "", lambda row: report.counted(row.reservation, str(row.promised))),
        Column("", "promised", lambda row: row.promised),
        Column("", "unit", lambda row: _unit_json(report, row.reservation), is_optional=True),
        Column("ready", "ready", lambda row: row.ready),
        instant_column("", "readyAt", lambda row: row.ready_at),
        Column("minutes", "", lambda row: row.seconds, lambda seconds: str(minutes(seconds)), none="never"),
        Column("", "missing", lambda row: row.missing),
        Column("", "faults", lambda row: list(row.faults)),
        Column("nodes", "nodes", lambda row: dict(row.nodes), lambda nodes: str(len(nodes) or "")),
        Column("note", "", lambda row: "; ".join(_rehearsal_notes(row))),
    )


def _rehearsed_date(row: RehearsalResult) -> str:
    """Return the original date of what was rehearsed, with its start where the date has several."""
    return row.rehearses.partition("/")[2].replace("T", " ", 1)


def _rehearsal_notes(row: RehearsalResult) -> Iterable[str]:
    if row.missing:
        yield f"{row.missing} missing"
        yield from row.faults
    elif row.ready_at is not None and row.ready_at > row.due:
        number = minutes(row.ready_at - row.due)
        yield f"{number} minute{'' if number == 1 else 's'} late"


def _rehearsal_table(report: Report) -> Table:
    return Table.of(_rehearsal_columns(report), report.rehearsals).without_empty()


def _ready(date: Attendance, zone: Zone) -> str:
    if date.ready is None:
        return "never" if date.shortfalls else "?"
    return near_text(date.ready, zone, local_day(date.start, zone))


def _notes(date: Attendance) -> Iterable[str]:
    if date.late:
        number = minutes(date.late)
        yield f"{number} minute{'' if number == 1 else 's'} late"
    if date.peak is not None and date.peak > date.promised:
        yield f"{date.peak - date.promised} more than seats"
    for cause, number in date.shortfalls:
        yield f"{number} missing: {CAUSES.get(cause, cause)}"
    yield from date.faults


def as_answer(report: Report) -> Answer:
    """Return the answer of kind Report."""
    return document(
        "Report",
        {
            "currency": "USD",
            "items": as_json(_date_columns(report), report.dates),
            "rehearsals": as_json(_rehearsal_columns(report), report.rehearsals),
            "proposals": [_proposal_json(report, placed) for placed in report.proposals],
        },
    )


def _proposal_json(report: Report, placed: ReservationProposal) -> Answer:
    proposal = placed.proposal
    return {
        "code": proposal.code,
        "reservation": placed.reservation,
        "class": placed.resource_class,
        "file": placed.place.file,
        "line": placed.place.line,
        "path": placed.place.path,
        "from": proposal.before,
        "to": proposal.after,
        "dates": proposal.dates,
        "advice": proposal.advice,
        "why": proposal.why,
        "savedSeatHours": _hours_json(proposal.saved),
        "savedCost": money_json(report.cost(placed.reservation, placed.resource_class, proposal.saved)),
    }
