"""Warn about what a change would do in the cluster: to dates, open windows, slots, manifests and nodes.

`now` is always an argument, in seconds; nothing here reads the clock.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from berth.backends.backendinterface import backend_of
from berth.checks.policychecks import PolicyResult, result_text
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence
from berth.dates.moments import hours_text, local_text, named
from berth.dates.zone import load, local
from berth.diff.change import RENAMED, ChangeWarning, ReservationChange
from berth.diff.compare import ReservationVersion, Versions
from berth.diff.manifests import ADDED, CHANGED, REMOVED, FileChange, ObjectChange, section
from berth.diff.permissions import RBAC
from berth.diff.sharednumbers import holding, level_now, open_seats
from berth.diff.wording import clock_changes, some_dates
from berth.pipeline import Pipeline
from berth.quantity import parse as parse_quantity
from berth.schema.values import Cluster, Site

_FEW = 3  # names that are listed one by one
_Sides = tuple[Pipeline, Pipeline]

_BY_URGENCY = (
    *("site-renamed", "policies", "policy", "price", "not-compared"),  # what refuses
    *("open-now", "soon", "past", "clock-change", "renamed", "alike"),  # people
    *("backend", "slots-replaced", "number-changed"),
    *("cluster-left", "namespace", "replaced", "expired", "last", "nodes-replaced"),
    *("foreign", "rights", "attributes", "cluster-scoped", "immutable", "replicas", "schedule", "stale"),
)


def by_urgency(warnings: Iterable[ChangeWarning]) -> tuple[ChangeWarning, ...]:
    """Return the warnings with what refuses the change first, then people, nodes and manifests."""
    return tuple(sorted(warnings, key=lambda warning: _BY_URGENCY.index(warning.code)))


# Dates and open windows


def reservation_warnings(
    change: ReservationChange, versions: Versions, sides: _Sides, now: int, notice: int
) -> Iterator[ChangeWarning]:
    """Warn about the dates of a reservation that changes, and what it holds now. `notice` is in seconds."""
    windows = [
        () if version is None or version.reservation.suspend else version.occurrences for version in versions
    ]
    versions = old, new = _in_clusters_that_stay(versions[0], sides), versions[1]
    was_open, is_open = (any(item.open <= now < item.end for item in of_side) for of_side in windows)
    site = sides[1].site
    # whether Berth may give back what the base holds
    goes_back = (
        old is None
        or site is None
        or all(
            backend_of(old.reservation.holder).can_give_back(old.reservation.holder, cluster)
            for cluster in site.clusters
            if cluster.name in old.clusters
        )
    )
    yield from _open_now(change, versions, sides, now, goes_back=goes_back)
    yield from _date_warnings(change, windows, now, notice)
    yield from _slot_warnings(old, new, now, is_open=was_open and is_open)
    if old and goes_back and old.reservation.holder.shared is not None:
        yield from _number_warnings(old, new, sides[1], now, was_open=was_open)


def clusters_left(old: Site | None, new: Site | None) -> list[Cluster]:
    """Return the clusters that leave the site: nothing applies or removes anything there any more."""
    names = {cluster.name for cluster in new.clusters} if new else set()
    return [cluster for cluster in old.clusters if cluster.name not in names] if old and new else []


def _in_clusters_that_stay(version: ReservationVersion | None, sides: _Sides) -> ReservationVersion | None:
    """Return the part of a version that a change can close or remove; None if there is none."""
    left = {cluster.name for cluster in clusters_left(*(side.site for side in sides))}
    if version is None or left.isdisjoint(version.clusters):
        return version
    places = zip(version.classes, version.clusters, strict=True)
    kept = {one.name: (one, cluster) for one, cluster in places if cluster not in left}
    hashes = tuple(item for item in version.slot_hashes if item[0] in kept)
    classes, clusters = zip(*kept.values(), strict=True) if kept else ((), ())
    return version._replace(classes=classes, clusters=clusters, slot_hashes=hashes) if kept else None


def _date_warnings(
    change: ReservationChange, windows: Sequence[Sequence[Occurrence]], now: int, notice: int
) -> Iterator[ChangeWarning]:
    """Warn about dates. `windows`: all of both sides, unless the reservation is suspended."""
    changed = change.occurrences.changed
    dates = [*change.occurrences.added, *(new for _, new in changed)]
    removed = [*change.occurrences.removed, *(was for was, becomes in changed if becomes.open != was.open)]
    for items, present, verb in (
        (dates, {*windows[1]}, "opens"),
        (removed, {*windows[0]}, "would have opened"),
    ):
        near = [item for item in items if now < item.open < now + notice and item in present]
        if near:
            when = f"{local_text(near[0].open, named(near[0].zone))} ({near[0].zone})"
            message = (
                f"{some_dates(near)} {verb} at {when}, sooner than the notice of {hours_text(notice)} h."
            )
            yield ChangeWarning("soon", change.name, message)
    past = [item for item in (*dates, *change.occurrences.removed) if item.end <= now]
    if past:
        message = f"{some_dates(past)} {'is' if len(past) == 1 else 'are'} in the past: nothing happens."
        yield ChangeWarning("past", change.name, message)
    for message in clock_changes(dates):
        yield ChangeWarning("clock-change", change.name, message)
    if change.kind == RENAMED:
        effect = (
            f". If it deletes first, the number goes back in between: {change.holds[1]}. If it creates "
            "first, the number stays."
            if change.holds[1]
            else ", so seats that are open now are removed and created again."
        )
        message = (
            f"It was {change.old_name}: the engine deletes that reservation and creates this one{effect}"
        )
        yield ChangeWarning("renamed", change.name, message)


def _open_now(
    change: ReservationChange, versions: Versions, sides: _Sides, now: int, *, goes_back: bool
) -> Iterator[ChangeWarning]:
    """Warn about seats that change as soon as the change is applied.

    A number is what all make of it who hold it. A class that moves is one of each cluster.
    """
    old, new = versions
    places = [
        [*zip((one.name for one in version.classes), version.clusters, strict=True)] if version else []
        for version in versions
    ]
    classes = [{name for name, _ in of_side} for of_side in places]
    moved = {name for name, _ in {*places[0]} ^ {*places[1]}} & classes[0] & classes[1]
    held = [
        {
            f"{name} in {cluster}" if name in moved else name: count
            for (name, cluster), count in _counts_now(own, own or other, side, now).items()
        }
        for own, other, side in zip(versions, (new, old), sides, strict=True)
    ]
    otherwise = _otherwise_text(old), _otherwise_text(new or old) if goes_back else "the same"
    for name in dict.fromkeys((*held[0], *held[1])):
        counts = [of_side.get(name, 0) for of_side in held]
        # 2 Gi are more than 1024 Mi; all that is 0 is alike
        amounts = [
            (
                unit.key if count else "",
                parse_quantity(f"{count}{unit.value if unit.is_quantity else ''}") or 0,
            )
            for count, unit in zip(counts, change.units, strict=True)
        ]
        if amounts[0] == amounts[1]:
            continue
        difference = amounts[1][1] - amounts[0][1]
        verb = "grows" if difference > 0 else "shrinks" if difference else "changes"
        verb = "opens" if not counts[0] else "closes" if not counts[1] else verb
        texts = [
            unit.amount(count) if count or not unit.is_number else text
            for count, unit, text in zip(counts, change.units, otherwise, strict=True)
        ]
        unit = change.units[1]
        if change.units[0] is unit and (all(counts) or not unit.is_number) and not unit.is_quantity:
            texts[1] = str(counts[1])
        text = f"{texts[0]} now, {texts[1]} then" if texts[0] else f"{texts[1]} then"
        yield ChangeWarning("open-now", change.name, f"{name} {verb} as soon as this is applied: {text}.")


def _counts_now(
    own: ReservationVersion | None, known: ReservationVersion | None, side: Pipeline, now: int
) -> dict[tuple[str, str], int]:
    """Return the counts now by class and cluster. `known`: the other version where this side has none."""
    if known is None:
        return {}
    places = [*zip((one.name for one in known.classes), known.clusters, strict=True)]
    number = known.reservation.holder.shared
    if number is not None:
        levels = {place: level_now(number, place[1], side, now) for place in places}
        return {place: level for place, level in levels.items() if level is not None}
    if own is None or own.reservation.suspend:
        return {}
    reservation, persistence = own.reservation, own.reservation.holder.persistence
    if persistence is None:
        seats = open_seats(reservation, own.occurrences, now)
    else:
        seats = dict(reservation.seats) if persistence.is_open(now) else {}
    return {place: seats[place[0]] for place in places if place[0] in seats}


def _otherwise_text(version: ReservationVersion | None) -> str:
    """Return what a number of somebody else is if no window is open."""
    if version is None:
        return ""
    count, unit = version.reservation.holder.otherwise_count, version.reservation.holder.unit
    if count is None:
        return "what it is otherwise"
    return unit.amount(count) if unit.is_quantity else str(count)


def similarity_warnings(
    removed: Sequence[ReservationVersion], added: Sequence[ReservationVersion]
) -> Iterator[ChangeWarning]:
    """Warn about an added reservation that looks like a removed one, but is not certain to be it.

    Both have the same classes, and share more than half of the dates of the one that has more.
    """
    by_date: dict[object, list[ReservationVersion]] = {}
    for old in removed:
        for date in _spans(old):
            by_date.setdefault(date, []).append(old)
    sizes = {old.reservation.name: len(old.occurrences) for old in removed}
    for new in added:
        spans = _spans(new)
        shared = Counter(old.reservation.name for date in spans for old in by_date.get(date, ()))
        best = min(shared, key=lambda name: (-shared[name], name), default=None)
        if best is not None and 2 * shared[best] > max(sizes[best], len(spans)):
            yield ChangeWarning(
                "alike",
                new.reservation.name,
                f"{shared[best]} of its {len(spans)} dates are also dates of {best}, which is removed. If it "
                "is the same course with a new name, its seats are removed and created again.",
            )


def _spans(version: ReservationVersion) -> list[object]:
    classes = tuple(sorted(resource_class.name for resource_class in version.classes))
    return [(classes, item.start, item.end) for item in version.occurrences]


def not_compared(name: str) -> ChangeWarning:
    """Warn about a reservation whose version in the base is not known."""
    message = "The base has errors, so what changes is not known: it is judged as if it were new."
    return ChangeWarning("not-compared", name, message)


def policy_warnings(results: Iterable[PolicyResult]) -> Iterator[ChangeWarning]:
    """Warn about policies that cannot be judged."""
    for result in results:
        if result.lacks_cost:
            yield ChangeWarning("policy", result.reservation.name, f"{result_text(result)}.")


def site_warnings(old: Site | None, new: Site | None) -> Iterator[ChangeWarning]:
    """Warn about another name of the site, other policies, and clusters that leave or change."""
    if old is None or new is None:
        return
    was, becomes = ({policy.name: policy for policy in side.policies} for side in (old, new))
    policies = [
        f"{name} is {REMOVED if name not in becomes else CHANGED if name in was else ADDED}"
        for name in dict.fromkeys((*was, *becomes))
        if was.get(name) != becomes.get(name)
    ]
    if policies:
        message = f"Other policies: {_some(policies)}. This change is checked by those of both sides."
        yield ChangeWarning("policies", new.name, message)
    if old.name != new.name:
        message = (
            f"The site was {old.name}. Its name is in the selectors of all Deployments, which are immutable: "
            "this cannot be applied over what is there. Remove the old site from the clusters first, outside "
            "of all windows."
        )
        yield ChangeWarning("site-renamed", new.name, message)
    yield from _left_warnings(old, new)
    before = {one.name: one for one in old.clusters}
    for cluster in new.clusters:
        known = before.get(cluster.name)
        if known is None:
            continue
        if known.namespace != cluster.namespace:
            effect = (
                "Nothing removes what is there: its CronJobs and its sweep go on and hold seats a second "
                f"time. After applying, delete the objects of the site in {known.namespace}; berth status "
                "says how."
                if cluster.engine == "none"
                else f"The engine deletes everything there and creates it in {cluster.namespace}: windows "
                "that are open close, and the sweep opens them again within 6 minutes."
            )
            message = f"Its namespace was {known.namespace}. {effect}"
            yield ChangeWarning("namespace", cluster.name, message)
        held, holds = ({place for one in side.held for place in one.places} for side in (known, cluster))
        for _, kind, namespace in sorted(held - holds):
            where = f" in namespace {namespace}" if namespace else ""
            message = (
                f"held no longer lists {kind}{where}: a number that is held there stays as it is, because "
                "nobody may give it back. Remove the reservations first, and this entry when their windows "
                "are over."
            )
            yield ChangeWarning("number-changed", cluster.name, message)


def _left_warnings(old: Site, new: Site) -> Iterator[ChangeWarning]:
    for cluster in clusters_left(old, new):
        apply = "-k" if old.kustomization else "--recursive -f"
        effect, advice = (
            (
                "nothing removes its objects",
                "Before merging, outside of all windows, delete them there, with the files of the base: "
                f"kubectl delete {apply} rendered/clusters/{cluster.name}",
            )
            if cluster.engine == "none"
            else (
                "without its folder the engine removes nothing there",
                "Remove its reservations first, and merge this once the engine has deleted their objects.",
            )
        )
        message = (
            f"It leaves the Site, and {effect}: CronJobs there go on opening seats until their dates end. "
            f"{advice}"
        )
        yield ChangeWarning("cluster-left", cluster.name, message)


# Slots and numbers


def _slot_warnings(
    old: ReservationVersion | None, new: ReservationVersion | None, now: int, *, is_open: bool
) -> Iterator[ChangeWarning]:
    """Warn about slots that are replaced. `is_open`: a window is open on both sides."""
    if new is None:
        return
    name, after = new.reservation.name, new.reservation.holder
    until = after.persistence
    if until is not None and not until.is_open(now):
        expired = f"It expired at {instant_text(until.until or 0)} and holds nothing."
        yield ChangeWarning("expired", name, f"{expired} Set a later expires, or remove the reservation.")
    if old is None:
        return
    before = old.reservation.holder
    if before.backend != after.backend:
        effect = (
            f"its seats instead of {before.backend}: seats that are open now are removed and created again"
        )
        if before.unit.is_number:
            effect = f"{after.unit.plural}; {before.target_text} is held no longer"
        elif after.unit.is_number:
            effect = f"a number of {after.target_text} instead of seats: seats that are open now are removed"
        yield ChangeWarning("backend", name, f"backend {after.backend} holds {effect}.")
    elif (until is not None or is_open) and (before.persistence is None) == (until is None):
        hashes = dict(old.slot_hashes)
        changed = [one for one, slot_hash in new.slot_hashes if hashes.get(one, slot_hash) != slot_hash]
        effect = (
            ". Free slots are replaced one by one; those in use stay until the end of the window."
            if until is None
            else ", so the engine deletes them and creates others. Until those hold their seats, other pods "
            "may take the room."
        )
        if changed:
            message = f"{', '.join(changed)}: the shape of the slots changes{effect}"
            yield ChangeWarning("slots-replaced", name, message)


def _number_warnings(
    old: ReservationVersion, new: ReservationVersion | None, head: Pipeline, now: int, *, was_open: bool
) -> Iterator[ChangeWarning]:
    """Warn about a number of somebody else that goes back to what it was. `was_open`: in a window."""
    before, after = old.reservation.holder, new.reservation.holder if new else None
    left = [cluster for cluster in dict.fromkeys(old.clusters) if new is None or cluster not in new.clusters]
    if after is None or left or after.shared != before.shared:  # others may hold it now
        places = left or dict.fromkeys(old.clusters)
        was_open = was_open and None in [level_now(before.shared, cluster, head, now) for cluster in places]
    where = f"In {' and '.join(left)} " if new and left else ""
    others = {
        place.reservation.name for cluster in old.clusters for place in holding(before.shared, cluster, head)
    } - {old.reservation.name}
    shared = f" {' or '.join(sorted(others))} may still set it." if others else ""
    for code, message in backend_of(before).change_risks(before, None if left else after, is_open=was_open):
        yield ChangeWarning(code, (new or old).reservation.name, f"{where}{message}{shared}")


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


def file_warnings(
    stale: Sequence[str], foreign: Iterable[str], attributes: Iterable[str]
) -> Iterator[ChangeWarning]:
    """Warn about files: of rendered/ that are not up to date, or not written by Berth; and of git."""
    for path in attributes:
        message = f"{path} changes: git may store or check out other text than the files have."
        yield ChangeWarning("attributes", "", message)
    for path in foreign:
        shown = f"rendered/{path}".rstrip("/")
        message = f"{shown} was not written by Berth. Engines and kubectl may apply it: delete it."
        yield ChangeWarning("foreign", "", message)
    if stale:
        message = f"rendered/ is not up to date: {_some(stale)}. Run `berth render` and commit the result."
        yield ChangeWarning("stale", "", message)


def manifest_warnings(
    files: Sequence[FileChange], remaining: Collection[str], now: int
) -> Iterator[ChangeWarning]:
    """Warn about changed objects that somebody applies; the same warning for several is given once.

    `remaining`: the paths that exist after the change.
    """
    objects: dict[tuple[str, str], list[str]] = {}
    files = [file for file in files if file.is_applied]
    for file in files:
        for changed in file.objects:
            for code, message in _object_warnings(changed, now, is_shared="/reservations/" not in file.path):
                objects.setdefault((code, message), []).append(f"{changed.kind} {changed.name}")
    for (code, message), names in objects.items():
        yield ChangeWarning(code, "", f"{_some(names)}: {message}")
    used = {path.split("/")[1] for path in remaining if "/reservations/" in path}
    clusters = {file.path.split("/")[1] for file in files if "/reservations/" in file.path}
    for cluster in sorted(clusters - used):
        yield ChangeWarning("last", "", f"No reservation is left in cluster {cluster}; its base.yaml stays.")


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


# By kind: where it describes nodes; the keys below that are compared with each node instead of being part of
# the hash; and those that count for new nodes only.
_NODE_FIELDS: Mapping[str, tuple[tuple[str, ...], Sequence[tuple[str, ...]], Sequence[tuple[str, ...]]]] = {
    "NodePool": (("spec", "template"), [("spec", "requirements")], []),
    "EC2NodeClass": (
        ("spec",),
        [
            ("amiFamily",),
            ("amiSelectorTerms",),
            ("capacityReservationSelectorTerms",),
            ("securityGroupSelectorTerms",),
            ("subnetSelectorTerms",),
        ],
        [("ipPrefixCount",)],
    ),
}


def node_warnings(one: ObjectChange) -> Iterator[tuple[str, str]]:
    """Yield code and message where Karpenter replaces or removes nodes."""
    if one.kind not in _NODE_FIELDS or one.change == ADDED:
        return
    root, matched, ignored = _NODE_FIELDS[one.kind]
    hashed = []
    for text in (one.before, one.after):
        lines = section(text, *root)
        for keys in (*matched, *ignored):
            part = section(text, *root, *keys)
            at = next(n for n in range(len(lines) + 1) if lines[n : n + len(part)] == part)
            lines = lines[:at] + lines[at + len(part) :]
        hashed.append(lines)
    if one.change == REMOVED:
        if one.kind == "NodePool":
            yield "nodes-replaced", "Karpenter deletes its nodes too, even during a window."
    elif hashed[0] != hashed[1]:
        yield "nodes-replaced", f"all of its nodes drift: {_REPLACED}"
    elif any(_differs(one, *root, *keys) for keys in matched):
        yield "nodes-replaced", f"nodes that no longer match drift: {_REPLACED}"
