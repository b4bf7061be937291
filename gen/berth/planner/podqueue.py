"""Pending pods: their requirements, how preferences are relaxed one by one, and the order of the queue."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from berth.karpenter.nodelabels import HOSTNAME, NODEPOOL, normalized, restricted
from berth.karpenter.requirements import DOES_NOT_EXIST, Requirements, requirements_of_labels
from berth.karpenter.resourcelists import ONE, PODS
from berth.karpenter.taints import TOLERATE_PREFER_NO_SCHEDULE
from berth.planner.inputs import PodAffinityTerm, PodSet, PreferredTerm
from berth.planner.tiebreaks import TieBreaker


class PodShape:
    """A pod with the preferences that it still has. `relaxed` is what it asks for next, None after the
    last.

    `requirements` include its first required term and its heaviest preference, `strict_requirements` no
    preferences.
    """

    __slots__ = (
        "_next",
        "_tolerate",
        "hostname",
        "pod",
        "requests",
        "requirements",
        "strict_requirements",
    )

    def __init__(self, pod: PodSet, tolerate: bool) -> None:
        self.pod = pod
        self.requests = {**dict(pod.requests), PODS: ONE}
        self.strict_requirements = _pod_requirements(pod, wishes=False)
        wanted = _pod_requirements(pod, wishes=True)
        self.hostname = wanted.get(HOSTNAME) if HOSTNAME in wanted else None
        self.requirements = wanted.without(HOSTNAME) if self.hostname else wanted
        self._tolerate = tolerate
        self._next: PodShape | bool | None = False

    @property
    def relaxed(self) -> "PodShape | None":
        """The shape with one preference less, or None if there is none left."""
        if isinstance(self._next, bool):
            less = _relaxed_pod(self.pod, self._tolerate)
            self._next = None if less is None else PodShape(less, self._tolerate)
        return self._next


def ignored_reason(pod: PodSet, well_known: frozenset[str]) -> str | None:
    """Return why Karpenter ignores a pod, or None if it does not."""
    keys = [key for key, _ in pod.node_selector] + [one.key for term in pod.required for one in term]
    wrong = next((key for key in keys if restricted(key, well_known)), None)
    if wrong is not None:
        return f"pods may not select nodes by {normalized(wrong)}"
    if pod.match_fields:
        return "Karpenter knows no matchFields"
    if _pod_requirements(pod, wishes=True).get(NODEPOOL).operator == DOES_NOT_EXIST:
        return "it asks for nodes that are not Karpenter's"
    return None


def _pod_requirements(pod: PodSet, wishes: bool) -> Requirements:
    asked = list(requirements_of_labels(pod.node_selector))
    if wishes and pod.preferred:
        asked += _heaviest_first(pod.preferred)[0].requirements
    if pod.required:
        asked += pod.required[0]
    return Requirements(asked)


def _relaxed_pod(pod: PodSet, tolerate: bool) -> PodSet | None:
    """Return the pod without the preference that is dropped first, or with its next required term."""
    if len(pod.required) > 1:
        return pod._replace(required=pod.required[1:])
    if pod.preferred_affinity:
        return pod._replace(preferred_affinity=_heaviest_term_first(pod.preferred_affinity)[1:])
    if pod.preferred_anti_affinity:
        return pod._replace(preferred_anti_affinity=_heaviest_term_first(pod.preferred_anti_affinity)[1:])
    if pod.preferred:
        return pod._replace(preferred=_heaviest_first(pod.preferred)[1:])
    for i, spread_constraint in enumerate(pod.spread):
        if spread_constraint.schedule_anyway:
            rest = [*pod.spread[:i], pod.spread[-1], *pod.spread[i + 1 :]]
            return pod._replace(spread=tuple(rest[:-1]))
    if tolerate and TOLERATE_PREFER_NO_SCHEDULE not in pod.tolerations:
        return pod._replace(tolerations=(*pod.tolerations, TOLERATE_PREFER_NO_SCHEDULE))
    return None


def _heaviest_first(wishes: Iterable[PreferredTerm]) -> tuple[PreferredTerm, ...]:
    return tuple(sorted(wishes, key=lambda wish: -wish.weight))


def _heaviest_term_first(wishes: Iterable[PodAffinityTerm]) -> tuple[PodAffinityTerm, ...]:
    return tuple(sorted(wishes, key=lambda wish: -wish.weight))


PodRun = tuple[int, PodShape, int]
"""(number of the PodSet in the input, its shape, how many of it): equal pods in a row."""


def queue_order(runs: Sequence[PodRun], ties: TieBreaker) -> list[PodRun]:
    """Sort pods by CPU, then memory, both descending, then by age.

    The order of pods that are equal in these is open: as given, reversed or interleaved.
    """
    pod_runs: list[PodRun] = []
    rest = sorted(runs, key=_queue_key)
    while rest:
        equal = [run for run in rest if _queue_key(run) == _queue_key(rest[0])]
        rest = rest[len(equal) :]
        way = ties.pick(3) if len({run[1] for run in equal}) > 1 else 0
        pod_runs += equal if way == 0 else equal[::-1] if way == 1 else list(_interleaved(equal))
    return pod_runs


class PodQueue:
    """The queue of pending pods. It ends after a whole round in which no pod was placed."""

    def __init__(self, runs: Sequence[PodRun]) -> None:
        self._runs = deque((run, 0) for run in runs)
        self._length = sum(count for _, _, count in runs)

    def next(self) -> PodRun | None:
        """Take the next pods from the queue, or None at its end."""
        if not self._runs or self._runs[0][1] == self._length:
            return None
        return self._runs.popleft()[0]

    def requeue(self, run: PodRun, placed: int, refused: int) -> None:
        """Put the refused ones of a run back to the end. Those that were not tried remain in front."""
        number, shape, count = run
        self._length -= placed
        if refused:
            self._runs.append(((number, shape, refused), self._length))
        if count > placed + refused:
            self._runs.appendleft(((number, shape, count - placed - refused), 0))

    def left(self) -> list[PodRun]:
        """Return the pods that are still in the queue."""
        return [run for run, _ in self._runs]


def _queue_key(run: PodRun) -> tuple[int, int, int]:
    _, shape, _ = run
    return -shape.requests.get("cpu", 0), -shape.requests.get("memory", 0), shape.pod.created


def _interleaved(runs: Sequence[PodRun]) -> Iterator[PodRun]:
    left = list(runs)
    while left:
        for number, shape, _ in left:
            yield number, shape, 1
        left = [(number, shape, count - 1) for number, shape, count in left if count > 1]
