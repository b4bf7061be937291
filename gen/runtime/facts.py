"""What the sweep knows of its site in one moment, as values made of the API server's objects.

Only objects that carry the label of the site and of a reservation become facts: what is no fact is never
touched.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gen.runtime.api import TIMETABLE_KEY
from gen.runtime.instant import instant
from gen.runtime.inventory import KEY, Inventory, Standing
from gen.runtime.inventory import inventory as read_inventory
from gen.runtime.labels import AFFINITY, CLASS, OCCURRENCE, RESERVATION, ROLE, SITE, STANDING
from gen.runtime.labels import SLOT as SLOT_ROLE
from gen.runtime.objectkind import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, NODE_POOL, POD, SLOT, Kind
from gen.runtime.override import ANNOTATION as OVERRIDE
from gen.runtime.serving import containers, is_going, is_serving, is_starting
from gen.runtime.verbs import Tree

if TYPE_CHECKING:
    from gen.runtime.slot import Slot

T = TypeVar("T")
GONE_SINCE = "berth.dev/gone-since"
UNPULLED = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError")
)


class Thing(NamedTuple):
    """What is known of an object of any kind."""

    kind: str
    name: str
    uid: str
    reservation: str
    created: int
    is_going: bool = False  # it has been deleted, and is not away yet
    gone_since: str = ""  # what the sweep has written on it


class Deployment(NamedTuple):
    """Or a NodePool of a fixed number of nodes, as its `thing` says."""

    thing: Thing
    replicas: int
    ready: int
    resource_version: str


class Job(NamedTuple):
    thing: Thing
    is_finished: bool


class CronJob(NamedTuple):
    thing: Thing
    template: Tree  # of its Jobs


class Trouble(NamedTuple):
    """Why a container of a pod does not start."""

    image: str
    reason: str
    message: str

    def said(self) -> str:
        return f"its image {self.image} cannot be pulled: {self.reason}: {self.message}"


class Pod(NamedTuple):
    thing: Thing
    owner: str  # the name of what made it
    owner_uid: str
    is_serving: bool
    is_starting: bool
    trouble: Trouble | None


class Source(NamedTuple):
    """A ConfigMap that says, or should say, a timetable."""

    thing: Thing
    text: str
    override: str
    changed: int  # when anybody last wrote to it


class SlotFact(NamedTuple):
    thing: Thing
    resource_class: str
    is_standing: bool  # git holds it, and no window
    slot: "Slot"


Fact = Source | Inventory | Deployment | CronJob | Job | Pod | Thing | SlotFact


class Facts(NamedTuple):
    site: str
    sources: tuple[Source, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    cronjobs: tuple[CronJob, ...] = ()
    jobs: tuple[Job, ...] = ()
    pods: tuple[Pod, ...] = ()  # of occurrences
    rights: tuple[Thing, ...] = ()  # Roles and RoleBindings, and what only people read
    prunes: bool = False  # nobody else removes what has left git
    inventory: frozenset[str] | None = None  # the reservations that git has; None: nobody knows
    standing: Standing | None = None  # the slots that git has; None: nobody knows
    unread: frozenset[str] = frozenset()  # kinds of which the list is missing
    slots: tuple[SlotFact, ...] | None = None  # None: nobody looked, or they could not be read
    namespace: str = ""  # of all that is in one


def facts(
    site: str,
    found: Mapping[Kind, Iterable[Fact] | None],
    prunes: bool = False,
    inventory: str = "",
    namespace: str = "",
) -> Facts:
    """`found` has all facts of each kind, or None where they could not be read; `inventory` is the name of a
    ConfigMap.
    """
    everything = [fact for some in found.values() for fact in some or ()]
    named = [fact for fact in everything if isinstance(fact, Inventory) and fact.name == inventory]
    git = named[0] if named else Inventory(inventory, None)

    def of(kind: type[T]) -> tuple[T, ...]:
        return tuple(fact for fact in everything if isinstance(fact, kind))

    return Facts(
        site,
        of(Source),
        of(Deployment),
        of(CronJob),
        of(Job),
        of(Pod),
        of(Thing),
        prunes,
        git.names,
        git.standing,
        frozenset(kind.name for kind, some in found.items() if some is None),
        of(SlotFact) if found.get(SLOT) is not None else None,
        namespace,
    )


def made_of(site: str, kind: Kind, tree: Tree) -> Fact | None:
    """The fact that an object is; None if it is not ours. Raises KeyError, TypeError, ValueError or
    AttributeError for what no API server sends.
    """
    thing = _thing(site, kind, tree)
    if thing is None:
        is_inventory = kind is CONFIG_MAP and KEY in _at(tree, "data")
        return read_inventory(str(_at(tree, "metadata")["name"]), _at(tree, "data")) if is_inventory else None
    make = _MAKERS.get(kind)
    return make(thing, tree) if make else thing


def _thing(site: str, kind: Kind, tree: Tree) -> Thing | None:
    """None for what is not of a reservation of the site."""
    metadata = _at(tree, "metadata")
    labels = _at(metadata, "labels")
    reservation = str(labels.get(RESERVATION) or "")
    if labels.get(SITE) != site or not reservation:
        return None
    created = instant(str(metadata["creationTimestamp"]))
    name, uid = str(metadata["name"]), str(metadata["uid"])
    gone_since = str(_at(metadata, "annotations").get(GONE_SINCE, ""))
    return Thing(kind.name, name, uid, reservation, created, is_going(tree), gone_since)


def _source(thing: Thing, tree: Tree) -> Source | Thing:
    """What only people read is no timetable; it goes with the rest of its reservation."""
    metadata = _at(tree, "metadata")
    if _at(metadata, "labels").get(ROLE) == AFFINITY:
        return thing
    notes = _at(metadata, "annotations")
    written = [instant(str(entry["time"])) for entry in _list(metadata, "managedFields") if "time" in entry]
    return Source(
        thing,
        str(_at(tree, "data").get(TIMETABLE_KEY, "")),
        str(notes.get(OVERRIDE, "")),
        max(written, default=thing.created),
    )


def _deployment(thing: Thing, tree: Tree) -> Deployment:
    version = str(_at(tree, "metadata")["resourceVersion"])
    ready = _at(tree, "status").get("readyReplicas", 0)
    return Deployment(thing, _number(_at(tree, "spec").get("replicas", 1)), _number(ready), version)


def _node_pool(thing: Thing, tree: Tree) -> Deployment | None:
    """None for one whose nodes follow pods: it has no number of them."""
    if "replicas" not in _at(tree, "spec"):
        return None
    version = str(_at(tree, "metadata")["resourceVersion"])
    nodes = _at(tree, "status").get("nodes", 0)
    return Deployment(thing, _number(_at(tree, "spec")["replicas"]), _number(nodes), version)


def _job(thing: Thing, tree: Tree) -> Job | None:
    """None for a Job that no CronJob of ours has made, nor the sweep, even if it borrows the labels."""
    if _at(tree, "metadata", "labels").get(ROLE) != OCCURRENCE:
        return None
    conditions = _list(_at(tree, "status"), "conditions")
    ends = [one for one in conditions if one["type"] in ("Complete", "Failed") and one["status"] == "True"]
    return Job(thing, bool(ends))


def _pod(thing: Thing, tree: Tree) -> Pod:
    owner = next(iter(_list(_at(tree, "metadata"), "ownerReferences")), {})
    return Pod(
        thing,
        str(owner.get("name", "")),
        str(owner.get("uid", "")),
        is_serving(tree),
        is_starting(tree),
        next((found for one in containers(tree) if (found := _trouble(one))), None),
    )


def _trouble(container: Tree) -> Trouble | None:
    waiting = _at(container, "state", "waiting")
    reason = str(waiting.get("reason", ""))
    if reason not in UNPULLED:
        return None
    return Trouble(str(container.get("image", "")), reason, str(waiting.get("message", "")))


def _slot(thing: Thing, tree: Tree) -> SlotFact | None:
    """None for one that only borrows our labels."""
    from gen.runtime.slot import slot  # noqa: PLC0415 (is there only where a cluster has slots)

    labels = _at(tree, "metadata", "labels")
    if labels.get(ROLE) != SLOT_ROLE:
        return None
    return SlotFact(thing, str(labels.get(CLASS, "")), STANDING in labels, slot(tree))


_MAKERS: Mapping[Kind, Callable[[Thing, Tree], Fact | None]] = {
    CONFIG_MAP: _source,
    DEPLOYMENT: _deployment,
    NODE_POOL: _node_pool,
    CRON_JOB: lambda thing, tree: CronJob(thing, _at(tree, "spec", "jobTemplate")),
    JOB: _job,
    POD: _pod,
    SLOT: _slot,
}


def _at(tree: Tree, *path: str) -> Tree:
    """The object below these keys; empty where there is none."""
    for key in path:
        below = tree.get(key) or {}
        if not isinstance(below, dict):
            raise TypeError(f"{key} is no object")
        tree = below
    return tree


def _list(tree: Tree, key: str) -> list[Tree]:
    found = tree.get(key) or []
    if not isinstance(found, list):
        raise TypeError(f"{key} is no list")
    return found


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number")
    return value
