"""Whatever dies or takes turns at a number of somebody else, what it was is never lost, and comes back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import pytest
from berth.runtime.apiclient import SWEEP_FIELD_MANAGER, Api, ApiError, Request, Response
from berth.runtime.program import Log

from tests.objectstore import no_answer, refusal
from tests.runtime.fake_cluster import CONFIGMAPS
from tests.runtime.heldworld import HPA, HeldWorld, Killed, number_text, shop
from tests.runtime.turns import Player, pause
from tests.runtime.world import Row, clock
from tests.seeds import seeds

BRIEF: Row = ("course/1", "07:30", "07:30", "07:30:20", {"small": 25})
AUTOSCALERS = "/apis/autoscaling/v2/namespaces/web/horizontalpodautoscalers"
FORMS: list[tuple[object, dict[str, object], object]] = [
    (2, {}, 2),
    (None, {}, None),
    (2, {"otherwise": 1}, 1),
]


def check(world: HeldWorld, before: object, after: object) -> Callable[[Request], None]:
    """What a note says was there before is true, and a number that is not as it was has a note."""

    def look(_: Request) -> None:
        notes = [note["before"] for note in world.cluster.notes()]
        if notes not in ([], [before], [after]) or not (notes or world.value in (before, after)):
            world.wrong.append((world.value, notes))

    return look


def brief_world(before: object, more: dict[str, object], after: object) -> HeldWorld:
    world = HeldWorld("07:29:55", HPA | more, shop(before))
    world.apply(number_text(HPA | more, [BRIEF]))
    world.cluster.after = check(world, before, after)
    return world


def assert_over(world: HeldWorld, values: set[object], cut: int) -> None:
    """Where nothing was written, it stays as it was."""
    assert world.wrong == [], cut
    assert world.cluster.notes() == [], cut
    assert world.value in (values if not world.changes else {world.changes[-1][1]} & values), cut


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


def requests_of_a_run() -> int:
    world = brief_world(2, {}, 2)
    count = kill_after(world, 0)
    world.start()
    world.run("07:31")
    return count[0]


ALL = requests_of_a_run()
CUTS = [*range(1, ALL + 1)]


@pytest.mark.parametrize(("before", "more", "after"), FORMS, ids=["as-it-was", "missing", "otherwise"])
@pytest.mark.parametrize("seconds", [1, 60])
def test_a_pod_that_dies_after_any_request_is_followed_by_another_one(
    before: object, more: dict[str, object], after: object, seconds: int
) -> None:
    for cut in CUTS:
        world = brief_world(before, more, after)
        kill_after(world, cut)
        world.start()
        world.run("07:30:30")
        if not world.pods:
            world.now += seconds
            world.start()
        world.run("07:32")
        assert_over(world, {before, after}, cut)


@pytest.mark.parametrize(("before", "more", "after"), FORMS, ids=["as-it-was", "missing", "otherwise"])
def test_a_pod_that_dies_after_any_request_is_followed_by_the_sweep(
    before: object, more: dict[str, object], after: object
) -> None:
    for cut in CUTS:
        world = brief_world(before, more, after)
        kill_after(world, cut)
        world.start()
        world.run("07:31")
        world.kill()
        world.sweeps("07:40")
        assert_over(world, {before, after}, cut)


@pytest.mark.parametrize(("before", "more", "after"), FORMS, ids=["as-it-was", "missing", "otherwise"])
@pytest.mark.parametrize("is_gone", [False, True], ids=["timetable", "no-timetable"])
def test_a_sweep_that_dies_after_any_request_is_followed_by_another_one(
    before: object, more: dict[str, object], after: object, is_gone: bool
) -> None:
    for cut in rest_of_a_sweep(before, more, after, is_gone):
        world = held_and_over(before, more, after, is_gone)
        kill_after(world, cut)
        with pytest.raises(Killed):
            world.sweep()
        world.now += 300
        world.sweep()
        world.now += 300
        world.sweep()
        assert_over(world, {before, after}, cut)
        assert world.names("target") == ([] if is_gone else world.names("target")), cut


def held_and_over(before: object, more: dict[str, object], after: object, is_gone: bool) -> HeldWorld:
    world = brief_world(before, more, after)
    world.start()
    world.run("07:30:10")
    world.kill()
    assert world.value == 25
    if is_gone:
        world.apply(None)
    world.now += 600
    return world


def rest_of_a_sweep(before: object, more: dict[str, object], after: object, is_gone: bool) -> range:
    world = held_and_over(before, more, after, is_gone)
    count = kill_after(world, 0)
    world.sweep()
    return range(1, count[0] + 1)


def test_the_sweep_opens_and_gives_back_where_no_pod_can_start() -> None:
    world = HeldWorld("07:29", HPA, shop(2))
    world.apply(number_text(HPA))
    world.sweeps("08:10")

    assert [value for _, value in world.changes] == [25, 2]
    assert world.cluster.notes() == []
    assert world.events("SweepOpened")[0].startswith(
        "Set spec.minReplicas of HorizontalPodAutoscaler web/shop from 2 to 25: course/1 is open"
    )
    assert len(world.events("SweepClosed")) == 1


# Turns


class Turns:
    """Pods, the sweep and the controllers of the object take turns at each request."""

    def __init__(self, seed: int, names: tuple[str, ...], rows: list[Row], before: object = 2) -> None:
        self.random = Random(seed)
        self.world = HeldWorld("07:29:50", HPA, shop(before))
        self.world.apply(number_text(HPA, rows))
        self.world.cluster.after = check(self.world, before, before)
        self.errors: list[BaseException] = []
        self.cast(names)

    def cast(self, names: tuple[str, ...]) -> None:
        """Let these play: the sweep, and pods of `exam` or of `course`."""
        steps: dict[str, Callable[[], object]] = {}
        for name in names:
            if name == "sweep":
                steps[name] = self._sweep
                continue
            pod = self.world.start("exam" if name == "exam" else "course")
            pod.pause = pause
            steps[name] = pod.scaler.step
        self.players = {name: Player(name, step, self.errors.append) for name, step in steps.items()}

    def _sweep(self) -> None:
        def transport(request: Request) -> Response:
            pause()
            answer = self.world.cluster(request)
            pause()
            return answer

        self.world.sweep_with(
            Api(transport, SWEEP_FIELD_MANAGER), Log(lambda _: None, self.world.cluster.clock, "")
        )

    def touch(self) -> None:
        """A controller writes the status of the object."""
        world = self.world
        (objects,) = (objects for path, objects in world.cluster.collections.items() if "autoscalers" in path)
        world.cluster.add({**objects["shop"], "status": {"currentReplicas": self.random.randrange(9)}})

    def turn(self) -> None:
        self.players[self.random.choice(list(self.players))].turn()

    def settle(self, rounds: int) -> None:
        for _ in range(rounds):
            self.world.now += 31
            for player in self.players.values():
                player.finish()


@contextmanager
def turns(seed: int, names: tuple[str, ...], rows: list[Row], before: object = 2) -> Iterator[Turns]:
    stage = Turns(seed, names, rows, before)
    try:
        yield stage
    finally:
        for player in stage.players.values():
            player.stop()


TROUBLE: list[Response | ApiError] = [refusal(409, "Conflict"), refusal(500, "Internal"), no_answer()]
CASTS = [("one",), ("one", "two"), ("one", "sweep"), ("one", "two", "sweep"), ("sweep",)]


@pytest.mark.parametrize("seed", seeds(3, 40))
@pytest.mark.parametrize("names", CASTS, ids="-".join)
def test_what_is_held_is_never_taken_for_what_was_there_before(names: tuple[str, ...], seed: int) -> None:
    """Windows open and close, and a timetable goes and comes, while nobody waits for anybody."""
    moments = [(30, 50), (52, 70), (75, 80), (81, 100)]
    begin = "07:29:50"
    rows: list[Row] = [
        (f"course/{n}", *[clock_after(begin, second) for second in (opens, opens, ends)], {"small": 5 + n})  # type: ignore[misc]
        for n, (opens, ends) in enumerate(moments)
    ]
    with turns(seed, names, rows) as stage:
        texts = [number_text(HPA, rows), number_text(None, []), number_text(HPA | {"otherwise": 2}, rows)]
        end = stage.world.now + 130
        while stage.world.now < end:
            happens = stage.random.random()
            if happens < 0.1:
                stage.touch()
            elif happens < 0.11:
                stage.world.apply(stage.random.choice(texts))
            elif happens < 0.15:
                trouble = stage.random.choice(TROUBLE)
                stage.world.cluster.interfere("autoscalers", trouble, times=1)
            elif happens < 0.3:
                stage.world.now += stage.random.choice((0.01, 0.3, 1.0, 3.0))
            stage.turn()
        stage.world.cluster.interferences.clear()
        stage.world.apply(texts[0])
        stage.world.now += 100
        stage.settle(6)
        if "sweep" not in names:
            stage.world.sweeps(clock(stage.world.now + 700))

        assert stage.world.wrong == []
        assert (stage.world.value, stage.world.cluster.notes()) == (2, [])


@pytest.mark.parametrize("seed", seeds(3, 40))
@pytest.mark.parametrize("names", [("course", "exam"), ("course", "exam", "sweep")], ids="-".join)
def test_of_reservations_on_one_number_the_last_gives_it_back(names: tuple[str, ...], seed: int) -> None:
    """One of them may die at any moment, and be followed by the sweep."""
    begin = "07:29:50"
    spans = {"course": [(30, 50), (70, 90)], "exam": [(20, 32), (50, 75)]}
    with turns(seed, (), []) as stage:
        world = stage.world
        for name, windows in spans.items():
            rows: list[Row] = [
                (
                    f"{name}/{n}",
                    *[clock_after(begin, second) for second in (opens, opens, ends)],
                    {"small": 5 + n},
                )  # type: ignore[misc]
                for n, (opens, ends) in enumerate(windows)
            ]
            world.apply(number_text(HPA, rows, name, peers=[*({*spans} - {name})]), name)
        stage.cast(names)
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
        world.now += 100
        stage.settle(6)
        world.pods.clear()
        world.cluster.all_in("/api/v1/namespaces/berth/pods").clear()
        world.sweeps(clock(world.now + 700))

        assert world.wrong == []
        assert (world.value, world.cluster.notes()) == (2, [])


def clock_after(begin: str, seconds: int) -> str:
    hours, minutes, rest = map(int, begin.split(":"))
    total = hours * 3600 + minutes * 60 + rest + seconds
    return f"{total // 3600:02}:{total // 60 % 60:02}:{total % 60:02}"


# Single races, as bad as they can be


def once(world: HeldWorld, method: str, part: str, action: Callable[[], object]) -> None:
    """Do something just before the first request like this is answered."""

    def interfere(request: Request) -> None:
        if request.method == method and part in request.path:
            world.cluster.interferences.remove(interfere)
            action()

    world.cluster.interferences.append(interfere)


def held_by_nobody(now: str = "07:30:10") -> HeldWorld:
    world = brief_world(2, {}, 2)
    world.start()
    world.run(now)
    world.kill()
    assert world.cluster.notes()
    return world


def the_note(world: HeldWorld) -> tuple[str, dict[str, object]]:
    objects = world.cluster.all_in(CONFIGMAPS)
    return next((name, tree) for name, tree in objects.items() if name.endswith(".held"))


def give_back(world: HeldWorld) -> None:
    """Another program closes."""
    world.set(2)
    world.cluster.remove(CONFIGMAPS, the_note(world)[0])


def hold_again(world: HeldWorld) -> None:
    """Another program opens."""
    world.cluster.put(CONFIGMAPS, the_note(world)[1])
    world.set(30)


@pytest.mark.parametrize("is_swept", [False, True], ids=["pod", "sweep"])
def test_what_was_held_when_the_object_was_read_is_not_noted(is_swept: bool) -> None:
    world = held_by_nobody()
    world.override(7, "07:31")
    once(world, "GET", ".held", lambda: give_back(world))
    if is_swept:
        world.sweep()
        world.sweep()
    else:
        world.start()
    world.run("07:30:15")
    assert [note["before"] for note in world.cluster.notes()] == [2]
    world.sweeps("07:40")

    assert (world.value, world.cluster.notes()) == (2, [])


@pytest.mark.parametrize("is_swept", [False, True], ids=["pod", "sweep"])
def test_a_note_that_is_written_anew_is_not_removed(is_swept: bool) -> None:
    world = held_by_nobody()
    world.now += 60
    once(world, "DELETE", ".held", lambda: hold_again(world))
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
    world.cluster.remove(AUTOSCALERS, "shop")
    world.now += 600

    def come_back() -> None:
        world.cluster.add(shop(30))
        world.cluster.put(CONFIGMAPS, the_note(world)[1])

    once(world, "DELETE", ".held", come_back)
    world.sweep()

    assert world.cluster.notes()


def test_no_note_is_like_the_last_however_soon_it_is_written_again() -> None:
    """The API server takes no notice of one that is, and whoever removes it would not either."""
    world = brief_world(2, {}, 2)
    notes: list[object] = []
    look = world.cluster.after

    def after(request: Request) -> None:
        look(request)
        if request.method == "PATCH" and "configmaps" in request.path and ".held" in request.path:
            notes.append(the_note(world)[1]["data"])
            world.set(5 + len(notes))

    world.cluster.after = after
    world.start()
    world.run("07:30:01")

    assert len(notes) > 3
    assert all(note not in notes[:n] for n, note in enumerate(notes))
