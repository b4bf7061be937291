"""The sweep over slots made by chance, of every state and of everybody, beside everything else of a site."""

import copy
import json
from collections import Counter
from random import Random

import pytest
from berth.core.jsonvalues import instant_text

from tests.objectstore import Tree, refusal
from tests.runtime.slotworld import slots
from tests.runtime.sweepworld import Swept, cronjob, deployment, inventory, job, lease, slot_of, timetable
from tests.runtime.world import COURSE, Row, at, pool, whole_timetable_text
from tests.seeds import seeds

MOMENTS = ("07:29", "07:30:10", "07:30:30", "09:00", "10:00", "10:00:31", "10:02", "13:00")
SEATS = 5


def text_of(random: Random, name: str) -> str:
    """Placeholders, slots, or slots that placeholders come before."""
    backend = random.choice(["placeholder", "slots", "slots", "both"])
    row: Row = (f"{name}/1", *COURSE[1:4], {"small": SEATS})
    said = pool(f"{name}-small", "maintain")
    if backend != "placeholder":
        said["slots"] = slots("small", name, variant=random.choice(["", "b"]), placeholders=backend == "both")
    return whole_timetable_text(name, {"small": said}, [row], suspend=random.random() < 0.1)


def digests(name: str) -> list[str]:
    """Of every shape that a text may have."""
    found = [
        slots("small", name, variant=one, placeholders=two) for one in ("", "b") for two in (False, True)
    ]
    return [str(one["hash"]) for one in found]


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


def world(seed: int, prunes: bool) -> Swept:
    random = Random(seed)
    trees: list[Tree] = []
    named = ""
    for name in ("a", "b", "c", "d"):
        since = random.choice([{}, {}, {"berth.dev/gone-since": "2026-02-01T07:25:00Z"}])
        changed = random.choice(["00:00", "00:00", "08:59:30"])
        text = text_of(random, name) if random.random() < 0.9 else "{"
        if random.random() < 0.8:
            trees.append(timetable(text=text, name=name, annotations=since, changed=changed))
        if random.random() < 0.5:
            ready = random.choice([0, 2, SEATS])
            trees.append(deployment(random.choice([0, SEATS]), f"{name}-small", ready, reservation=name))
        if random.random() < 0.7:
            trees.append(cronjob(name, reservation=name))
        if random.random() < 0.4:
            trees += [
                job(f"{name}-1", reservation=name),
                lease(name=f"{name}-small", reservation=name),
            ]
        trees += slots_of(random, name)
        named += f"{name}\n" if random.random() < 0.8 else ""
    foreign = [copy.deepcopy(tree) for tree in trees if tree["kind"] == "Reservation"][::2]
    for n, tree in enumerate(foreign):
        tree["metadata"] |= {"name": f"foreign-{n}-x", "uid": f"foreign-{n}"}
        tree["metadata"]["labels"]["berth.dev/site"] = "another"
    return Swept(random.choice(MOMENTS), *trees, *foreign, inventory(f"# here\n{named}"), prunes=prunes)


def left(swept: Swept) -> set[str]:
    """Slots that nobody has deleted."""
    found = swept.koordinator.objects.items()
    return {name for name, tree in found if "deletionTimestamp" not in tree["metadata"]}


def counted(swept: Swept) -> Counter[tuple[str, str]]:
    """Whatever ordinals they have."""
    parts = ((name.rsplit("-", 2), swept.koordinator.phase(name)) for name in left(swept))
    return Counter((f"{pool} {digest}", phase) for (pool, _, digest), phase in parts)


@pytest.mark.parametrize("prunes", [False, True], ids=["engine-prunes", "sweep-prunes"])
@pytest.mark.parametrize("seed", seeds(12, 60))
def test_a_second_run_has_nothing_left_to_do_and_others_are_never_touched(seed: int, prunes: bool) -> None:
    swept = world(seed, prunes)
    before = left(swept)
    persistent = {
        name
        for name, tree in swept.koordinator.objects.items()
        if "berth.dev/standing" in tree["metadata"]["labels"]
    }

    assert swept.run() == 0
    after = left(swept)
    lost = before - after
    assert not [name for name in lost if name.startswith("foreign")]
    assert prunes or not lost & persistent
    swept.koordinator.writes.clear()
    assert (swept.run(), swept.koordinator.writes, swept.cluster.writes) == (0, [], [])


@pytest.mark.parametrize("seed", seeds(12, 60))
def test_what_nobody_serves_has_its_seats_or_nothing_and_what_is_used_stays(seed: int) -> None:
    swept = world(seed, prunes=False)
    served = {
        tree["metadata"]["labels"]["berth.dev/reservation"] for tree in swept.cluster.of("leases").values()
    }
    is_open, is_due = (
        at("07:30") <= swept.cluster.now < at("10:00"),
        at("07:30:30") <= swept.cluster.now < at("10:00"),
    )
    before = copy.deepcopy(swept.koordinator.objects)
    swept.run()
    for name, tree in swept.cluster.of("configmaps").items():
        text = tree["data"].get("timetable.json", "{")
        if text == "{" or name in served:
            continue
        data = json.loads(text)
        held = data["pools"]["small"].get("slots")
        ours = {
            key: object_ for key, object_ in swept.koordinator.objects.items() if is_windowed(object_, name)
        }
        alive = [one for one in ours.values() if phase(one) not in ("Succeeded", "Failed")]
        if data["suspend"] or not is_open:
            assert alive == []
        elif held is None:  # seats stay until placeholders hold them, or the edit is a minute old
            pool = swept.cluster.of("deployments").get(f"{name}-small", {"status": {}})
            is_held = pool["status"].get("readyReplicas", 0) >= SEATS
            edited = tree["metadata"]["managedFields"][0]["time"]
            is_waiting = edited > instant_text(swept.cluster.now - 60) and not is_held
            assert alive == [] or is_waiting
        elif is_due:
            used = {key: sessions(one) for key, one in before.items() if is_windowed(one, name)}
            assert {key for key, count in used.items() if count} <= ours.keys()
            free = [one for one in alive if not sessions(one)]
            assert held["placeholders"] or len(free) + sum(used.values()) >= SEATS


def phase(tree: Tree) -> str:
    return str(tree.get("status", {}).get("phase"))


def sessions(tree: Tree) -> int:
    return sum(one["namespace"] == "students" for one in tree.get("status", {}).get("currentOwners", ()))


def is_windowed(tree: Tree, name: str) -> bool:
    metadata = tree["metadata"]
    labels = metadata["labels"]
    known = (labels["berth.dev/site"], labels["berth.dev/reservation"], labels["berth.dev/resource-class"])
    is_terminating = "deletionTimestamp" in metadata
    return known == ("example", name, "small") and "berth.dev/standing" not in labels and not is_terminating


@pytest.mark.parametrize("seed", seeds(12, 30))
def test_whatever_fails_the_next_run_does_it(seed: int) -> None:
    """One request in four fails."""
    good, swept = world(seed, prunes=True), world(seed, prunes=True)
    random, now = Random(seed), swept.cluster.now
    swept.cluster.interfere = lambda said: (
        refusal(500, "InternalError") if "LIST" not in said and random.random() < 0.25 else None
    )
    swept.run()
    swept.cluster.interfere = lambda _: None
    swept.cluster.now = now

    assert (good.run(), swept.run(), swept.run()) == (0, 0, 0)
    assert counted(good) == counted(swept)
