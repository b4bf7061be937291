"""`berth size`: how many seats people need, and how early, with the nodes and the cost."""

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

import click

from berth.checks.project import Item
from berth.cli.command import Settings, command
from berth.cli.completion import complete_reservations
from berth.cli.console import DEFAULT_COLUMNS, EXIT_OK
from berth.cli.selection import class_option, clock_of, items_of, opened
from berth.cli.selection import occurrence as selected_occurrence
from berth.core.jsonvalues import instant_text
from berth.dates.moments import local_day, named, near_text, span_text
from berth.dates.zone import date_text
from berth.durations import whole_seconds
from berth.edit.create import ReservationRequest, new_reservation, reservation_yaml
from berth.edit.seatcounts import seat_count
from berth.machines.clusterplans import DEVICES, NO_CLOUD, why_uncounted
from berth.machines.formatting import machines_json, machines_text, minutes, money_json, money_or_unknown
from berth.machines.sizing import MOST_PEOPLE, Offer, SizedPool, SizeQuestion, Sizing, sized
from berth.manifests import naming
from berth.manifests.placed import cluster_of
from berth.notation.refusal import CommandError, read_all, read_at
from berth.output.answers import Answer, document
from berth.output.table import wrapped
from berth.pipeline import Pipeline
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Site

_NEEDLESS = "No seats are needed: nodes start soon enough."
_ANY = "size"  # the name of a reservation that is not declared


class SizeAnswer(NamedTuple):
    """What was asked, and the answer."""

    pool: SizedPool
    question: SizeQuestion
    sizing: Sizing

    @property
    def is_declared(self) -> bool:
        return self.pool.reservation.name != _ANY

    @property
    def ready(self) -> int | None:
        """When the last reserved seat has a node."""
        offer, supply = self.sizing.offer, self.sizing.supply
        return self.pool.occurrence.start - offer.lead + supply.window if offer.seats else None


@command(
    "text json yaml",
    examples=(
        "berth size my-course --students 300",
        "berth size my-course --students 300 --show-up 80% --wait 5m",
        "berth size --class small --students 120 --over 30m",
    ),
)
@click.argument("name", required=False, shell_complete=complete_reservations)
@class_option()
@click.option("--students", metavar="NUMBER", required=True, help="How many people are invited.")
@click.option("--show-up", metavar="SHARE", default="100%", help="How many of them come; default: 100%.")
@click.option("--wait", metavar="TIME", default="2m", help="How long a person may wait; default: 2m.")
@click.option("--over", metavar="TIME", default="20m", help="Time in which all arrive; default: 20m.")
def size_(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str | None,
    resource_class: str | None,
    students: str,
    show_up: str,
    wait: str,
    over: str,
) -> int:
    """Size a reservation for so many people: seats, lead, cost.

    Says what to reserve so that at most 5% of the people wait longer than --wait, and what the reservation
    says now. Without NAME, it sizes two hours of --class.
    """
    pipeline, clock = opened(settings, [name], resource_class)
    question = SizeQuestion(
        *read_all(
            lambda: _people(students),
            lambda: _share(show_up),
            lambda: _time("--wait", wait),
            lambda: _time("--over", over),
        )
    )
    if name is None:
        if resource_class is None:
            raise CommandError("Name a reservation, or a class with --class.")
        day = date_text(clock.today + 1)
        given = {"class": resource_class, "seats": "1", "dates": day, "behavior": "none"}
        request = ReservationRequest(_ANY, "dates", ("09:00-11:00",), given)
        pipeline = _with_reservation(pipeline, new_reservation(request))
    item = _item_of(settings, pipeline, name or _ANY)
    if item is None:
        return settings.report(pipeline.findings())
    size = answer(pipeline, item, resource_class, clock.now, question)
    settings.answer(lambda: _as_answer(size), lambda: _text(size, settings.columns or DEFAULT_COLUMNS))
    return EXIT_OK


def _people(text: str) -> int:
    people = read_at("--students", lambda: seat_count(text))
    if people > MOST_PEOPLE:
        raise CommandError(f'--students "{text}" is above {MOST_PEOPLE}.')
    return people


