"""Numbers of somebody else go back when their timetable is edited or removed, from what git has applied."""

import json

import pytest
from berth.core import objectnames
from berth.core.objects import CONFIG_MAP
from berth.core.poolobjects import read_pool
from berth.runtime.apiclient import Response

from tests.objectstore import refusal
from tests.runtime.fake_cluster import CONFIGMAPS
from tests.runtime.heldworld import HPA, SHORT, HeldWorld, foreign, number_text, parsed, shop
from tests.runtime.sweepworld import deployment, made
from tests.runtime.world import Row, at

OTHER = HPA | {"name": "api"}
NOTE = parsed(HPA).note_name("course-small")


def held_world(now: str = "07:29:07", **more: object) -> HeldWorld:
    """With two numbers, of which a timetable names the first."""
    world = HeldWorld(now, HPA, shop())
    api = foreign("HorizontalPodAutoscaler", "autoscaling/v2", "api", "web", spec={"minReplicas": 4})
    world.cluster.watch_number(OTHER, api)
    world.apply(number_text(HPA, **more))  # type: ignore[arg-type]
    return world


def values(world: HeldWorld) -> tuple[object, object]:
    return world.cluster.value("shop"), world.cluster.value("api") if "api" in world.cluster.numbers else None


def opened(now: str = "07:40") -> HeldWorld:
    """One whose pod has died in the window."""
    world = held_world()
    world.start()
    world.run(now)
    world.kill()
    assert values(world)[0] == 25
    return world


def note(world: HeldWorld, text: str | None = None, name: str = NOTE, reservation: str = "course") -> None:
    """Somebody writes a note."""
    labels = {"berth.dev/role": "held", "berth.dev/resource-class": "small"}
    data = {} if text is None else {"held.json": text}
    world.cluster.add(made(CONFIG_MAP, name, reservation, labels=labels, data=data))


# Edits


def test_a_timetable_with_another_number_gives_back_the_first_at_once() -> None:
    world = held_world()
    world.start()
    world.plan("07:40", lambda: world.apply(number_text(OTHER)))
    world.run("07:41")
    assert values(world) == (2, 25)
    world.run("08:01")

    assert values(world) == (2, 4)
    assert world.cluster.notes() == []


@pytest.mark.parametrize("text", [number_text(OTHER), number_text(None, [])], ids=["other", "none"])
def test_what_no_pod_gives_back_after_an_edit_the_sweep_does(text: str) -> None:
    world = opened()
    world.apply(text)
    world.sweeps("07:47")
    assert world.cluster.value("shop") == 2
    world.sweeps("08:20")

    assert values(world) == (2, 4)
    assert world.cluster.notes() == []
    named = [objectnames.target("course-small", json.dumps(OTHER))]
    assert world.names("target") == (named if '"api"' in text else [])


def test_after_an_edit_of_what_is_given_back_the_new_value_holds() -> None:
    world = held_world()
    world.start()
    world.plan("07:40", lambda: world.apply(number_text(HPA | {"otherwise": 7})))
    world.run("08:01")

    assert world.changes == [("07:30:00", 25), ("08:00:00", 7)]


def test_the_evidence_of_an_edited_number_is_removed_and_that_of_the_current_one_stays() -> None:
    world = held_world()
    world.apply(number_text(HPA | {"otherwise": 7}))
    world.sweep()
    assert len(world.names("target")) == 2  # an engine may apply the timetable last
    world.now += 300
    world.sweep()

    assert world.names("target") == [objectnames.target("course-small", json.dumps(HPA | {"otherwise": 7}))]


def test_a_renamed_reservation_keeps_its_number() -> None:
    """An engine creates the new one and deletes the old one in the same minute."""
    world = held_world()
    world.start()

    def rename() -> None:
        world.apply(None)
        world.apply(number_text(HPA, [("exam/1", *SHORT[1:])], "exam"), "exam")

    world.plan("07:40", rename)
    world.run("07:44")
    world.sweeps("08:20")

    assert world.changes == [("07:30:00", 25), ("08:00:00", 2)]
    assert world.cluster.notes() == []


