"""Looks at the clusters of a site, all at once; what cannot be read is told and hides nothing else."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from gen.live import contexts
from gen.live.client import ClusterError, Remote
from gen.live.client import contexts as contexts_of
from gen.live.facts import Facts, Place
from gen.live.gather import Wanted, gathered
from gen.live.rules import Live
from gen.live.together import together
from gen.model import Cluster, Site

T = TypeVar("T")

PATIENCE = 10.0  # seconds that a cluster has to answer all questions


class Reach:
    """Keeps what it has logged in to, for those who look again."""

    def __init__(
        self, kubeconfig: str | None, ordered: Mapping[str, str], patience: float = PATIENCE
    ) -> None:
        """A kubeconfig, or the usual ones; and contexts by cluster."""
        self._kubeconfig, self._ordered, self._patience = kubeconfig, ordered, patience
        self._remotes: dict[str, Remote] = {}

    def places(self, site: Site, clusters: Sequence[Cluster]) -> dict[str, Place | Live]:
        """Where each is, or why that is not known."""
        try:
            known = contexts_of(self._kubeconfig)
        except ClusterError as error:
            return {one.name: _no_kubeconfig(one.name, error) for one in clusters}
        found: dict[str, Place | Live] = {}
        for one in clusters:
            context = contexts.chosen(one.name, self._ordered, known, only=len(site.clusters) == 1)
            if isinstance(context, Live):
                found[one.name] = context
            else:
                found[one.name] = Place(one.name, one.namespace, context)
        return found

    def at_each(self, places: Sequence[Place], act: Callable[[Remote, Place], T]) -> dict[str, T | Live]:
        """What the action answers, by cluster, or the finding that the cluster cannot be read."""

        deadline = time.monotonic() + self._patience

        def task(place: Place) -> Callable[[], T]:
            known = self._remotes.pop(place.cluster, None)

            def run() -> T:
                remote = known or Remote(self._kubeconfig, place.context)
                remote.deadline = deadline
                answer = act(remote, place)
                self._remotes[place.cluster] = remote  # only one that works is kept
                return answer

            return run

        answers = together({place.cluster: task(place) for place in places}, self._patience)
        found: dict[str, T | Live] = {}
        for place in places:
            answer = answers[place.cluster]
            if isinstance(answer, ClusterError | TimeoutError):
                found[place.cluster] = _unreachable(place, answer)
            elif isinstance(answer, Exception):
                raise answer
            else:
                found[place.cluster] = answer
        return found

    def facts(self, site: Site, places: Sequence[Place], now: int) -> dict[str, Facts | Live]:
        with_koordinator = {one.name for one in site.clusters if one.koordinator is not None}
        with_nodes = {one.name for one in site.clusters if one.has_static_pools}

        def look(remote: Remote, place: Place) -> Facts:
            wanted = Wanted(
                place.namespace, site.name, place.cluster in with_koordinator, place.cluster in with_nodes
            )

            def lists(path: str, query: Mapping[str, str], accept: str) -> Any:
                return _checked(remote.get(path, query, accept), path)

            return gathered(lists, wanted, now, ClusterError)

        return self.at_each(places, look)


def _checked(answer: Any, path: str) -> Any:
    """A list, as an API server sends it. Raises ClusterError for what others may say, such as a proxy."""
    items, metadata = answer.get("items") or (), answer.get("metadata") or {}
    is_list = str(answer.get("kind", "")).endswith("List") and isinstance(metadata, dict)
    if not (is_list and isinstance(items, list | tuple) and all(map(_is_object, items))):
        raise ClusterError(0, f"{path} answers what is no list")
    return answer


def _is_object(item: object) -> bool:
    metadata = item.get("metadata") if isinstance(item, dict) else None
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str)


def _no_kubeconfig(cluster: str, error: ClusterError) -> Live:
    fix = error.fix or "Name a kubeconfig: --kubeconfig FILE, or the variable KUBECONFIG."
    return Live("S002", cluster, "", f"{error}.", fix)


def _unreachable(place: Place, error: Exception) -> Live:
    status = error.status if isinstance(error, ClusterError) else 0
    context = f"the context {place.context}" if place.context else "this cluster"
    fix = f"Try: {place.kubectl('get deployments')}"
    if status == 401:
        fix = "Log in again."
    elif status == 403:
        fix = f"Ask for the right to list the objects in the namespace {place.namespace}."
    return Live("S001", place.cluster, "", f"{context} gives no answer: {error}.", fix)