def _time(flag: str, text: str) -> int:
    try:
        found = whole_seconds(text)
    except ValueError:
        found = -1
    if not 0 <= found <= 86_400:
        raise CommandError(f'{flag} "{text}" is not a time up to 24h. Write one such as 10m.')
    return found


def _share(text: str) -> float:
    if not re.fullmatch(r"(?!0+%)(\d{1,2}|100)%", text, re.ASCII):
        raise CommandError(f'--show-up "{text}" is not a share from 1% to 100%. Write one such as 80%.')
    return int(text[:-1]) / 100


def answer(
    pipeline: Pipeline, item: Item, resource_class: str | None, now: int, question: SizeQuestion
) -> SizeAnswer:
    """Size the next occurrence of a reservation."""
    site = pipeline.site
    assert site is not None  # without it there are no items
    pool = _pool(pipeline, site, item, resource_class, now)
    sizing = sized(pipeline.declared, site, pool, question)
    if sizing.missing and not sizing.supply.most:
        raise CommandError(f"no node takes a seat of class {pool.resource_class}: {sizing.missing.message}.")
    return SizeAnswer(pool, question, sizing)


def sized_request(
    settings: Settings, pipeline: Pipeline, request: ReservationRequest, students: str
) -> tuple[ReservationRequest, str]:
    """Return a request with the seats and lead for so many people, and the comment that says so.

    The question has the defaults of `berth size`. If the project has errors, everybody gets a seat.
    """
    question = SizeQuestion(_people(students))
    request = request._replace(given={**request.given, "seats": students})
    after = _with_reservation(pipeline, new_reservation(request))
    item = _item_of(settings, after, request.name)
    if item is None:
        return request, ""
    found = answer(after, item, None, clock_of(settings, after).now, question)
    offer = found.sizing.offer
    if not offer.seats:
        raise CommandError(f"{_NEEDLESS} Nothing was written.")
    given = {"lead": str(minutes(offer.lead)), **request.given, "seats": str(offer.seats)}
    return request._replace(given=given), f"Sized for {question.invited} people: {_reason(found)}"


def _with_reservation(pipeline: Pipeline, reservation: Reservation) -> Pipeline:
    return pipeline.with_files({f"reservations/{reservation.name}.yaml": reservation_yaml(reservation)})


def _item_of(settings: Settings, pipeline: Pipeline, name: str) -> Item | None:
    """Return the item of a reservation; None if the project has errors."""
    items = items_of(settings, pipeline)
    found = [item for item in items if item.reservation.name == name]
    return found[0] if found and not pipeline.has_errors() else None


def _pool(pipeline: Pipeline, site: Site, item: Item, resource_class: str | None, now: int) -> SizedPool:
    reservation, declared = item.reservation, pipeline.declared
    if reservation.holder.unit is not Unit.SEAT or reservation.holder.persistence is not None:
        raise CommandError(f"{reservation.name} has no windows with seats that people could take.")
    if not reservation.holder.adds_nodes:
        raise CommandError(f"{reservation.name} has slots of Koordinator alone, which add no nodes.")
    occurrence = selected_occurrence(item, None, resource_class, now)
    names = [name for name, _ in occurrence.seats]
    if resource_class is None and len(names) > 1:
        raise CommandError(f"{reservation.name} has several classes. Choose one: --class {names[0]}.")
    own = declared.classes[resource_class or names[0]]
    is_known = any(name in declared.capacities for name in own.cloud_capacity)
    cluster = cluster_of(own, site)
    assert cluster is not None  # the project has no errors
    labels = tuple(sorted(naming.of_placeholder(site, reservation, own).items()))
    unplanned = "" if is_known else NO_CLOUD
    unplanned = DEVICES if own.resource_claims else unplanned
    unplanned = unplanned or why_uncounted(own, labels, declared.clouds.values())
    return SizedPool(reservation, own.name, cluster.name, occurrence, unplanned)


def _reason(size: SizeAnswer) -> str:
    """Say which people get what."""
    pool, question, sizing = size.pool, size.question, size.sizing
    take = "may take" if pool.unplanned else "take"
    room = f"; {sizing.unserved} get no seat: nodes have room for {sizing.supply.most}"
    return (
        f"{question.people} come within {minutes(question.over)} min around the start; {sizing.late} wait "
        f"longer than {minutes(question.within)} min{room if sizing.unserved else ''}; nodes {take} "
        f"{minutes(sizing.supply.window)} min."
    )


