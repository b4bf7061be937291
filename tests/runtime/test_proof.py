"""A pod serves what it proves to serve: what the scaler writes of itself, and what the sweep makes of it."""

import json
from typing import Any

import pytest
from berth.core.objectnames import record as record_name
from berth.core.serving import (
    MAX_TROUBLES,
    PROOF_AGE,
    PROOF_INTERVAL,
    ServingProof,
    parse_proof,
    proof_text,
    serving_proof,
)
from berth.runtime.apiclient import Request
from berth.runtime.sweep import seconds_of_date

from tests.objectstore import Tree, refusal
from tests.runtime.sweepworld import Swept, cronjob, deployment, job, pod, proving, record, seen, timetable
from tests.runtime.world import COURSE, World, at, clock, timetable_text

FORBIDDEN = refusal(403, "Forbidden", "no")


def proofs(world: World) -> dict[str, Any]:
    """The last proof, without the date of its instants."""
    assert world.cluster.record is not None
    tree: dict[str, Any] = json.loads(world.cluster.record["data"]["serving.json"])
    pools = {name: text[11:19] for name, text in tree["pools"].items()}
    return {"at": tree["at"][11:19], "pools": pools, "troubles": tree["troubles"]}


# What a scaler writes


def test_a_scaler_proves_its_pools_twice_a_minute_and_at_once_when_it_begins() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    written: list[str] = []

    def note(request: Request) -> None:
        if request.method == "PATCH" and "record" in request.path:
            written.append(clock(world.now))

    world.cluster.interferences.append(note)
    world.run(until="07:33")

    assert written == ["07:30:00", "07:30:30", "07:31:00", "07:31:30", "07:32:00", "07:32:30"]
    assert proofs(world) == {"at": "07:32:30", "pools": {"small": "07:32:30"}, "troubles": []}


def test_a_pool_that_fails_is_proven_no_more_and_the_reason_is_told() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.interfere_at("07:31", "/deployments/course-small", FORBIDDEN)
    world.run(until="07:33")

    found = proofs(world)
    assert found["pools"] == {"small": "07:30:55"}
    assert found["troubles"] == ["deployment course-small: 403 Forbidden: no"]


def test_a_record_that_could_not_be_written_is_tried_again_after_ten_seconds() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.cluster.interfere("course-record", FORBIDDEN)
    world.interfere_at("07:30:25", "", None)
    world.run(until="07:30:40")

    assert proofs(world)["at"] == "07:30:30"


def test_while_nothing_is_open_nothing_is_proven() -> None:
    world = World("07:28", timetable_text(COURSE), small=0)
    world.run(until="07:29:30")

    assert world.cluster.record is None


# The text


def test_a_proof_is_read_as_it_was_written_and_has_a_limited_size() -> None:
    made = serving_proof({"small": at("09:00") + 0.5}, ["x" * 1000] * 99, at("09:01"))

    assert parse_proof(proof_text(made)) == made
    assert len(made.troubles) == MAX_TROUBLES
    assert len(proof_text(made)) < 2_000


@pytest.mark.parametrize(
    "said",
    [
        None,
        "",
        "[]",
        "{}",
        '{"at": "now", "pools": {}}',
        '{"at": "2026-02-02T09:00:00Z", "pools": []}',
        "[" * 99_999,
    ],
    ids=["nothing", "empty", "list", "no-fields", "no-instant", "no-mapping", "nested"],
)
def test_what_is_no_proof_proves_nothing(said: object) -> None:
    assert parse_proof(said) is None


@pytest.mark.parametrize(
    ("resource_class", "expected"), [("small", True), ("huge", False), ("", True), ("other", False)]
)
def test_a_proof_covers_pools_that_worked_half_a_minute_before_it(
    resource_class: str, expected: bool
) -> None:
    proof = ServingProof(at("09:01"), {"small": at("09:00:30"), "huge": at("09:00:29")})

    assert proof.covers(resource_class) == expected


def test_a_proof_holds_for_longer_than_until_the_next_one() -> None:
    assert PROOF_INTERVAL + 5 < PROOF_AGE


# What the sweep makes of it


def window(*more: Tree, replicas: int = 4) -> list[Tree]:
    """The course is open since 07:30, and a pod runs."""
    return [timetable(), deployment(replicas), cronjob(), job(), proving(), *more]


OPENED = ["PATCH deployments course-small scale", "PATCH jobs course-sweep"]


def writes(swept: Swept) -> list[str]:
    """Of a run, without Events."""
    assert swept.run() == 0
    return [said for said in swept.cluster.writes if "events" not in said]


def test_what_is_proven_is_left_alone_without_a_second_look() -> None:
    swept = Swept("09:00", *window(record("08:59:20")))

    assert writes(swept) == []
    assert swept.cluster.requests.count("LIST configmaps") == 1


