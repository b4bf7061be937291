"""Whatever dies or takes turns at a number of somebody else, what it was is never lost, and comes back."""

from collections.abc import Callable

import pytest
from berth.core.labels import SWEEP_FIELD_MANAGER
from berth.runtime.apiclient import Api, ApiError, Request, Response
from berth.runtime.program import Log

from tests.objectstore import Tree, home, no_answer, refusal
from tests.runtime.fake_cluster import CONFIGMAPS
from tests.runtime.heldworld import HPA, HeldWorld, Killed, number_text, parsed, shop
from tests.runtime.timetables import Row, at, clock
from tests.runtime.turns import Stage, pause, pausing
from tests.seeds import seeds

BRIEF: Row = ("course/1", "07:30", "07:30", "07:30:20", {"small": 25})
FORMS: dict[str, tuple[object, Tree, object]] = {  # before, more of the number, after
    "as-it-was": (2, {}, 2),
    "missing": (None, {}, None),
    "otherwise": (2, {"otherwise": 1}, 1),
}
by_whom = pytest.mark.parametrize("is_swept", [False, True], ids=["pod", "sweep"])


def check(world: HeldWorld, before: object, after: object) -> Callable[[Request], None]:
    """What a note says was there before is true, and a number that is not as it was has a note."""

    def look(_: Request) -> None:
        notes = [note["before"] for note in world.cluster.notes()]
        if notes not in ([], [before], [after]) or not (notes or world.value in (before, after)):
            world.wrong.append((world.value, notes))

    return look


def brief_world(form: str = "as-it-was") -> HeldWorld:
    before, more, after = FORMS[form]
    world = HeldWorld("07:29:55", HPA | more, shop(before))
    world.apply(number_text(HPA | more, [BRIEF]))
    world.cluster.after = check(world, before, after)
    return world


def kill_after(world: HeldWorld, number: int) -> list[int]:
    """Kill whoever sends the request of this number, which is done. Return how many there are."""
    count, look = [0], world.cluster.after

    def after(request: Request) -> None:
        look(request)
        count[0] += 1
        if count[0] == number:
            raise Killed

    world.cluster.after = after
    return count


def assert_over(world: HeldWorld, form: str, cut: int) -> None:
    """Where nothing was written, it stays as it was."""
    before, _, after = FORMS[form]
    values = {before, after}
    assert world.wrong == [], cut
    assert world.cluster.notes() == [], cut
    assert world.value in (values if not world.changes else {world.changes[-1][1]} & values), cut


def requests_of_a_pod() -> int:
    world = brief_world()
    count = kill_after(world, 0)
    world.start()
    world.run("07:31")
    return count[0]


