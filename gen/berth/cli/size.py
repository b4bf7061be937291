"""`berth size`: how many seats people need, and how early, with the nodes and the cost of each choice."""

import re
from pathlib import Path
from typing import Any

import click

from berth.cli import sizereport
from berth.cli.command import FILE, Settings, command, reason
from berth.cli.completion import complete_reservations
from berth.cli.console import EXIT_OK
from berth.cli.selection import class_option, clock_of, require_class, require_reservations
from berth.cli.selection import occurrence as selected_occurrence
from berth.cli.sizereport import SizeAnswer
from berth.cli.writing import finish_edit
from berth.cost import arrivallog
from berth.cost.sizechoices import CHEAPEST, SAFE, TODAY, Choice, SizedPool, SizeQuestion, sized
from berth.cost.sizing import BELL, MEASURED, MOST_PEOPLE, SHAPES, Arrivals, Promise
from berth.dates.moments import named
from berth.dates.zone import date_text
from berth.durations import whole_seconds
from berth.edit.create import ReservationRequest, new_reservation, reservation_yaml
from berth.edit.edits import edit_reservation
from berth.edit.roundtrip import Comment, MakeNode
from berth.edit.seatcounts import set_seats
from berth.machines.clusterplans import DEVICES, NO_CLOUD, why_uncounted
from berth.machines.formatting import minutes
from berth.manifests import naming
from berth.manifests.placed import cluster_of
from berth.notation.refusal import CommandError, read_all
from berth.pipeline import Item, Pipeline
from berth.reading.source import Source
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Site

WITHIN, OVER, LATE, SHOW_UP = "2m", "20m", "5%", "100%"
NEEDLESS = "No seats are needed: nodes start soon enough. Nothing was written."
_ANY = "size"  # the name of a reservation that is not declared


@command(
    "text",
    "json",
    "yaml",
    "markdown",
    examples=(
        "berth size my-course --students 300",
        "berth size my-course --students 300 --show-up 80% --within 5m --write",
        "berth size --class small --students 120 --arrivals uniform --over 30m",
        "berth size my-course --students 300 --from-log sessions.log",
    ),
)
@click.argument("name", required=False, shell_complete=complete_reservations)
@class_option()
@click.option("--students", metavar="NUMBER", required=True, help="How many people are invited.")
@click.option("--show-up", metavar="SHARE", default=SHOW_UP, help="How many of them come; default: 100%.")
@click.option("--within", metavar="TIME", default=WITHIN, help="How long a person may wait; default: 2m.")
@click.option("--late", metavar="SHARE", default=LATE, help="How many may wait longer; default: 5%.")
@click.option("--arrivals", type=click.Choice(SHAPES), default=BELL, help="How people arrive; default: bell.")
@click.option("--over", metavar="TIME", default=OVER, help="Time in which all arrive; default: 20m.")
@click.option("--from-log", metavar="FILE", type=FILE, help="Arrivals as in this log of earlier sessions.")
@click.option(
    "--choice",
    type=click.Choice((CHEAPEST, SAFE)),
    default=CHEAPEST,
    help="The choice to explain and to write; default: cheapest.",
)
@click.option("--write", is_flag=True, help="Write the choice to the reservation.")
def size_(settings: Settings, *, name: str | None, **options: Any) -> int:
    """Size a reservation for so many people: seats, lead, cost.

    Shows the cheapest choice that keeps the promise, a safe one, and what the reservation says now. Without
    NAME, for two hours of a class.
    """
    if name is None and options["write"]:
        raise CommandError("--write needs the NAME of a reservation.")
    pipeline = Pipeline()
    require_reservations([] if name is None else [name], pipeline)
    resource_class = require_class(options["resource_class"], pipeline)
    clock = clock_of(settings, pipeline)
    if name is None:
        if resource_class is None:
            raise CommandError("Name a reservation, or a class with --class.")
        day = date_text(clock.today + 1)
        given = {"class": resource_class, "seats": "1", "dates": day, "behavior": "none"}
        request = ReservationRequest(_ANY, "dates", ("09:00-11:00",), given)
        pipeline = with_reservation(pipeline, new_reservation(request))
    item = item_of(settings, pipeline, name or _ANY)
    if item is None:
        return settings.report(pipeline.findings())
    size = answer(pipeline, item, resource_class, clock.now, question_of(settings, options, item))
    if name is None:
        size = size._replace(sizing=size.sizing.without(TODAY))
    chosen = size.sizing.choice(options["choice"])
    settings.answer(
        lambda: sizereport.as_answer(size),
        lambda: sizereport.text(size, chosen, settings.form, settings.columns),
    )
    return _write(settings, pipeline, size, chosen, clock.now) if options["write"] else EXIT_OK


def _write(settings: Settings, pipeline: Pipeline, size: SizeAnswer, chosen: Choice, now: int) -> int:
    if not chosen.offer.seats:
        raise CommandError(
            "No seats are needed: nodes start early enough for everybody. Nothing was written."
        )
    name, reservation = size.pool.resource_class, size.pool.reservation
    if size.pool.occurrence.seats != reservation.seats:
        raise CommandError(
            f"{size.pool.occurrence.id} has its own number of seats, so that of {reservation.name} would not "
            f"change it. Write {chosen.offer.seats} beside it. Nothing was written."
        )

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        set_seats(reservation, {name: chosen.offer.seats}, tree, make)
        written = tree["spec"]["provisioning"]
        row = dict(zip(dict(reservation.seats), written.get("seats", ()), strict=False)).get(name, written)
        row["leadTimeMinutes"] = minutes(chosen.offer.lead)

    comment = Comment("provisioning", sizereport.MARK, sizereport.comment(size, chosen))
    edited = edit_reservation(pipeline, reservation.name, change, now, comment)
    return finish_edit(settings, pipeline, edited)


