"""Pods that wait for an image that cannot be pulled: told, because nobody but a person can help."""

from collections.abc import Iterable, Iterator

from gen.runtime.action import Telling
from gen.runtime.facts import Deployment, Facts, Pod, Thing
from gen.runtime.holding import Holding
from gen.runtime.objectkind import DEPLOYMENT

REASON = "ImageNotPulled"


def unpulled(holding: Holding) -> Iterator[Telling]:
    """Of the pods that are to serve a reservation: where people look for it, once for each pod."""
    for pod in holding.pods:
        if pod.trouble and not pod.thing.is_going:
            message = f"Pod {pod.thing.name}, which is to serve the reservation: {pod.trouble.said()}"
            for thing in holding.subjects:
                yield Telling(thing, REASON, message, pod.thing.uid)


def unready(facts: Facts) -> tuple[Deployment, ...]:
    """The pools whose placeholders are worth a look, because not all that are wanted are ready."""
    return tuple(one for one in facts.deployments if one.ready < one.replicas and _has_pods(one))


def _has_pods(one: Deployment) -> bool:
    return one.thing.kind == DEPLOYMENT.name


def unpulled_placeholders(waiting: Iterable[Deployment], pods: Iterable[Pod]) -> list[Telling]:
    """On each of the Deployments that has such placeholders: once, for all of one ReplicaSet and image."""
    troubled: dict[tuple[str, str], list[Pod]] = {}
    for pod in pods:
        if pod.trouble and not pod.thing.is_going:
            pool = pod.owner.rpartition("-")[0]  # its ReplicaSet is called so, and a hash
            troubled.setdefault((pod.thing.reservation, pool), []).append(pod)
    pools = ((one.thing, troubled.get((one.thing.reservation, one.thing.name), [])) for one in waiting)
    return [_telling(thing, found) for thing, found in pools if found]


def _telling(deployment: Thing, pods: list[Pod]) -> Telling:
    first = min(pods, key=lambda pod: pod.thing.name)
    assert first.trouble
    number = f"{len(pods)} placeholder{'s' if len(pods) > 1 else ''}"
    message = f"Of {number}, first {first.thing.name}: {first.trouble.said()}"
    return Telling(deployment, REASON, message, f"{first.owner} {first.trouble.image}")
