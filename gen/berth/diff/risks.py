"""Warn about what a change would do in the cluster: to dates, open windows, slots, manifests and nodes.

`now` is always an argument, in seconds; nothing here reads the clock.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.backends.backendinterface import backend_of
from berth.checks.policychecks import PolicyResult, result_text
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence
from berth.dates.moments import hours_text, local_text, named
from berth.dates.zone import FOLD, GAP, load, local
from berth.diff.change import RENAMED, ChangeWarning, ReservationChange
from berth.diff.compare import ReservationVersion, SimilarReservations
from berth.diff.manifests import ADDED, CHANGED, REMOVED, FileChange, ObjectChange, section
from berth.diff.permissions import RBAC
from berth.diff.sharednumbers import holding, level_now, open_seats
from berth.diff.wording import date_and_times
from berth.pipeline import Pipeline
from berth.quantity import parse as parse_quantity
from berth.schema.seatholders import Holder, Unit
from berth.schema.values import Cluster, Site

_FEW = 3  # names that are listed one by one

SeatCounts = Mapping[str, int]
"""Seats by class."""


_BY_URGENCY = (
    *("site-renamed", "policies", "policy", "price", "not-compared"),  # what refuses
    *(
        "open-now",
        "soon",
        "past",
        "clock-change",
        "renamed",
        "alike",
        "backend",
        "slots-replaced",
        "number-changed",
    ),  # people
    *("namespace", "replaced", "expired", "last"),
    *("nodes-replaced",),
    *("foreign", "rights", "attributes", "cluster-scoped", "immutable", "replicas", "schedule", "stale"),
)


def by_urgency(warnings: Iterable[ChangeWarning]) -> tuple[ChangeWarning, ...]:
    """Return the warnings with what refuses the change first, then people, nodes and manifests."""
    return tuple(sorted(warnings, key=lambda warning: _BY_URGENCY.index(warning.code)))


# Dates and open windows


def date_warnings(
    change: ReservationChange,
    sides: tuple[Sequence[Occurrence], Sequence[Occurrence]],
    now: int,
    notice: int,
    held: "HeldNow",
) -> Iterator[ChangeWarning]:
    """Warn about the dates of a reservation that changes.

    `sides`: all its windows before and after, unless it is suspended. `held`: its seats now. `notice` is
    in seconds.
    """
    yield from _open_now(change, held)
    yield from _short_notice(change, sides, now, notice)
    dates = [*change.occurrences.added, *(new for _, new in change.occurrences.changed)]
    past = [item for item in (*dates, *change.occurrences.removed) if item.end <= now]
    if past:
        message = f"{_dates(past)} {'is' if len(past) == 1 else 'are'} in the past: nothing happens."
        yield ChangeWarning("past", change.name, message)
    for mark, verb in ((GAP, "skips"), (FOLD, "repeats")):
        marked = [item for item in dates if mark in item.marks]
        if marked:
            message = f"{_dates(marked)}: a clock change {verb} the time at which it starts or ends."
            yield ChangeWarning("clock-change", change.name, message)
    if change.kind == RENAMED:
        message = f"It was {change.old_name}: the engine deletes that reservation and creates this one"
        if change.holds[1]:
            message += (
                f". If it deletes first, the number goes back in between: {change.holds[1]}. If it creates "
                "first, the number stays."
            )
        else:
            message += ", so seats that are open now are removed and created again."
        yield ChangeWarning("renamed", change.name, message)


def _short_notice(
    change: ReservationChange, sides: tuple[Sequence[Occurrence], Sequence[Occurrence]], now: int, notice: int
) -> Iterator[ChangeWarning]:
    """Warn about a window that is added, removed or changed shortly before it opens."""
    before, after = sides
    removed = [*change.occurrences.removed]
    added = [*change.occurrences.added]
    for was, becomes in change.occurrences.changed:
        removed += [was] if becomes.open != was.open else []
        added.append(becomes)
    for items, present, verb in ((added, {*after}, "opens"), (removed, {*before}, "would have opened")):
        near = [item for item in items if now < item.open < now + notice and item in present]
        if near:
            when = f"{local_text(near[0].open, named(near[0].zone))} ({near[0].zone})"
            message = f"{_dates(near)} {verb} at {when}, sooner than the notice of {hours_text(notice)} h."
            yield ChangeWarning("soon", change.name, message)


def _open_now(change: ReservationChange, held: "HeldNow") -> Iterator[ChangeWarning]:
    """Warn about seats that change as soon as the change is applied."""
    for name in dict.fromkeys((*held.seats[0], *held.seats[1])):
        old, new = (side.get(name, 0) for side in held.seats)
        amounts = [_comparable(*pair) for pair in zip((old, new), change.units, strict=True)]
        if amounts[0] != amounts[1]:
            verb = "opens" if not old else "closes" if not new else _verb(*amounts)
            texts = [
                unit.amount(count) if count or not unit.is_number else otherwise
                for count, unit, otherwise in zip((old, new), change.units, held.otherwise, strict=True)
            ]
            unit = change.units[1]
            has_noun = (old and new) or not unit.is_number
            if change.units[0] is unit and has_noun and not unit.is_quantity:
                texts[1] = str(new)
            counts = f"{texts[0]} now, {texts[1]} then" if texts[0] else f"{texts[1]} then"
            yield ChangeWarning(
                "open-now", change.name, f"{name} {verb} as soon as this is applied: {counts}."
            )


def _comparable(count: int, unit: Unit) -> tuple[str, int]:
    """Return what is counted and how many, so that 2 Gi are more than 1024 Mi; all that is 0 is alike."""
    amount = parse_quantity(f"{count}{unit.word if unit.is_quantity else ''}") or 0
    return unit.key if count else "", amount


def _verb(before: tuple[str, int], after: tuple[str, int]) -> str:
    return "grows" if after[1] > before[1] else "shrinks" if after[1] < before[1] else "changes"


def _dates(items: Sequence[Occurrence]) -> str:
    first = date_and_times(items[0])
    return first if len(items) == 1 else f"{first} and {len(items) - 1} more"


def similarity_warnings(found: Iterable[SimilarReservations]) -> Iterator[ChangeWarning]:
    """Warn about reservations that look renamed, but are not certain to be."""
    for similar in found:
        yield ChangeWarning(
            "alike",
            similar.new,
            f"{similar.same} of its {similar.dates} dates are also dates of {similar.old}, which is removed. "
            "If it is the same course with a new name, its seats are removed and created again.",
        )


def not_compared(name: str) -> ChangeWarning:
    """Warn about a reservation whose version in the base is not known."""
    message = "The base has errors, so what changes is not known: it is judged as if it were new."
    return ChangeWarning("not-compared", name, message)


def policy_warnings(results: Iterable[PolicyResult]) -> Iterator[ChangeWarning]:
    """Warn about policies that cannot be judged."""
    for result in results:
        if result.lacks_cost:
            yield ChangeWarning("policy", result.reservation.name, f"{result_text(result)}.")


def price_warnings(found: Mapping[str, Sequence[str]]) -> Iterator[ChangeWarning]:
    """Warn about prices that are lower, removed or new, by capacity."""
    for name, texts in found.items():
        if texts:
            yield ChangeWarning("price", name, f"{', '.join(texts)}.")


def seats_now(version: ReservationVersion | None, now: int) -> SeatCounts:
    """Return the seats by class that a reservation holds now."""
    if version is None or version.reservation.suspend:
        return {}
    reservation = version.reservation
    found = reservation.holder.persistence
    if found is not None:
        return dict(reservation.seats) if found.is_open(now) else {}
    return open_seats(reservation, version.occurrences, now)


class HeldNow(NamedTuple):
    """The seats of both sides now. `otherwise`: what a number of somebody else is if no window is open."""

    seats: tuple[SeatCounts, SeatCounts]
    otherwise: tuple[str, str]


def held_now(
    versions: tuple[ReservationVersion | None, ReservationVersion | None],
    sides: tuple[Pipeline, Pipeline],
    now: int,
    *,
    goes_back: bool,
) -> HeldNow:
    """Return what both sides hold. `goes_back`: Berth may give back what the base holds.

    A number is what all make of it who hold it. A class that moves is one of each cluster.
    """
    old, new = versions
    moved = moved_classes(old, new)
    before, after = (
        {
            f"{name} in {cluster}" if name in moved else name: count
            for (name, cluster), count in _counts_now(own, own or other, side, now).items()
        }
        for own, other, side in zip(versions, (new, old), sides, strict=True)
    )
    becomes = _otherwise_text(new or old) if goes_back else "the same"
    return HeldNow((before, after), (_otherwise_text(old), becomes))


def moved_classes(old: ReservationVersion | None, new: ReservationVersion | None) -> frozenset[str]:
    """Return the classes that are in another cluster on the other side."""
    before, after = (
        {*zip((one.name for one in side.classes), side.clusters, strict=True)} if side else set()
        for side in (old, new)
    )
    both = {name for name, _ in before} & {name for name, _ in after}
    return frozenset(name for name, _ in before ^ after if name in both)


def _counts_now(
    own: ReservationVersion | None, known: ReservationVersion | None, side: Pipeline, now: int
) -> dict[tuple[str, str], int]:
    """Return the counts now by class and cluster. `known`: the other version where this side has none."""
    if known is None:
        return {}
    places = [*zip((one.name for one in known.classes), known.clusters, strict=True)]
    number = known.reservation.holder.shared
    if number is None:
        seats = seats_now(own, now)
        return {(name, cluster): seats[name] for name, cluster in places if name in seats}
    levels = {(name, cluster): level_now(number, cluster, side, now) for name, cluster in places}
    return {place: level for place, level in levels.items() if level is not None}


def _otherwise_text(version: ReservationVersion | None) -> str:
    if version is None:
        return ""
    count, unit = version.reservation.holder.otherwise_count, version.reservation.holder.unit
    text = unit.amount(count) if count is not None and unit.is_quantity else str(count)
    return "what it is otherwise" if count is None else text


def site_warnings(old: Site | None, new: Site | None) -> Iterator[ChangeWarning]:
    """Warn about another name of the site, other policies, and another namespace of a cluster."""
    if old is None or new is None:
        return
    yield from _changed_policies(old, new)
    if old.name != new.name:
        message = (
            f"The site was {old.name}. Its name is in the selectors of all Deployments, which are immutable: "
            "this cannot be applied over what is there. Remove the old site from the clusters first, outside "
            "of all windows."
        )
        yield ChangeWarning("site-renamed", new.name, message)
    before = {one.name: one for one in old.clusters}
    for cluster in new.clusters:
        known = before.get(cluster.name)
        if known is not None and known.namespace != cluster.namespace:
            yield ChangeWarning("namespace", cluster.name, _namespace_text(known, cluster))
        yield from _no_longer_held(known, cluster) if known else ()


def _no_longer_held(old: Cluster, new: Cluster) -> Iterator[ChangeWarning]:
    """Warn that nobody may give numbers back any more, in a window or after one that nobody closed."""
    was, becomes = ({place for held in cluster.held for place in held.places} for cluster in (old, new))
    for _, kind, namespace in sorted(was - becomes):
        where = f" in namespace {namespace}" if namespace else ""
        message = (
            f"held no longer lists {kind}{where}: a number that is held there stays as it is, because nobody "
            "may give it back. Remove the reservations first, and this entry when their windows are over."
        )
        yield ChangeWarning("number-changed", new.name, message)


def _changed_policies(old: Site, new: Site) -> Iterator[ChangeWarning]:
    was, becomes = ({policy.name: policy for policy in side.policies} for side in (old, new))
    changed = [
        f"{name} is {REMOVED if name not in becomes else CHANGED if name in was else ADDED}"
        for name in dict.fromkeys((*was, *becomes))
        if was.get(name) != becomes.get(name)
    ]
    if changed:
        message = f"Other policies: {_some(changed)}. This change is checked by those of both sides."
        yield ChangeWarning("policies", new.name, message)


def _namespace_text(old: Cluster, new: Cluster) -> str:
    was = f"Its namespace was {old.namespace}. "
    if new.engine == "none":
        return (
            f"{was}Nothing removes what is there: its CronJobs and its sweep go on and hold seats a second "
            f"time. After applying, delete the objects of the site in {old.namespace}; berth status says how."
        )
    return (
        f"{was}The engine deletes everything there and creates it in {new.namespace}: windows that are open "
        "close, and the sweep opens them again within 6 minutes."
    )


# Slots


def slot_warnings(
    old: ReservationVersion | None, new: ReservationVersion | None, now: int, *, is_open: bool
) -> Iterator[ChangeWarning]:
    """Warn about slots that are replaced. `is_open`: a window is open on both sides."""
    if new is None:
        return
    name, until = new.reservation.name, new.reservation.holder.persistence
    if until is not None and not until.is_open(now):
        expired = f"It expired at {instant_text(until.until or 0)} and holds nothing."
        yield ChangeWarning("expired", name, f"{expired} Set a later expires, or remove the reservation.")
    if old is None:
        return
    before, after = old.reservation.holder.backend, new.reservation.holder.backend
    if before != after:
        yield ChangeWarning("backend", name, _other_backend(old.reservation.holder, new.reservation.holder))
        return
    if until is None and not is_open:
        return
    hashes = dict(old.slot_hashes)
    changed = [one for one, slot_hash in new.slot_hashes if hashes.get(one, slot_hash) != slot_hash]
    if changed and (old.reservation.holder.persistence is None) == (until is None):
        effect = _SLOTS_REPLACED_AT_ONCE if until is not None else _SLOTS_REPLACED_IN_WINDOW
        yield ChangeWarning("slots-replaced", name, f"{', '.join(changed)}: {effect}")


def _other_backend(before: Holder, after: Holder) -> str:
    if before.unit.is_number:
        return f"backend {after.backend} holds {after.unit.plural}; {before.target_text} is held no longer."
    if after.unit.is_number:
        message = f"backend {after.backend} holds a number of {after.target_text} instead of seats"
        return f"{message}: seats that are open now are removed."
    message = f"{after.backend} holds its seats instead of {before.backend}"
    return f"{message}: seats that are open now are removed and created again."


def number_warnings(
    old: ReservationVersion | None,
    new: ReservationVersion | None,
    head: Pipeline,
    now: int,
    *,
    was_open: bool,
) -> Iterator[ChangeWarning]:
    """Warn about a number of somebody else that goes back to what it was. `was_open`: in a window."""
    if old is None or old.reservation.holder.shared is None:
        return
    before, after = old.reservation.holder, new.reservation.holder if new else None
    left = [cluster for cluster in dict.fromkeys(old.clusters) if new is None or cluster not in new.clusters]
    stays = after is not None and not left and after.shared == before.shared
    if not stays:  # others may hold it now
        places = left or dict.fromkeys(old.clusters)
        levels = [level_now(before.shared, cluster, head, now) for cluster in places]
        was_open = was_open and None in levels
    name = (new or old).reservation.name
    where = f"In {' and '.join(left)} " if new and left else ""
    sharing = sharing_names(old, head)
    for code, message in backend_of(before).change_risks(before, None if left else after, is_open=was_open):
        shared = f" {' or '.join(sharing)} may still set it." if sharing else ""
        yield ChangeWarning(code, name, f"{where}{message}{shared}")


def sharing_names(old: ReservationVersion, head: Pipeline) -> list[str]:
    """Return the other reservations of the head that hold the number of one of the base."""
    return sorted(
        {
            place.reservation.name
            for cluster in old.clusters
            for place in holding(old.reservation.holder.shared, cluster, head)
            if place.reservation.name != old.reservation.name
        }
    )


_SLOTS_REPLACED_AT_ONCE = (
    "the shape of the slots changes, so the engine deletes them and creates others. Until those hold their "
    "seats, other pods may take the room."
)
_SLOTS_REPLACED_IN_WINDOW = (
    "the shape of the slots changes. Free slots are replaced one by one; those in use stay until the end of "
    "the window."
)


# Manifests

_CLUSTER_SCOPED = (
    *("Namespace", "PriorityClass", "ClusterRole", "ClusterRoleBinding"),
    "ClusterColocationProfile",
)
_IMMUTABLE: Mapping[str, tuple[tuple[str, ...], ...]] = {  # what the API server refuses to change
    "Deployment": (("spec", "selector"),),
    "PriorityClass": (("value",), ("preemptionPolicy",)),
    "RoleBinding": (("roleRef",),),
    "ClusterRoleBinding": (("roleRef",),),
}


def stale_warnings(paths: Sequence[str]) -> Iterator[ChangeWarning]:
    """Warn about files of rendered/ that differ from what the reservations render to."""
    if paths:
        message = f"rendered/ is not up to date: {_some(paths)}. Run `berth render` and commit the result."
        yield ChangeWarning("stale", "", message)


def foreign_warnings(paths: Sequence[str]) -> Iterator[ChangeWarning]:
    """Warn about each file of rendered/ that Berth did not write, whatever its name."""
    for path in paths:
        shown = f"rendered/{path}".rstrip("/")
        message = f"{shown} was not written by Berth. Engines and kubectl may apply it: delete it."
        yield ChangeWarning("foreign", "", message)


def attributes_warnings(paths: Sequence[str]) -> Iterator[ChangeWarning]:
    """Warn about changed attributes of git that count for reservations/ and rendered/."""
    for path in paths:
        message = f"{path} changes: git may store or check out other text than the files have."
        yield ChangeWarning("attributes", "", message)


def manifest_warnings(
    files: Sequence[FileChange], remaining: Collection[str], now: int
) -> Iterator[ChangeWarning]:
    """Warn about changed objects; the same warning for several is given once.

    `remaining`: the paths that exist after the change.
    """
    objects: dict[tuple[str, str], list[str]] = {}
    for file in files:
        for changed in file.objects:
            for code, message in _object_warnings(changed, now, is_shared="/reservations/" not in file.path):
                objects.setdefault((code, message), []).append(f"{changed.kind} {changed.name}")
    for (code, message), names in objects.items():
        yield ChangeWarning(code, "", f"{_some(names)}: {message}")
    used = {path.split("/")[1] for path in remaining if "/reservations/" in path}
    clusters = {file.path.split("/")[1] for file in files if "/reservations/" in file.path}
    for cluster in sorted(clusters - used):
        has_base = f"clusters/{cluster}/base.yaml" in remaining
        rest = "its base.yaml stays" if has_base else "the site does not list it any more"
        yield ChangeWarning("last", "", f"No reservation is left in cluster {cluster}; {rest}.")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{', '.join(names[:_FEW])}{more}"


def _object_warnings(one: ObjectChange, now: int, *, is_shared: bool) -> Iterator[tuple[str, str]]:
    """Yield codes and messages. `is_shared`: the object serves all reservations, not one."""
    if one.kind in _CLUSTER_SCOPED or (one.kind in _NODE_FIELDS and one.change != CHANGED):
        yield "cluster-scoped", f"{one.change}; this affects the whole cluster."
    if is_shared and one.kind in RBAC and one.change == ADDED:
        yield "rights", "added; this grants new permissions."
    yield from node_warnings(one)
    if one.change != CHANGED:
        return
    if any(_differs(one, *path) for path in _IMMUTABLE.get(one.kind, ())):
        yield "immutable", "a field changes that is immutable. Let the engine delete the object first."
    elif one.kind == "Deployment" and _differs(one, "spec", "template"):
        yield "replaced", "the Pod template changes, so all placeholders are replaced, a quarter at a time."
    before, after = (section(text, "spec", "replicas") for text in (one.before, one.after))
    if one.kind == "Deployment" and bool(before) != bool(after):
        yield "replicas", f"`replicas` is {'added to' if after else 'removed from'} git."
    if one.kind == "CronJob" and starts_at_once(one, now):
        yield "schedule", "applied now, it starts a Job at once, which ends if no window is open."


def _differs(one: ObjectChange, *keys: str) -> bool:
    return section(one.before, *keys) != section(one.after, *keys)


def starts_at_once(one: ObjectChange, now: int) -> bool:
    """Tell whether the controller of CronJobs starts a Job as soon as a changed CronJob is applied.

    It starts the latest run that it missed: one that the new schedule has within the starting deadline, after
    the last run of the old schedule. While a CronJob is suspended, it has no runs.
    """
    latest = _latest_run(one.after, now)
    before = _latest_run(one.before, now)
    return latest is not None and (before is None or latest > before)


def _latest_run(text: str, now: int) -> int | None:
    """Return the latest run of a CronJob up to now and within its starting deadline."""
    from croniter import croniter  # noqa: PLC0415 - few changes are about schedules

    values = {
        key: "".join(section(text, "spec", key)).partition(":")[2].strip().strip("\"'")
        for key in ("schedule", "timeZone", "suspend", "startingDeadlineSeconds")
    }
    schedule, zone = values["schedule"], load(values["timeZone"])
    if not croniter.is_valid(schedule) or zone is None or values["suspend"] == "true":
        return None
    wall = local(zone, now) * 60 + now % 60
    latest = int(croniter(schedule, wall + 1).get_prev(float))
    is_late = latest <= wall - int(values["startingDeadlineSeconds"] or 0)
    return None if is_late else now - (wall - latest)


# Nodes. Karpenter stores a hash of most of what describes a node; when that changes, all nodes have drifted.
# Of the rest it checks whether a node still matches (Karpenter v1.14, `Hash` of NodePool and EC2NodeClass).

_REPLACED = "Karpenter replaces them, as many at once as its disruption budgets allow, even during a window."


class _NodeFields(NamedTuple):
    """Where a kind describes nodes, and which keys below that are not part of Karpenter's hash."""

    root: Sequence[str]
    matched: Sequence[Sequence[str]]  # compared with each node
    ignored: Sequence[Sequence[str]] = ()  # used for new nodes only


