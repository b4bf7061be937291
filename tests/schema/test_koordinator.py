"""`clusters[].koordinator`: a cluster has Koordinator only where the site says so."""

import pytest
from berth.schema.siteparts import KoordinatorSpec

from tests.built import built
from tests.saying import read, site, told

KEYS = ("schedulerName", "allocatePolicy", "colocationProfiles")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        pytest.param({}, ("koord-scheduler", "Restricted", False), id="nothing-said"),
        pytest.param(
            {"schedulerName": "koord", "allocatePolicy": "Aligned", "colocationProfiles": True},
            ("koord", "Aligned", True),
            id="everything-said",
        ),
        pytest.param(None, None, id="null-is-not-said"),
    ],
)
def test_what_a_cluster_has(said: object, meant: tuple[str, str, bool] | None) -> None:
    declared = read(site({"name": "prod", "koordinator": said}, {"name": "hub"}))

    assert declared.problems == []
    assert declared.site is not None
    expected = None if meant is None else built(KoordinatorSpec, dict(zip(KEYS, meant, strict=True)))
    assert [cluster.koordinator for cluster in declared.site.clusters] == [expected, None]


def test_the_policy_of_a_cluster_cannot_be_left_unset() -> None:
    """Reservations without a policy cannot share a node with those that have one."""
    at = "spec.clusters.0.koordinator"

    assert told(site({"name": "prod", "koordinator": {"allocatePolicy": "Default", "scheduler": "x"}})) == [
        f"a.yaml B010 {at}.scheduler @key",
        f"a.yaml B014 {at}.allocatePolicy",
    ]


def test_the_stock_scheduler_knows_no_slots_unless_it_is_replaced() -> None:
    at = "spec.clusters.0.koordinator.schedulerName"

    assert told(site({"name": "prod", "koordinator": {"schedulerName": "default-scheduler"}})) == [
        f"a.yaml B115 {at}"
    ]
    assert told(site({"name": "prod", "koordinator": {"schedulerName": "default"}})) == []
