"""Objects with a number that is held, Berth's or somebody else's, and the notes about such numbers.

They are read as the API server has them; what is malformed raises KeyError, TypeError or ValueError.
"""

from typing import NamedTuple

from berth.core.holders import REPLICAS, HeldNumber, holder_of_object
from berth.core.jsonvalues import TimetableError, Tree, instant_or_none, parse_mapping, part, parts
from berth.core.labels import CLASS
from berth.core.objects import CAPACITY_BUFFER, CONFIG_MAP, ObjectRef

HELD_KEY = "held.json"  # of the data of the ConfigMap with a note


class HeldValue(NamedTuple):
    """The ConfigMap in which Berth notes that it holds a number of somebody else."""

    ref: ObjectRef
    version: str
    before: object  # what stood there before; None: nothing
    uid: str  # of the object: what was there before in another one is of no use; empty: nobody knows
    since: int  # when it was last written, by the clock of the writer; 0: nobody knows
    is_kept: bool = False  # finalizers keep it when it is deleted


class PoolObject(NamedTuple):
    """An object with a number that is held: Berth's, or somebody else's."""

    ref: ObjectRef
    replicas: float  # or another number, in the units of the holder; 0 where it is missing
    ready: int
    resource_version: str
    resource_class: str = ""  # as its selector or label says; a NodePool has none
    tells_ready: bool = True  # somebody says how many are ready
    number: HeldNumber = REPLICAS
    tree: Tree | None = None  # as it was read, where that is known
    held: HeldValue | None = None  # of such a number, while Berth holds it

    @property
    def is_noted(self) -> bool:
        """Whether the note is about this very object."""
        return self.held is not None and self.held.uid in ("", self.ref.uid)


def unreadable_note(name: str) -> HeldValue:
    """Return a note that is too large or too deep to be read: nobody knows what was there before."""
    return HeldValue(ObjectRef(CONFIG_MAP.name, name, "", "", 0), "", {}, "", 0, is_kept=True)


def parse_held(ref: ObjectRef, tree: Tree) -> HeldValue:
    """Parse the note about a number of somebody else that is held.

    If it is malformed, what was there before is not a number: nobody knows it.
    """
    try:
        data = parse_mapping(str(part(tree, "data").get(HELD_KEY)), HELD_KEY)
    except TimetableError:
        data = {"before": {}}
    metadata = part(tree, "metadata")
    ref = ref._replace(uid=str(metadata.get("uid", "")), name=str(metadata["name"]))
    uid, since = str(data.get("uid", "")), instant_or_none(data.get("since")) or 0
    version, is_kept = str(metadata.get("resourceVersion", "")), bool(metadata.get("finalizers"))
    return HeldValue(ref, version, data.get("before"), uid, since, is_kept)


def read_pool(number: HeldNumber, tree: Tree) -> PoolObject:
    """Read an object with a number, whoever's it is. Raises KeyError, TypeError or ValueError."""
    metadata = part(tree, "metadata")
    ref = ObjectRef(number.object_kind.name, str(metadata["name"]), str(metadata.get("uid", "")), "", 0)
    if number.foreign:
        # Events are about objects of Berth, whatever this one is called.
        ref = ref._replace(kind=f"{ref.kind} {metadata.get('namespace', '')}".strip())
        return _read_number(ref, number, tree)._replace(tree=tree)
    parse = parse_buffer if number.object_kind is CAPACITY_BUFFER else parse_pool
    return parse(ref, tree)._replace(tree=tree)


def _read_number(ref: ObjectRef, number: HeldNumber, tree: Tree) -> PoolObject:
    value, ready = number.value_at(tree, number.path), None
    if number.ready:
        ready = number.value_at(tree, number.ready)
    replicas = 0 if number.foreign and value is None else number.units(value)
    # At zero the server leaves it out.
    tells_ready = bool(number.ready) and (ready is None or type(ready) is int)
    if replicas is None or not (tells_ready or number.foreign):
        raise TypeError(f"{value!r} or {ready!r} is not a number")
    return PoolObject(
        ref,
        replicas,
        ready if type(ready) is int else 0,
        str(part(tree, "metadata")["resourceVersion"]),
        tells_ready=tells_ready,
        number=number,
    )


def parse_pool(ref: ObjectRef, tree: Tree) -> PoolObject:
    name = str(part(tree, "spec", "selector", "matchLabels").get(CLASS, ""))
    return _read_number(ref, holder_of_object(ref.kind, ref.name), tree)._replace(resource_class=name)


def parse_buffer(ref: ObjectRef, tree: Tree) -> PoolObject:
    """Parse a CapacityBuffer. Only Karpenter tells whether there are nodes; cluster-autoscaler's condition of
    the same type means that it has asked for some.
    """
    provisioning = next(
        (
            condition
            for condition in parts(tree, "status", "conditions")
            if condition["type"] == "Provisioning"
        ),
        {},
    )
    is_ready = provisioning.get("reason") == "FitsExistingCapacity" and provisioning["status"] == "True"
    is_current = provisioning.get("observedGeneration") == part(tree, "metadata").get("generation")
    ready = part(tree, "status").get("replicas", 0) if is_ready and is_current else 0
    pool = parse_pool(ref, {**tree, "status": {"replicas": ready}})
    name = str(part(tree, "metadata", "labels").get(CLASS, ""))
    return pool._replace(resource_class=name, tells_ready=provisioning.get("reason") != "FakePodsInjected")
