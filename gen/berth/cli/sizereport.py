"""The layout of a size: a table of choices with an explanation, a chart, JSON, and a comment for the file."""

import sys
from textwrap import fill
from typing import NamedTuple

from berth.charts import linechart, terminal
from berth.charts.drawing import SESSIONS, TARGET, ChartLine, LinePanel, TimeAxis
from berth.cli.simulate import look_of
from berth.core.jsonvalues import instant_text
from berth.cost.formatting import machines_json, machines_text, minutes, money_json, money_or_unknown
from berth.cost.sizechoices import SAFE, Choice, SizedPool, SizeQuestion, Sizing, arrived
from berth.cost.sizing import AT_ONCE, BELL, MEASURED, UNIFORM
from berth.dates.moments import local_day, named, near_text, span_text
from berth.output import report, table
from berth.output.table import Fit

MARK = "Sized for "  # how the comment begins
_HEADINGS = (
    *("choice", "seats", "lead", "people", "all ready", "nodes"),
    *("wait longer", "no seat", "longest", "cost USD"),
)
_SPARE = ("longest", "people", "all ready")
_SETTLE = 600  # seconds that a chart shows after the last event
_BY_SHAPE = {AT_ONCE: "all at the start", UNIFORM: "evenly over", BELL: "in a bell of"}


class SizeAnswer(NamedTuple):
    """What was asked, and the answer."""

    pool: SizedPool
    question: SizeQuestion
    sizing: Sizing

    @property
    def axis(self) -> TimeAxis:
        """The time from the earliest opening to when nothing changes any more."""
        found, choices = self.pool.occurrence, self.sizing.choices
        first = min(min(-one.offer.lead, *one.times[:1]) for one in choices)
        last = max(max(one.ready, one.times[-1]) for one in choices) + _SETTLE
        start = found.start
        return TimeAxis(start + first, start, start + last, named(found.zone), is_whole=False)


def comment(found: SizeAnswer, chosen: Choice) -> str:
    """Return the comment that says where the seats and the lead of a reservation come from."""
    question, supply = found.question, found.sizing.supply
    but = f", but {chosen.unserved} get no seat: nodes have room for {supply.most}" if chosen.unserved else ""
    return (
        f"{MARK}{question.invited} people ({chosen.name}): {chosen.people} come {_arrivals(question)}; "
        f"{_promise(question)}; nodes take {minutes(supply.window)} min{but}."
    )


def _arrivals(question: SizeQuestion) -> str:
    arrivals = question.arrivals
    if arrivals.shape == MEASURED:
        return f"as {len(arrivals.measured)} earlier sessions did"
    words = _BY_SHAPE[arrivals.shape]
    if arrivals.shape == AT_ONCE:
        return words
    return f"{words} {minutes(arrivals.over)} min around the start"


def _promise(question: SizeQuestion) -> str:
    promise = question.promise
    return f"at most {promise.late:.0%} wait longer than {minutes(promise.within)} min"


def text(found: SizeAnswer, chosen: Choice, form: str, columns: int | None) -> str:
    occurrence, question = found.pool.occurrence, found.question
    zone = named(occurrence.zone)
    when = f"{occurrence.id}, {span_text(occurrence.start, occurrence.end, zone)} {occurrence.zone}"
    rows = [_row(found, one) for one in found.sizing.choices]
    parts = [f"{when}\n{question.invited} people are invited to class {found.pool.resource_class}.\n"]
    if form == "markdown":
        return "\n".join([*parts, table.markdown(_HEADINGS, rows), f"{_sentence(found, chosen)}\n"])
    look = look_of(sys.stdout)
    fit = Fit(columns, ("nodes",), _SPARE)
    parts += [table.text(_HEADINGS, rows, fit), f"{fill(_sentence(found, chosen), look.width)}\n"]
    return "\n".join([*parts, terminal.draw(_panel(found, chosen), found.axis, look)])


def _row(found: SizeAnswer, one: Choice) -> list[str]:
    return [
        one.name,
        str(one.offer.seats),
        f"{minutes(one.offer.lead)} min",
        str(one.people),
        _ready(found, one),
        machines_text(one.machines),
        str(one.late),
        str(one.unserved),
        f"{minutes(one.longest)} min",
        money_or_unknown(one.cost),
    ]


