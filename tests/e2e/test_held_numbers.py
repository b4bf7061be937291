"""Windows on numbers of somebody else's objects, with the real controllers that act on these numbers.

All happens in one window, side by side, while the sweep runs every minute. Minutes after the story begins:
  0    all windows but `second` open
  0.5  the object of `late` is made; sessions of `users` come; `dropped` leaves git
  0.8  somebody sets the number of `contested` back, again and again
  1    `second` opens on the number that `first` holds
  2    most windows end
  3    those of `second` and `contested` end
"""

import json
import threading
import time
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from tests.e2e import binaries, project
from tests.e2e.cluster import Cluster, KubectlError
from tests.e2e.direct import Direct, Object, RefusedError
from tests.e2e.faultworld import session
from tests.e2e.gitops import APPLY, Engine, sweep_each_minute
from tests.e2e.heldobjects import (
    AUTOSCALER,
    ROOTS,
    Numbers,
    autoscaler,
    held_by,
    held_kinds,
    number,
    workload,
)
from tests.e2e.loadmetric import LoadMetric
from tests.e2e.project import Document
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import GRACE, MINUTE, OPENING, entry, reservation, sleep_until, wait_until

NAMESPACE, SITE = "berth-held-e2e", "held"
OWNER, SESSIONS = "held-owner", "held-sessions"  # whose objects they are, and where people work
ROUND = MINUTE + GRACE  # seconds until a round of the sweep is over
RIVAL = "rival-controller"
WRONG_IMAGE = "registry.invalid/none:1"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"

# What stands there before, and what the window holds.
NUMBERS = {
    "floor": (AUTOSCALER, 3, 40),
    "declared": (AUTOSCALER, 5, 12),
    "late": (AUTOSCALER, 4, 11),
    "contested": (AUTOSCALER, 2, 9),
    "barred": (AUTOSCALER, 2, 7),
    "dropped": (AUTOSCALER, 2, 8),
    "first": (AUTOSCALER, 3, 10),
    "second": (AUTOSCALER, 3, 6),
    "workers": ("StatefulSet", 2, 8),
    "users": ("StatefulSet", 1, 6),
}
OBJECTS = {"first": "shared", "second": "shared", "users": "user-placeholder"}  # others: as the reservation
OTHERWISE = 3  # of those whose git says so
COMING = 2  # sessions


class Story(NamedTuple):
    """What happened, and when: instants in seconds since the epoch."""

    numbers: Numbers
    opens: int
    moments: dict[str, float]
    events: list[dict[str, Any]]
    config_maps: dict[str, set[tuple[str, str]]]  # reservation and role of each, by moment
    notes: list[dict[str, Any]]  # of managed fields, of the StatefulSet that is open
    refused: dict[str, str]  # what the API server said to accounts
    records: dict[str, list[dict[str, Any]]]  # by reservation


def key(name: str) -> str:
    return f"{NUMBERS[name][0]}/{OBJECTS.get(name, name)}"


def tell(stage: Stage) -> Story:
    cluster, opens, direct = stage.cluster, stage.opens, stage.connect()
    cluster.kwok.create_nodes(1, "held", {"pods": "200", "cpu": "50", "memory": "100Gi"})
    for name in (OWNER, SESSIONS):
        cluster.create_namespace(name)
    stage.forget(OWNER, SESSIONS, NAMESPACE)
    stage.undo.enter_context(LoadMetric(direct))
    for made in _objects():
        _make(direct, made)
    engine = Engine(direct, stage.folder, _adapt)
    engine.begin(_documents(opens))
    numbers = Numbers(direct, OWNER)
    numbers.start()
    try:
        return _happen(cluster, direct, engine, numbers, opens)
    finally:
        numbers.stop()
        (binaries.cache_dir() / "held.txt").write_text(numbers.histories(opens))


