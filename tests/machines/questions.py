"""Types, pools and pods for tests. The types are those that Karpenter's own tests are about."""

from collections.abc import Iterable, Mapping

from berth.machines.estimate import Estimate, NodePool, Question, Seats, estimate
from berth.machines.instancetypes import InstanceType, Offering, ResourceList, parse_resources
from berth.machines.nodelabels import ARCH, CAPACITY_TYPE, OS, WELL_KNOWN, Requirement, requirement

OVERHEAD = parse_resources({"cpu": "100m", "memory": "10Mi"})
ZONES = ("test-zone-1", "test-zone-2", "test-zone-3")
KNOWN = WELL_KNOWN | {"size", "special", "integer"}
ANY = NodePool("default", (requirement(CAPACITY_TYPE, "In", ("spot", "on-demand", "reserved")),))


def price(capacity: ResourceList) -> float:
    """Dearer, the larger."""
    units = {"cpu": 0.1, "memory": 0.1 / 2**30}
    return sum(
        value / 10**9 * units.get(name, 1 if name.startswith("fake.com") else 0) for name, value in capacity
    )


def machine(
    name: str,
    resources: Mapping[str, str] | None = None,
    offerings: Iterable[Offering] = (),
    arch: str = "amd64",
    more: Iterable[Requirement] = (),
) -> InstanceType:
    """4 CPU, 4Gi and 5 pods unless said otherwise; in five offerings of one price."""
    capacity = parse_resources({"cpu": "4", "memory": "4Gi", "pods": "5", **(resources or {})})
    cost = price(capacity)
    spots = tuple(Offering("spot", zone, cost) for zone in ZONES[:2])
    offered = tuple(offerings) or (*spots, *(Offering("on-demand", zone, cost) for zone in ZONES))
    has = dict(capacity)
    large = has["cpu"] > 4 * 10**9 and has["memory"] > 8 * 2**30 * 10**9
    own = [
        requirement(ARCH, "In", (arch,)),
        requirement(OS, "In", ("linux", "windows", "darwin")),
        requirement("size", "In", ("large" if large else "small",)),
        requirement("special", "In", ("optional",)) if large else requirement("special", "DoesNotExist"),
        requirement("integer", "In", (str(has["cpu"] // 10**9),)),
    ]
    replaced = {one.key for one in more}
    kept = (one for one in own if one.key not in replaced)
    return InstanceType(name, capacity, offered, OVERHEAD, (*kept, *more))


def assorted() -> tuple[InstanceType, ...]:
    """Six types of all kinds."""
    return (
        machine("default-instance-type"),
        machine("small-instance-type", {"cpu": "2", "memory": "2Gi"}),
        machine("gpu-vendor-instance-type", {"fake.com/vendor-a": "2"}),
        machine("gpu-vendor-b-instance-type", {"fake.com/vendor-b": "2"}),
        machine("arm-instance-type", {"cpu": "16", "memory": "128Gi"}, arch="arm64"),
        machine("single-pod-instance-type", {"pods": "1"}),
    )


def growing(number: int) -> tuple[InstanceType, ...]:
    """fake-it-0 with 1 CPU, 2Gi and 10 pods, fake-it-1 with twice as much, and so on."""
    sizes = range(1, number + 1)
    return tuple(
        machine(f"fake-it-{n - 1}", {"cpu": str(n), "memory": f"{2 * n}Gi", "pods": str(10 * n)})
        for n in sizes
    )


def ask(
    seats: Iterable[Seats],
    pools: Iterable[NodePool] = (ANY,),
    types: Iterable[InstanceType] | None = None,
    **more: object,
) -> Estimate:
    offered = assorted() if types is None else tuple(types)
    typed = tuple(pool if pool.types else pool._replace(types=offered) for pool in pools)
    question = Question(typed, tuple(seats), well_known=KNOWN)
    return estimate(question._replace(**more))  # type: ignore[arg-type]


def pod(
    name: str = "pod", requests: Mapping[str, str] | None = None, count: int = 1, **more: object
) -> Seats:
    return Seats(name, parse_resources(requests or {}), count)._replace(**more)  # type: ignore[arg-type]


def bought(answer: Estimate) -> list[tuple[str, str, int]]:
    """(type, zone, pods) of each machine, in the order of buying."""
    return [(m.type, m.zone, sum(count for _, count in m.seats)) for m in answer.bought]


def sizes(answer: Estimate) -> list[int]:
    """Pods on each machine, the fullest first."""
    return sorted((sum(count for _, count in m.seats) for m in answer.bought), reverse=True)


def left(answer: Estimate) -> dict[str, tuple[int, str]]:
    """By pod: how many have no place, and of what kind the reason is."""
    return {one.seats: (one.count, one.kind) for one in answer.left}
