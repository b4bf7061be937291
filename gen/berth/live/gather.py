"""Reads the state of a cluster: one list for each kind, in pages, and the sessions of what is open.

Ready placeholders are not listed, because their Deployment counts them; neither are pods that are done. If
more placeholders are missing than are Pending, the pods of that pool are listed too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from berth.core import labels
from berth.core.claims import competing_reservation, count_sessions, known_recognitions, open_claims
from berth.core.jsonvalues import Tree
from berth.core.leases import parse_lease
from berth.core.objectreading import parse_object
from berth.core.objects import (
    CAPACITY_BUFFER,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    EVENT,
    JOB,
    LEASE,
    NODE_POOL,
    POD,
    RUNNING_PODS,
    SLOT,
    ObjectKind,
    is_terminating,
)
from berth.core.sessions import (
    RENKU_PROJECT,
    UNKNOWN_TEMPLATE,
    Contest,
    Pairs,
    Recognition,
    Session,
    may_overlap,
    ranked,
)
from berth.core.state import RecordObject, TimetableObject
from berth.core.target import open_now
from berth.core.timetable import Timetable, TimetablePool
from berth.live import clusterfacts
from berth.live.clusterfacts import (
    ClusterFacts,
    LivePool,
    LiveSlot,
    LiveTimetable,
    WaitingPlaceholder,
)
from berth.live.earlier import SessionsByRecognition
from berth.live.expected import template_json
from berth.live.grants import read_grants
from berth.live.heldnumbers import read_numbers
from berth.live.kubeobject import (
    METADATA_LIST,
    NODE,
    POD_TEMPLATE,
    ClusterError,
    Get,
    KubeObject,
    list_all,
    list_or_error,
    value_at,
)
from berth.live.overbooking import OverbookedNode, overbooked_nodes
from berth.live.poolstate import occurrences_of
from berth.plugins.slots.slots import AVAILABLE
from berth.runtime.apiclient import JSON, ApiError
from berth.runtime.sessionobserver import (
    MetadataKeys,
    is_active,
    metadata_keys,
    namespace_collection,
    parse_session,
    recognizing_classes,
    session_collections,
)
from berth.runtime.watch import Collection
from berth.schema.values import Cluster


class SessionContext(NamedTuple):
    """How sessions of a class are recognized, all `known` recognitions by class, and the metadata to keep.

    `labeled`: namespaces by the labels that they have.
    """

    recognition: Recognition
    known: Mapping[str, Recognition]
    kept: MetadataKeys
    labeled: Mapping[Pairs, frozenset[str]] = {}


def active_sessions(trees: Iterable[Tree], namespace: str, context: SessionContext) -> list[Session]:
    """Return the active sessions in a namespace, or (empty) in those that have the labels of the class.

    Templates of projects are not looked up here.
    """
    recognition, known, kept, labeled = context
    rivals = [
        (name, rival)
        for name, rival in sorted(known.items())
        if (not namespace or namespace in rival.namespaces) and may_overlap(rival, recognition)
    ]
    sessions = []
    for tree in trees:
        session = parse_session(tree, namespace, kept) if is_active(tree, recognition) else None
        if session and recognition.covers(session.namespace, labeled):
            in_reach = ((name, rival) for name, rival in rivals if rival.covers(session.namespace, labeled))
            classes = recognizing_classes(tree, in_reach)
            template = UNKNOWN_TEMPLATE if RENKU_PROJECT in session.annotations else session.template
            sessions.append(session._replace(template=template, classes=classes))
    return sessions


SessionCounts = Callable[[TimetablePool], dict[str, int] | None]
"""The number of sessions for each open occurrence of the pool's class, by id; None if they are unknown."""


