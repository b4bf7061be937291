"""What is told of several clusters."""

from berth.dates.moments import named
from berth.machines.clusterplans import ClusterPlan
from berth.machines.costplan import CostPlan, PlanFilter, ReservedUsage, cost_plan, month_splitter

from tests.machines.stories import HOUR, SMALL, cloud, demand, planned, reservation

ALL = PlanFilter()


def cluster(name: str, capacity: str, windows: str, count: int = 2) -> ClusterPlan:
    held = reservation("cr-1", "m5.large", count, first=0, until=100 * HOUR)
    both = cloud("m5.large", name=capacity, capacity_types=("reserved", "on-demand"), reservations=(held,))
    one = planned([both], [demand("ml", windows)], [SMALL.model_copy(update={"cloud_capacity": (capacity,)})])
    return one._replace(cluster=name)


def of(*some: ClusterPlan, asked: PlanFilter = ALL) -> CostPlan:
    return cost_plan(some, (), (), asked, month_splitter(named("UTC")))


def test_a_reservation_of_two_clusters_is_paid_once_and_told_at_the_first() -> None:
    """Each takes one of its two machines for four hours and a minute."""
    found = of(cluster("a", "general", "8-12=1"), cluster("b", "other", "8-12=1"))
    use = ReservedUsage(200 * HOUR, 2 * (4 * HOUR + 60), found.reserved[0].use.price)

    assert [(one.cluster, one.reserved.capacities, one.use) for one in found.reserved] == [
        ("a", ("general", "other"), use)
    ]
    assert [month.paid for month in found.months] == [(("cr-1", use),)]


def test_what_both_take_at_once_is_used_once() -> None:
    """Each is planned with both machines: in ten of the hours they cannot both have them."""
    found = of(cluster("a", "general", "10-30=2"), cluster("b", "other", "20-40=2"))

    assert found.reserved[0].use.used == 2 * (30 * HOUR + 60)


def test_where_one_says_fewer_machines_these_count() -> None:
    found = of(cluster("a", "general", "8-12=1"), cluster("b", "other", "8-12=1", count=1))

    assert found.reserved[0].use.paid == 100 * HOUR


def test_of_one_cluster_alone_its_own_use_is_told() -> None:
    found = of(
        cluster("a", "general", "8-12=1"), cluster("b", "other", "8-12=2"), asked=PlanFilter(cluster="b")
    )

    assert [(one.cluster, one.use.used) for one in found.reserved] == [("b", 2 * (4 * HOUR + 60))]
