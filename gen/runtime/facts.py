"""What the sweep knows of its site in one moment, as values made of the API server's objects.

Only objects that carry the label of the site and of a reservation become facts: what is no fact is never
touched.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from gen.runtime.api import TIMETABLE_KEY
from gen.runtime.instant import instant
from gen.runtime.override import ANNOTATION as OVERRIDE
from gen.runtime.verbs import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, POD, ROLE, ROLE_BINDING, Kind, Tree

T = TypeVar("T")
SITE, RESERVATION, ROLE_LABEL = "berth.dev/site", "berth.dev/reservation", "berth.dev/role"
OCCURRENCE, TIMETABLE = "occurrence", "timetable"
GONE_SINCE = "berth.dev/gone-since"
INVENTORY_KEY = "reservations.txt"
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


class Deployment(NamedTuple):
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
    is_serving: bool  # its container `occurrence` runs
    is_starting: bool
    trouble: Trouble | None


class Source(NamedTuple):
    """A ConfigMap that says, or should say, a timetable."""

    thing: Thing
    text: str
    override: str
    gone_since: str
    changed: int  # when anybody last wrote to it


class Facts(NamedTuple):
    site: str
    sources: tuple[Source, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    cronjobs: tuple[CronJob, ...] = ()
    jobs: tuple[Job, ...] = ()
    pods: tuple[Pod, ...] = ()  # of occurrences
    rights: tuple[Thing, ...] = ()  # Roles and RoleBindings; only looked at where we prune
    prunes: bool = False  # nobody else removes what has left git
    inventory: frozenset[str] | None = None  # the reservations that git has; None: nobody knows
    unread: frozenset[str] = frozenset()  # kinds of which the list is missing


def facts(
    site: str, listed: Mapping[Kind, Iterable[Tree] | None], prunes: bool = False, inventory: str = ""
) -> Facts:
    """`listed` has all objects of each kind, or None where they could not be read; `inventory` is the name of
    a ConfigMap. Raises KeyError, TypeError, ValueError or AttributeError for what no API server sends.
    """

    def made(kind: Kind, make: Callable[[Thing, Tree], T]) -> tuple[T, ...]:
        things = ((_thing(site, kind, tree), tree) for tree in listed.get(kind) or ())
        return tuple(make(thing, tree) for thing, tree in things if thing)

    maps = listed.get(CONFIG_MAP)
    rights = [made(kind, lambda thing, _: thing) for kind in (ROLE_BINDING, ROLE)]
    return Facts(
        site,
        made(CONFIG_MAP, _source),
        made(DEPLOYMENT, _deployment),
        made(CRON_JOB, lambda thing, tree: CronJob(thing, _at(tree, "spec", "jobTemplate"))),
        tuple(job for job in made(JOB, _job) if job is not None),
        pods(site, listed.get(POD) or ()),
        (*rights[0], *rights[1]),
        prunes,
        _inventory(next((tree for tree in maps or () if _at(tree, "metadata")["name"] == inventory), {})),
        frozenset(kind.name for kind, trees in listed.items() if trees is None),
    )


def _thing(site: str, kind: Kind, tree: Tree) -> Thing | None:
    """None for what is not of a reservation of the site."""
    metadata = _at(tree, "metadata")
    labels = _at(metadata, "labels")
    reservation = str(labels.get(RESERVATION) or "")
    if labels.get(SITE) != site or not reservation:
        return None
    created = instant(str(metadata["creationTimestamp"]))
    name, uid = str(metadata["name"]), str(metadata["uid"])
    return Thing(kind.name, name, uid, reservation, created, "deletionTimestamp" in metadata)


def _source(thing: Thing, tree: Tree) -> Source:
    metadata = _at(tree, "metadata")
    notes = _at(metadata, "annotations")
    written = [instant(str(entry["time"])) for entry in _list(metadata, "managedFields") if "time" in entry]
    return Source(
        thing,
        str(_at(tree, "data").get(TIMETABLE_KEY, "")),
        str(notes.get(OVERRIDE, "")),
        str(notes.get(GONE_SINCE, "")),
        max(written, default=thing.created),
    )


def _deployment(thing: Thing, tree: Tree) -> Deployment:
    version = str(_at(tree, "metadata")["resourceVersion"])
    ready = _at(tree, "status").get("readyReplicas", 0)
    return Deployment(thing, _number(_at(tree, "spec").get("replicas", 1)), _number(ready), version)


def _job(thing: Thing, tree: Tree) -> Job | None:
    """None for a Job that no CronJob of ours has made, nor the sweep, even if it borrows the labels."""
    if _at(tree, "metadata", "labels").get(ROLE_LABEL) != OCCURRENCE:
        return None
    conditions = _list(_at(tree, "status"), "conditions")
    ends = [one for one in conditions if one["type"] in ("Complete", "Failed") and one["status"] == "True"]
    return Job(thing, bool(ends))


def _pod(thing: Thing, tree: Tree) -> Pod:
    status = _at(tree, "status")
    containers = [*_list(status, "initContainerStatuses"), *_list(status, "containerStatuses")]
    runs = any(one["name"] == OCCURRENCE and _at(one, "state").get("running") for one in containers)
    phase = status.get("phase")
    owner = next(iter(_list(_at(tree, "metadata"), "ownerReferences")), {})
    return Pod(
        thing,
        str(owner.get("name", "")),
        str(owner.get("uid", "")),
        phase == "Running" and runs and not thing.is_going,
        phase in ("Pending", "Running") and not runs and not thing.is_going,
        next((found for one in containers if (found := _trouble(one))), None),
    )


def pods(site: str, trees: Iterable[Tree]) -> tuple[Pod, ...]:
    """Those of reservations of the site."""
    found = ((_thing(site, POD, tree), tree) for tree in trees)
    return tuple(_pod(thing, tree) for thing, tree in found if thing)


def _trouble(container: Tree) -> Trouble | None:
    waiting = _at(container, "state", "waiting")
    reason = str(waiting.get("reason", ""))
    if reason not in UNPULLED:
        return None
    return Trouble(str(container.get("image", "")), reason, str(waiting.get("message", "")))


def _inventory(tree: Tree) -> frozenset[str] | None:
    """One name a line; lines that begin with # are remarks. A text with neither, or with anything else, is of
    no sense.
    """
    text = _at(tree, "data").get(INVENTORY_KEY)
    lines = [line.strip() for line in str(text or "").splitlines() if line.strip()]
    names = frozenset(line for line in lines if not line.startswith("#"))
    good = all(name.isascii() and name.replace("-", "").isalnum() and name == name.lower() for name in names)
    return names if lines and good else None


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
