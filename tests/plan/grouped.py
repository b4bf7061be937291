"""The first loop of a question as the real code packs it, in the words of `tests.plan.plainly`."""

from gen.plan.bookings import Bookings
from gen.plan.line import Run
from gen.plan.market import market
from gen.plan.packing import Packing
from gen.plan.shape import Shape, left_alone
from gen.plan.standing import Standing
from gen.plan.stock import Stock, limits
from gen.plan.ties import Ties
from gen.plan.values import Pod, Question
from tests.plan.plainly import Told


def tell(question: Question) -> tuple[list[Told], dict[str, int]]:
    """What nodes took, then the claims in the order of opening, and how many pods have no place."""
    offered = market(question)
    shapes: dict[Pod, Shape] = {}
    runs: list[Run] = []
    for number, pod in enumerate(question.pods):
        if left_alone(pod, question.settings.well_known) is None:
            plain = pod._replace(name="", count=1)
            shapes.setdefault(plain, Shape(plain, question.settings, offered.tolerate))
            runs.append((number, shapes[plain], pod.count))
    nodes = sorted(question.nodes, key=lambda one: (not one.initialized, one.name))
    standing = [Standing(one, question.daemons) for one in nodes]
    bookings = Bookings(Stock(question).free())
    packing = Packing(offered, standing, limits(question.pools, nodes), bookings, Ties())
    left: dict[str, int] = {}
    for number, _, count in packing.pack(runs):
        name = question.pods[number].name
        left[name] = left.get(name, 0) + count
    told: list[Told] = [(s.host, (), _named(question, s.pods), ()) for s in standing if s.pods]
    for claim in packing.claims:
        types = tuple(sorted(c.entry.name for c in claim.candidates or ()))
        held = tuple(sorted(claim.held))
        told.append((claim.template.pool.name, types, _named(question, claim.pods), held))
    return told, left


def _named(question: Question, pods: list[tuple[int, int]]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for number, count in pods:
        name = question.pods[number].name
        counts[name] = counts.get(name, 0) + count
    return tuple(sorted(counts.items()))