CUTS = range(1, requests_of_a_pod() + 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("follower", ["a-pod-at-once", "a-pod-a-minute-later", "the-sweep"])
def test_a_number_is_restored_after_a_pod_dies_at_any_request(form: str, follower: str) -> None:
    for cut in CUTS:
        world = brief_world(form)
        kill_after(world, cut)
        world.start()
        world.run("07:30:30")
        if follower == "the-sweep":
            world.run("07:31")
            world.kill()
            world.sweeps("07:40")
        elif not world.pods:
            world.now += 60 if "minute" in follower else 1
            world.start()
        world.run("07:32")
        assert_over(world, form, cut)


def held_and_over(form: str, is_gone: bool) -> HeldWorld:
    world = brief_world(form)
    world.start()
    world.run("07:30:10")
    world.kill()
    assert world.value == 25
    if is_gone:
        world.apply(None)
    world.now += 600
    return world


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_gone", [False, True], ids=["timetable", "no-timetable"])
def test_a_number_is_restored_after_a_sweep_dies_at_any_request(form: str, is_gone: bool) -> None:
    world = held_and_over(form, is_gone)
    count = kill_after(world, 0)
    world.sweep()
    for cut in range(1, count[0] + 1):
        world = held_and_over(form, is_gone)
        kill_after(world, cut)
        with pytest.raises(Killed):
            world.sweep()
        for _ in range(2):
            world.now += 300
            world.sweep()
        assert_over(world, form, cut)
        assert not (is_gone and world.names("target")), cut


# Turns


class Turns(Stage):
    """Pods, the sweep and the controllers of the object take turns at each request."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.world = HeldWorld("07:29:50", HPA, shop(2))
        self.world.cluster.after = check(self.world, 2, 2)

    def play(self, names: tuple[str, ...]) -> None:
        """Let these play: the sweep, and pods of `exam` or of `course`."""
        for name in names:
            step: Callable[[], object] = self._sweep
            if name != "sweep":
                pod = self.world.start("exam" if name == "exam" else "course")
                pod.pause, step = pause, pod.scaler.step
            self.cast(name, step)

    def _sweep(self) -> None:
        log = Log(lambda _: None, self.world.cluster.clock, "")
        self.world.sweep_with(Api(pausing(self.world.cluster), SWEEP_FIELD_MANAGER), log)

    def touch(self) -> None:
        """A controller writes the status of the object."""
        tree = self.world.cluster.all_in(home(shop()))["shop"]
        self.world.cluster.add({**tree, "status": {"currentReplicas": self.random.randrange(9)}})

    def settle(self) -> None:
        self.world.now += 100
        for _ in range(6):
            self.world.now += 31
            for player in self.players.values():
                player.finish()


def rows(name: str, *windows: tuple[int, int]) -> list[Row]:
    """Windows from and to seconds after 07:29:50."""
    instants = [[clock(at("07:29:50") + second) for second in window] for window in windows]
    return [(f"{name}/{n}", opens, opens, end, {"small": 5 + n}) for n, (opens, end) in enumerate(instants)]


TROUBLE: list[Response | ApiError] = [refusal(409, "Conflict"), refusal(500, "Internal"), no_answer()]
CASTS = [("one",), ("one", "two"), ("one", "sweep"), ("one", "two", "sweep"), ("sweep",)]


@pytest.mark.parametrize("seed", seeds(3, 40))
@pytest.mark.parametrize("names", CASTS, ids="-".join)
def test_a_held_value_is_never_taken_for_the_original_value(names: tuple[str, ...], seed: int) -> None:
    """Windows open and close, and a timetable goes and comes, while nobody waits for anybody."""
    windows = rows("course", (30, 50), (52, 70), (75, 80), (81, 100))
    texts = [number_text(HPA, windows), number_text(None, []), number_text(HPA | {"otherwise": 2}, windows)]
    with Turns(seed) as stage:
        world = stage.world
        world.apply(texts[0])
        stage.play(names)
        end = world.now + 130
        while world.now < end:
            happens = stage.random.random()
            if happens < 0.1:
                stage.touch()
            elif happens < 0.11:
                world.apply(stage.random.choice(texts))
            elif happens < 0.15:
                world.cluster.interfere("autoscalers", stage.random.choice(TROUBLE), times=1)
            elif happens < 0.3:
                world.now += stage.random.choice((0.01, 0.3, 1.0, 3.0))
            stage.turn()
        world.cluster.interferences.clear()
        world.apply(texts[0])
        stage.settle()
        if "sweep" not in names:
            world.sweeps(clock(world.now + 700))

        assert world.wrong == []
        assert (world.value, world.cluster.notes()) == (2, [])


@pytest.mark.parametrize("seed", seeds(3, 40))
@pytest.mark.parametrize("names", [("course", "exam"), ("course", "exam", "sweep")], ids="-".join)
def test_the_last_of_several_reservations_on_a_number_restores_it(names: tuple[str, ...], seed: int) -> None:
    """One of them may die at any moment, and be followed by the sweep."""
    windows = {"course": [(30, 50), (70, 90)], "exam": [(20, 32), (50, 75)]}
    with Turns(seed) as stage:
        world = stage.world
        for name, own in windows.items():
            peers = [*({*windows} - {name})]
            world.apply(number_text(HPA, rows(name, *own), name, peers=peers), name)
        stage.play(names)
        end, dies = world.now + 120, stage.random.choice([*range(0, 4000, 100)])
        for turn in range(100_000):
            if world.now >= end:
                break
            if turn == dies and len(stage.players) > 1:
                stage.players.pop("course").stop()
            if stage.random.random() < 0.1:
                stage.touch()
            if stage.random.random() < 0.15:
                world.now += stage.random.choice((0.01, 0.3, 1.0, 3.0))
            stage.turn()
        stage.settle()
        world.pods.clear()
        world.sweeps(clock(world.now + 700))

        assert world.wrong == []
        assert (world.value, world.cluster.notes()) == (2, [])


# Single races, as bad as they can be


NOTE = f"{CONFIGMAPS}/{parsed(HPA).note_name('course-small')}"


def held_by_nobody() -> HeldWorld:
    world = brief_world()
    world.start()
    world.run("07:30:10")
    world.kill()
    assert world.cluster.notes()
    return world


def the_note(world: HeldWorld) -> Tree:
    return next(tree for name, tree in world.cluster.all_in(CONFIGMAPS).items() if name.endswith(".held"))


@by_whom
def test_a_value_that_was_held_at_the_read_is_not_noted_as_the_original(is_swept: bool) -> None:
    """Another program closes in between."""
    world = held_by_nobody()
    world.override(7, "07:31")

    def give_back() -> None:
        world.set(2)
        world.cluster.remove(CONFIGMAPS, the_note(world)["metadata"]["name"])

    world.cluster.once(f"GET {NOTE}", give_back)
    if is_swept:
        world.sweep()
        world.sweep()
    else:
        world.start()
    world.run("07:30:15")
    assert [note["before"] for note in world.cluster.notes()] == [2]
    world.sweeps("07:40")

    assert (world.value, world.cluster.notes()) == (2, [])


@by_whom
def test_a_note_that_another_program_rewrites_is_not_removed(is_swept: bool) -> None:
    """Another program opens in between."""
    world = held_by_nobody()
    world.now += 60

    def hold_again() -> None:
        world.cluster.put(CONFIGMAPS, the_note(world))
        world.set(30)

    world.cluster.once(f"DELETE {NOTE}", hold_again)
    if is_swept:
        world.sweep()
    else:
        world.start()
        world.run("07:31:11")
    assert world.wrong == []
    assert world.cluster.notes() or world.value == 2
    world.sweeps("07:40")

    assert (world.value, world.cluster.notes()) == (2, [])


def test_a_note_about_an_object_that_came_back_is_not_removed() -> None:
    world = held_by_nobody()
    world.cluster.remove(home(shop()), "shop")
    world.now += 600

    def come_back() -> None:
        world.cluster.add(shop(30))
        world.cluster.put(CONFIGMAPS, the_note(world))

    world.cluster.once(f"DELETE {NOTE}", come_back)
    world.sweep()

    assert world.cluster.notes()


def test_each_rewritten_note_differs_from_all_earlier_notes() -> None:
    """The API server takes no notice of one that is, and whoever removes it would not either."""
    world = brief_world()
    notes: list[object] = []

    def after(request: Request) -> None:
        if request.method == "PATCH" and NOTE in request.path:
            notes.append(the_note(world)["data"])
            world.set(5 + len(notes))

    world.cluster.after = after
    world.start()
    world.run("07:30:03")

    assert len(notes) > 3
    assert all(note not in notes[:n] for n, note in enumerate(notes))