def question_of(settings: Settings, options: dict[str, Any], item: Item) -> SizeQuestion:
    over, within, late, show_up, people = read_all(
        lambda: _time("--over", options["over"]),
        lambda: _time("--within", options["within"]),
        lambda: _share("--late", options["late"]),
        lambda: _attendance(options["show_up"]),
        lambda: _people(options["students"]),
    )
    arrivals = Arrivals(options["arrivals"], over)
    if options["from_log"] is not None:
        arrivals = _measured(settings, options["from_log"], item, options["resource_class"])
    return SizeQuestion(people, show_up, arrivals, Promise(within, late))


def _attendance(text: str) -> float:
    show_up = _share("--show-up", text)
    if not show_up:
        raise CommandError("--show-up 0%: nobody would come. Write a larger share.")
    return show_up


def _measured(settings: Settings, file: str, item: Item, resource_class: str | None) -> Arrivals:
    try:
        text = Path(settings.given(file)).read_text("utf-8", errors="replace")
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise CommandError(f"--from-log {file}: {reason(error)}.") from error
    reservation = item.reservation
    if reservation.behavior != "maintain" and arrivallog.is_record(text):
        raise CommandError(
            f"--from-log {file}: the record of behavior {reservation.behavior} does not say when sessions "
            "came. Give a log of sessions."
        )
    own = resource_class or reservation.seats[0][0]
    zone = named(reservation.recurrence.zone)
    found = arrivallog.arrivals(text, item.expansion.occurrences, own, zone)
    if not found:
        raise CommandError(
            f"--from-log {file}: no session began during an occurrence of {reservation.name}. Give a line "
            "with an instant for each session, or records.json of behavior maintain."
        )
    return Arrivals(MEASURED, measured=found)


def _people(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MOST_PEOPLE):
        raise CommandError(f'--students "{text}" is not a whole number from 1 to {MOST_PEOPLE}.')
    return int(text)


def _time(flag: str, text: str) -> int:
    try:
        found = whole_seconds(text)
    except ValueError:
        found = -1
    if not 0 <= found <= 86_400:
        raise CommandError(f'{flag} "{text}" is not a time up to 24h. Write one such as 10m.')
    return found


def _share(flag: str, text: str) -> float:
    digits = text.removesuffix("%")
    if not (text.endswith("%") and re.fullmatch(r"\d{1,2}|100", digits, re.ASCII)):
        raise CommandError(f'{flag} "{text}" is not a share from 0% to 100%. Write one such as 80%.')
    return int(digits) / 100


def answer(
    pipeline: Pipeline, item: Item, resource_class: str | None, now: int, question: SizeQuestion
) -> SizeAnswer:
    """Size the next occurrence of a reservation."""
    site = pipeline.site
    assert site is not None  # without it there are no items
    pool = _pool(pipeline, site, item, resource_class, now)
    return SizeAnswer(pool, question, sized(pipeline.declared, site, pool, question))


def sized_request(
    settings: Settings, pipeline: Pipeline, request: ReservationRequest, students: str
) -> tuple[ReservationRequest, str]:
    """Return a request with the seats and lead of the cheapest choice, and the comment that says so.

    The question has the defaults of `berth size`. If the project has errors, everybody gets a seat.
    """
    question = SizeQuestion(
        _people(students),
        1.0,
        Arrivals(BELL, whole_seconds(OVER)),
        Promise(whole_seconds(WITHIN), _share("", LATE)),
    )
    request = request._replace(given={**request.given, "seats": students})
    after = with_reservation(pipeline, new_reservation(request))
    item = item_of(settings, after, request.name)
    if item is None:
        return request, ""
    found = answer(after, item, None, clock_of(settings, after).now, question)
    chosen = found.sizing.choice(CHEAPEST)
    if not chosen.offer.seats:
        raise CommandError(NEEDLESS)
    lead = {"lead": str(minutes(chosen.offer.lead))}
    given = {**lead, **request.given, "seats": str(chosen.offer.seats)}
    return request._replace(given=given), sizereport.comment(found, chosen)


def with_reservation(pipeline: Pipeline, reservation: Reservation) -> Pipeline:
    source = Source(f"reservations/{reservation.name}.yaml", reservation_yaml(reservation).encode())
    return Pipeline(sources=sorted([*pipeline.sources, source]))


def item_of(settings: Settings, pipeline: Pipeline, name: str) -> Item | None:
    """Return the item of a reservation; None if the project has errors."""
    items = settings.progress(pipeline.items(), len(pipeline.declared.reservations))
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
    is_known = any(name in declared.clouds or name in declared.generic for name in own.cloud_capacity)
    cluster = cluster_of(own, site)
    assert cluster is not None  # the project has no errors
    labels = tuple(sorted(naming.of_placeholder(site, reservation, own).items()))
    unplanned = "" if is_known else NO_CLOUD
    unplanned = DEVICES if own.resource_claims else unplanned
    unplanned = unplanned or why_uncounted(own, labels, declared.clouds.values())
    return SizedPool(reservation, own.name, cluster.name, occurrence, unplanned)
