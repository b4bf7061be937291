"""The layout of a report: tables, proposals, a page in HTML, and the answer for programs."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from textwrap import fill
from typing import NamedTuple

from berth.core.jsonvalues import instant_text
from berth.cost.attendance import Attendance, ClassSummary, summaries
from berth.cost.formatting import minutes, money_json, money_text, percent
from berth.cost.proposals import Proposal
from berth.cost.results import Money, PoolKey
from berth.dates.moments import local_day, local_text, named, near_text, span_text
from berth.findings import Finding
from berth.output import report, table
from berth.output.table import Fit
from berth.schema.values import ReservationOwner

_SUMMARY = (
    "reservation",
    "owner",
    "class",
    "dates",
    "seats",
    "most sessions",
    "late",
    "unused h",
    "share",
    "cost USD",
)
_DATES = ("reservation", "date", "class", "seats", "ready", "most sessions", "unused h", "cost USD", "note")
_CAUSES = {"openedLate": "opened late", "notReady": "not ready", "lost": "lost"}
_WIDTH = 110  # of explanations where nobody says how wide a line may be


class ReservationProposal(NamedTuple):
    """A proposal, and where it would be written."""

    reservation: str
    resource_class: str
    place: Finding
    proposal: Proposal


class Report(NamedTuple):
    """The dates, and what they propose. `prices`: dollars an hour of a seat; `zones`, `owners`: by name."""

    dates: tuple[Attendance, ...]
    proposals: tuple[ReservationProposal, ...]
    prices: Mapping[PoolKey, Money]
    zones: Mapping[str, str]
    owners: Mapping[str, ReservationOwner]
    zone: str  # of the site, for reservations that are gone
    now: int

    def cost(self, reservation: str, resource_class: str, seconds: int | None) -> Money | None:
        """Return what so many seat-seconds cost; None if it is not known."""
        price = self.prices.get((reservation, resource_class))
        return None if price is None or seconds is None else price * seconds


def text(made: Report, form: str, columns: int | None, *, each_date: bool) -> str:
    """Return the report for people: a line for each class, or with `each_date` one for each date."""
    if form == "html":
        return _page(made)
    if not made.dates:
        return "No date is over that has a record.\n"
    if form == "markdown":
        parts = [f"- {_sentence(made, one)}\n" for one in made.proposals]
        lines = "".join(parts) or "No proposals.\n"
        return "\n".join(
            [
                f"#### Proposals\n\n{lines}",
                f"#### Reservations\n\n{table.markdown(*_kept(_SUMMARY, _summary_rows(made)))}",
                f"#### Dates\n\n{table.markdown(*_kept(_DATES, _date_rows(made)))}",
            ]
        )
    lines = "".join(f"{fill(_sentence(made, one), columns or _WIDTH)}\n" for one in made.proposals)
    if each_date:
        fit = Fit(columns, ("note",), ("cost USD", "class", "unused h"), ("reservation",))
        headings, rows = _kept(_DATES, _date_rows(made))
        if len({row[0] for row in rows}) == 1:
            headings, rows = headings[1:], [row[1:] for row in rows]
        shown = table.text(headings, rows, fit)
    else:
        fit = Fit(columns, (), ("owner", "share", "late", "class"), ("reservation",))
        shown = table.text(*_kept(_SUMMARY, _summary_rows(made)), fit)
    return f"{shown}\n{lines}" if lines else f"{shown}\nNo proposals.\n"


def _kept(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the table without its empty columns."""
    kept = [i for i in range(len(headings)) if any(row[i] for row in rows)]
    return [headings[i] for i in kept], [[row[i] for i in kept] for row in rows]


def _sentence(made: Report, one: ReservationProposal) -> str:
    """Return a proposal with its place, its reason and its rule."""
    place, found = one.place, one.proposal
    saved = _saved(made, one)
    return (
        f"{place.file}:{place.line}: {one.reservation}, {one.resource_class}: "
        f"{found.advice}: {found.why}{f'; {saved}' if saved else ''} ({found.code})."
    )


def _saved(made: Report, one: ReservationProposal) -> str:
    seconds = one.proposal.saved
    if not seconds:
        return ""
    cost = made.cost(one.reservation, one.resource_class, abs(seconds))
    money = "" if cost is None else f", {money_text(cost)} USD"
    return f"{'saves' if seconds > 0 else 'needs'} {_hours(abs(seconds))} seat-hours{money}"


def _hours(seconds: int | None) -> str:
    """Return whole hours from ten on, else tenths."""
    if seconds is None:
        return ""
    return f"{round(seconds / 3600):,}" if seconds >= 36_000 else f"{seconds / 3600:.1f}".removesuffix(".0")


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _summary_rows(made: Report) -> list[list[str]]:
    return [_summary_row(made, one) for one in summaries(made.dates)]


