"""`CapacityReservation`: how many seats, of which class, when."""

from gen.finding import Path
from gen.kind import grammar
from gen.kind.backend import BACKEND, NODE_POOL, NOTHING_SAID, slots
from gen.kind.entry import CLASS, COUNT, NODES, SEATS, count, seats
from gen.kind.metadata import IGNORE, LABELS, Document
from gen.kind.nodecount import agree_on_nodes
from gen.kind.schedule import RECURRENCE, STANDING, agree_on_seats, recurrence
from gen.kind.shape import (
    CONFLICT,
    IDLE_KEY,
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
DEFAULT_BEHAVIOUR, DEFAULT_LEAD = "maintain", 30
LONGEST_TITLE = 1200  # characters; it is an annotation of every object


def _title(text: str) -> str:
    if len(text) > LONGEST_TITLE:
        raise Refusal(f"the title has {len(text)} characters.", f"Write at most {LONGEST_TITLE}.", RANGE)
    return text


PROVISIONING = Fields(
    {
        "placeholderCount": Field(COUNT, None, "seats of `resourceClass`", "none: then write `seats`"),
        "nodeCount": Field(NODES, None, "only backend nodePool: nodes for `resourceClass`", "none"),
        "seats": Field(SEATS, None, "instead of `resourceClass`: seats by class", "none"),
        "leadTimeMinutes": Field(
            Whole(0, 180),
            None,
            "minutes before the start at which capacity is asked for",
            f"`{DEFAULT_LEAD}`",
        ),
        "scaleDownBehavior": Field(
            OneOf(BEHAVIOURS),
            None,
            "what placeholders do as sessions arrive: maintain, reduce or none",
            f"`{DEFAULT_BEHAVIOUR}`; `none` for backend nodePool",
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
    backend = made["backend"]
    standing = INVALID if backend is INVALID else backend["standing"]
    if standing is True:
        _standing(made, path, report)
    elif made["recurrence"] is None and standing is not INVALID:
        report(MISSING, path, "recurrence is missing.", "Add recurrence: a mapping.")
    _seats(made, path, report)
    if backend is not INVALID and backend["type"] is not INVALID:
        agree_on_nodes(made, backend["type"], path, report)


def _standing(made: Made, path: Path, report: Report) -> None:
    """What stands has no windows, and nothing that is about them."""
    if made["recurrence"] is not None:
        message = "backend.standing holds the seats always; it takes no recurrence."
        fix = "Remove it, or standing."
        report(CONFLICT, (*path, "recurrence"), message, fix, at_key=True)
    provisioning = made["provisioning"] if made["provisioning"] is not INVALID else {}
    for name in ("leadTimeMinutes", "scaleDownBehavior"):
        if provisioning.get(name) is not None:
            message = f"standing seats have no windows: {name} says nothing."
            report(IDLE_KEY, (*path, "provisioning", name), message, "Remove it.", at_key=True)


def _seats(made: Made, path: Path, report: Report) -> None:
    """The reservation's seats: one class and its count, or a list by class; never both."""
    provisioning, at = made["provisioning"], (*path, "provisioning")
    if provisioning is INVALID:
        return  # without it nobody knows which form is meant
    form = next((name for name in ("placeholderCount", "nodeCount") if provisioning[name] is not None), None)
    listed, counted = provisioning["seats"] is not None, form is not None
    named = made["resourceClass"] is not None
    if listed and form is not None:
        fix = f"Keep seats or {form}."
        report(CONFLICT, (*at, form), "seats says the counts already.", fix, at_key=True)
    if listed and named:
        fix = "Keep provisioning.seats or resourceClass."
        report(CONFLICT, (*path, "resourceClass"), "seats says the classes already.", fix, at_key=True)
    if not listed and not named:
        report(MISSING, path, "resourceClass is missing.", "Add resourceClass, or provisioning.seats.")
    if made["recurrence"] not in (None, INVALID) and listed != counted:
        meant = "seats" if listed else str(form)
        agree_on_seats(made["recurrence"], meant, (*path, "recurrence"), report)


SPEC = Fields(
    {
        "title": Field(Text("title", _title), None, "what people call it", "the name"),
        "resourceClass": Field(CLASS, None, "the class of its seats", "none: then write provisioning.seats"),
        "recurrence": Field(RECURRENCE, None, "when", "**required**, but for `backend.standing`"),
        "provisioning": Field(PROVISIONING, meaning="how many seats, and how they are held"),
        "sessions": Field(
            SESSIONS, EVERY_SESSION, "narrows the class's sessions to this course", "all of them"
        ),
        "backend": Field(BACKEND, NOTHING_SAID, "what holds the capacity", "`placeholder`"),
        "suspend": Field(Flag(), False, "true: rendered, never opens"),
    },
    agree=_agree,
)


def _held(spec: Made) -> Seats:
    listed = spec["provisioning"]["seats"]
    if listed is None:
        return ((spec["resourceClass"], count(spec["provisioning"])),)
    return seats(listed)


def _build(made: Made, origin: Origin) -> Reservation:
    spec, metadata = made["spec"], made["metadata"]
    held, provisioning = _held(spec), spec["provisioning"]
    of_slots = slots(spec["backend"])
    stands = of_slots is not None and of_slots.standing
    default = "none" if spec["backend"]["type"] == NODE_POOL else DEFAULT_BEHAVIOUR
    behaviour = provisioning["scaleDownBehavior"] or default
    lead = DEFAULT_LEAD if provisioning["leadTimeMinutes"] is None else provisioning["leadTimeMinutes"]
    return Reservation(
        origin=origin,
        name=metadata["name"],
        title=spec["title"] or metadata["name"],
        labels=metadata["labels"],
        annotations=tuple(pair for pair in metadata["annotations"] if pair[0] != IGNORE),
        recurrence=STANDING if stands else recurrence(spec["recurrence"], held),
        seats=held,
        seats_listed=spec["provisioning"]["seats"] is not None,
        lead=0 if stands else lead,
        behavior="none" if stands else behaviour,
        sessions=spec["sessions"],
        backend=spec["backend"]["type"],
        suspend=spec["suspend"],
        renku=False,
        slots=of_slots,
    )


DOCUMENT = Document("CapacityReservation", SPEC, _build)