def _objects() -> list[Object]:
    """Of the owner, before the first window."""
    scaled = [workload("Deployment", name, 1) for name in ("floor", "declared")]
    sets = [
        workload("StatefulSet", OBJECTS.get(name, name), NUMBERS[name][1]) for name in ("workers", "users")
    ]
    names = ("contested", "barred", "dropped", "shared")
    floors = [autoscaler(name, NUMBERS.get(name, NUMBERS["first"])[1]) for name in names]
    measured = autoscaler("declared", NUMBERS["declared"][1], metric="load")
    return [*scaled, *sets, *floors, measured, autoscaler("floor", NUMBERS["floor"][1])]


def _make(direct: Direct, made: Object) -> None:
    direct.create(ROOTS[made["kind"]].format(OWNER), made)


def _documents(opens: int) -> list[Document]:
    site = project.site(SITE, namespace=NAMESPACE, clusters=[{"name": "real", "held": held_kinds(OWNER)}])
    seat = project.resource_class("seat")
    seat["spec"]["sessions"] = {
        "source": "pods",
        "namespaces": [SESSIONS],
        "selector": {"matchLabels": {"session": "yes"}},
    }
    return [site, seat, *(_reservation(name, opens) for name in NUMBERS)]


def _reservation(name: str, opens: int) -> Document:
    kind, _, wanted = NUMBERS[name]
    otherwise = {"otherwise": OTHERWISE} if name in ("declared", "first", "second") else {}
    first = opens + MINUTE if name == "second" else opens
    minutes = {"second": 2, "contested": 3, "dropped": 30}.get(name, 2)
    more: Document = {"behaviour": "maintain", "sessions": {"matchLabels": {"course": name}}}
    return reservation(
        name,
        first,
        [entry(first, 0, minutes)],
        lead=0,
        seats={"seat": wanted},
        backend=held_by(kind, OWNER, OBJECTS.get(name, name), **otherwise),
        **(more if name == "users" else {}),
    )


