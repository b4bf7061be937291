"""`clusters[].koordinator`: a cluster has Koordinator only where the site says so."""

from tests.saying import site, told


def test_the_allocate_policy_default_is_refused() -> None:
    """Reservations without a policy cannot share a node with those that have one."""
    at = "spec.clusters.0.koordinator"

    assert told(site({"name": "prod", "koordinator": {"allocatePolicy": "Default", "scheduler": "x"}})) == [
        f"a.yaml B010 {at}.scheduler @key",
        f"a.yaml B014 {at}.allocatePolicy",
    ]


def test_the_default_scheduler_is_refused_for_slots() -> None:
    at = "spec.clusters.0.koordinator.schedulerName"

    assert told(site({"name": "prod", "koordinator": {"schedulerName": "default-scheduler"}})) == [
        f"a.yaml B115 {at}"
    ]
    assert told(site({"name": "prod", "koordinator": {"schedulerName": "default"}})) == []
