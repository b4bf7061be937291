"""A pod serves its occurrence when its program runs, and that alone decides."""

from typing import Any

import pytest
from berth.core.objects import containers, is_pod_serving, is_pod_starting, is_terminating

RUNS = {"running": {"startedAt": "2026-02-02T08:30:00Z"}}
WAITS = {"waiting": {"reason": "ContainerCreating"}}
ENDED = {"terminated": {"exitCode": 1}}


def pod(phase: str, state: object = None, *, going: bool = False, **others: object) -> dict[str, Any]:
    program = [] if state is None else [{"name": "occurrence", "state": state}]
    sidecars = [{"name": name, "state": one} for name, one in others.items()]
    return {
        "metadata": {"name": "a", **({"deletionTimestamp": "2026-02-02T09:00:00Z"} if going else {})},
        "status": {"phase": phase, "initContainerStatuses": sidecars, "containerStatuses": program},
    }


@pytest.mark.parametrize(
    ("found", "serves", "starts"),
    [
        pytest.param(pod("Running", RUNS), True, False, id="its-program-runs"),
        pytest.param(pod("Running", RUNS, scaler=WAITS), True, False, id="its-sidecar-does-not"),
        pytest.param(pod("Running", WAITS, scaler=RUNS), False, True, id="its-sidecar-alone-does"),
        pytest.param(pod("Running", ENDED), False, True, id="its-program-is-to-be-restarted"),
        pytest.param(pod("Running", RUNS, going=True), False, False, id="it-is-going"),
        pytest.param(pod("Pending", WAITS), False, True, id="it-waits"),
        pytest.param(pod("Pending", RUNS), False, False, id="its-sidecar-is-yet-to-begin"),
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
    assert (is_pod_serving(found), is_pod_starting(found)) == (serves, starts)


def test_sidecars_are_told_first() -> None:
    found = containers(pod("Running", RUNS, scaler=WAITS))

    assert found == [{"name": "scaler", "state": WAITS}, {"name": "occurrence", "state": RUNS}]


def test_an_object_of_any_kind_goes_once_it_is_deleted() -> None:
    assert not is_terminating({"kind": "Job", "metadata": {"name": "a"}})
    assert is_terminating({"kind": "Job", "metadata": {"deletionTimestamp": "2026-02-02T09:00:00Z"}})
