"""The sweep over worlds made by chance, with every state of pools and slots, and other sites."""

import copy
from collections import Counter
from random import Random
from typing import NamedTuple

import pytest
from berth.core.objects import CONFIG_MAP, ROLE, ROLE_BINDING

from tests.objectstore import Tree, refusal
from tests.runtime.fake_cluster import CONFIGMAPS
from tests.runtime.slotworld import slots
from tests.runtime.sweepworld import (
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    lease,
    made,
    slot_of,
    timetable,
)
from tests.runtime.timetables import COURSE, Row, pool, whole_timetable_text
from tests.seeds import seeds

MOMENTS = ["07:27", "07:29", "07:30:10", "07:30:30", "09:00", "10:00", "10:00:29", "10:00:31", "13:00"]


class Made(NamedTuple):
    """One reservation by chance, and what was chosen of it."""

    name: str
    trees: list[Tree]
    is_named: bool  # in the inventory
    is_malformed: bool  # its timetable


def reservation(random: Random, name: str) -> Made:
    trees: list[Tree] = [made(kind, name, name) for kind in (ROLE, ROLE_BINDING)]
    text, row = random.choice([*[None] * 8, "{", "", "[]"]), (f"{name}/1", *COURSE[1:])
    has_timetable = random.random() < 0.85
    if has_timetable:
        since = random.choice([""] * 6 + ["2026-02-02T07:25:00Z", "2026-02-01T07:25:00Z", "never"])
        notes = {"berth.dev/gone-since": since} if since else {}
        if random.random() < 0.15:
            notes["berth.dev/override"] = '{"small": {"target": 7, "until": "2026-02-03T00:00:00Z"}}'
        keys: Tree = {"pools": {"small": f"{name}-small"}, "suspend": random.random() < 0.15}
        changed = random.choice(["00:00", "00:00", "07:26:30", "08:59:30"])
        keys = keys if text is None else {"text": text}
        trees.append(timetable(row, name=name, changed=changed, annotations=notes, **keys))
    if renewed := random.choice(["", "08:00", "08:59:30", "08:59:50", "09:30"]):
        trees.append(lease(renewed, f"{name}-small", reservation=name))
    for resource_class, chance in (("small", 0.95), ("huge", 0.2)):
        if random.random() < chance:
            replicas = random.choice([0, 0, 1, 25, 60])
            trees.append(deployment(replicas, f"{name}-{resource_class}", reservation=name))
    trees += [cronjob(f"{name}-{n}", reservation=name) for n in (0, 1) if random.random() < 0.6]
    for suffix in ("0", "1", "sweep"):
        if random.random() < 0.5:
            created = random.choice(["07:00", "07:29:40", "08:59:30"])
            end = random.choice(["", "", "Complete", "Failed"])
            trees.append(job(f"{name}-{suffix}", created, end, reservation=name))
    return Made(name, trees, random.random() < 0.8, has_timetable and text is not None)


def world(seed: int, prunes: bool) -> tuple[Swept, list[Made]]:
    """Some reservations have placeholders, `d` and `e` may have slots; others look like them."""
    random = Random(seed)
    reservations = [reservation(random, name) for name in ("a", "b", "c")]
    trees = [tree for each in reservations for tree in each.trees]
    names = [each.name for each in reservations if each.is_named]
    for name in ("d", "e"):
        trees += slotted(random, name)
        names += [name] if random.random() < 0.8 else []
    foreign = [copy.deepcopy(tree) for tree in trees if random.random() < 0.5]
    for n, tree in enumerate(foreign):
        tree["metadata"] |= {"name": f"foreign-{n}-x", "uid": f"foreign-{n}", "ownerReferences": []}
        lost = random.choice(["berth.dev/site", "berth.dev/reservation"])
        tree["metadata"]["labels"] |= {"berth.dev/site": "another"}
        if lost == "berth.dev/reservation":
            tree["metadata"]["labels"].pop(lost)
    code = made(CONFIG_MAP, "berth-runtime", labels={"berth.dev/reservation": None})
    listed = inventory("# here\n" + "".join(f"{name}\n" for name in names))
    return Swept(random.choice(MOMENTS), *trees, *foreign, code, listed, prunes=prunes), reservations


def state(swept: Swept) -> dict[tuple[str, str], Tree]:
    """All objects but Events, by path and name."""
    return copy.deepcopy(
        {
            (path, name): tree
            for path, trees in swept.cluster.collections.items()
            for name, tree in trees.items()
            if not path.endswith("/events")
        }
    )


def changed(before: dict[tuple[str, str], Tree], after: dict[tuple[str, str], Tree]) -> set[tuple[str, str]]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


