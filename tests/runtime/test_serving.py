"""A pod serves its occurrence while all containers of ours that it has run, and while its scaler restarts."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.core.objects import containers, is_pod_starting, is_terminating, pod_down_since, serves_at

from tests.runtime.world import at

RUNS = {"running": {"startedAt": "2026-02-02T08:30:00Z"}}
WAITS = {"waiting": {"reason": "ContainerCreating"}}
ENDED = {"terminated": {"exitCode": 1}}


def pod(phase: str, state: object = None, *, going: bool = False, **others: object) -> dict[str, Any]:
    program = [] if state is None else [{"name": "occurrence", "state": state}]
    sidecars = [{"name": name, "state": other} for name, other in others.items()]
    return {
        "metadata": {"name": "a", **({"deletionTimestamp": "2026-02-02T09:00:00Z"} if going else {})},
        "status": {"phase": phase, "initContainerStatuses": sidecars, "containerStatuses": program},
    }


@pytest.mark.parametrize(
    ("found", "serves", "starts"),
    [
        pytest.param(pod("Running", RUNS), False, True, id="its-program-alone-runs"),
        pytest.param(pod("Running", RUNS, scaler=RUNS), True, False, id="both-run"),
        pytest.param(pod("Running", RUNS, scaler=WAITS), False, True, id="its-sidecar-does-not"),
        pytest.param(
            pod("Running", RUNS, scaler=RUNS, istio=WAITS), True, False, id="what-is-not-ours-waits"
        ),
        pytest.param(pod("Running", scaler=RUNS), False, True, id="its-sidecar-alone-is-told"),
        pytest.param(pod("Running", WAITS, scaler=RUNS), False, True, id="its-sidecar-alone-does"),
        pytest.param(pod("Running", ENDED), False, True, id="its-program-is-to-be-restarted"),
        pytest.param(pod("Running", RUNS, going=True), False, False, id="it-is-going"),
        pytest.param(pod("Pending", WAITS), False, True, id="it-waits"),
        pytest.param(pod("Pending", RUNS), False, True, id="its-sidecar-is-yet-to-begin"),
        pytest.param(pod("Pending", WAITS, going=True), False, False, id="it-goes-before-it-came"),
        pytest.param(pod("Pending"), False, True, id="nothing-is-told-of-containers"),
        pytest.param(pod("Succeeded", ENDED), False, False, id="it-is-done"),
        pytest.param(pod("Failed", ENDED), False, False, id="it-has-failed"),
        pytest.param({"metadata": {}}, False, False, id="nothing-is-told"),
        pytest.param({"metadata": {}, "status": None}, False, False, id="its-status-is-null"),
        pytest.param(pod("Running", {}), False, True, id="nothing-is-told-of-its-program"),
    ],
)
def test_a_pod_serves_or_is_about_to_or_neither(found: dict[str, Any], serves: bool, starts: bool) -> None:
    assert (is_serving(found, at("09:00")), is_pod_starting(found)) == (serves, starts)


STATUSES = json.loads(Path(__file__).with_name("pod_statuses.json").read_text())
"""As a kubelet 1.36 wrote them in the end-to-end tests, without resources, users and mounts. Their times are
changed: the scaler ended at 09:00:00, the time before that at 08:59:50.
"""


def is_serving(pod: dict[str, Any], now: float) -> bool:
    return serves_at(pod_down_since(pod), now)


def pod_of_kubelet(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": STATUSES[name]}


@pytest.mark.parametrize(
    ("name", "until"),
    [
        pytest.param("both-run", None, id="both-run"),
        pytest.param("scaler-restarted", None, id="it-runs-again"),
        pytest.param("scaler-terminated", "09:01:00", id="it-has-ended"),
        pytest.param("scaler-back-off", "09:01:00", id="it-waits-to-be-restarted"),
    ],
)
def test_a_scaler_that_is_restarted_in_place_serves_for_a_minute(name: str, until: str | None) -> None:
    found = pod_of_kubelet(name)

    assert is_serving(found, at("09:00:01"))
    assert is_serving(found, at("09:00:59"))
    assert is_serving(found, at("09:01:00")) == (until is None)


@pytest.mark.parametrize(
    "name",
    [
        "occurrence-ended",
        "scaler-never-started",
        "scaler-image-not-pulled",
        "scaler-cannot-start",
        "scaler-cannot-restart",
        "scaler-crashed-again",
    ],
)
def test_what_is_not_restarted_in_place_or_crashes_at_its_start_does_not_serve(name: str) -> None:
    assert not is_serving(pod_of_kubelet(name), at("09:00:01"))


def test_a_pod_that_goes_does_not_serve_while_its_scaler_ends() -> None:
    found = pod_of_kubelet("scaler-terminated")
    found["metadata"]["deletionTimestamp"] = "2026-02-02T09:00:00Z"

    assert pod_down_since(found) == 0


def test_sidecars_are_told_first() -> None:
    found = containers(pod("Running", RUNS, scaler=WAITS))

    assert found == [{"name": "scaler", "state": WAITS}, {"name": "occurrence", "state": RUNS}]


def test_an_object_of_any_kind_goes_once_it_is_deleted() -> None:
    assert not is_terminating({"kind": "Job", "metadata": {"name": "a"}})
    assert is_terminating({"kind": "Job", "metadata": {"deletionTimestamp": "2026-02-02T09:00:00Z"}})