OLDER = HPA | {"apiVersion": "autoscaling/v1"}


def older_world(now: str = "07:29:07") -> HeldWorld:
    """A cluster that serves the object in two versions, and a timetable that names the older one."""
    world = HeldWorld(now, HPA, shop())
    world.cluster.older["autoscaling/v1"] = "autoscaling/v2"
    world.apply(number_text(OLDER))
    return world


def upgrade(world: HeldWorld, *, is_served: bool) -> None:
    """Git names the newer version, and the cluster may no longer have the older one."""
    world.apply(number_text(HPA))
    if not is_served:
        world.cluster.interfere("/apis/autoscaling/v1/", Response(404, b"404 page not found\n"))


@pytest.mark.parametrize("is_served", [True, False], ids=["served", "not-served"])
def test_another_version_of_the_api_changes_nothing_in_a_window(is_served: bool) -> None:
    world = older_world()
    world.start()
    world.plan("07:40", lambda: upgrade(world, is_served=is_served))
    world.run("07:41")
    world.sweeps("07:59")
    (note,) = world.cluster.notes()
    world.run("08:02")

    assert note["before"] == 2
    assert world.changes == [("07:30:00", 25), ("08:00:00", 2)]
    assert world.cluster.notes() == []
    assert world.names("target") == [objectnames.target("course-small", json.dumps(HPA))]


@pytest.mark.parametrize("is_served", [True, False], ids=["served", "not-served"])
def test_without_a_pod_the_sweep_gives_back_what_an_older_version_has_set(is_served: bool) -> None:
    world = older_world()
    world.start()
    world.run("07:40")
    world.kill()
    upgrade(world, is_served=is_served)
    world.now = float(at("08:02"))
    world.sweep()

    assert world.changes == [("07:30:00", 25), ("08:02:00", 2)]
    assert world.cluster.notes() == []


@pytest.mark.parametrize("overlap", ["sum", "max"])
def test_reservations_share_a_number_in_two_versions_of_the_api(overlap: str) -> None:
    world = HeldWorld("07:29:07", HPA, shop())
    world.cluster.older["autoscaling/v1"] = "autoscaling/v2"
    exam = ("exam/1", "07:30", "07:35", "08:10", {"small": 10})
    world.apply(number_text(HPA, overlap=overlap, peers=["exam"]))
    world.apply(number_text(OLDER, [exam], "exam", overlap=overlap, peers=["course"]), "exam")
    world.start("course")
    world.start("exam")
    world.run("08:12")

    assert [value for _, value in world.changes] == [35 if overlap == "sum" else 25, 10, 2]
    assert world.cluster.notes() == []


# Reservations that are deleted


def test_a_deleted_reservation_gives_back_its_number_and_then_nothing_is_left() -> None:
    world = opened()
    world.apply(None)
    world.sweep()
    assert values(world) == (2, 4)
    assert world.names("target")
    world.now += 300
    world.sweep()

    assert (world.names("target"), world.cluster.notes()) == ([], [])
    assert world.sweep() == 0


def test_a_pod_that_loses_its_timetable_leaves_the_number_to_the_sweep() -> None:
    world = held_world()
    world.start()
    world.plan("07:40", lambda: world.apply(None))
    world.run("07:44")
    world.kill()
    world.sweeps("07:56")

    assert values(world) == (2, 4)
    assert (world.names("target"), world.cluster.notes()) == ([], [])


def test_what_the_sweep_may_not_write_it_keeps_and_tries_again() -> None:
    world = opened()
    world.apply(None)
    world.cluster.interfere("PATCH /apis/autoscaling", refusal(403, "Forbidden"))
    assert world.sweep() == 1
    assert values(world)[0] == 25
    assert world.names("target")
    assert world.cluster.notes()
    world.cluster.interfere("", None)
    world.now += 300
    assert world.sweep() == 0

    assert values(world)[0] == 2


