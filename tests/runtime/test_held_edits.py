"""Numbers of somebody else go back when their timetable is edited or removed, from what git has applied."""

import json
from typing import Any

import pytest
from berth.core import objectnames
from berth.core.objects import CONFIG_MAP
from berth.core.poolobjects import read_pool
from berth.runtime.apiclient import Response

from tests.objectstore import refusal
from tests.runtime.fake_cluster import CONFIGMAPS
from tests.runtime.heldworld import HPA, SHORT, HeldWorld, foreign, number_text, parsed, shop
from tests.runtime.programs import PODS
from tests.runtime.sweepworld import deployment, made
from tests.runtime.timetables import Row, at, clock

OTHER, OLDER = HPA | {"name": "api"}, HPA | {"apiVersion": "autoscaling/v1"}
NOTE = parsed(HPA).note_name("course-small")
EXAM: Row = ("exam/1", "07:50", "07:50", "08:10", {"small": 10})
BESIDE: Row = ("exam/1", "07:30", "07:30", "08:10", {"small": 10})
by_whom = pytest.mark.parametrize("is_swept", [True, False], ids=["sweep", "pod"])


def held_world(text: str | None = None, now: str = "07:29:07") -> HeldWorld:
    """With two numbers, of which a timetable names the first."""
    world = HeldWorld(now, HPA, shop())
    api = foreign("HorizontalPodAutoscaler", "autoscaling/v2", "api", "web", spec={"minReplicas": 4})
    world.cluster.watch_number(OTHER, api)
    world.apply(text or number_text(HPA))
    return world


def values(world: HeldWorld) -> tuple[object, object]:
    return world.cluster.value("shop"), world.cluster.value("api")


def opened(text: str | None = None) -> HeldWorld:
    """One whose pod has died in the window."""
    world = held_world(text)
    world.start()
    world.run("07:40")
    world.kill()
    assert values(world)[0] == 25
    return world


def shared_world(overlap: str = "sum", exam: Row = EXAM, **more: object) -> HeldWorld:
    world = HeldWorld("07:29:07", HPA, shop())
    world.apply(number_text(HPA, overlap=overlap, peers=["exam"], **more))  # type: ignore[arg-type]
    world.apply(exam_text(exam, overlap=overlap, **more), "exam")
    return world


def exam_text(row: Row, **more: object) -> str:
    return number_text(HPA, [row], "exam", peers=["course"], **more)  # type: ignore[arg-type]


def note(world: HeldWorld, text: str | None = None, name: str = NOTE, reservation: str = "course") -> None:
    """Somebody writes a note."""
    labels = {"berth.dev/role": "held", "berth.dev/resource-class": "small"}
    data = {} if text is None else {"held.json": text}
    world.cluster.add(made(CONFIG_MAP, name, reservation, labels=labels, data=data))


def close(world: HeldWorld, is_swept: bool) -> None:
    """Let the sweep close the window, or a pod."""
    if is_swept:
        world.kill()
        world.now = float(at("09:00"))
        world.sweep()
    else:
        if not world.pods:
            world.start()
        world.run("08:05")


# Edits


@pytest.mark.parametrize("is_swept", [False, True], ids=["pod", "sweep"])
@pytest.mark.parametrize("text", [number_text(OTHER), number_text(None, [])], ids=["other", "none"])
def test_a_number_is_restored_when_its_timetable_names_another_or_none(text: str, is_swept: bool) -> None:
    """A pod does so at once, the sweep a minute after the edit."""
    world = held_world()
    world.start()
    world.run("07:40")
    if is_swept:
        world.kill()
    world.apply(text)
    if is_swept:
        world.sweeps("07:47")
    else:
        world.run("07:41")
        assert values(world) == ((2, 25) if '"api"' in text else (2, 4))
    assert world.cluster.value("shop") == 2
    world.sweeps("08:20")

    assert (values(world), world.cluster.notes()) == ((2, 4), [])
    named = [objectnames.target("course-small", json.dumps(OTHER))]
    assert world.names("target") == (named if '"api"' in text else [])


def test_an_edited_otherwise_value_is_restored_at_the_end() -> None:
    world = held_world()
    world.start()
    edited = HPA | {"otherwise": 7}
    world.plan("07:40", lambda: world.apply(number_text(edited)))
    world.run("08:01")
    assert world.changes == [("07:30:00", 25), ("08:00:00", 7)]

    world.sweep()
    assert world.names("target") == [objectnames.target("course-small", json.dumps(edited))]


def test_evidence_of_an_edited_number_stays_for_two_minutes() -> None:
    """An engine may apply the timetable last."""
    world = held_world()
    world.apply(number_text(HPA | {"otherwise": 7}))
    world.sweep()
    assert len(world.names("target")) == 2
    world.now += 300
    world.sweep()
    assert len(world.names("target")) == 1


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


