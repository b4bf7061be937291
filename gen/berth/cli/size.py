"""`berth size`: how many seats people need, and how early, with the nodes and the cost of each choice."""

from typing import Any

import click

from berth.cli import sizereport
from berth.cli.command import FILE, Settings, command
from berth.cli.completion import complete_reservations
from berth.cli.console import EXIT_OK
from berth.cli.plan import save_chart
from berth.cli.selection import chart_option, class_option, clock_of, require_class, require_reservations
from berth.cli.sizequestion import LATE, OVER, SHOW_UP, WITHIN, answer, item_of, question_of, with_reservation
from berth.cli.sizereport import SizeAnswer
from berth.cli.writing import finish_edit
from berth.cost.formatting import minutes
from berth.cost.sizechoices import CHEAPEST, SAFE, TODAY, Choice
from berth.cost.sizing import BELL, SHAPES
from berth.dates.zone import date_text
from berth.edit.create import ReservationRequest, new_reservation
from berth.edit.edits import edit_reservation
from berth.edit.roundtrip import Comment, MakeNode
from berth.edit.seatcounts import set_seats
from berth.notation.refusal import CommandError
from berth.pipeline import Pipeline
from berth.schema.reservation import Reservation

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
        "berth size my-course --students 300 --from-log sessions.log --chart size.svg",
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
    help="The choice to draw and to write; default: cheapest.",
)
@click.option("--write", is_flag=True, help="Write the choice to the reservation.")
@chart_option
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
    if options["chart"] is not None:
        save_chart(settings, options["chart"], sizereport.picture(size))
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
    name = size.pool.resource_class

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        set_seats(reservation, {name: chosen.offer.seats}, tree, make)
        written = tree["spec"]["provisioning"]
        row = dict(zip(dict(reservation.seats), written.get("seats", ()), strict=False)).get(name, written)
        row["leadTimeMinutes"] = minutes(chosen.offer.lead)

    comment = Comment("provisioning", sizereport.MARK, sizereport.comment(size, chosen))
    edited = edit_reservation(pipeline, size.pool.reservation.name, change, now, comment)
    return finish_edit(settings, pipeline, edited)