def test_what_the_sweep_may_not_read_it_keeps() -> None:
    world = opened()
    world.apply(None)
    world.cluster.interfere("GET /apis/autoscaling", refusal(403, "Forbidden"))
    world.now += 600
    assert world.sweep() == 1

    assert world.names("target")
    assert world.cluster.notes()


def test_a_reservation_that_was_never_open_leaves_its_number_alone() -> None:
    world = held_world("07:00")
    world.apply(None)
    world.now += 300
    world.sweep()

    assert world.changes == []
    assert world.names("target") == []


def test_a_malformed_timetable_changes_nothing() -> None:
    world = opened()
    tree = world.cluster.all_in(CONFIGMAPS)["course"]
    tree["data"] = {"timetable.json": '"number"'}
    world.now += 3600
    world.sweep()

    assert values(world)[0] == 25
    assert world.cluster.notes()
    assert world.names("target")


def test_a_malformed_timetable_keeps_what_it_shares() -> None:
    world = shared_world(exam=("exam/1", "07:30", "07:30", "08:10", {"small": 10}))
    world.start("exam")
    world.run("07:40")
    world.kill("exam")
    assert values(world)[0] == 35
    world.cluster.all_in(CONFIGMAPS)["exam"]["data"]["timetable.json"] = "{"
    world.apply(None, "course")
    world.now += 3600
    world.sweep()

    assert values(world)[0] == 35
    assert world.cluster.notes()


# Attackers


def test_a_note_gives_the_sweep_no_reach_beyond_what_git_has_applied() -> None:
    """The number of a note that nobody names is neither read nor written, and the note goes."""
    world = held_world("07:00")
    forged = json.dumps({"before": 0, "uid": "", "since": "2026-02-02T06:00:00Z"})
    note(world, forged, parsed(OTHER).note_name("x"))
    note(world, forged, "course-small.held")
    world.sweep()

    assert world.changes == []
    assert not [request for request in world.cluster.requests if "/api?" in request.path]
    assert world.cluster.notes() == []


@pytest.mark.parametrize("reservation", ["course", "exam"])
def test_evidence_under_another_name_is_none(reservation: str) -> None:
    """A name says pool, class and text: labels alone say nothing."""
    world = held_world("07:00")
    world.evidence(OTHER, reservation, f"{reservation}-small.00000000.target")
    world.evidence(OTHER, reservation, objectnames.target("elsewhere-small", json.dumps(OTHER)))
    note(world, json.dumps({"before": 0, "uid": ""}), parsed(OTHER).note_name("x"), reservation)
    world.sweep()

    assert world.changes == []


def test_a_forged_value_is_all_that_a_note_can_do() -> None:
    world = opened()
    tree = world.cluster.all_in(CONFIGMAPS)[NOTE]
    tree["data"]["held.json"] = json.dumps({"before": 9, "uid": "", "path": ["spec"], "name": "api"})
    world.apply(None)
    world.sweep()

    assert values(world) == (9, 4)


@pytest.mark.parametrize("role", ["timetable", "record", "target", "code", "session-affinity", ""])
def test_a_note_is_a_note_whatever_its_labels_and_content(role: str) -> None:
    """An account may write its note, and give it the labels and the content of anything."""
    world = opened()
    forged = number_text(OTHER, [("x/1", "07:00", "07:05", "23:00", {"small": 1})], NOTE)
    tree = world.cluster.all_in(CONFIGMAPS)[NOTE]
    tree["metadata"]["labels"] |= {"berth.dev/reservation": NOTE, "berth.dev/role": role}
    tree["data"] |= dict.fromkeys(("timetable.json", "target.json", "records.json"), forged)
    world.apply(None)
    world.sweep()

    assert values(world) == (2, 4)
    assert world.cluster.notes() == []