def _adapt(found: Object) -> None:
    """The sweep comes each minute, and the pods of one reservation cannot start."""
    sweep_each_minute(found)
    if (found["kind"], found["metadata"]["name"]) == ("CronJob", "barred"):
        pod = found["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for container in (*pod["initContainers"], *pod["containers"]):
            container["image"] = WRONG_IMAGE


class Rival:
    """Sets a number back by server-side apply, within half a second each time."""

    def __init__(self, direct: Direct, name: str) -> None:
        self._direct, self._object = direct, autoscaler(name, NUMBERS[name][1])
        self._where = f"{ROOTS[AUTOSCALER].format(OWNER)}/{name}"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            with suppress(RefusedError):
                if number(self._direct.get(self._where)) != number(self._object):
                    self._direct.ask(
                        "PATCH", f"{self._where}?fieldManager={RIVAL}&force=true", self._object, APPLY
                    )


def _happen(cluster: Cluster, direct: Direct, engine: Engine, numbers: Numbers, opens: int) -> Story:
    moments: dict[str, float] = {}
    config_maps = {"before": _config_maps(direct)}
    sleep_until(opens + 0.5 * MINUTE)
    _make(direct, autoscaler("late", NUMBERS["late"][1]))
    moments["made"] = time.time()
    for session_number in range(COMING):
        pod = session(f"session-{session_number}", "users")
        direct.create(f"/api/v1/namespaces/{SESSIONS}/pods", pod)
    wait_until(lambda: numbers.steps(key("dropped"))[-1:] == [NUMBERS["dropped"][2]], opens + OPENING)
    engine.withdraw("dropped")
    engine.sync("dropped")
    moments["dropped"] = time.time()
    config_maps["dropped"] = _config_maps(direct)
    rival = Rival(direct, "contested")
    wait_until(lambda: numbers.steps(key("contested"))[-1:] == [NUMBERS["contested"][2]], opens + OPENING)
    sleep_until(opens + 0.8 * MINUTE)
    rival.start()
    moments["contested"] = time.time()
    try:
        sleep_until(opens + 1.5 * MINUTE)
        workers = direct.get(f"{ROOTS['StatefulSet'].format(OWNER)}/workers")
        refused = _refusals(cluster)
        sleep_until(opens + 3 * MINUTE - 3)
    finally:
        rival.stop()
    sleep_until(opens + 3 * MINUTE)
    wait_until(lambda: not _held(direct) and not _of(direct, "dropped", "target"), opens + 3 * MINUTE + ROUND)
    config_maps["after"] = _config_maps(direct)
    events = direct.items(f"/api/v1/namespaces/{NAMESPACE}/events")
    records = {name: _recorded(direct, name) for name in NUMBERS}
    return Story(
        numbers,
        opens,
        moments,
        events,
        config_maps,
        workers["metadata"]["managedFields"],
        refused,
        records,
    )


def _config_maps(direct: Direct) -> set[tuple[str, str]]:
    found = direct.items(f"{CONFIG_MAPS}?labelSelector=berth.dev/reservation,berth.dev/role")
    labels = [one["metadata"]["labels"] for one in found]
    return {(label["berth.dev/reservation"], label["berth.dev/role"]) for label in labels}


def _of(direct: Direct, name: str, role: str) -> list[Object]:
    selector = f"berth.dev/reservation={name},berth.dev/role={role}"
    return direct.items(f"{CONFIG_MAPS}?labelSelector={selector}")


def _held(direct: Direct) -> list[Object]:
    return direct.items(f"{CONFIG_MAPS}?labelSelector=berth.dev/role=held")


def _recorded(direct: Direct, name: str) -> list[dict[str, Any]]:
    with suppress(RefusedError):
        text = direct.get(f"{CONFIG_MAPS}/{name}-record")["data"]["records.json"]
        records: list[dict[str, Any]] = json.loads(text)
        return records
    return []


def _refusals(cluster: Cluster) -> dict[str, str]:
    """What accounts try, and the answers; empty where the API server did it."""
    spec, scale = ('--patch={"spec": {"minReadySeconds": 1}}', '--patch={"spec": {"replicas": 9}}')
    tried = {
        "the set": ("workers", "patch", "statefulset/workers", "--type=merge", spec),
        "replicas of the set": ("workers", "patch", "statefulset/workers", "--type=merge", scale),
        "another set": (
            "workers",
            "patch",
            "statefulset/user-placeholder",
            "--subresource=scale",
            "--type=merge",
            scale,
        ),
        "another kind": ("workers", "get", "hpa/floor"),
        "all": ("workers", "get", "statefulsets"),
        "the set, by the sweep": ("berth-sweep", "patch", "statefulset/workers", "--type=merge", spec),
        "delete": ("floor", "delete", "hpa/floor", "--wait=false"),
        "another autoscaler": ("floor", "get", "hpa/declared"),
    }
    answers = {}
    for what, (account, *words) in tried.items():
        who = f"--as=system:serviceaccount:{NAMESPACE}:{account}"
        try:
            cluster.kubectl(*words, who, f"--namespace={OWNER}", "-o", "name")
            answers[what] = ""
        except KubectlError as error:
            answers[what] = str(error)
    return answers


def steps(story: Story, of: str) -> list[tuple[float, int]]:
    """Changes: seconds after `opens`, and the number; what was before is left out."""
    return [(at - story.opens, value) for at, value in story.numbers.changes(of)[1:]]


def assert_steps(story: Story, name: str, expected: list[tuple[int, int]]) -> None:
    """The number took just these steps, each within the grace after its minute."""
    found = steps(story, key(name))
    assert [value for _, value in expected] == [value for _, value in found], found
    for (minute, _), (at, _) in zip(expected, found, strict=True):
        assert -1 <= at - minute * MINUTE <= (OPENING if minute < 2 else GRACE), (name, minute, at)


def reasons(story: Story, name: str) -> list[str]:
    return [one["reason"] for one in story.events if one["involvedObject"]["name"] == name]


def test_a_floor_is_raised_at_the_opening_and_restored_at_the_end(story: Story) -> None:
    """Git does not say what it is otherwise: it is what it was."""
    assert_steps(story, "floor", [(0, 40), (2, 3)])


def test_without_metrics_an_autoscaler_grows_to_its_floor_and_does_not_shrink(story: Story) -> None:
    """The first step is that of its floor before the window."""
    assert story.numbers.steps("Deployment/floor")[-2:] == [3, 40]


def test_with_metrics_an_autoscaler_shrinks_to_its_otherwise_value(story: Story) -> None:
    assert_steps(story, "declared", [(0, 12), (2, OTHERWISE)])
    assert story.numbers.steps("Deployment/declared")[-3:] == [5, 12, OTHERWISE]


def test_replicas_are_written_with_the_scale_subresource(story: Story) -> None:
    assert_steps(story, "workers", [(0, 8), (2, 2)])
    written = {note["manager"]: note.get("subresource", "") for note in story.notes}
    assert written["berth-scaler"] == "scale"


@pytest.mark.parametrize(
    "what",
    [
        "the set",
        "replicas of the set",
        "another set",
        "another kind",
        "all",
        "the set, by the sweep",
        "delete",
        "another autoscaler",
    ],
)
def test_accounts_have_no_permissions_beyond_their_number(story: Story, what: str) -> None:
    assert "Forbidden" in story.refused[what] or "forbidden" in story.refused[what]


def test_sessions_are_subtracted(story: Story) -> None:
    """Placeholders of a JupyterHub are such a number."""
    found = steps(story, key("users"))

    counts = [value for _, value in found]
    assert counts in ([6, 4, 1], [6, 5, 4, 1])  # they may be seen one by one
    assert found[1][0] >= story.moments["made"] - story.opens - 1
    assert -1 <= found[-1][0] - 2 * MINUTE <= GRACE


def test_an_object_that_is_made_late_is_held_from_then_on(story: Story) -> None:
    (up, held), (down, after) = steps(story, key("late"))

    assert (held, after) == (11, 4)
    assert up + story.opens - story.moments["made"] <= OPENING
    assert -1 <= down - 2 * MINUTE <= GRACE


def test_a_number_that_is_set_back_is_rewritten_a_minute_later_at_the_earliest(story: Story) -> None:
    """Berth writes it a minute after the last time at the earliest, then after twice as long."""
    found = steps(story, key("contested"))
    written = [at for at, value in found if value == 9]

    assert [value for _, value in found] == [9, 2, 9, 2]
    assert written[1] - written[0] >= MINUTE - 1


def test_a_reset_gets_one_event_that_names_the_writer(story: Story) -> None:
    told = [one for one in story.events if one["reason"] == "NumberSetBack"]

    assert [one["involvedObject"]["name"] for one in told] == ["contested"]
    assert told[0]["type"] == "Warning"
    assert RIVAL in told[0]["message"]


def test_the_sweep_restores_the_number_of_a_reservation_that_left_git(story: Story) -> None:
    (_, held), (back, before) = steps(story, key("dropped"))

    assert (held, before) == (8, 2)
    assert back + story.opens - story.moments["dropped"] <= ROUND


def test_a_reservation_that_left_git_leaves_only_its_record(story: Story) -> None:
    left = {
        moment: {role for name, role in found if name == "dropped"}
        for moment, found in story.config_maps.items()
    }

    assert left["before"] == {"timetable", "target"}
    assert {"target", "held"} <= left["dropped"]
    assert left["after"] == {"record"}


def test_the_sweep_holds_and_restores_a_number_whose_pods_cannot_start(story: Story) -> None:
    (up, held), (down, before) = steps(story, key("barred"))

    assert (held, before) == (7, 2)
    assert MINUTE / 2 <= up <= MINUTE / 2 + ROUND
    assert -1 <= down - 2 * MINUTE <= ROUND
    assert {"SweepOpened", "SweepClosed"} <= set(reasons(story, "barred"))


def test_the_larger_of_two_windows_on_one_number_holds_and_each_ends_alone(story: Story) -> None:
    assert_steps(story, "first", [(0, 10), (2, 6), (3, OTHERWISE)])


def test_no_number_is_held_in_the_end(story: Story) -> None:
    roles = [role for _, role in story.config_maps["after"]]

    assert "held" not in roles
    assert roles.count("target") == len(NUMBERS) - 1
