"""The sweep over worlds made by chance, with every state of pools and slots, and other sites."""

import copy
import json
from collections import Counter
from random import Random

import pytest
from berth.core.jsonvalues import instant_text
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
from tests.runtime.timetables import COURSE, Row, at, pool, whole_timetable_text
from tests.seeds import seeds

MOMENTS = (
    "07:27",
    "07:29",
    "07:30:10",
    "07:30:30",
    "09:00",
    "10:00",
    "10:00:29",
    "10:00:31",
    "10:02",
    "13:00",
)
SEATS = 25


class Made:
    """One reservation by chance, and what it was made of."""

    def __init__(self, random: Random, name: str) -> None:
        self.name = name
        self.text = random.choice([*[None] * 8, "{", "", "[]"])
        self.has_timetable = random.random() < 0.85
        self.is_named = random.random() < 0.8
        self.is_suspended = random.random() < 0.15
        self.is_overridden = random.random() < 0.15
        self.has_job = False  # that has not ended
        self.renewed = random.choice(["", "08:00", "08:59:30", "08:59:50", "09:30"])
        self.trees = [*self._timetable(random), *self._lease(), *self._pools(random), *self._jobs(random)]
        self.trees += [made(kind, name, name) for kind in (ROLE, ROLE_BINDING)]

    def _timetable(self, random: Random) -> list[Tree]:
        since = random.choice([""] * 6 + ["2026-02-02T07:25:00Z", "2026-02-01T07:25:00Z", "never"])
        self.edited = changed = random.choice(["00:00", "00:00", "07:26:30", "08:59:30"])
        if not self.has_timetable:
            return []
        notes = {"berth.dev/gone-since": since} if since else {}
        if self.is_overridden:
            notes["berth.dev/override"] = '{"small": {"target": 7, "until": "2026-02-03T00:00:00Z"}}'
        row: Row = (f"{self.name}/1", *COURSE[1:])
        keys: Tree = {"pools": {"small": f"{self.name}-small"}, "suspend": self.is_suspended}
        if self.text is not None:
            keys = {"text": self.text}
        return [timetable(row, name=self.name, changed=changed, annotations=notes, **keys)]

    def _lease(self) -> list[Tree]:
        return [lease(self.renewed, f"{self.name}-small", reservation=self.name)] if self.renewed else []

    def _pools(self, random: Random) -> list[Tree]:
        found = []
        for name, chance in (("small", 0.95), ("huge", 0.2)):
            replicas = random.choice([0, 0, 1, SEATS, 60])
            if random.random() < chance:
                found.append(deployment(replicas, f"{self.name}-{name}", reservation=self.name))
        return found

    def _jobs(self, random: Random) -> list[Tree]:
        numbers = [n for n in (0, 1) if random.random() < 0.6]
        found = [cronjob(f"{self.name}-{n}", reservation=self.name) for n in numbers]
        for suffix in ("0", "1", "sweep"):
            created = random.choice(["07:00", "07:29:40", "08:59:30"])
            end = random.choice(["", "", "Complete", "Failed"])
            if random.random() < 0.5:
                self.has_job = self.has_job or not end
                found.append(job(f"{self.name}-{suffix}", created, end, reservation=self.name))
        return found

    @property
    def is_good(self) -> bool:
        return self.has_timetable and self.text is None

    def may_close(self, now: int) -> bool:
        """Return whether a pod may still bring a pool to 0, or is to wait with the seats."""
        is_late = now >= at(self.edited) + 60 and not at("10:00") <= now < at("10:00:30")
        return self.has_job and not (is_late and not at("07:28") <= now < at("07:30"))

    def is_led(self, now: int) -> bool:
        return bool(self.renewed) and abs(now - at(self.renewed)) < 60


