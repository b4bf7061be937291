"""Nodes that expire while somebody needs them: all who hold them together, and whole nodes by themselves."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.checks.clouds import KARPENTER, of_cloud, of_reservation
from tests.clouddocuments import cloud
from tests.saying import Value, finding, reservation, resource_class, run, site, weekly

REST = "after they came (expireAfter), whatever budgets and do-not-disrupt say"


def told(
    folder: Path, *courses: Value, cluster: Value = KARPENTER, slots: Value | None = None, **spec: Any
) -> list[str]:
    """Of the whole line. `slots`: `reservation` of the classes."""
    more = {"cloudCapacity": ["gpu"], "reservation": slots}
    both = [
        resource_class(one, sessions={"source": "jupyterhub", "namespaces": [one]}, **more)
        for one in ("small", "large")
    ]
    files = [cloud(**spec), site(cluster), *both, *courses]
    return run(folder, {f"{i}.yaml": yaml.safe_dump(file) for i, file in enumerate(files)})


def course(name: str, start: str, end: str, **more: Any) -> Value:
    """On 2 February, with half an hour of lead."""
    entry = {"dayOfWeek": 1, "startTime": start, "endTime": end}
    return reservation(name, recurrence=weekly(entry, endDate="2026-02-02"), **more)


@pytest.mark.parametrize("expiry", ["Never", "270m", "5h"])
def test_an_expiry_at_least_as_long_as_the_window_has_no_finding(expiry: str, tmp_path: Path) -> None:
    assert told(tmp_path, course("a", "09:00", "13:00"), expireAfter=expiry) == []


def test_an_expiry_within_a_window_is_reported(tmp_path: Path) -> None:
    every = reservation("a")

    assert told(tmp_path, every, expireAfter="4h29m59s", terminationGracePeriod="1h") == [
        finding(
            "0.yaml:6:16 warning[B172] spec.expireAfter",
            "a 25",
            "2026-02-02T08:30:00Z",
            "2026-02-02T13:00:00Z",
            "4h29m59s",
            "1h",
            "2026-02-02T12:59:59Z",
        )
    ]


def test_touching_windows_of_several_reservations_count_as_one_for_expiry(tmp_path: Path) -> None:
    first, later = course("a", "08:00", "12:00"), course("b", "12:00", "16:00", resourceClass="large")
    apart = course("b", "12:31", "16:31", resourceClass="large")

    assert told(tmp_path / "apart", first, apart, expireAfter="6h") == []
    assert told(tmp_path / "alone", later, expireAfter="6h") == []
    assert told(tmp_path / "met", first, later, expireAfter="6h") == [
        finding(
            "0.yaml:6:16 warning[B172] spec.expireAfter",
            "b 25",
            "2026-02-02T07:30:00Z",
            "2026-02-02T16:00:00Z",
            "6h",
            "2026-02-02T13:30:00Z",
        )
    ]


def test_a_month_of_windows_exceeds_the_default_expiry_of_karpenter(tmp_path: Path) -> None:
    entry = {"startTime": "09:00", "endTime": "09:00"}
    once = {"type": "once", "startDate": "2026-02-02", "endDate": "2026-03-05", "schedule": [entry]}

    assert told(tmp_path, reservation("a", recurrence=once)) == [
        finding(
            "0.yaml:5:1 warning[B172] spec",
            "a 25",
            "2026-02-02T08:30:00Z",
            "2026-03-05T09:00:00Z",
            "720h",
            "2026-03-04T08:30:00Z",
        )
    ]


def test_standing_seats_that_outlive_their_nodes_are_reported(tmp_path: Path) -> None:
    backend: Value = {"type": "koordinator", "standing": True}
    ends = {"spec": {"expires": "2027-01-01T00:00:00Z"}}
    one = {"recurrence": None, "provisioning": {"placeholderCount": 2}}
    cluster = {**KARPENTER, "koordinator": {}}

    def said(folder: str, slots: Value | None, **spec: Any) -> list[str]:
        lab = reservation("a", **one, backend=backend)
        found = told(tmp_path / folder, lab, cluster=cluster, slots=slots, **spec)
        return [line for line in found if "B172" in line]

    assert said("never", None, expireAfter="Never") == []
    assert said("ever", None, expireAfter="1000h") == [
        finding("0.yaml:6:16 warning[B172] spec.expireAfter", "a 2", "1000h")
    ]
    assert said("ends", ends, expireAfter="1000h") == [
        finding("0.yaml:6:16 warning[B172] spec.expireAfter", "a 2", "2027-01-01T00:00:00Z", "1000h")
    ]


def test_the_expiry_of_whole_nodes_is_checked_by_itself() -> None:
    whole: Value = {"backend": {"type": "nodePool"}, "provisioning": {"nodeCount": 4}}
    cluster: Value = {
        **KARPENTER,
        "engine": {"type": "flux", "sourceName": "fleet"},
        "karpenter": {"gates": {"StaticCapacity": True}},
    }

    assert of_reservation(whole, cloud(expireAfter="270m"), cluster=cluster) == []
    assert of_reservation(whole, cloud(expireAfter="4h29m"), cluster=cluster) == [
        finding("B172 spec.recurrence", "course/2026-02-02T09:00", "3", "4h29m")
    ]


@pytest.mark.parametrize("expiry", ["0s", "0h0m"])
def test_an_expiry_of_zero_is_refused_once(expiry: str, tmp_path: Path) -> None:
    assert of_cloud(expireAfter="1s") == []
    assert [line.split()[1] for line in told(tmp_path, reservation("a"), expireAfter=expiry)] == [
        "error[B151]"
    ]
