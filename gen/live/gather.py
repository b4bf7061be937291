"""Looks at a cluster: one list for each kind, in pages, and sessions where something is open.

Placeholders that stand are not listed (their Deployment counts them), nor pods of ours that are done. Where
more are missing than are Pending, the pods of that pool are asked for once more.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gen.live import objects
from gen.live.facts import Deployment, Facts, Refusal, Unread, Waiting
from gen.live.known import readable
from gen.live.sessions import active, asked_for
from gen.manifest import naming
from gen.manifest.unread import why_unread
from gen.runtime import labels
from gen.runtime.api import ApiError
from gen.runtime.collection import Collection
from gen.runtime.kinds import collections
from gen.runtime.objectkind import NODE_POOL, SLOT
from gen.runtime.recognition import Recognition
from gen.runtime.serving import is_going
from gen.runtime.session import Session

PAGE = "500"
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_JSON = "application/json"

Ask = Callable[[str, Mapping[str, str], str], Any]
"""GET of a path with a query, accepting a media type: the object that is answered."""


class Wanted(NamedTuple):
    """What is ours in a cluster. Of Reservations nobody asks but where the site says that there is
    Koordinator.
    """

    namespace: str
    site: str
    koordinator: bool = False
    node_pools: bool = False  # nor of NodePools, but where it says that some have a number of nodes


def gathered(ask: Ask, wanted: Wanted, now: int, refused: type[Exception]) -> Facts:
    """Raises what `ask` raises; but where it raises `refused` for a list of sessions or of Reservations, that
    is a fact.
    """
    namespace, site, koordinator, node_pools = wanted
    ours = f"{labels.SITE}={site}"

    def listed(path: str, selector: str = ours, fields: str = "") -> list[objects.Object]:
        return _pages(ask, path.format(namespace), selector, fields, _JSON)

    maps = listed("/api/v1/namespaces/{}/configmaps")
    named = {one["metadata"]["name"]: one.get("data") or {} for one in maps}
    names = naming.code(koordinator=koordinator)
    code = {file: text for name in names for file, text in named.get(name, {}).items()}
    pods = "/api/v1/namespaces/{}/pods"
    waiting = listed(pods, f"{ours},{labels.CLASS}", "status.phase=Pending")
    own = listed(pods, f"{ours},!{labels.CLASS}", "status.phase!=Succeeded")
    pools = [objects.deployment(one) for one in listed("/apis/apps/v1/namespaces/{}/deployments")]
    unready = [objects.waiting(one) for one in waiting if not is_going(one)]
    for pool in _short(pools, unready):
        selector = f"{ours},{labels.RESERVATION}={pool.reservation},{labels.CLASS}={pool.resource_class}"
        placed = listed(pods, selector, "status.phase=Running")
        unready += [objects.waiting(one) for one in placed if objects.is_unready(one) and not is_going(one)]
    if node_pools:
        ours_of_nodes = listed(NODE_POOL.path(""), f"{ours},{labels.RESERVATION}")
        pools += [objects.node_pool(one) for one in ours_of_nodes if objects.has_replicas(one)]
    facts = Facts(
        tuple(objects.timetable(one) for one in maps if _is_timetable(one)),
        tuple(pools),
        tuple(objects.cronjob(one) for one in listed("/apis/batch/v1/namespaces/{}/cronjobs")),
        tuple(objects.job(one) for one in listed("/apis/batch/v1/namespaces/{}/jobs")),
        tuple(objects.pod(one) for one in own if not is_going(one)),
        tuple(unready),
        code if naming.RUNTIME in named else None,
        {},
    )
    facts = facts._replace(sessions=_sessions(ask, facts, now, refused))
    return _with_slots(ask, facts, site, refused) if koordinator else facts


def _short(pools: Sequence[Deployment], pending: Sequence[Waiting]) -> Iterator[Deployment]:
    """Those that lack more placeholders than are Pending."""
    waiting = Counter((one.reservation, one.resource_class) for one in pending)
    for one in pools:
        if one.replicas - one.ready > waiting[one.reservation, one.resource_class]:
            yield one


def _with_slots(ask: Ask, facts: Facts, site: str, refused: type[Exception]) -> Facts:
    """One list of all Reservations of the cluster: another's that nobody can read stops ours too."""
    try:
        found = _pages(ask, SLOT.path(""), "", "", _JSON)
    except refused as error:
        status = getattr(error, "status", 0)
        return facts._replace(slots=Refusal(status, str(error)))
    ours = [
        one
        for one in found
        if (objects.label(one, labels.SITE), objects.label(one, labels.ROLE)) == (site, labels.SLOT)
    ]
    told = [Unread(one["metadata"]["name"], why_unread(one)) for one in found]
    return facts._replace(
        slots=tuple(map(objects.slot, ours)),
        unread=tuple(one for one in told if one.why),
        unset=tuple(one["metadata"]["name"] for one in found if objects.has_no_policy(one)),
    )


def _is_timetable(item: objects.Object) -> bool:
    """The code and the inventory are of no reservation; what session pods need is read by people alone."""
    return (
        bool(objects.label(item, labels.RESERVATION)) and objects.label(item, labels.ROLE) != labels.AFFINITY
    )


def _sessions(
    ask: Ask, facts: Facts, now: int, refused: type[Exception]
) -> dict[Recognition, tuple[Session, ...] | str]:
    """Several classes may be asked for by the same list."""
    recognitions, kept = asked_for(readable(facts), now)
    answers: dict[Collection, list[objects.Object] | str] = {}
    found: dict[Recognition, tuple[Session, ...] | str] = {}
    for recognition in recognitions:
        sessions: list[Session] = []
        for namespace, collection in collections(recognition).items():
            if collection not in answers:
                answers[collection] = _answer(ask, collection, refused)
            answer = answers[collection]
            if isinstance(answer, str):
                found[recognition] = answer
                break
            try:
                sessions += active(answer, recognition, namespace, kept)
            except ApiError as error:  # what no API server sends
                found[recognition] = str(error)
                break
        else:
            found[recognition] = tuple(sessions)
    return found


def _answer(ask: Ask, asked: Collection, refused: type[Exception]) -> list[objects.Object] | str:
    try:
        accept = _METADATA if asked.metadata_only else _JSON
        return _pages(ask, asked.path, asked.labels, asked.fields, accept)
    except refused as error:
        return str(error)


def _pages(ask: Ask, path: str, selector: str, fields: str, accept: str) -> list[objects.Object]:
    """An empty list is answered as none at all."""
    query = {"limit": PAGE}
    query |= {"labelSelector": selector} if selector else {}
    query |= {"fieldSelector": fields} if fields else {}
    items: list[objects.Object] = []
    while True:
        answer = ask(path, query, accept)
        items += answer.get("items") or ()
        token = (answer.get("metadata") or {}).get("continue")
        if not token:
            return items
        query = {**query, "continue": token}