def _summary_row(made: Report, one: ClassSummary) -> list[str]:
    seats = sorted({date.promised for date in one.dates})
    late = sum(1 for date in one.dates if date.late or date.missing)
    cost = made.cost(one.reservation, one.resource_class, one.unused)
    held = sum(date.held for date in one.dates)
    owner = made.owners.get(one.reservation)
    return [
        one.reservation,
        owner.text if owner else "",
        one.resource_class,
        str(len(one.dates)),
        str(seats[0]) if len(seats) == 1 else f"{seats[0]} to {seats[-1]}",
        _number(one.peak),
        str(late),
        _hours(one.unused),
        "" if one.unused is None else f"{percent(one.unused, held)}%",
        "" if cost is None else money_text(cost),
    ]


def _date_rows(made: Report) -> list[list[str]]:
    return [_date_row(made, one) for one in made.dates]


def _date_row(made: Report, one: Attendance) -> list[str]:
    zone = named(made.zones.get(one.reservation, made.zone))
    cost = made.cost(one.reservation, one.resource_class, one.unused)
    return [
        one.reservation,
        span_text(one.start, one.end, zone),
        one.resource_class,
        str(one.promised),
        near_text(one.ready, zone, local_day(one.start, zone)) if one.ready is not None else _not_ready(one),
        _number(one.peak),
        _hours(one.unused),
        "" if cost is None else money_text(cost),
        "; ".join(_notes(one)),
    ]


def _not_ready(one: Attendance) -> str:
    return "never" if one.shortfalls else "?"


def _notes(one: Attendance) -> Iterable[str]:
    if one.late:
        number = minutes(one.late)
        yield f"{number} minute{'' if number == 1 else 's'} late"
    if one.peak is not None and one.peak > one.promised:
        yield f"{one.peak - one.promised} more than seats"
    for cause, number in one.shortfalls:
        yield f"{number} missing: {_CAUSES.get(cause, cause)}"
    yield from one.faults


_STYLE = """\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 85rem; margin: 2rem auto; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.25rem 0.75rem; border-bottom: 1px solid #8886; white-space: nowrap; }
"""


def _page(made: Report) -> str:
    """Return a page that needs no other file."""
    when = f"{local_text(made.now, named(made.zone))} {made.zone}"
    given = "".join(f"<li>{escape(_sentence(made, one))}</li>\n" for one in made.proposals)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>Report of reservations</title>\n<style>\n{_STYLE}</style>\n"
        f"<h1>Report of reservations</h1>\n<p>{escape(when)}</p>\n"
        f"<h2>Proposals</h2>\n{f'<ul>{given}</ul>' if given else '<p>None.</p>'}\n"
        f"<h2>Reservations</h2>\n{_html_table('Reservations', *_kept(_SUMMARY, _summary_rows(made)))}"
        f"<h2>Dates</h2>\n{_html_table('Dates', *_kept(_DATES, _date_rows(made)))}</html>\n"
    )


def _html_table(name: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table that scrolls where it is too wide, also by keyboard."""
    if not rows:
        return "<p>No date is over that has a record.</p>\n"
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
    return (
        f'<div role="region" aria-label="{name}" tabindex="0">\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )


def as_answer(made: Report) -> report.Answer:
    """Return the answer of kind Report."""
    return report.document(
        "Report",
        {
            "currency": "USD",
            "items": [_date_json(made, one) for one in made.dates],
            "proposals": [_proposal_json(made, one) for one in made.proposals],
        },
    )


def _date_json(made: Report, one: Attendance) -> report.Answer:
    return {
        "reservation": one.reservation,
        "owner": report.owner_json(made.owners.get(one.reservation)),
        "id": one.id,
        "class": one.resource_class,
        "open": instant_text(one.open),
        "start": instant_text(one.start),
        "end": instant_text(one.end),
        "promised": one.promised,
        "due": instant_text(one.due),
        "firstReadyAt": None if one.first_ready is None else instant_text(one.first_ready),
        "readyAt": None if one.ready is None else instant_text(one.ready),
        "lateSeconds": one.late,
        "sessionsPeak": one.peak,
        "unusedSeatHours": None if one.unused is None else round(one.unused / 3600, 2),
        "unusedCost": money_json(made.cost(one.reservation, one.resource_class, one.unused)),
        "missing": one.missing,
        "causes": [cause for cause, _ in one.shortfalls],
        "faults": list(one.faults),
    }


def _proposal_json(made: Report, one: ReservationProposal) -> report.Answer:
    found = one.proposal
    return {
        "code": found.code,
        "reservation": one.reservation,
        "class": one.resource_class,
        "file": one.place.file,
        "line": one.place.line,
        "path": one.place.path,
        "from": found.before,
        "to": found.after,
        "dates": found.dates,
        "advice": found.advice,
        "why": found.why,
        "savedSeatHours": round(found.saved / 3600, 2),
        "savedCost": money_json(made.cost(one.reservation, one.resource_class, found.saved)),
    }
