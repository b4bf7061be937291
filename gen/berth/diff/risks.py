"""Warn about what a change would do in the cluster: to open windows, slots and nodes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.core.instants import instant_text
from berth.core.target import full_count, target
from berth.core.timetable import TimetableOccurrence as Timed
from berth.dates.moments import hours_text, local_text, named
from berth.dates.occurrence import Occurrence
from berth.dates.zone import FOLD, GAP
from berth.diff.change import RENAMED, ReservationChange, Warned
from berth.diff.compare import Alike, Version
from berth.diff.manifests import ADDED, CHANGED, REMOVED, FileChange, ObjectChange, section
from berth.diff.wording import date_and_times, number_of

# Which changes make Karpenter replace nodes that stand? Pure. It keeps a hash of most of what describes a
# node; when that changes, all nodes have drifted. Of the rest it asks whether a node still matches
# (Karpenter v1.14, `Hash` of NodePool and EC2NodeClass).

_BUDGETS = "as many at once as its disruption budgets allow, also while a window is open."


class _Described(NamedTuple):
    at: Sequence[str]  # where nodes are described
    asked: Sequence[Sequence[str]]  # keys from there of what is asked of each node
    free: Sequence[Sequence[str]] = ()  # of what concerns new nodes only


# By kind; of the whole cluster, and a change of one is told by what becomes of its nodes.
DESCRIBED: Mapping[str, _Described] = {
    "NodePool": _Described(("spec", "template"), asked=[("spec", "requirements")]),
    "EC2NodeClass": _Described(
        ("spec",),
        asked=[
            (key,)
            for key in (
                "amiFamily",
                "amiSelectorTerms",
                "capacityReservationSelectorTerms",
                "securityGroupSelectorTerms",
                "subnetSelectorTerms",
            )
        ],
        free=[("ipPrefixCount",)],
    ),
}


def of_nodes(one: ObjectChange) -> Iterator[tuple[str, str]]:
    """Code and message."""
    described = DESCRIBED.get(one.kind)
    if described is None or one.change == ADDED:
        return
    if one.change == REMOVED:
        if one.kind == "NodePool":
            yield "nodes-replaced", "its nodes go with it, also while a window is open."
        return
    if _hashed(one.before, described) != _hashed(one.after, described):
        yield "nodes-replaced", f"all of its nodes drift: Karpenter replaces them, {_BUDGETS}"
    elif any(
        _part(one.before, described, key) != _part(one.after, described, key) for key in described.asked
    ):
        yield "nodes-replaced", f"nodes that no longer match drift: Karpenter replaces them, {_BUDGETS}"


def _hashed(text: str, described: _Described) -> list[str]:
    """Lines of the description, without those of the parts that are not hashed."""
    lines = section(text, *described.at)
    for keys in (*described.asked, *described.free):
        part = _part(text, described, keys)
        if part:
            at = next(n for n in range(len(lines)) if lines[n : n + len(part)] == part)
            lines = lines[:at] + lines[at + len(part) :]
    return lines


def _part(text: str, described: _Described, keys: Sequence[str]) -> list[str]:
    return section(text, *described.at, *keys)


# What should be thought of before slots change? Pure; `now` is a value.


def of_slots(old: Version | None, new: Version | None, now: int, *, is_open: bool) -> Iterator[Warned]:
    """`is_open`: something of it is open on both sides."""
    if new is None:
        return
    name, until = new.reservation.name, new.reservation.holder.persistence
    if until is not None and not until.is_open(now):
        over = f"It expired at {instant_text(until.until or 0)}: nothing is held."
        yield Warned("expired", name, f"{over} Write a later expires, or remove the reservation.")
    if old is None:
        return
    before, after = old.reservation.holder.backend, new.reservation.holder.backend
    if before != after:
        told = f"Its seats are held by {after} instead of {before}: what is open then goes and comes again."
        yield Warned("backend", name, told)
        return
    if until is None and not is_open:
        return
    shapes = dict(old.shapes)
    changed = [one for one, shape in new.shapes if shapes.get(one, shape) != shape]
    if changed and (old.reservation.holder.persistence is None) == (until is None):
        yield Warned(
            "slots-replaced", name, f"{', '.join(changed)}: {_replaced(stands_always=until is not None)}"
        )


def _replaced(*, stands_always: bool) -> str:
    if stands_always:
        return (
            "the shape of its slots changes, so the engine deletes them and makes others: until those hold "
            "their seats, whoever comes may take the room."
        )
    return (
        "the shape of its slots changes, so free ones are replaced, each as another one holds its seat; "
        "those in use stay until the end."
    )


def standing_now(version: Version | None, now: int) -> dict[str, int]:
    """Seats by class."""
    if version is None or version.reservation.suspend:
        return {}
    found = version.reservation.holder.persistence
    return dict(version.reservation.seats) if found is not None and found.is_open(now) else {}


# What should be thought of before a change is merged? Pure; `now` is a value. First what concerns people
# and their dates, then what an engine does with the manifests.

_CLUSTER_SCOPED = (
    *("Namespace", "PriorityClass", "ClusterRole", "ClusterRoleBinding"),
    "ClusterColocationProfile",
)
_RIGHTS = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_IMMUTABLE: Mapping[str, tuple[tuple[str, ...], ...]] = {  # what the API server refuses to change
    "Deployment": (("spec", "selector"),),
    "PriorityClass": (("value",), ("preemptionPolicy",)),
    "RoleBinding": (("roleRef",),),
    "ClusterRoleBinding": (("roleRef",),),
}
_FEW = 3

Standing = tuple[Mapping[str, int], Mapping[str, int]]
"""Seats by class, before and after."""


def of_dates(
    change: ReservationChange,
    sides: tuple[Sequence[Occurrence], Sequence[Occurrence]],
    now: int,
    notice: int,
    standing: Standing = ({}, {}),
) -> Iterator[Warned]:
    """`sides`: all its occurrences before and after, none of a suspended one; `standing`: the seats that
    stand now without any. `notice` in seconds.
    """
    yield from _open_now(change, sides, standing, now)
    touched = [*change.occurrences.added, *(new for _, new in change.occurrences.changed)]
    yield from _soon(change, sides, now, notice)
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


def _soon(
    change: ReservationChange, sides: tuple[Sequence[Occurrence], Sequence[Occurrence]], now: int, notice: int
) -> Iterator[Warned]:
    """What comes, goes or changes so late that nobody may hear of it in time."""
    dates, (before, after) = change.occurrences, sides
    goes = [*dates.removed, *(old for old, new in dates.changed if new.open != old.open)]
    comes = [*dates.added, *(new for _, new in dates.changed)]
    for items, there, opens in ((comes, {*after}, "opens"), (goes, {*before}, "would have opened")):
        near = [item for item in items if now < item.open < now + notice and item in there]
        if near:
            when = f"{local_text(near[0].open, named(change.zone))} ({change.zone})"
            told = f"{_dates(near)} {opens} at {when}, sooner than the notice of {hours_text(notice)} h."
            yield Warned("soon", change.name, told)


def _open_now(
    change: ReservationChange,
    sides: tuple[Sequence[Occurrence], Sequence[Occurrence]],
    standing: Standing,
    now: int,
) -> Iterator[Warned]:
    dated = (name for side in sides for item in side for name, _ in item.seats)
    for name in dict.fromkeys((*dated, *standing[0], *standing[1])):
        old, new = (
            _seats(side, name, now) + more.get(name, 0) for side, more in zip(sides, standing, strict=True)
        )
        if old != new:
            verb = "opens" if not old else "closes" if not new else "grows" if new > old else "shrinks"
            was, then = (unit.word for unit in change.units)
            later = str(new) if was == then else number_of(new, then)
            yield Warned(
                "open-now",
                change.name,
                f"{name} {verb} as soon as this is applied: {number_of(old, was)} now, {later} then.",
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


def of_likenesses(found: Iterable[Alike]) -> Iterator[Warned]:
    for one in found:
        yield Warned(
            "alike",
            one.new,
            f"{one.same} of its {one.dates} dates are those of {one.old}, which is removed. If it is the "
            "same course by another name, its seats go and come again.",
        )


def of_stale(paths: Sequence[str]) -> Iterator[Warned]:
    """`paths`: files of rendered/ that are not what the reservations render to."""
    if paths:
        more = f" and {len(paths) - _FEW} more" if len(paths) > _FEW else ""
        told = f"{', '.join(paths[:_FEW])}{more}"
        yield Warned("stale", "", f"rendered/ is not up to date: {told}. Run berth render, and commit it.")


def of_manifests(files: Sequence[FileChange], left: Collection[str]) -> Iterator[Warned]:
    """`left`: the paths that there are afterwards. What is the same for many objects is told once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for file in files:
        for one in file.objects:
            for code, message in _of_object(one, of_all="/reservations/" not in file.path):
                alike.setdefault((code, message), []).append(f"{one.kind} {one.name}")
    for (code, message), names in alike.items():
        more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
        yield Warned(code, "", f"{', '.join(names[:_FEW])}{more}: {message}")
    gone = [one.kind for file in files for one in file.objects if one.change == REMOVED]
    if gone:
        told = ", ".join(f"{gone.count(kind)} {kind}" for kind in sorted({*gone}))
        yield Warned("pruned", "", f"The engine deletes {told}.")
    kept = {path.split("/")[1] for path in left if "/reservations/" in path}
    clusters = {file.path.split("/")[1] for file in files if "/reservations/" in file.path}
    for cluster in sorted(clusters - kept):
        stays = f"clusters/{cluster}/base.yaml" in left
        what = "its base.yaml stays" if stays else "the site no longer names it"
        yield Warned("last", "", f"No reservation is left in cluster {cluster}; {what}.")


