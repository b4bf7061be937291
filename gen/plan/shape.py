"""What a pod asks for, and how it gives up its wishes one by one, as Karpenter lets it."""

from collections.abc import Iterable

from gen.plan.amounts import ONE, PODS
from gen.plan.labels import HOSTNAME, NODEPOOL, normalized, restricted
from gen.plan.requirement import DOES_NOT_EXIST, Requirements, of_labels
from gen.plan.taints import TOLERATES_PREFERENCES
from gen.plan.values import Near, Pod, Preferred, Settings


class Shape:
    """One pod with the wishes that it still has. `relaxed` is what it asks for next; None: no more to drop.

    `wanted` counts its first required term and its heaviest wish as musts, `strict` no wishes.
    """

    __slots__ = ("_next", "_tolerate", "hostname", "pod", "requests", "settings", "strict", "wanted")

    def __init__(self, pod: Pod, settings: Settings, tolerate: bool) -> None:
        self.pod = pod
        self.settings = settings
        self.requests = {**dict(pod.requests), PODS: ONE}
        self.strict = _asked(pod, wishes=False)
        wanted = self.strict if settings.ignore_preferences else _asked(pod, wishes=True)
        self.hostname = wanted.get(HOSTNAME) if HOSTNAME in wanted else None
        self.wanted = wanted.without(HOSTNAME) if self.hostname else wanted
        self._tolerate = tolerate
        self._next: Shape | bool | None = False

    @property
    def relaxed(self) -> "Shape | None":
        if isinstance(self._next, bool):
            less = _relaxed(self.pod, self._tolerate)
            self._next = None if less is None else Shape(less, self.settings, self._tolerate)
        return self._next


def left_alone(pod: Pod, well_known: frozenset[str]) -> str | None:
    """Why Karpenter does not even try; None where it does."""
    keys = [key for key, _ in pod.node_selector] + [one.key for term in pod.required for one in term]
    wrong = next((key for key in keys if restricted(key, well_known)), None)
    if wrong is not None:
        return f"pods may not select nodes by {normalized(wrong)}"
    if pod.by_fields:
        return "Karpenter knows no matchFields"
    if _asked(pod, wishes=True).get(NODEPOOL).operator == DOES_NOT_EXIST:
        return "it asks for nodes that are not Karpenter's"
    return None


def _asked(pod: Pod, wishes: bool) -> Requirements:
    asked = list(of_labels(pod.node_selector))
    if wishes and pod.preferred:
        asked += _heaviest_first(pod.preferred)[0].requirements
    if pod.required:
        asked += pod.required[0]
    return Requirements(asked)


def _relaxed(pod: Pod, tolerate: bool) -> Pod | None:
    """The pod without the wish that goes first, or with the next of its required terms."""
    if len(pod.required) > 1:
        return pod._replace(required=pod.required[1:])
    if pod.near_preferred:
        return pod._replace(near_preferred=_heaviest_near_first(pod.near_preferred)[1:])
    if pod.far_preferred:
        return pod._replace(far_preferred=_heaviest_near_first(pod.far_preferred)[1:])
    if pod.preferred:
        return pod._replace(preferred=_heaviest_first(pod.preferred)[1:])
    for i, one in enumerate(pod.spread):
        if one.anyway:
            rest = [*pod.spread[:i], pod.spread[-1], *pod.spread[i + 1 :]]
            return pod._replace(spread=tuple(rest[:-1]))
    if tolerate and TOLERATES_PREFERENCES not in pod.tolerations:
        return pod._replace(tolerations=(*pod.tolerations, TOLERATES_PREFERENCES))
    return None


def _heaviest_first(wishes: Iterable[Preferred]) -> tuple[Preferred, ...]:
    return tuple(sorted(wishes, key=lambda one: -one.weight))


def _heaviest_near_first(wishes: Iterable[Near]) -> tuple[Near, ...]:
    return tuple(sorted(wishes, key=lambda one: -one.weight))
