"""The layout of a size: a table of choices with an explanation, JSON, and a comment for the file."""

from collections.abc import Sequence
from typing import NamedTuple

from berth.cli.console import DEFAULT_COLUMNS
from berth.core.jsonvalues import instant_text
from berth.cost.sizechoices import GIVEN_UP, SAFE, Choice, SizedPool, SizeQuestion, Sizing
from berth.cost.sizing import AT_ONCE, BELL, MEASURED, UNIFORM
from berth.dates.moments import local_day, named, near_text, span_text
from berth.machines.formatting import machines_json, machines_text, minutes, money_column
from berth.output.answers import Answer, document, instant_column
from berth.output.columns import Column, Table, as_json
from berth.output.table import Fit, wrapped

MARK = "Sized for "  # how the comment begins
_BY_SHAPE = {AT_ONCE: "all at the start", UNIFORM: "evenly over", BELL: "in a bell of"}


class SizeAnswer(NamedTuple):
    """What was asked, and the answer."""

    pool: SizedPool
    question: SizeQuestion
    sizing: Sizing


def comment(answer: SizeAnswer, chosen: Choice) -> str:
    """Return the comment that says where the seats and the lead of a reservation come from."""
    question, supply = answer.question, answer.sizing.supply
    but = f", but {chosen.unserved} get no seat: nodes have room for {supply.most}" if chosen.unserved else ""
    take = "take" if answer.pool.has_nodes else "may take"
    return (
        f"{MARK}{question.invited} people ({chosen.name}): {chosen.people} come {_arrivals(question)}; "
        f"{_promise(question)}; nodes {take} {minutes(supply.window)} min{but}."
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


def text(answer: SizeAnswer, chosen: Choice, form: str, columns: int | None) -> str:
    occurrence, question = answer.pool.occurrence, answer.question
    zone = named(occurrence.zone)
    when = f"{occurrence.id}, {span_text(occurrence.start, occurrence.end, zone)} {occurrence.zone}"
    table = Table.of(_choice_columns(answer), answer.sizing.choices)
    if not answer.pool.has_nodes:
        table = table.without("nodes", "no seat", "cost USD")
    shown = table.written(form, Fit(columns, ("nodes",)))
    parts = [f"{when}\n{question.invited} people are invited to class {answer.pool.resource_class}.\n", shown]
    if form == "markdown":
        return "\n".join([*parts, f"{_sentence(answer, chosen)}\n"])
    return "\n".join([*parts, f"{wrapped(_sentence(answer, chosen), columns or DEFAULT_COLUMNS)}\n"])


def _choice_columns(answer: SizeAnswer) -> Sequence[Column[Choice]]:
    start, most = answer.pool.occurrence.start, answer.sizing.supply.most
    return (
        Column("choice", "name", lambda choice: choice.name),
        Column("seats", "seats", lambda choice: choice.offer.seats),
        Column("lead", "leadTimeMinutes", lambda choice: choice.offer.lead, _minutes_text, minutes),
        Column("people", "people", lambda choice: choice.people),
        Column("all ready", "", lambda choice: _ready(answer, choice)),
        instant_column(
            "", "readyAt", lambda choice: start + choice.ready if choice.offer.seats <= most else None
        ),
        Column("nodes", "machines", lambda choice: choice.machines, machines_text, machines_json),
        Column("wait longer", "waitLonger", lambda choice: choice.late),
        Column("no seat", "withoutSeat", lambda choice: choice.unserved if answer.pool.has_nodes else None),
        Column("longest", "longestWaitSeconds", lambda choice: choice.longest, _minutes_text),
        money_column("cost USD", "cost", lambda choice: choice.cost),
    )


def _minutes_text(seconds: int) -> str:
    return f"{minutes(seconds)} min"


def _ready(answer: SizeAnswer, choice: Choice) -> str:
    if not choice.offer.seats:
        return ""
    if choice.offer.seats > answer.sizing.supply.most:
        return "never"
    start, zone = answer.pool.occurrence.start, named(answer.pool.occurrence.zone)
    return near_text(start + 60 * minutes(choice.ready), zone, local_day(start, zone))


def _sentence(answer: SizeAnswer, chosen: Choice) -> str:
    """Explain the choice."""
    question, supply = answer.question, answer.sizing.supply
    within, single = minutes(question.promise.within), minutes(supply.single)
    often = "on 95 of 100 days at most " if chosen.name == SAFE and question.show_up < 1 else ""
    reserved = "No seats are needed."
    if chosen.offer.seats:
        reserved = (
            f"{chosen.offer.seats} seats open {minutes(chosen.offer.lead)} min before the start; their nodes "
            f"take up to {minutes(supply.window)} min."
        )
    shared = f", which has room for {supply.seats}" if answer.pool.has_nodes else ""
    return (
        f"{chosen.name}: {often}{chosen.people} of {question.invited} people come {_arrivals(question)}. "
        f"{reserved} Without a reserved seat a person waits up to {single} min for a node{shared}. "
        f"{chosen.late} of {chosen.people} people wait longer than {within} min; "
        f"{question.promise.late:.0%} may.{_shortage(answer, chosen)}"
    )


def _shortage(answer: SizeAnswer, chosen: Choice) -> str:
    """Say who never gets a seat, and why; or that nobody knows the nodes."""
    missing, most = answer.sizing.missing, answer.sizing.supply.most
    if not answer.pool.has_nodes:
        name = answer.pool.resource_class
        return (
            f" The machines of class {name} are not known ({answer.pool.unplanned}): one takes "
            f"{minutes(GIVEN_UP)} min here, after which autoscalers give up on it. For machines and "
            f"cost, do what berth plan --class {name} prints."
        )
    if missing is None:
        return ""
    seats = max(0, chosen.offer.seats - most)
    waiting = f" {seats} of the reserved seats never find one." if seats else ""
    return (
        f" All nodes together have room for {most} ({missing.message}).{waiting} {chosen.unserved} of "
        f"{chosen.people} people ({chosen.unserved / chosen.people:.0%}) get no seat. To seat all, raise the "
        "limits (maxCount of generic nodes), or let the class use more capacity (cloudCapacity)."
    )


def as_answer(answer: SizeAnswer) -> Answer:
    """Return the answer of kind Size."""
    pool, question, supply = answer.pool, answer.question, answer.sizing.supply
    missing = answer.sizing.missing
    return document(
        "Size",
        {
            "occurrence": pool.occurrence.id,
            "class": pool.resource_class,
            "cluster": pool.cluster,
            "start": instant_text(pool.occurrence.start),
            "end": instant_text(pool.occurrence.end),
            "students": question.invited,
            "showUp": question.show_up,
            "withinSeconds": question.promise.within,
            "late": question.promise.late,
            "nodeSeconds": {"window": supply.window, "single": supply.single},
            "seatsOfANode": supply.seats if pool.has_nodes else None,
            "withoutNode": missing.count if missing else 0,
            "currency": "USD",
            "choices": as_json(_choice_columns(answer), answer.sizing.choices),
        },
    )