def _ready(found: SizeAnswer, one: Choice) -> str:
    if not one.offer.seats:
        return ""
    if one.offer.seats > found.sizing.supply.most:
        return "never"
    start, zone = found.pool.occurrence.start, named(found.pool.occurrence.zone)
    return near_text(start + 60 * minutes(one.ready), zone, local_day(start, zone))


def _sentence(found: SizeAnswer, chosen: Choice) -> str:
    """Explain the choice."""
    question, supply = found.question, found.sizing.supply
    within, single = minutes(question.promise.within), minutes(supply.single)
    often = "on 95 of 100 days at most " if chosen.name == SAFE and question.show_up < 1 else ""
    reserved = "No seats are needed."
    if chosen.offer.seats:
        reserved = (
            f"{chosen.offer.seats} seats open {minutes(chosen.offer.lead)} min before the start; their nodes "
            f"take up to {minutes(supply.window)} min."
        )
    return (
        f"{chosen.name}: {often}{chosen.people} of {question.invited} people come {_arrivals(question)}. "
        f"{reserved} Without a reserved seat a person waits up to {single} min for a node, which has room "
        f"for {supply.seats}. {chosen.late} of {chosen.people} people wait longer than {within} min; "
        f"{question.promise.late:.0%} may.{_shortage(found, chosen)}"
    )


def _shortage(found: SizeAnswer, chosen: Choice) -> str:
    """Say who never gets a seat, and why."""
    missing, most = found.sizing.missing, found.sizing.supply.most
    if missing is None:
        return ""
    seats = max(0, chosen.offer.seats - most)
    waiting = f" {seats} of the reserved seats never find one." if seats else ""
    return (
        f" All nodes together have room for {most} ({missing.message}).{waiting} {chosen.unserved} of "
        f"{chosen.people} people ({chosen.unserved / chosen.people:.0%}) get no seat. To seat all, raise the "
        "limits (maxCount of generic nodes), or let the class use more capacity (cloudCapacity)."
    )


def _panel(found: SizeAnswer, one: Choice) -> LinePanel:
    axis = found.axis
    ready = (axis.start + one.ready, min(one.offer.seats, found.sizing.supply.most))
    people = tuple((axis.start + at, number) for at, number in arrived(one))
    lines = (
        ChartLine(TARGET, ((axis.open, 0), ready), "ready"),
        ChartLine(SESSIONS, ((axis.open, 0), *people), "people"),
    )
    return LinePanel(
        f"{one.name}: {one.offer.seats} seats, {minutes(one.offer.lead)} min early", one.people, lines
    )


def picture(found: SizeAnswer) -> str:
    question, pool = found.question, found.pool
    title = f"{pool.reservation.title}: {question.invited} people, class {pool.resource_class}"
    subtitle = f"They come {_arrivals(question)}; {_promise(question)}"
    return linechart.line_chart(
        title, subtitle, [_panel(found, one) for one in found.sizing.choices], found.axis
    )


def as_answer(found: SizeAnswer) -> report.Answer:
    pool, question, supply = found.pool, found.question, found.sizing.supply
    start = pool.occurrence.start
    choices = [
        {
            "name": one.name,
            "seats": one.offer.seats,
            "leadTimeMinutes": minutes(one.offer.lead),
            "people": one.people,
            "readyAt": instant_text(start + one.ready) if one.offer.seats <= supply.most else None,
            "machines": machines_json(one.machines),
            "waitLonger": one.late,
            "withoutSeat": one.unserved,
            "longestWaitSeconds": one.longest,
            "cost": money_json(one.cost),
        }
        for one in found.sizing.choices
    ]
    missing = found.sizing.missing
    return report.document(
        "Size",
        {
            "occurrence": pool.occurrence.id,
            "class": pool.resource_class,
            "cluster": pool.cluster,
            "start": instant_text(start),
            "end": instant_text(pool.occurrence.end),
            "students": question.invited,
            "showUp": question.show_up,
            "withinSeconds": question.promise.within,
            "late": question.promise.late,
            "nodeSeconds": {"window": supply.window, "single": supply.single},
            "seatsOfANode": supply.seats,
            "withoutNode": missing.count if missing else 0,
            "currency": "USD",
            "choices": choices,
        },
    )