@by_whom
@pytest.mark.parametrize("is_served", [True, False], ids=["served", "not-served"])
def test_a_changed_api_version_does_not_change_a_held_number(is_served: bool, is_swept: bool) -> None:
    """Git names the newer version, and the cluster may no longer have the older one."""
    world = HeldWorld("07:29:07", HPA, shop())
    world.cluster.older["autoscaling/v1"] = "autoscaling/v2"
    world.apply(number_text(OLDER))
    world.start()
    world.run("07:40")
    if is_swept:
        world.kill()
    world.apply(number_text(HPA))
    if not is_served:
        world.cluster.interfere("/apis/autoscaling/v1/", Response(404, b"404 page not found\n"))
    if is_swept:
        world.now = float(at("08:02"))
        world.sweep()
    else:
        world.run("07:41")
        world.sweeps("07:59")
        assert [held["before"] for held in world.cluster.notes()] == [2]
        world.run("08:02")

    assert world.changes == [("07:30:00", 25), ("08:02:00" if is_swept else "08:00:00", 2)]
    assert world.cluster.notes() == []
    assert world.names("target") == [objectnames.target("course-small", json.dumps(HPA))]


# Reservations that are deleted


def test_a_deleted_reservation_restores_its_number_and_leaves_no_objects() -> None:
    world = opened()
    world.apply(None)
    world.sweep()
    assert values(world) == (2, 4)
    assert world.names("target")
    world.now += 300
    world.sweep()

    assert (world.names("target"), world.cluster.notes(), world.sweep()) == ([], [], 0)


@pytest.mark.parametrize("verb", ["PATCH", "GET"])
def test_the_sweep_keeps_and_retries_a_number_that_it_may_not_read_or_write(verb: str) -> None:
    world = opened()
    world.apply(None)
    world.cluster.interfere(f"{verb} /apis/autoscaling", refusal(403, "Forbidden"))
    world.now += 600
    assert world.sweep() == 1
    assert values(world)[0] == 25
    assert world.names("target")
    assert world.cluster.notes()
    world.cluster.interfere("", None)
    assert (world.sweep(), values(world)[0]) == (0, 2)


def test_a_reservation_that_was_never_open_leaves_its_number_alone() -> None:
    world = held_world(now="07:00")
    world.apply(None)
    world.now += 300
    world.sweep()

    assert (world.changes, world.names("target")) == ([], [])


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_malformed_timetable_keeps_its_held_number(is_shared: bool) -> None:
    world = shared_world(exam=BESIDE) if is_shared else held_world()
    name = "exam" if is_shared else "course"
    world.start(name)
    world.run("07:40")
    world.kill(name)
    world.cluster.all_in(CONFIGMAPS)[name]["data"]["timetable.json"] = '"number"'
    if is_shared:
        world.apply(None, "course")
    world.now += 3600
    world.sweep()

    assert world.value == (35 if is_shared else 25)
    assert world.cluster.notes()
    assert world.names("target")


# Attackers


def test_a_note_cannot_make_the_sweep_touch_a_number_that_git_does_not_name() -> None:
    """The number of a note that nobody names is neither read nor written, and the note goes."""
    world = held_world(now="07:00")
    forged = json.dumps({"before": 0, "uid": "", "since": "2026-02-02T06:00:00Z"})
    note(world, forged, parsed(OTHER).note_name("x"))
    note(world, forged, "course-small.held")
    world.sweep()

    assert world.changes == []
    assert not [request for request in world.cluster.requests if "/api?" in request.path]
    assert world.cluster.notes() == []


def test_the_sweep_leaves_a_new_note_to_the_program_that_writes_the_number() -> None:
    world = held_world(now="07:00")
    note(world, json.dumps({"before": 2, "uid": "", "since": "2026-02-02T07:00:00Z"}))
    world.cluster.add(made(CONFIG_MAP, "x.held", created="06:58", labels={"berth.dev/role": "held"}))
    found = []
    for _ in range(3):
        world.sweep()
        found.append(world.names("held"))
        world.now += 59

    assert found == [[NOTE, "x.held"], [NOTE], []]


@pytest.mark.parametrize("reservation", ["course", "exam"])
def test_evidence_with_a_wrong_name_is_ignored(reservation: str) -> None:
    """A name says pool, class and text: labels alone say nothing."""
    world = held_world(now="07:00")
    world.evidence(OTHER, reservation, f"{reservation}-small.00000000.target")
    world.evidence(OTHER, reservation, objectnames.target("elsewhere-small", json.dumps(OTHER)))
    note(world, json.dumps({"before": 0, "uid": ""}), parsed(OTHER).note_name("x"), reservation)
    world.sweep()

    assert world.changes == []