@pytest.mark.parametrize(
    "known",
    [
        pytest.param([], id="never-since-it-opened"),
        pytest.param([record("08:59:19")], id="not-lately"),
        pytest.param([record("08:59:30", {})], id="of-no-pool"),
        pytest.param([record("08:59:30", {"small": "08:58:59"})], id="of-a-pool-that-fails"),
        pytest.param([record("08:59:30", name="other-record")], id="by-a-record-of-another-name"),
        pytest.param([record("08:59:30", reservation="other", name="other-record")], id="by-that-of-another"),
    ],
)
def test_a_pod_that_does_not_prove_its_work_is_taken_for_one_that_does_not_run(known: list[Tree]) -> None:
    swept = Swept("09:00", *window(*known))

    assert writes(swept) == OPENED
    assert swept.cluster.replicas() == {"course-small": 25}
    assert swept.told("scale") == [
        ("course", "Scaled from 4 to 25: course/1 is open and its pod has not shown that it works.")
    ]


def test_a_pod_without_the_annotation_proves_nothing_and_serves() -> None:
    swept = Swept("09:00", timetable(), deployment(4), cronjob(), job(), pod())

    assert writes(swept) == []


def test_beside_a_pod_without_the_annotation_the_other_needs_no_proof() -> None:
    swept = Swept("09:00", *window(pod("course-1-y")))

    assert writes(swept) == []


def test_after_an_outage_pods_have_time_to_prove_their_work() -> None:
    """All proofs are old when the API server is back. A scaler writes within seconds."""
    swept = Swept("09:00", *window(record("08:50")))

    def renewed(said: str) -> None:
        if said == "LIST configmaps" and swept.cluster.requests.count(said) == 2:
            swept.cluster.add(record("09:00:08"))

    swept.cluster.interfere = renewed

    assert writes(swept) == []
    assert swept.cluster.requests.count("LIST configmaps") == 2


def test_what_becomes_doubtful_while_the_sweep_waits_is_left_to_the_next_run() -> None:
    """Another reservation is what it waits for."""
    other = [
        timetable(name="other", pools={"small": "other-small"}),
        deployment(9, "other-small", reservation="other"),
    ]
    other += [cronjob("other", reservation="other"), job("other-1", reservation="other")]
    runs = proving(name="other-1-x", of="other-1", reservation="other")
    proof = record("08:59:25", name="other-record", reservation="other")
    swept = Swept("09:00", *window(), *other, runs, proof)

    assert writes(swept) == OPENED


@pytest.mark.parametrize("ahead", [-3600, 3600])
def test_how_old_a_proof_is_depends_on_no_clock_of_ours(ahead: int) -> None:
    """Both of its times are those of the API server."""
    trees = window(record("08:59:30"))
    state = seen(*trees)._replace(server_time=at("09:00"))
    (course,) = state.reservations

    assert not state.is_doubtful(course, at("09:00") + ahead)


def test_the_time_of_the_server_is_in_its_answers() -> None:
    assert seconds_of_date("Mon, 02 Feb 2026 09:00:00 GMT") == at("09:00")
    assert [seconds_of_date(text) for text in ("", "2026-02-02", "yesterday")] == [0, 0, 0]


def test_only_the_pool_that_is_not_proven_is_taken_over() -> None:
    both = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})
    pools = {"small": "course-small", "huge": "course-huge"}
    trees = [deployment(4), deployment(0, "course-huge"), cronjob(), job(), proving()]
    trees += [timetable(both, pools=pools)]
    swept = Swept("09:00", *trees, record("08:59:30", {"small": "08:59:30", "huge": "08:30"}))

    assert writes(swept) == ["PATCH deployments course-huge scale"]
    assert swept.cluster.replicas() == {"course-small": 4, "course-huge": 2}


def test_the_job_that_the_sweep_started_is_not_made_again_while_its_pod_runs() -> None:
    own = [job("course-sweep"), proving(name="course-sweep-x", of="course-sweep")]
    swept = Swept("09:00", *window(*own, replicas=25))

    assert writes(swept) == []


def test_before_the_opening_and_at_the_end_a_pod_that_runs_is_believed() -> None:
    early, late = Swept("07:29", *window(replicas=0)), Swept("10:00:20", *window())

    assert (writes(early), writes(late)) == ([], [])


def test_what_a_pod_does_not_close_the_sweep_closes() -> None:
    swept = Swept("10:00:30", *window())

    assert "PATCH deployments course-small scale" in writes(swept)
    assert swept.cluster.replicas() == {"course-small": 0}


def test_the_scaler_and_the_sweep_mean_the_same_record() -> None:
    assert record_name("course") == record("09:00")["metadata"]["name"]