_NODE_FIELDS: Mapping[str, _NodeFields] = {
    "NodePool": _NodeFields(("spec", "template"), matched=[("spec", "requirements")]),
    "EC2NodeClass": _NodeFields(
        ("spec",),
        matched=[
            (key,)
            for key in (
                "amiFamily",
                "amiSelectorTerms",
                "capacityReservationSelectorTerms",
                "securityGroupSelectorTerms",
                "subnetSelectorTerms",
            )
        ],
        ignored=[("ipPrefixCount",)],
    ),
}


def node_warnings(one: ObjectChange) -> Iterator[tuple[str, str]]:
    """Yield code and message where Karpenter replaces or removes nodes."""
    fields = _NODE_FIELDS.get(one.kind)
    if fields is None or one.change == ADDED:
        return
    if one.change == REMOVED:
        if one.kind == "NodePool":
            yield "nodes-replaced", "Karpenter deletes its nodes too, even during a window."
    elif _hashed_lines(one.before, fields) != _hashed_lines(one.after, fields):
        yield "nodes-replaced", f"all of its nodes drift: {_REPLACED}"
    elif any(_differs(one, *fields.root, *keys) for keys in fields.matched):
        yield "nodes-replaced", f"nodes that no longer match drift: {_REPLACED}"


def _hashed_lines(text: str, fields: _NodeFields) -> list[str]:
    lines = section(text, *fields.root)
    for keys in (*fields.matched, *fields.ignored):
        part = section(text, *fields.root, *keys)
        if part:
            at = next(n for n in range(len(lines)) if lines[n : n + len(part)] == part)
            lines = lines[:at] + lines[at + len(part) :]
    return lines
