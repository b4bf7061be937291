"""The first loop of a question as the real code packs it, in the words of `tests.planner.plainly`."""

from berth.planner.inputs import PodSet, SchedulingInput
from berth.planner.launch import ReservationUsage, remaining_limits
from berth.planner.nodeclaims import ReservationManager
from berth.planner.nodeclaimtemplates import nodeclaim_catalog
from berth.planner.podqueue import PodRun, PodShape, ignored_reason
from berth.planner.scheduler import ExistingNode, Scheduler
from berth.planner.tiebreaks import TieBreaker

from tests.planner.plainly import Told


def tell(question: SchedulingInput, ties: TieBreaker | None = None) -> tuple[list[Told], dict[str, int]]:
    """What nodes took, then the claims in the order of opening, and how many pods have no place."""
    offered = nodeclaim_catalog(question)
    shapes: dict[PodSet, PodShape] = {}
    runs: list[PodRun] = []
    for number, pod in enumerate(question.pods):
        if ignored_reason(pod, question.settings.well_known) is None:
            plain = pod._replace(name="", count=1)
            shapes.setdefault(plain, PodShape(plain, offered.tolerate))
            runs.append((number, shapes[plain], pod.count))
    nodes = sorted(question.nodes, key=lambda node: node.name)
    standing = [ExistingNode(node) for node in nodes]
    bookings = ReservationManager(ReservationUsage(question).free())
    packing = Scheduler(
        offered, standing, remaining_limits(question.pools, nodes), bookings, ties or TieBreaker()
    )
    left: dict[str, int] = {}
    for number, _, count in packing.solve(runs):
        name = question.pods[number].name
        left[name] = left.get(name, 0) + count
    tolds: list[Told] = [(s.hostname, (), _named(question, s.pods), ()) for s in standing if s.pods]
    for claim in packing.claims:
        types = tuple(sorted(c.instance_type.name for c in claim.candidates or ()))
        held = tuple(sorted(claim.held))
        tolds.append((claim.template.pool.name, types, _named(question, claim.pods), held))
    return tolds, left


def _named(question: SchedulingInput, pods: list[tuple[int, int]]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for number, count in pods:
        name = question.pods[number].name
        counts[name] = counts.get(name, 0) + count
    return tuple(sorted(counts.items()))