def test_a_forged_note_can_change_only_the_restored_value() -> None:
    world = opened()
    tree = world.cluster.all_in(CONFIGMAPS)[NOTE]
    tree["data"]["held.json"] = json.dumps({"before": 9, "uid": "", "path": ["spec"], "name": "api"})
    world.apply(None)
    world.sweep()

    assert values(world) == (9, 4)


@pytest.mark.parametrize("role", ["timetable", "record", "target", "code", "session-affinity", "", None])
def test_a_note_is_recognized_regardless_of_its_labels_and_content(role: str | None) -> None:
    """An account may write its note, and give it the labels and the content of anything, or no label."""
    world = opened()
    forged = number_text(OTHER, [("x/1", "07:00", "07:05", "23:00", {"small": 1})], NOTE)
    tree = world.cluster.all_in(CONFIGMAPS)[NOTE]
    labels = {"berth.dev/reservation": NOTE, "berth.dev/role": role}
    tree["metadata"]["labels"] = {} if role is None else tree["metadata"]["labels"] | labels
    tree["data"] |= dict.fromkeys(("timetable.json", "target.json", "records.json"), forged)
    world.apply(None)
    world.sweep()

    assert (values(world), world.cluster.notes()) == ((2, 4), [])


@by_whom
@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "there"])
def test_a_finalizer_does_not_keep_a_note_in_effect(is_swept: bool, is_deleted: bool) -> None:
    world = opened()
    metadata = world.cluster.all_in(CONFIGMAPS)[NOTE]["metadata"]
    metadata["finalizers"] = ["example.org/kept"]
    if is_deleted:
        metadata["deletionTimestamp"] = "2026-02-02T07:41:00Z"
    if is_swept:
        world.apply(None)
    close(world, is_swept)
    world.set(20)
    world.now += 3600
    world.sweep()

    assert values(world) == (20, 4)
    assert NOTE not in world.cluster.all_in(CONFIGMAPS)


@by_whom
@pytest.mark.parametrize("spoiled", ["immutable", "deep"])
def test_a_spoiled_note_does_not_block_other_reservations(spoiled: str, is_swept: bool) -> None:
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
    assert world.value == 25

    world.kill()
    world.now += 2 * 3600
    world.sweep()
    assert (world.value, world.cluster.notes()) == (2, [])


def test_a_number_with_a_note_about_another_object_is_left_and_reported() -> None:
    world = opened()
    note(world, json.dumps({"before": 7, "uid": "another"}))
    close(world, is_swept=True)

    assert values(world) == (25, 4)
    assert [message.partition(" at ")[0] for message in world.events("SweepClosed")] == [
        "Left spec.minReplicas of HorizontalPodAutoscaler web/shop"
    ]


def test_placeholders_close_although_the_number_is_of_a_deployment_with_their_name() -> None:
    """Berth's was `berth/course-small`, and the number is now of `web/course-small`."""
    kind = {"apiVersion": "apps/v1", "kind": "Deployment", "plural": "deployments"}
    number = HPA | kind | {"name": "course-small", "path": ["spec", "replicas"]}
    theirs = foreign("Deployment", "apps/v1", "course-small", "web", spec={"replicas": 2})
    world = HeldWorld("12:00", number, theirs)
    world.apply(number_text(number))
    world.cluster.add(deployment(25))
    world.now += 3600
    world.sweep()

    placeholders = world.cluster.all_in("/apis/apps/v1/namespaces/berth/deployments")["course-small"]
    assert (placeholders["spec"]["replicas"], world.value) == (0, 2)


def test_a_ready_field_that_is_not_a_number_is_ignored() -> None:
    """An author chooses where an object says what is ready: that must not keep the sweep from anything."""
    tree = shop() | {"status": {"conditions": [{"type": "AbleToScale"}], "paused": True, "phase": "7"}}
    tree["metadata"]["resourceVersion"] = "5"
    for key in tree["status"]:
        pool = read_pool(parsed(HPA | {"ready": ["status", key]}), tree)
        assert (pool.replicas, pool.ready, pool.tells_ready) == (2, 0, False)


