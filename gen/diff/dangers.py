"""What should be thought of before a change is merged? Pure; `now` is a value.

First what concerns people and their dates, then what an engine does with the manifests.
"""

from collections.abc import Iterable, Iterator, Sequence

from gen.dates.moment import hours_text, local_text, named
from gen.dates.occurrence import Occurrence
from gen.dates.zone import FOLD, GAP
from gen.diff.change import RENAMED, ReservationChange, Warned
from gen.diff.dategroup import date_and_times
from gen.diff.manifests import CHANGED, REMOVED, FileChange, ObjectChange
from gen.runtime.target import full_count, target
from gen.runtime.timetable import Occurrence as Timed

_CLUSTER_SCOPED = ("Namespace", "PriorityClass", "ClusterRole", "ClusterRoleBinding")
_FEW = 3


def of_dates(
    change: ReservationChange,
    sides: tuple[Sequence[Occurrence], Sequence[Occurrence]],
    now: int,
    notice: int,
) -> Iterator[Warned]:
    """`sides`: all its occurrences before and after, none of a suspended one. `notice` in seconds."""
    before, after = sides
    zone = named(change.zone)
    yield from _open_now(change, before, after, now)
    touched = [*change.occurrences.added, *(new for _, new in change.occurrences.changed)]
    soon = [item for item in touched if now < item.open < now + notice and item in after]
    if soon:
        when = f"{local_text(soon[0].open, zone)} ({change.zone})"
        yield Warned(
            "soon",
            change.name,
            f"{_dates(soon)} opens at {when}, sooner than the notice of {hours_text(notice)} h.",
        )
    past = [item for item in (*touched, *change.occurrences.removed) if item.end <= now]
    if past:
        yield Warned("past", change.name, f"{_dates(past)} is over already: nothing happens for it.")
    for mark, what in ((GAP, "skips a time"), (FOLD, "repeats a time")):
        marked = [item for item in touched if mark in item.marks]
        if marked:
            yield Warned("clock-change", change.name, f"{_dates(marked)}: a clock change {what} of it.")
    if change.kind == RENAMED:
        yield Warned(
            "renamed",
            change.name,
            f"It was {change.was}: the engine deletes the one and creates the other, "
            "so seats that are open now go and come again.",
        )


def _open_now(
    change: ReservationChange, before: Sequence[Occurrence], after: Sequence[Occurrence], now: int
) -> Iterator[Warned]:
    names = dict.fromkeys(name for item in (*before, *after) for name, _ in item.seats)
    for name in names:
        old, new = _seats(before, name, now), _seats(after, name, now)
        if old != new:
            verb = "opens" if not old else "closes" if not new else "grows" if new > old else "shrinks"
            yield Warned(
                "open-now",
                change.name,
                f"{name} {verb} as soon as this is applied: {old} seats now, {new} then.",
            )


def _seats(occurrences: Sequence[Occurrence], name: str, now: int) -> int:
    near = [
        Timed(one.id, one.open, one.start, one.end, one.seats)
        for one in occurrences
        if one.open <= now < one.end
    ]
    return target(near, now, full_count(name))


def _dates(items: Sequence[Occurrence]) -> str:
    first = date_and_times(items[0])
    return first if len(items) == 1 else f"{first} and {len(items) - 1} more"


def of_manifests(files: Sequence[FileChange], left: Iterable[str]) -> Iterator[Warned]:
    """`left`: the paths that there are afterwards."""
    for file in files:
        for one in file.objects:
            yield from _of_object(file.path, one)
    gone = [one for file in files for one in file.objects if one.change == REMOVED]
    if gone:
        kinds = sorted({one.kind for one in gone})
        told = ", ".join(f"{sum(one.kind == kind for one in gone)} {kind}" for kind in kinds)
        yield Warned("pruned", "", f"The engine deletes {told}.")
    kept = {path.split("/")[1] for path in left if "/reservations/" in path}
    clusters = {file.path.split("/")[1] for file in files if "/reservations/" in file.path}
    for cluster in sorted(clusters - kept):
        yield Warned("last", cluster, f"No reservation is left in cluster {cluster}; its base.yaml stays.")


def _of_object(path: str, one: ObjectChange) -> Iterator[Warned]:
    subject = f"{one.kind} {one.name}"
    if one.kind in _CLUSTER_SCOPED:
        yield Warned("cluster-scoped", path, f"{subject} of the whole cluster is {one.change}.")
    if one.change != CHANGED:
        return
    if one.kind == "Deployment":
        if _differs(one, "spec", "selector"):
            yield Warned(
                "immutable", path, f"{subject}: a selector cannot change. The engine must delete it first."
            )
        elif _differs(one, "spec", "template"):
            yield Warned(
                "replaced",
                path,
                f"{subject}: the pod changes, so its placeholders are replaced, a quarter at a time.",
            )
        if bool(section(one.before, "spec", "replicas")) != bool(section(one.after, "spec", "replicas")):
            yield Warned("replicas", path, f"{subject}: `replicas` {_appears(one)} git.")
    if one.kind == "CronJob" and _differs(one, "spec", "schedule"):
        yield Warned(
            "schedule",
            path,
            f"{subject}: a schedule that changes may start a run at once; it ends if nothing is open.",
        )
    if one.kind == "RoleBinding" and _differs(one, "roleRef"):
        yield Warned(
            "immutable", path, f"{subject}: a roleRef cannot change. The engine must delete it first."
        )
    if one.kind in ("Role", "ClusterRole") and _added_lines(one, "rules"):
        yield Warned("rights", path, f"{subject}: it allows more or other things than before.")


def _appears(one: ObjectChange) -> str:
    return "appears in" if section(one.after, "spec", "replicas") else "goes from"


def _differs(one: ObjectChange, *keys: str) -> bool:
    return section(one.before, *keys) != section(one.after, *keys)


def _added_lines(one: ObjectChange, *keys: str) -> set[str]:
    return {*section(one.after, *keys)} - {*section(one.before, *keys)}


def section(text: str, *keys: str) -> list[str]:
    """The lines of a value in the text of one of our objects, by keys from the top; empty without it."""
    lines = text.splitlines()
    for depth, key in enumerate(keys):
        begin = f"{'  ' * depth}{key}:"
        at = next((n for n, line in enumerate(lines) if line == begin or line.startswith(f"{begin} ")), None)
        if at is None:
            return []
        end = at + 1
        while end < len(lines) and lines[end].startswith("  " * (depth + 1)):
            end += 1
        lines = lines[at:end] if depth == len(keys) - 1 else lines[at + 1 : end]
    return lines