@pytest.mark.parametrize("is_swept", [True, False], ids=["sweep", "pod"])
@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "there"])
def test_no_finalizer_keeps_a_note_in_force(is_swept: bool, is_deleted: bool) -> None:
    world = opened()
    metadata = world.cluster.all_in(CONFIGMAPS)[NOTE]["metadata"]
    metadata["finalizers"] = ["example.org/kept"]
    if is_deleted:
        metadata["deletionTimestamp"] = "2026-02-02T07:41:00Z"
    if is_swept:
        world.apply(None)
        world.sweep()
    else:
        world.start()
        world.run("08:05")
    world.set(20)
    world.now += 3600
    world.sweep()

    assert values(world) == (20, 4)
    assert NOTE not in world.cluster.all_in(CONFIGMAPS)


@pytest.mark.parametrize("spoiled", ["immutable", "deep"])
@pytest.mark.parametrize("is_swept", [True, False], ids=["sweep", "pod"])
def test_no_note_keeps_others_from_the_number_that_they_share(spoiled: str, is_swept: bool) -> None:
    """An account may write the note before any window opens, and let nobody change or read it."""
    number = HPA | {"otherwise": 2}
    world = HeldWorld("07:29:07", number, shop())
    world.apply(number_text(number, peers=["exam"]))
    world.apply(number_text(number, [EXAM], "exam", peers=["course"]), "exam")
    note(world, json.dumps({"before": 2, "uid": "", "since": "2026-02-02T07:29:50Z"}), reservation="exam")
    tree = world.cluster.all_in(CONFIGMAPS)[NOTE]
    if spoiled == "immutable":
        tree["immutable"] = True
    else:
        tree["metadata"]["managedFields"] = "DEEP"
    if is_swept:
        world.now += 300
        world.sweep()
    else:
        world.start()
        world.run("07:31")
    assert values(world)[0] == 25

    world.kill()
    world.now += 2 * 3600
    world.sweep()
    assert values(world)[0] == 2
    assert world.cluster.notes() == []


@pytest.mark.parametrize("is_swept", [True, False], ids=["sweep", "pod"])
def test_what_git_says_wins_over_a_note_about_another_object(is_swept: bool) -> None:
    world = held_world()
    world.apply(number_text(HPA | {"otherwise": 3}))
    world.start()
    world.run("07:40")
    note(world, json.dumps({"before": 7, "uid": "another"}))
    if is_swept:
        world.kill()
        world.now += 3600
        world.sweep()
    else:
        world.run("08:05")

    assert values(world) == (3, 4)
    assert world.cluster.notes() == []


def test_a_number_that_stays_as_its_note_is_about_another_object_is_told() -> None:
    world = opened()
    note(world, json.dumps({"before": 7, "uid": "another"}))
    world.now += 3600
    world.sweep()

    assert values(world) == (25, 4)
    assert [message.partition(" at ")[0] for message in world.events("SweepClosed")] == [
        "Left spec.minReplicas of HorizontalPodAutoscaler web/shop"
    ]


def test_placeholders_go_though_the_timetable_names_a_deployment_that_is_called_like_theirs() -> None:
    """Berth's was `berth/course-small`, and the number is now of `web/course-small`."""
    number = HPA | {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "plural": "deployments",
        "name": "course-small",
        "path": ["spec", "replicas"],
    }
    world = HeldWorld(
        "12:00", number, foreign("Deployment", "apps/v1", "course-small", "web", spec={"replicas": 2})
    )
    world.apply(number_text(number))
    world.cluster.add(deployment(25))
    world.now += 3600
    world.sweep()

    placeholders = world.cluster.all_in("/apis/apps/v1/namespaces/berth/deployments")["course-small"]
    assert placeholders["spec"]["replicas"] == 0
    assert world.value == 2


def test_a_number_goes_back_though_its_note_has_lost_the_label_of_the_site() -> None:
    world = opened()
    world.cluster.all_in(CONFIGMAPS)[NOTE]["metadata"]["labels"] = {}
    world.apply(None)
    world.sweep()

    assert values(world) == (2, 4)