def session_counts(timetables: Sequence[Timetable], seen: SessionsByRecognition, now: int) -> SessionCounts:
    """Count sessions by all timetables, once for each class."""

    @cache
    def counted(name: str, recognition: Recognition | None) -> dict[str, int] | None:
        sessions = seen.get(recognition) if recognition else None
        if recognition is None or sessions is None or isinstance(sessions, str):
            return None
        competitors = [competing_reservation(each, {name: recognition}, now) for each in timetables]
        known = known_recognitions(competitors)
        claims = {each: ranked(open_claims(competitors, each, now).values()) for each in {name, *known}}
        return count_sessions(sessions, claims[name], Contest(name, known, claims))

    return lambda pool: counted(pool.resource_class, pool.sessions)


def gather_facts(ask: Get, cluster: Cluster, site: str, now: int) -> ClusterFacts:
    """Read the state of a cluster. Raises ClusterError.

    Reservations are read only if the site says that there is Koordinator, CapacityBuffers and NodePools only
    if it says that there are some. That a list of sessions or Reservations is refused is part of the state.
    """
    namespace, ours = cluster.namespace, f"{labels.SITE}={site}"

    def listed(kind: ObjectKind, selector: str = ours, fields: str = "") -> list[KubeObject]:
        return list_all(ask, kind.path(namespace), selector, fields)

    maps = [(item, parse_object(site, CONFIG_MAP, item, prunes=False)) for item in listed(CONFIG_MAP)]
    timetables = [
        clusterfacts.live_timetable(found) for _, found in maps if isinstance(found, TimetableObject)
    ]
    unread = [item for item, found in maps if found is None and clusterfacts.label(item, labels.RESERVATION)]
    waiting = listed(POD, f"{ours},{labels.CLASS}", "status.phase=Pending")
    own = listed(POD, f"{ours},!{labels.CLASS}", "status.phase!=Succeeded")
    pools = list(_deployments(listed, timetables))
    unready = [clusterfacts.parse_waiting(pod) for pod in waiting if not is_terminating(pod)]
    unready += _running_unready(listed, ours, pools, unready)
    pools += _other_pools(listed, cluster, ours)
    cronjobs = listed(CRON_JOB, labels.SITE)
    by_site: dict[str, list[KubeObject]] = {}
    for cronjob in cronjobs:
        by_site.setdefault(clusterfacts.label(cronjob, labels.SITE), []).append(cronjob)
    facts = ClusterFacts(
        tuple(timetables),
        tuple(pools),
        tuple(map(clusterfacts.parse_cronjob, by_site.pop(site, ()))),
        tuple(map(clusterfacts.parse_job, listed(JOB))),
        tuple(clusterfacts.parse_pod(pod) for pod in own if not is_terminating(pod)),
        tuple(unready),
        frozenset(item["metadata"]["name"] for item, _ in maps if _has_role(item, labels.CODE)),
        records=tuple(
            clusterfacts.parse_live_record(item) for item, found in maps if isinstance(found, RecordObject)
        ),
        leases={lease.name: lease for lease in map(parse_lease, listed(LEASE))},
        ignored=tuple(
            clusterfacts.parse_ignored(item) for item in unread if not _has_role(item, labels.TARGET)
        ),
        other_sites=tuple(sorted(by_site)),
    )
    held = (name for held in cluster.held for name in held.namespaces or ())
    grants = read_grants(ask, namespace, (*_session_namespaces(facts), *held))
    facts = facts._replace(
        grants=grants,
        numbers=tuple(read_numbers(ask, facts.readable, [found for _, found in maps])),
        sessions=_sessions(ask, facts, now),
        refusals=_refusals(ask, namespace),
        by_namespace=_by_namespace(ask, site),
    )
    return _with_slots(ask, facts, site) if SLOT in cluster.seat_kinds else facts


def _running_unready(
    listed: Callable[..., list[KubeObject]],
    ours: str,
    pools: Iterable[LivePool],
    pending: Sequence[WaitingPlaceholder],
) -> list[WaitingPlaceholder]:
    """Return the placeholders that run and are not ready, of pools that miss more than are Pending."""
    waiting = Counter((placeholder.reservation, placeholder.resource_class) for placeholder in pending)
    found = list[WaitingPlaceholder]()
    for pool in pools:
        if pool.replicas - pool.ready <= waiting[pool.reservation, pool.resource_class]:
            continue
        selector = f"{ours},{labels.RESERVATION}={pool.reservation},{labels.CLASS}={pool.resource_class}"
        for placed in listed(POD, selector, "status.phase=Running"):
            if clusterfacts.is_unready(placed) and not is_terminating(placed):
                found.append(clusterfacts.parse_waiting(placed))
    return found