def _of_object(one: ObjectChange, *, of_all: bool) -> Iterator[tuple[str, str]]:
    """Code and message. `of_all`: it serves all reservations; a new one brings rights of its own, by name."""
    if one.kind in _CLUSTER_SCOPED or (one.kind in DESCRIBED and one.change != CHANGED):
        yield "cluster-scoped", f"{one.change}, which concerns the whole cluster."
    if of_all and one.kind in _RIGHTS and one.change == ADDED:
        yield "rights", "added: it allows what was not allowed."
    yield from of_nodes(one)
    if one.change != CHANGED:
        return
    if any(_differs(one, *path) for path in _IMMUTABLE.get(one.kind, ())):
        yield "immutable", "what changes in it cannot be changed. Let the engine delete it first."
    elif one.kind == "Deployment" and _differs(one, "spec", "template"):
        yield "replaced", "the pods change, so placeholders that stand are replaced, a quarter at a time."
    before, after = (section(text, "spec", "replicas") for text in (one.before, one.after))
    if one.kind == "Deployment" and bool(before) != bool(after):
        yield "replicas", f"`replicas` {'appears in' if after else 'goes from'} git."
    if one.kind == "CronJob" and any(_differs(one, "spec", key) for key in ("schedule", "timeZone")):
        yield "schedule", "a schedule that changes may start a run at once; it ends if nothing is open."
    if one.kind in _RIGHTS and _added_lines(one, "rules", "subjects"):
        yield "rights", "it allows more or other things than before."


def _differs(one: ObjectChange, *keys: str) -> bool:
    return section(one.before, *keys) != section(one.after, *keys)


def _added_lines(one: ObjectChange, *keys: str) -> bool:
    return any({*section(one.after, key)} - {*section(one.before, key)} for key in keys)