def world(seed: int, prunes: bool) -> tuple[Swept, list[Made]]:
    """Some reservations have placeholders, `d` and `e` may have slots; others look like them."""
    random = Random(seed)
    reservations = [Made(random, name) for name in ("a", "b", "c")]
    trees = [tree for reservation in reservations for tree in reservation.trees]
    names = [reservation.name for reservation in reservations if reservation.is_named]
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
    for reservation in reservations:
        if reservation.has_timetable and not reservation.is_good:
            theirs = [each for each in touched if each[1].split("-")[0] == reservation.name]
            if not prunes or reservation.is_named:  # nothing but the mark of a reservation that is back
                assert theirs in ([], [(CONFIGMAPS, reservation.name)]), "malformed"
    swept.koordinator.writes.clear()
    assert (swept.run(), swept.koordinator.writes, swept.cluster.writes) == (0, [], [])


@pytest.mark.parametrize("seed", seeds(20, 150))
def test_unserved_pools_follow_their_timetable_and_served_pools_do_not_change(seed: int) -> None:
    swept, reservations = world(seed, prunes=False)
    now = swept.cluster.now
    is_open, is_due = at("07:30") <= now < at("10:00"), at("07:30:30") <= now < at("10:00")
    before = swept.cluster.replicas()
    swept.run()

    after = swept.cluster.replicas()
    for reservation in reservations:
        name = f"{reservation.name}-small"
        if not reservation.is_good or name not in before:
            continue
        if reservation.is_led(now):
            assert after[name] == before[name] or not is_open or reservation.is_suspended
        elif reservation.is_overridden:
            assert after[name] == 7
        elif reservation.is_suspended or not is_open:
            assert after[name] == 0 or reservation.may_close(now)
        else:
            assert after[name] == (SEATS if is_due else before[name])


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


SLOT_SEATS = 5


def text_of(random: Random, name: str) -> str:
    """Placeholders, slots, or slots that placeholders come before."""
    backend = random.choice(["placeholder", "slots", "slots", "both"])
    row: Row = (f"{name}/1", *COURSE[1:4], {"small": SLOT_SEATS})
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
    for n in range(random.choice([0, 0, 3, SLOT_SEATS, SLOT_SEATS + 3])):
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
        ready = random.choice([0, 2, SLOT_SEATS])
        trees.append(deployment(random.choice([0, SLOT_SEATS]), f"{name}-small", ready, **own))
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


@pytest.mark.parametrize("seed", seeds(20, 150))
def test_unserved_pools_have_all_their_slots_or_none_and_used_slots_stay(seed: int) -> None:
    swept, _ = world(seed, prunes=False)
    served = {name.removesuffix("-small") for name in swept.cluster.of("leases")}
    is_open, is_due = (
        at("07:30") <= swept.cluster.now < at("10:00"),
        at("07:30:30") <= swept.cluster.now < at("10:00"),
    )
    before = copy.deepcopy(swept.koordinator.objects)
    swept.run()
    for name, tree in swept.cluster.of("configmaps").items():
        text = tree.get("data", {}).get("timetable.json", "{")
        if name not in ("d", "e") or text == "{" or name in served:
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
            is_held = pool["status"].get("readyReplicas", 0) >= SLOT_SEATS
            edited = tree["metadata"]["managedFields"][0]["time"]
            is_waiting = edited > instant_text(swept.cluster.now - 60) and not is_held
            assert alive == [] or is_waiting
        elif is_due:
            used = {key: sessions(one) for key, one in before.items() if is_windowed(one, name)}
            assert {key for key, count in used.items() if count} <= ours.keys()
            free = [one for one in alive if not sessions(one)]
            assert held["placeholders"] or len(free) + sum(used.values()) >= SLOT_SEATS


def labels_of(tree: Tree) -> Tree:
    found: Tree = tree["metadata"]["labels"]
    return found


def phase(tree: Tree) -> str:
    return str(tree.get("status", {}).get("phase"))


def sessions(tree: Tree) -> int:
    return sum(one["namespace"] == "students" for one in tree.get("status", {}).get("currentOwners", ()))


def is_windowed(tree: Tree, name: str) -> bool:
    metadata = tree["metadata"]
    labels = metadata["labels"]
    known = tuple(labels.get(f"berth.dev/{key}") for key in ("site", "reservation", "resource-class"))
    is_terminating = "deletionTimestamp" in metadata
    return known == ("example", name, "small") and "berth.dev/standing" not in labels and not is_terminating