def test_what_is_ready_and_is_no_number_is_told_by_nobody() -> None:
    """An author chooses where an object says what is ready: that must not keep the sweep from anything."""
    tree = shop() | {"status": {"conditions": [{"type": "AbleToScale"}], "paused": True, "phase": "7"}}
    tree["metadata"]["resourceVersion"] = "5"
    for key in tree["status"]:
        stands = read_pool(parsed(HPA | {"ready": ["status", key]}), tree)
        assert (stands.replicas, stands.ready, stands.tells_ready) == (2, 0, False)


MALFORMED = [
    pytest.param(None, id="no-data"),
    pytest.param("", id="empty"),
    pytest.param("7", id="number"),
    pytest.param("[" * 100_000, id="deep"),
    pytest.param('{"before": 2', id="cut"),
    pytest.param('{"before": {"a": 1}}', id="object"),
    pytest.param('{"before": [2]}', id="list"),
    pytest.param('{"before": "many"}', id="text"),
    pytest.param('{"before": true}', id="boolean"),
    pytest.param('{"before": -3}', id="negative"),
    pytest.param('{"before": 1e999}', id="infinite"),
    pytest.param('{"before": NaN}', id="nan"),
    pytest.param('{"before": ' + "9" * 5000 + "}", id="long"),
    pytest.param('{"before": "' + "9" * 50 + '"}', id="long-text"),
]


@pytest.mark.parametrize("text", MALFORMED)
@pytest.mark.parametrize("is_swept", [True, False], ids=["sweep", "pod"])
def test_what_a_malformed_note_says_is_never_written(text: str | None, is_swept: bool) -> None:
    """The number is left as it is, and somebody is told."""
    world = opened()
    note(world, text)
    if is_swept:
        world.now += 3600
        world.sweep()
        (message,) = world.events("SweepClosed")
        assert message.startswith("Left spec.minReplicas of HorizontalPodAutoscaler web/shop at 25")
    else:
        pod = world.start()
        world.run("08:05")
        (line,) = pod.told("scaled")
        assert line["level"] == "error"

    assert values(world) == (25, 4)
    assert world.cluster.all_in(CONFIGMAPS).get(NOTE) is None
    assert world.pods == {}


@pytest.mark.parametrize("text", MALFORMED)
def test_with_another_value_a_malformed_note_does_not_matter(text: str | None) -> None:
    world = held_world()
    world.apply(number_text(HPA | {"otherwise": 3}))
    world.start()
    world.run("07:40")
    note(world, text)
    world.run("08:05")

    assert values(world) == (3, 4)


def test_what_was_there_before_a_malformed_note_is_not_made_up() -> None:
    """A number that is held is not taken for what was there, though it is written again."""
    world = held_world()
    world.start()
    world.run("07:40")
    note(world, "{")
    world.set(5)
    world.run("08:05")

    assert values(world) == (25, 4)


# Several reservations on one number


EXAM: Row = ("exam/1", "07:50", "07:50", "08:10", {"small": 10})


def shared_world(overlap: str = "sum", exam: Row = EXAM, **more: object) -> HeldWorld:
    world = HeldWorld("07:29:07", HPA, shop())
    world.apply(number_text(HPA, overlap=overlap, peers=["exam"], **more))  # type: ignore[arg-type]
    text = number_text(HPA, [exam], "exam", overlap=overlap, peers=["course"], **more)  # type: ignore[arg-type]
    world.apply(text, "exam")
    return world


@pytest.mark.parametrize(("overlap", "expected"), [("sum", [25, 35, 10, 2]), ("max", [25, 10, 2])])
def test_reservations_on_one_number_add_up_and_the_last_gives_it_back(
    overlap: str, expected: list[int]
) -> None:
    world = shared_world(overlap)
    world.start("course")
    world.plan("07:49", lambda: world.start("exam"))
    world.run("08:12")

    assert [value for _, value in world.changes] == expected
    assert world.changes[-1][0] == "08:10:00"
    assert world.cluster.notes() == []
    assert world.pods == {}


