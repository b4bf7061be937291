"""`CapacityReservation`: how many seats, of which class, when."""

from gen.finding import Path
from gen.kind import grammar
from gen.kind.entry import CLASS, COUNT, SEATS, seats
from gen.kind.metadata import IGNORE, LABELS, Document
from gen.kind.schedule import RECURRENCE, agree_on_seats, recurrence
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    MISSING,
    RANGE,
    Field,
    Fields,
    ListOf,
    Made,
    MapOf,
    Refusal,
    Report,
)
from gen.kind.value import Flag, OneOf, Text, Whole
from gen.model import Origin, Reservation, Seats, SessionMatch

BEHAVIOURS = ("maintain", "reduce", "none")
DEFAULT_LEAD = 30
LONGEST_TITLE = 1200  # characters; it is an annotation of every object


def _title(text: str) -> str:
    if len(text) > LONGEST_TITLE:
        raise Refusal(f"the title has {len(text)} characters.", f"Write at most {LONGEST_TITLE}.", RANGE)
    return text


PROVISIONING = Fields(
    {
        "placeholderCount": Field(COUNT, None, "seats of `resourceClass`", "none: then write `seats`"),
        "seats": Field(SEATS, None, "instead of `resourceClass`: seats by class", "none"),
        "leadTimeMinutes": Field(
            Whole(0, 180), DEFAULT_LEAD, "minutes before the start at which capacity is asked for"
        ),
        "scaleDownBehavior": Field(
            OneOf(BEHAVIOURS), "maintain", "what placeholders do as sessions arrive: maintain, reduce or none"
        ),
    }
)

SESSIONS = Fields(
    {
        "namespaces": Field(ListOf(CLASS), (), "only sessions in these", "the class's"),
        "matchLabels": Field(LABELS, (), "only sessions with these labels", "none"),
        "matchAnnotations": Field(
            MapOf(grammar.label_key, Text()), (), "only sessions with these annotations", "none"
        ),
        "projectTemplate": Field(
            Text("ULID", grammar.ulid),
            None,
            "only sessions of projects made from this Renku template",
            "none",
        ),
        "earlier": Field(
            OneOf(("count", "ignore")), "count", "sessions created before the window opens: count or ignore"
        ),
    },
    lambda made: SessionMatch(
        made["namespaces"],
        made["matchLabels"],
        made["matchAnnotations"],
        made["projectTemplate"],
        made["earlier"],
    ),
)
EVERY_SESSION = SessionMatch((), (), (), None, "count")


def _agree(made: Made, path: Path, report: Report) -> None:
    """The reservation's seats: one class and its count, or a list by class; never both."""
    provisioning, at = made["provisioning"], (*path, "provisioning")
    if provisioning is INVALID:
        return  # without it nobody knows which form is meant
    listed, counted = provisioning["seats"] is not None, provisioning["placeholderCount"] is not None
    named = made["resourceClass"] is not None
    if listed and counted:
        fix = "Keep seats or placeholderCount."
        report(CONFLICT, (*at, "placeholderCount"), "seats says the counts already.", fix, at_key=True)
    if listed and named:
        fix = "Keep provisioning.seats or resourceClass."
        report(CONFLICT, (*path, "resourceClass"), "seats says the classes already.", fix, at_key=True)
    if not listed and not named:
        report(MISSING, path, "resourceClass is missing.", "Add resourceClass, or provisioning.seats.")
    if not listed and not counted:
        report(MISSING, at, "placeholderCount is missing.", "Add placeholderCount: how many seats.")
    if made["recurrence"] is not INVALID and listed != counted:
        agree_on_seats(made["recurrence"], listed, (*path, "recurrence"), report)


SPEC = Fields(
    {
        "title": Field(Text("title", _title), None, "what people call it", "the name"),
        "resourceClass": Field(CLASS, None, "the class of its seats", "none: then write provisioning.seats"),
        "recurrence": Field(RECURRENCE, meaning="when"),
        "provisioning": Field(PROVISIONING, meaning="how many seats, and how they are held"),
        "sessions": Field(
            SESSIONS, EVERY_SESSION, "narrows the class's sessions to this course", "all of them"
        ),
        "backend": Field(
            Fields({"type": Field(OneOf(("placeholder",)), "placeholder", "what holds the capacity")}),
            {"type": "placeholder"},
            "what holds the capacity",
            "`placeholder`",
        ),
        "suspend": Field(Flag(), False, "true: rendered, never opens"),
    },
    agree=_agree,
)


def _held(spec: Made) -> Seats:
    listed = spec["provisioning"]["seats"]
    if listed is None:
        return ((spec["resourceClass"], spec["provisioning"]["placeholderCount"]),)
    return seats(listed)


def _build(made: Made, origin: Origin) -> Reservation:
    spec, metadata = made["spec"], made["metadata"]
    held = _held(spec)
    return Reservation(
        origin=origin,
        name=metadata["name"],
        title=spec["title"] or metadata["name"],
        labels=metadata["labels"],
        annotations=tuple(pair for pair in metadata["annotations"] if pair[0] != IGNORE),
        recurrence=recurrence(spec["recurrence"], held),
        seats=held,
        seats_listed=spec["provisioning"]["seats"] is not None,
        lead=spec["provisioning"]["leadTimeMinutes"],
        behaviour=spec["provisioning"]["scaleDownBehavior"],
        sessions=spec["sessions"],
        backend=spec["backend"]["type"],
        suspend=spec["suspend"],
        renku=False,
    )


DOCUMENT = Document("CapacityReservation", SPEC, _build)
