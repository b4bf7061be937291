"""`CapacityReservation`: how many seats, of which class, when."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.metadata import IGNORE, LABELS, document
from gen.kind.schedule import CLASS, COUNT, RECURRENCE, SEATS, SUSPEND, Standard, class_seats, recurrence
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    MISSING,
    Field,
    Fields,
    ListOf,
    MapOf,
    OneOf,
    Report,
    Text,
    Whole,
)
from gen.model import Origin, Reservation, SessionMatch

BEHAVIOURS = ("maintain", "reduce", "none")
DEFAULT_LEAD = 30
MOST_ANNOTATIONS = 16 * 1024  # bytes; beside a timetable they must fit into what client-side apply records

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
            MapOf(Text("annotation key", grammar.label_key), Text()),
            (),
            "only sessions with these annotations",
            "none",
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
    lambda made, _path, _report: SessionMatch(
        made["namespaces"],
        made["matchLabels"],
        made["matchAnnotations"],
        made["projectTemplate"],
        made["earlier"],
    ),
)
EVERY_SESSION = SessionMatch((), (), (), None, "count")

SPEC = Fields(
    {
        "title": Field(Text(), None, "what people call it", "the name"),
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
        "suspend": Field(SUSPEND, False, "true: rendered, never opens"),
    }
)


def seats(spec: dict[str, Any], path: Path, report: Report) -> Any:
    """The reservation's seats: one class and its count, or a list by class; never both."""
    provisioning, at = spec["provisioning"], (*path, "provisioning")
    listed, count, name = provisioning["seats"], provisioning["placeholderCount"], spec["resourceClass"]
    if listed is None:
        if name is None:
            return report(
                MISSING, path, "resourceClass is missing.", "Add resourceClass, or provisioning.seats."
            )
        if count is None:
            return report(
                MISSING, at, "placeholderCount is missing.", "Add placeholderCount: how many seats."
            )
        return ((name, count),)
    if count is not None:
        fix = "Keep seats or placeholderCount."
        return report(CONFLICT, (*at, "placeholderCount"), "seats says the counts already.", fix, at_key=True)
    if name is not None:
        fix = "Keep provisioning.seats or resourceClass."
        return report(CONFLICT, (*path, "resourceClass"), "seats says the classes already.", fix, at_key=True)
    return class_seats(listed, (*at, "seats"), report)


def _size(annotations: tuple[tuple[str, str], ...], title: str | None) -> int:
    return sum(
        len(key) + len(text.encode("utf-8", "replace")) for key, text in (*annotations, ("", title or ""))
    )


def _make(made: dict[str, Any], path: Path, report: Report) -> Any:
    spec, metadata, at = made["spec"], made["metadata"], (*path, "spec")
    held = seats(spec, at, report)
    if held is INVALID:
        return INVALID
    if _size(metadata["annotations"], spec["title"]) > MOST_ANNOTATIONS:
        message = f"title and annotations have more than {MOST_ANNOTATIONS // 1024} KiB."
        return report("B020", (*path, "metadata"), message, "Shorten them: they stand on every object.")
    standard = Standard(held, spec["provisioning"]["seats"] is not None)
    when = recurrence(spec["recurrence"], standard, "", (*at, "recurrence"), report)
    if when is INVALID:
        return INVALID
    return Reservation(
        origin=Origin(report.file, report.index),
        name=metadata["name"],
        title=spec["title"] or metadata["name"],
        labels=metadata["labels"],
        annotations=tuple(pair for pair in metadata["annotations"] if pair[0] != IGNORE),
        recurrence=when,
        seats=held,
        seats_listed=standard.by_class,
        lead=spec["provisioning"]["leadTimeMinutes"],
        behaviour=spec["provisioning"]["scaleDownBehavior"],
        sessions=spec["sessions"],
        backend=spec["backend"]["type"],
        suspend=spec["suspend"],
        renku=False,
    )


DOCUMENT = document("CapacityReservation", SPEC, _make)