@pytest.mark.parametrize("overlap", ["sum", "max"])
def test_without_any_pod_the_sweep_does_the_same(overlap: str) -> None:
    world = shared_world(overlap)
    world.sweeps("08:30")

    values = [value for _, value in world.changes]
    assert values == ([25, 35, 10, 2] if overlap == "sum" else [25, 10, 2])
    assert world.cluster.notes() == []


def test_back_to_back_reservations_hand_the_number_over() -> None:
    world = shared_world(exam=("exam/1", "08:00", "08:00", "08:10", {"small": 10}))
    world.start("course")
    world.plan("07:59", lambda: world.start("exam"))
    world.run("08:12")

    assert world.changes == [("07:30:00", 25), ("08:00:00", 10), ("08:10:00", 2)]
    assert world.cluster.notes() == []


def test_sessions_of_one_do_not_make_reservations_fight() -> None:
    sessions = {"source": "pods", "namespaces": ["hub"], "selector": {}, "course": {}, "earlier": "count"}
    world = shared_world(behavior="maintain", sessions={**sessions, "handoverSeconds": 900})
    pod = world.start("course")
    pod.observed.sessions = {"small": {"course/1": 3}}
    world.plan("07:49", lambda: world.start("exam"))
    world.run("08:12")

    assert [value for _, value in world.changes] == [25, 35, 10, 2]


def test_an_edit_of_one_is_no_reset_by_somebody_for_the_other() -> None:
    world = shared_world(exam=("exam/1", "07:30", "07:30", "08:10", {"small": 10}))
    world.start("course")
    world.start("exam")
    row: Row = ("exam/1", "07:30", "07:30", "08:10", {"small": 20})
    world.plan(
        "07:40", lambda: world.apply(number_text(HPA, [row], "exam", overlap="sum", peers=["course"]), "exam")
    )
    world.run("08:12")

    numbers = [value for _, value in world.changes]
    assert numbers == [35, 45, 20, 2]
    assert world.events("NumberSetBack") == []


@pytest.mark.parametrize("text", [None, "{"], ids=["missing", "malformed"])
def test_a_peer_without_a_timetable_asks_for_nothing(text: str | None) -> None:
    world = shared_world(exam=("exam/1", "07:30", "07:30", "08:10", {"small": 10}))
    if text is None:
        world.apply(None, "exam")
    else:
        world.cluster.all_in(CONFIGMAPS)["exam"]["data"]["timetable.json"] = text
    world.start("course")
    world.run("08:12")

    assert world.changes == [("07:30:00", 25), ("08:00:00", 2)]
    assert world.cluster.notes() == []
    assert world.pods == {}


def test_a_deleted_reservation_leaves_the_number_to_those_that_ask_for_it() -> None:
    world = shared_world(exam=("exam/1", "07:30", "07:30", "08:10", {"small": 10}))
    world.start("course")
    world.start("exam")
    world.run("07:40")
    assert values(world)[0] == 35
    world.kill("course")
    world.apply(None, "course")
    world.sweeps("07:55")
    assert values(world)[0] == 10
    world.sweeps("08:20")

    assert values(world)[0] == 2
    assert world.cluster.notes() == []
    assert [name for name in world.names("target") if name.startswith("course")] == []


def test_a_pool_that_is_dropped_leaves_the_number_to_those_that_ask_for_it() -> None:
    world = shared_world(exam=("exam/1", "07:30", "07:30", "08:10", {"small": 10}))
    world.start("course")
    world.start("exam")
    world.plan("07:40", lambda: world.apply(number_text(None, [])))
    world.run("07:45")
    assert values(world)[0] == 10
    world.run("08:12")

    assert [value for _, value in world.changes] == [35, 10, 2]