def _text(size: SizeAnswer, columns: int) -> str:
    pool, occurrence = size.pool, size.pool.occurrence
    when = span_text(occurrence.start, occurrence.end, named(occurrence.zone))
    date = f"{occurrence.id}, {when} {occurrence.zone}\n" if size.is_declared else ""
    head = f"{date}{size.question.invited} people are invited to class {pool.resource_class}."
    return "\n".join(
        f"{text if text.startswith(' ') else wrapped(text, columns)}\n" for text in (head, *_advice(size))
    )


def _advice(size: SizeAnswer) -> Iterator[str]:
    """Yield paragraphs: what to reserve, the command, the reason, and what is not known or lacking."""
    pool, sizing = size.pool, size.sizing
    today = f" Today: {_offer(pool.today)}; {sizing.late_today} wait longer." * size.is_declared
    if not sizing.offer.seats:
        reason = _reason(size)
        yield f"{_NEEDLESS} {reason[:1].upper()}{reason[1:]}{today}"
        return
    yield f"Reserve {_offer(sizing.offer)}: {_reason(size)}{today}"
    if size.is_declared and pool.occurrence.seats != pool.reservation.seats:
        yield f"The date has its own number of seats: change it in {pool.reservation.origin.file}."
    elif size.is_declared:
        yield f"    {_command(pool, sizing.offer)}"
    if pool.unplanned:
        yield (
            f"The machines of class {pool.resource_class} are not known ({pool.unplanned}). For machines and "
            f"cost, do what berth plan --class {pool.resource_class} prints."
        )
        return
    assert size.ready is not None
    zone = named(pool.occurrence.zone)
    ready = near_text(60 * minutes(size.ready), zone, local_day(pool.occurrence.start, zone))
    yield (
        f"Nodes of the seats: {machines_text(sizing.machines) or 'none'}; all are ready at {ready}. "
        f"Cost of the date: {money_or_unknown(sizing.cost)} USD."
    )
    if sizing.missing:
        yield (
            f"No node for {sizing.unserved} people: {sizing.missing.message}. To seat all, raise the limits "
            "(maxCount of generic nodes), or let the class use more capacity (cloudCapacity)."
        )


def _offer(offer: Offer) -> str:
    return f"{offer.seats} seat{'' if offer.seats == 1 else 's'}, {minutes(offer.lead)} min before the start"


def _command(pool: SizedPool, offer: Offer) -> str:
    """Return the command that writes the offer."""
    reservation, lead = pool.reservation, f"leadTimeMinutes={minutes(offer.lead)}"
    words = ["--seats", f"{offer.seats}", f"provisioning.{lead}"]
    if reservation.seats_listed:
        row = f"provisioning.seats[{[name for name, _ in reservation.seats].index(pool.resource_class)}]"
        words = [f"{row}.placeholderCount={offer.seats}", f"{row}.{lead}"]
    return shlex.join(["berth", "set", reservation.name, *words])


def _as_answer(size: SizeAnswer) -> Answer:
    """Return the answer of kind Size."""
    pool, question, sizing, supply = size.pool, size.question, size.sizing, size.sizing.supply
    today = {"seats": pool.today.seats, "leadTimeMinutes": minutes(pool.today.lead)}
    return document(
        "Size",
        {
            "occurrence": pool.occurrence.id,
            "class": pool.resource_class,
            "cluster": pool.cluster,
            "start": instant_text(pool.occurrence.start),
            "end": instant_text(pool.occurrence.end),
            "students": question.invited,
            "people": question.people,
            "seats": sizing.offer.seats,
            "leadTimeMinutes": minutes(sizing.offer.lead),
            "readyAt": None if size.ready is None else instant_text(size.ready),
            "machines": machines_json(sizing.machines),
            "waitLonger": sizing.late,
            "withoutSeat": None if pool.unplanned else sizing.unserved,
            "nodeSeconds": {"window": supply.window, "single": supply.single},
            "currency": "USD",
            "cost": money_json(sizing.cost),
            "today": {**today, "waitLonger": sizing.late_today} if size.is_declared else None,
        },
    )