def _deployments(
    listed: Callable[..., list[KubeObject]], timetables: Iterable[LiveTimetable]
) -> Iterator[LivePool]:
    """Yield the Deployments of the site, and those that a timetable names, whatever their labels.

    A Deployment belongs to the reservation whose timetable names it.
    """
    deployments = [clusterfacts.parse_deployment(item) for item in listed(DEPLOYMENT)]
    read = [timetable.read for timetable in timetables if timetable.read]
    owners = {
        pool.scaled: (timetable.reservation, pool.resource_class)
        for timetable in read
        for pool in timetable.pools
        if pool.holder.has_deployment
    }
    missing = sorted(owners.keys() - {deployment.name for deployment in deployments})
    unlisted = [
        clusterfacts.parse_deployment(item)
        for name in missing
        for item in listed(DEPLOYMENT, "", f"metadata.name={name}")
    ]
    for deployment in (*deployments, *unlisted):
        reservation, resource_class = owners.get(
            deployment.name, (deployment.reservation, deployment.resource_class)
        )
        yield deployment._replace(
            reservation=reservation,
            resource_class=deployment.resource_class or resource_class,
            is_mislabeled=reservation != deployment.reservation or deployment in unlisted,
        )


def _session_namespaces(facts: ClusterFacts) -> list[str]:
    """Return the namespaces in which reservations look for sessions, sorted; empty: the whole cluster."""
    pools = [pool for timetable in facts.readable for pool in timetable.pools if pool.behavior != "none"]
    return sorted({name for pool in pools if pool.sessions for name in session_collections(pool.sessions)})


def _other_pools(listed: Callable[..., list[KubeObject]], cluster: Cluster, ours: str) -> Iterator[LivePool]:
    """Yield what holds seats beside Deployments. `listed` reads a collection of the site."""
    if NODE_POOL in cluster.seat_kinds:
        for node_pool in listed(NODE_POOL, f"{ours},{labels.RESERVATION}"):
            # The others have no fixed number of nodes.
            if value_at(node_pool, "spec", "replicas") is not None:
                yield clusterfacts.parse_node_pool(node_pool)
    if CAPACITY_BUFFER in cluster.seat_kinds:
        known = listed(POD_TEMPLATE)
        templates = {template["metadata"]["name"]: template_json(template) for template in known}
        for item in listed(CAPACITY_BUFFER):
            yield clusterfacts.parse_buffer(item, templates)


def _refusals(ask: Get, namespace: str) -> dict[tuple[str, str], tuple[str, int]]:
    """Return why objects could not make what they make, and when; nothing without permission."""
    events = list_or_error(ask, EVENT.path(namespace), "", "reason=FailedCreate")
    found = [
        (
            (value_at(event, "involvedObject", "kind"), value_at(event, "involvedObject", "name")),
            clusterfacts.parse_refusal(event),
        )
        for event in (() if isinstance(events, ClusterError) else events)
    ]
    return dict(sorted(found, key=lambda refusal: refusal[1][1]))


def _by_namespace(ask: Get, site: str) -> dict[str, dict[str, int]]:
    """Count the site's objects that hold or open seats, by namespace and kind; nothing without permission."""
    by_namespace: dict[str, dict[str, int]] = {}
    for kind in (CRON_JOB, DEPLOYMENT):
        items = list_or_error(ask, kind.path(""), f"{labels.SITE}={site}", "", METADATA_LIST)
        if isinstance(items, ClusterError):
            return {}
        for item in items:
            counts = by_namespace.setdefault(str(item["metadata"].get("namespace", "")), {})
            counts[kind.name] = counts.get(kind.name, 0) + 1
    return by_namespace


