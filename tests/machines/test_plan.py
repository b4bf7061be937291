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


def test_a_reservation_of_two_clusters_is_paid_once_at_the_first_cluster() -> None:
    """Each takes one of its two machines for four hours and a minute."""
    found = of(cluster("a", "general", "8-12=1"), cluster("b", "other", "8-12=1"))
    use = ReservedUsage(200 * HOUR, 2 * (4 * HOUR + 60), found.reserved[0].use.price)

    assert [(one.cluster, one.reserved.capacities, one.use) for one in found.reserved] == [
        ("a", ("general", "other"), use)
    ]
    assert [month.paid for month in found.months] == [(("cr-1", use),)]


def test_simultaneous_use_by_two_clusters_counts_once() -> None:
    """Each is planned with both machines: in ten of the hours they cannot both have them."""
    found = of(cluster("a", "general", "10-30=2"), cluster("b", "other", "20-40=2"))

    assert found.reserved[0].use.used == 2 * (30 * HOUR + 60)


def test_the_lowest_declared_count_of_a_shared_reservation_is_used() -> None:
    found = of(cluster("a", "general", "8-12=1"), cluster("b", "other", "8-12=1", count=1))

    assert found.reserved[0].use.paid == 100 * HOUR


def test_a_plan_of_one_cluster_reports_its_own_use() -> None:
    found = of(
        cluster("a", "general", "8-12=1"), cluster("b", "other", "8-12=2"), asked=PlanFilter(cluster="b")
    )

    assert [(one.cluster, one.use.used) for one in found.reserved] == [("b", 2 * (4 * HOUR + 60))]
