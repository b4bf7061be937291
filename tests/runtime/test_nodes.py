"""What only pools have that are whole nodes."""

import pytest
from berth.core.holders import nodes_of
from berth.core.jsonvalues import TimetableError
from berth.core.target import pools_to_reconcile
from berth.core.timetable import TimetablePool, parse_timetable

from tests.objectstore import refusal
from tests.runtime.holders import WINDOW, Nodes
from tests.runtime.sweepworld import Swept, cronjob, deployment, inventory, node_pool, timetable


def test_nodes_that_lack_at_the_start_are_told_on_the_timetable() -> None:
    world = Nodes("07:30")
    world.cluster.ready[Nodes.NAME] = 3
    world.run("07:35")

    (event,) = world.cluster.events
    assert event["involvedObject"]["kind"] == "ConfigMap"
    assert event["message"] == (
        "3 of 4 nodes of small are ready for course/1, which starts at 2026-02-02T07:35:00Z. Look at "
        "kubectl get nodeclaims, and at the events of the NodePool: its limits, or what the cloud has left."
    )


def test_pools_of_each_kind_are_followed_by_keys_of_their_own() -> None:
    seats = TimetablePool("small", "course-small", "none")
    nodes = seats._replace(holder=nodes_of(Nodes.NAME))

    assert pools_to_reconcile({}, [nodes]) == {nodes.key: nodes}
    assert pools_to_reconcile({seats.key: seats}, [nodes]) == {seats.key: seats, nodes.key: nodes}
    assert pools_to_reconcile({nodes.key: nodes}, [seats]) == {nodes.key: nodes, seats.key: seats}


def test_the_name_of_a_node_pool_is_text() -> None:
    text = Nodes.text(WINDOW).replace(f'"nodePool": "{Nodes.NAME}"', '"nodePool": 3')

    with pytest.raises(TimetableError, match=r"pools\.small\.nodePool: 3 is not a non-empty string"):
        parse_timetable(text)


def test_the_sweep_closes_nodes_that_the_timetable_names_no_more() -> None:
    """And leaves alone pools whose nodes follow pods, whatever labels they have."""
    other = node_pool(None, "example.other")
    swept = Swept("12:00", timetable(), deployment(0), node_pool(7), other, cronjob())

    assert swept.run() == 0
    assert swept.cluster.of("nodepools")[Nodes.NAME]["spec"]["replicas"] == 0
    assert swept.cluster.writes == [f"PATCH nodepools {Nodes.NAME} scale", "POST events"]


def test_without_a_timetable_whoever_prunes_removes_them() -> None:
    swept = Swept("12:00", node_pool(7, reservation="gone"))

    assert swept.run() == 0
    assert swept.cluster.writes == []


def test_without_the_list_of_node_pools_nothing_is_removed() -> None:
    """What is seen is still opened."""
    swept = Swept("09:00", timetable(), deployment(0), cronjob(), node_pool(0), inventory("course"))
    swept.cluster.interfere = lambda said: refusal(403, "Forbidden") if said == "LIST nodepools" else None

    assert swept.run() == 1
    assert swept.cluster.replicas() == {"course-small": 25}