def _with_slots(ask: Get, facts: ClusterFacts, site: str) -> ClusterFacts:
    """List all Reservations of the cluster: an unreadable one of anybody stops all slots."""
    from berth.backends.koordinator.slottypes import why_unread  # noqa: PLC0415

    reservations = list_or_error(ask, SLOT.path(""))
    if isinstance(reservations, ClusterError):
        return facts._replace(slots_refused=reservations)
    slots = tuple(
        clusterfacts.parse_live_slot(item)
        for item in reservations
        if clusterfacts.label(item, labels.SITE) == site and _has_role(item, labels.SLOT)
    )
    return facts._replace(
        slots=slots,
        unread={item["metadata"]["name"]: why for item in reservations if (why := why_unread(item))},
        unset=tuple(
            item["metadata"]["name"]
            for item in reservations
            if value_at(item, "status", "phase") == AVAILABLE and not value_at(item, "spec", "allocatePolicy")
        ),
        overbooked=_overbooked_nodes(ask, slots, reservations),
    )


def _overbooked_nodes(
    ask: Get, slots: Iterable[LiveSlot], reservations: Sequence[KubeObject]
) -> tuple[OverbookedNode, ...]:
    """Return the overbooked nodes with slots; nothing without permission."""
    names = {slot.node for slot in slots} - {""}
    if not names:
        return ()
    nodes, pods = list_or_error(ask, NODE.path("")), list_or_error(ask, POD.path(""), "", RUNNING_PODS)
    if isinstance(nodes, ClusterError) or isinstance(pods, ClusterError):
        return ()
    return overbooked_nodes([node for node in nodes if node["metadata"]["name"] in names], pods, reservations)


def _has_role(item: KubeObject, role: str) -> bool:
    return clusterfacts.label(item, labels.ROLE) == role


def _sessions(ask: Get, facts: ClusterFacts, now: int) -> dict[Recognition, tuple[Session, ...] | str]:
    """List sessions, or say why not; classes with the same collection share a list."""
    pools = [(timetable, pool) for timetable in facts.readable for pool in timetable.pools if pool.sessions]
    known = {pool.resource_class: pool.sessions for _, pool in pools if pool.sessions}
    kept = metadata_keys(pool.match for _, pool in pools)
    recognitions = dict.fromkeys(
        pool.sessions
        for timetable, pool in pools
        if pool.sessions and open_now(occurrences_of(timetable, pool.resource_class), now)
    )
    answers: dict[Collection, list[KubeObject] | ClusterError] = {}

    def listed(asked: Collection) -> list[KubeObject]:
        if asked not in answers:
            accept = METADATA_LIST if asked.metadata_only else JSON
            answers[asked] = list_or_error(ask, asked.path, asked.labels, asked.fields, accept)
        answer = answers[asked]
        if isinstance(answer, ClusterError):
            raise answer
        return answer

    def labeled(recognition: Recognition) -> dict[Pairs, frozenset[str]]:
        """Return namespaces by the labels of all known recognitions, where one that is needed has some."""
        has_labels = any(each.namespace_labels for each in recognitions)
        wanted = {each.namespace_labels for each in known.values()} - {()} if has_labels else ()
        collections = {pairs: namespace_collection(pairs) for pairs in wanted}
        try:
            return {
                pairs: frozenset(item["metadata"]["name"] for item in listed(collection))
                for pairs, collection in collections.items()
            }
        except ClusterError:
            if recognition.namespace_labels:
                raise
            return {}

    by_recognition: dict[Recognition, tuple[Session, ...] | str] = {}
    for recognition in recognitions:
        try:
            context = SessionContext(recognition, known, kept, labeled(recognition))
            by_recognition[recognition] = tuple(
                session
                for namespace, collection in session_collections(recognition).items()
                for session in active_sessions(listed(collection), namespace, context)
            )
        except (ClusterError, ApiError) as error:  # or what no API server sends
            by_recognition[recognition] = str(error)
    return by_recognition
