"""Questions made by chance, from a seed: a few pools, types, reservations and kinds of pods."""

from random import Random

from berth.machines.estimate import ExistingMachine, NodePool, PreferredTerm, Question, Seats
from berth.machines.instancetypes import InstanceType, Offering, parse_resources
from berth.machines.nodelabels import (
    ARCH,
    CAPACITY_TYPE,
    NODEPOOL,
    RESERVATION_ID,
    ZONE,
    Requirement,
    Taint,
    Toleration,
    requirement,
)

from tests.machines.questions import KNOWN, ZONES, machine


def question(seed: int, pods: int = 12) -> Question:
    """At most about `pods` pods of each of up to five kinds."""
    random = Random(seed)
    types = tuple(_type(random, number) for number in range(random.randint(1, 7)))
    pools = tuple(_pool(random, name) for name in "abc"[: random.randint(1, 3)])
    kinds = tuple(_pod(random, f"pod{n}", random.randint(1, pods)) for n in range(random.randint(1, 5)))
    nodes = tuple(_node(random, f"n{n}") for n in range(random.choice((0, 0, 1, 3))))
    typed = tuple(pool._replace(types=types) for pool in pools)
    return Question(typed, kinds, nodes, KNOWN)


def full_question(seed: int) -> Question:
    """The same for Karpenter 1.15: half of the reservations are full, and some pools have nothing else."""
    asked, random = question(seed), Random(seed)
    full = {f"r-{number}-{extra}" for number in range(7) for extra in range(2) if random.random() < 0.5}
    reserved = requirement(CAPACITY_TYPE, "In", ("reserved",))
    types = tuple(
        type_._replace(
            offerings=tuple(o._replace(count=0) if o.reservation in full else o for o in type_.offerings)
        )
        for type_ in asked.pools[0].types
    )
    pools = (
        p._replace(requirements=(*p.requirements, reserved)) if random.random() < 0.4 else p
        for p in asked.pools
    )
    return asked._replace(pools=tuple(p._replace(types=types) for p in pools))


def _node(random: Random, name: str) -> ExistingMachine:
    room = parse_resources(
        {"cpu": str(random.randint(1, 9)), "memory": "9Gi", "pods": str(random.randint(1, 9))}
    )
    labels = ((ZONE, random.choice(ZONES)), (ARCH, "amd64"), (NODEPOOL, random.choice("abx")))
    taints = (Taint("only"),) if random.random() < 0.2 else ()
    return ExistingMachine(name, room, room, labels, taints)


def _type(random: Random, number: int) -> InstanceType:
    cpu = random.choice((1, 2, 3, 4, 6, 8, 16, 32))
    memory = cpu * random.choice((1, 2, 4))
    kinds = random.sample(("spot", "on-demand"), random.randint(1, 2))
    cost = cpu + memory / 10
    offerings = [
        Offering(kind, zone, cost)
        for kind in kinds
        for zone in random.sample(ZONES, random.randint(1, 3))
        if random.random() < 0.9
    ]
    for extra in range(random.choice((0, 0, 1, 2))):
        name = f"r-{number}-{extra}" if random.random() < 0.8 else "r-shared"
        count = random.randint(1, 4)
        offerings.append(Offering("reserved", random.choice(ZONES), cost / 1e5, name, count))
    arch = random.choice(("amd64", "amd64", "arm64"))
    pods = str(random.choice((3, 5, 20, 110)))
    return machine(f"t{number}", {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": pods}, offerings, arch)


def _pool(random: Random, name: str) -> NodePool:
    asked: list[Requirement] = []
    if random.random() < 0.3:
        asked.append(requirement(ZONE, "In", random.sample(ZONES, 2)))
    if random.random() < 0.2:
        asked.append(requirement(CAPACITY_TYPE, "In", ("reserved", "on-demand")))
    if random.random() < 0.2:
        asked.append(requirement("team", random.choice(("Exists", "NotIn")), ("b",)))
    limits = {}
    if random.random() < 0.4:
        limits["cpu"] = str(random.randint(4, 80))
    if random.random() < 0.2:
        limits["nodes"] = str(random.randint(0, 3))
    effect = random.choice(("NoSchedule", "PreferNoSchedule"))
    taints = (Taint("only", "x", effect),) if random.random() < 0.25 else ()
    labels = (("team", "a"),) if random.random() < 0.3 else ()
    weight = random.choice((0, 0, 5, 10))
    return NodePool(name, tuple(asked), labels, taints, weight, parse_resources(limits))


def _pod(random: Random, name: str, count: int) -> Seats:
    cpu = random.choice((100, 300, 500, 900, 1000, 1800, 2500))
    memory = random.choice((128, 512, 1024, 1800, 3000))
    pod = Seats(name, parse_resources({"cpu": f"{cpu}m", "memory": f"{memory}Mi"}), count)
    if random.random() < 0.3:
        pod = pod._replace(required=_terms(random))
    if random.random() < 0.3:
        wishes = (PreferredTerm(random.randint(1, 9), _terms(random)[0]) for _ in range(random.randint(1, 2)))
        pod = pod._replace(preferred=tuple(wishes))
    if random.random() < 0.4:
        pod = pod._replace(tolerations=(Toleration("only", "Exists"),))
    return pod


def _terms(random: Random) -> tuple[tuple[Requirement, ...], ...]:
    some: list[Requirement] = [
        requirement(ZONE, random.choice(("In", "NotIn")), (random.choice(ZONES),)),
        requirement(ARCH, "In", (random.choice(("amd64", "arm64")),)),
        requirement("integer", random.choice(("Gt", "Lt", "Gte", "Lte")), (str(random.randint(1, 8)),)),
        requirement(CAPACITY_TYPE, "In", (random.choice(("reserved", "on-demand", "spot")),)),
        requirement("team", random.choice(("In", "NotIn", "Exists", "DoesNotExist")), ("a",)),
        requirement(NODEPOOL, "In", (random.choice("abc"),)),
        requirement(RESERVATION_ID, "In", ("r-0-0", "r-1-0", "r-shared")),
    ]
    return tuple(tuple(random.sample(some, random.randint(1, 2))) for _ in range(random.randint(1, 2)))