MALFORMED: dict[str, str | None] = {
    "no-data": None,
    "empty": "",
    "number": "7",
    "deep": "[" * 100_000,
    "cut": '{"before": 2',
    "object": '{"before": {"a": 1}}',
    "list": '{"before": [2]}',
    "text": '{"before": "many"}',
    "boolean": '{"before": true}',
    "negative": '{"before": -3}',
    "infinite": '{"before": 1e999}',
    "nan": '{"before": NaN}',
    "long": '{"before": ' + "9" * 5000 + "}",
    "long-text": '{"before": "' + "9" * 50 + '"}',
    "of-another-object": '{"before": 7, "uid": "another"}',
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
@by_whom
def test_a_value_from_a_malformed_note_is_never_written(text: str | None, is_swept: bool) -> None:
    """The number is left as it is, and somebody is told; or it gets the value that git says."""
    for otherwise, expected in (({}, 25), ({"otherwise": 3}, 3)):
        world = opened(number_text(HPA | otherwise))
        note(world, text)
        if not is_swept:
            world.start()
        close(world, is_swept)
        if is_swept:
            (message,) = world.events("SweepClosed")
            assert message.startswith("Left spec.minReplicas") is (expected == 25)

        assert (values(world), world.pods) == ((expected, 4), {})
        assert world.cluster.all_in(CONFIGMAPS).get(NOTE) is None


def test_the_original_value_is_not_guessed_after_a_malformed_note() -> None:
    """A number that is held is not taken for what was there, though it is written again."""
    world = held_world()
    pod = world.start()
    world.run("07:40")
    note(world, "{")
    world.set(5)
    world.run("08:05")

    assert values(world) == (25, 4)
    assert [line["level"] for line in pod.log if line["event"] == "scaled"][-1] == "error"


# Several reservations on one number


SHARED: dict[str, tuple[dict[str, Any], list[int]]] = {
    "sum": ({}, [25, 35, 10, 2]),
    "max": ({"overlap": "max"}, [25, 10, 2]),
    "back-to-back": ({"exam": ("exam/1", "08:00", "08:00", "08:10", {"small": 10})}, [25, 10, 2]),
    "sessions": ({"behavior": "maintain", "sessions": PODS | {"handoverSeconds": 900}}, [25, 35, 10, 2]),
}


@pytest.mark.parametrize("is_swept", [False, True], ids=["pods", "sweep"])
@pytest.mark.parametrize(("more", "expected"), SHARED.values(), ids=SHARED)
def test_reservations_on_one_number_are_combined_and_the_last_restores_it(
    more: dict[str, Any], expected: list[int], is_swept: bool
) -> None:
    """Whatever sessions one of them has."""
    world = shared_world(**more)
    if is_swept:
        world.sweeps("08:30")
        assert len(world.events("SweepClosed")) == 1
        assert world.events("SweepOpened")[0].startswith(
            "Set spec.minReplicas of HorizontalPodAutoscaler web/shop from 2 to 25: course/1 is open"
        )
    else:
        world.start("course").observed.sessions = {"small": {"course/1": 3}}
        world.plan(clock(at(more.get("exam", EXAM)[1]) - 60), lambda: world.start("exam"))
        world.run("08:01")
        assert world.pods.keys() == {"exam"}, "who is over does not wait for others"
        world.run("08:12")
        assert (world.changes[-1][0], world.pods) == ("08:10:00", {})

    assert [value for _, value in world.changes] == expected
    assert world.cluster.notes() == []


def test_an_edit_of_one_reservation_is_not_reported_as_a_reset_by_the_other() -> None:
    world = shared_world(exam=BESIDE)
    world.start("course")
    world.start("exam")
    world.plan("07:40", lambda: world.apply(exam_text((*BESIDE[:4], {"small": 20}), overlap="sum"), "exam"))
    world.run("08:12")

    assert [value for _, value in world.changes] == [35, 45, 20, 2]
    assert world.events("NumberSetBack") == []


@pytest.mark.parametrize("text", [None, "{"], ids=["missing", "malformed"])
def test_a_peer_without_a_valid_timetable_adds_nothing_to_the_number(text: str | None) -> None:
    world = shared_world(exam=BESIDE)
    if text is None:
        world.apply(None, "exam")
    else:
        world.cluster.all_in(CONFIGMAPS)["exam"]["data"]["timetable.json"] = text
    world.start("course")
    world.run("08:12")

    assert world.changes == [("07:30:00", 25), ("08:00:00", 2)]
    assert (world.cluster.notes(), world.pods) == ([], {})


@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "without-the-pool"])
def test_a_removed_reservation_leaves_the_number_to_the_remaining_reservation(is_deleted: bool) -> None:
    world = shared_world(exam=BESIDE)
    world.start("course")
    world.start("exam")
    world.run("07:40")
    if is_deleted:
        world.kill("course")
    world.apply(None if is_deleted else number_text(None, []), "course")
    world.sweeps("07:55")
    world.sweeps("08:20")

    assert ([value for _, value in world.changes], world.cluster.notes()) == ([35, 10, 2], [])
    assert world.changes[1][0] < "07:50"
    assert [name for name in world.names("target") if name.startswith("course")] == []


def test_a_note_with_malformed_metadata_about_no_number_is_removed() -> None:
    world = held_world()
    note(world, name="0123456789abcdef.held")
    del world.cluster.all_in(CONFIGMAPS)["0123456789abcdef.held"]["metadata"]["uid"]

    assert world.sweep() == 1, "what it skips is a failure"
    assert "0123456789abcdef.held" not in world.cluster.all_in(CONFIGMAPS)