@pytest.mark.parametrize("prunes", [False, True], ids=["engine-prunes", "sweep-prunes"])
@pytest.mark.parametrize("seed", seeds(20, 150))
def test_a_second_sweep_writes_nothing_and_foreign_objects_never_change(seed: int, prunes: bool) -> None:
    swept, reservations = world(seed, prunes)
    before, slots = state(swept), left(swept)
    of_git = {name for name in slots if "berth.dev/standing" in labels_of(swept.koordinator.objects[name])}

    assert swept.run() == 0
    touched, lost = changed(before, state(swept)), slots - left(swept)
    assert not [name for _, name in touched if name.startswith(("foreign", "berth-"))]
    assert not [name for name in lost if name.startswith("foreign")]
    assert prunes or not lost & of_git
    for each in reservations:
        if each.is_malformed and (each.is_named or not prunes):
            theirs = [key for key in touched if key[1].split("-")[0] == each.name]
            assert theirs in ([], [(CONFIGMAPS, each.name)]), "nothing but the mark of one that is back"
    swept.koordinator.writes.clear()
    assert (swept.run(), swept.koordinator.writes, swept.cluster.writes) == (0, [], [])


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_the_next_sweep_completes_the_actions_that_failed(seed: int) -> None:
    """One request in four fails. Afterwards the world is as it would have been without that."""
    good, _ = world(seed, prunes=True)
    swept, _ = world(seed, prunes=True)
    random, now = Random(seed), swept.cluster.now
    swept.cluster.interfere = lambda line: (
        refusal(500, "InternalError") if "LIST" not in line and random.random() < 0.25 else None
    )
    swept.run()
    swept.cluster.interfere = lambda _: None
    swept.cluster.now = now

    assert (good.run(), swept.run(), swept.run()) == (0, 0, 0)
    assert replaced(good) == replaced(swept)
    assert counted(good) == counted(swept)


def replaced(swept: Swept) -> dict[tuple[str, str], object]:
    """What is there, but for versions and identities."""
    return {
        key: (tree.get("spec"), tree["metadata"].get("annotations")) for key, tree in state(swept).items()
    }


# Slots


SEATS = 5


def text_of(random: Random, name: str) -> str:
    """Placeholders, slots, or slots that placeholders come before."""
    backend = random.choice(["placeholder", "slots", "slots", "both"])
    row: Row = (f"{name}/1", *COURSE[1:4], {"small": SEATS})
    keys = pool(f"{name}-small", "maintain")
    if backend != "placeholder":
        keys["slots"] = slots("small", name, variant=random.choice(["", "b"]), placeholders=backend == "both")
    return whole_timetable_text(name, {"small": keys}, [row], suspend=random.random() < 0.1)


def digests(name: str) -> list[str]:
    """Of every shape that a text may have."""
    parts = [
        slots("small", name, variant=part, placeholders=two) for part in ("", "b") for two in (False, True)
    ]
    return [str(part["hash"]) for part in parts]


def slots_of(random: Random, name: str) -> list[Tree]:
    found = []
    for n in range(random.choice([0, 0, 3, SEATS, SEATS + 3])):
        owners = random.choice([(), (), ("s1",), (f"{name}-small-5d5f7-{n}",), ("s2", "s3")])
        known = "huge" if random.random() < 0.1 else "small"
        labels = {"berth.dev/resource-class": known}
        if random.random() < 0.15:
            labels["berth.dev/standing"] = "true"
        digest = "cccc3333" if len(labels) > 1 else random.choice(digests(name))
        phase = random.choice(["", "Pending", "Available", "Available", "Succeeded", "Failed"])
        deleted = {"deletionTimestamp": "2026-02-02T07:20:00Z"} if random.random() < 0.1 else {}
        found.append(
            slot_of(
                f"example-{name}-{known}-{n}-{digest}",
                phase,
                owners if phase == "Available" else (),
                random.choice(["00:00", "07:28:30"]),
                reservation=name,
                labels=labels,
                metadata=deleted,
            )
        )
    return found


def slotted(random: Random, name: str) -> list[Tree]:
    """A reservation that may have slots."""
    trees, own = slots_of(random, name), {"reservation": name}
    since = random.choice([{}, {}, {"berth.dev/gone-since": "2026-02-01T07:25:00Z"}])
    text = text_of(random, name) if random.random() < 0.9 else "{"
    if random.random() < 0.8:
        changed = random.choice(["00:00", "00:00", "08:59:30"])
        trees.append(timetable(text=text, name=name, annotations=since, changed=changed))
    if random.random() < 0.5:
        ready = random.choice([0, 2, SEATS])
        trees.append(deployment(random.choice([0, SEATS]), f"{name}-small", ready, **own))
    if random.random() < 0.7:
        trees.append(cronjob(name, **own))
    if random.random() < 0.4:
        trees += [job(f"{name}-1", **own), lease(name=f"{name}-small", **own)]
    return trees


def left(swept: Swept) -> set[str]:
    """Slots that nobody has deleted."""
    found = swept.koordinator.objects.items()
    return {name for name, tree in found if "deletionTimestamp" not in tree["metadata"]}


def counted(swept: Swept) -> Counter[tuple[str, str]]:
    """Whatever ordinals they have."""
    parts = ((name.rsplit("-", 2), swept.koordinator.phase(name)) for name in left(swept))
    return Counter((f"{pool} {digest}", phase) for (pool, _, digest), phase in parts)


def labels_of(tree: Tree) -> Tree:
    found: Tree = tree["metadata"]["labels"]
    return found
