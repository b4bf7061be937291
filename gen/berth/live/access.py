"""Access to the clusters of a site: the kubeconfig context of each, and requests to all at once.

A cluster that cannot be read becomes a finding and does not hide the others.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from berth.core.labels import RECORD, ROLE, SITE
from berth.core.objects import CONFIG_MAP
from berth.core.record import OccurrenceRecord
from berth.findings import LiveFinding
from berth.live.client import ClusterClient, ClusterError, KubeContexts, read_contexts
from berth.live.clusterfacts import ClusterFacts, ClusterLocation
from berth.live.gather import gather_facts
from berth.live.kubeobject import Get, list_all
from berth.live.records import ReadRecords, of_config_maps
from berth.notation.refusal import CommandError
from berth.schema.values import Cluster, Site

T = TypeVar("T")


def parse_contexts(words: Sequence[str], clusters: Sequence[str]) -> dict[str, str]:
    """Parse `CLUSTER=CONTEXT` arguments, or `CONTEXT` if there is one cluster, by cluster.

    A context may contain `=`. Raises CommandError.
    """
    contexts: dict[str, str] = {}
    for word in words:
        cluster, equals, context = word.partition("=")
        if equals and cluster in clusters:
            contexts[cluster] = context
        elif len(clusters) == 1:
            contexts[clusters[0]] = word
        else:
            known = ", ".join(clusters)
            raise CommandError(
                f'--context: "{word}" names none of the clusters {known}. Write CLUSTER=CONTEXT.'
            )
    return contexts


def choose_context(
    cluster: str, ordered: Mapping[str, str], known: KubeContexts, *, only: bool
) -> str | LiveFinding | None:
    """Return the context of a cluster, None inside the cluster.

    That is the given one, else the one with the cluster's name, else the current one if it is the `only`
    cluster.
    """
    if cluster in ordered:
        if ordered[cluster] in known.names:
            return ordered[cluster]
        message = f"the kubeconfig has no context {ordered[cluster]}: {_context_list(known)}."
        return LiveFinding("S001", cluster, "", message, "Name one of them.")
    if cluster in known.names:
        return cluster
    if only and known.current:
        return known.current
    if only and known.inside:
        return None
    message = f"the kubeconfig has no context {cluster}: {_context_list(known)}."
    fix = f"Say which one it is: --context {cluster}=CONTEXT."
    return LiveFinding("S001", cluster, "", message, fix)


def _context_list(known: KubeContexts) -> str:
    return f"it has {', '.join(sorted(known.names))}" if known.names else "it has none"


def run_concurrently(tasks: Mapping[str, Callable[[], T]], seconds: float) -> dict[str, T | Exception]:
    """Run tasks in threads; return their results or exceptions.

    A task that takes longer than `seconds` gives TimeoutError; its thread ends with the process.
    """
    answers: dict[str, T | Exception] = {}
    done = threading.Condition()

    def act(name: str, task: Callable[[], T]) -> None:
        try:
            answer: T | Exception = task()
        except Exception as error:
            answer = error
        with done:
            answers[name] = answer
            done.notify()

    for name, task in tasks.items():
        threading.Thread(target=act, args=(name, task), daemon=True).start()
    with done:
        done.wait_for(lambda: len(answers) == len(tasks), seconds)
        late = TimeoutError(f"no answer within {seconds:g} s")
        return {name: answers.get(name, late) for name in tasks}


ANSWER_SECONDS = 10.0  # seconds that a cluster has to answer all questions


class ClusterAccess:
    """Access to clusters. Keeps working clients for the next time."""

    def __init__(
        self, kubeconfig: str | None, ordered: Mapping[str, str], patience: float = ANSWER_SECONDS
    ) -> None:
        """A kubeconfig file, or the default ones; and contexts by cluster."""
        self._kubeconfig, self._ordered, self._patience = kubeconfig, ordered, patience
        self._remotes: dict[str, ClusterClient] = {}

    def places(self, site: Site, clusters: Sequence[Cluster]) -> dict[str, ClusterLocation | LiveFinding]:
        """Return the location of each cluster, or a finding if it is unknown."""
        try:
            known = read_contexts(self._kubeconfig)
        except ClusterError as error:
            fix = error.fix or "Name a kubeconfig: --kubeconfig FILE, or the variable KUBECONFIG."
            names = (cluster.name for cluster in clusters)
            return {name: LiveFinding("S001", name, "", f"{error}.", fix) for name in names}
        places: dict[str, ClusterLocation | LiveFinding] = {}
        for cluster in clusters:
            context = choose_context(cluster.name, self._ordered, known, only=len(site.clusters) == 1)
            if isinstance(context, LiveFinding):
                places[cluster.name] = context
            else:
                places[cluster.name] = ClusterLocation(cluster.name, cluster.namespace, context)
        return places

    def at_each(
        self, places: Sequence[ClusterLocation], act: Callable[[ClusterClient, ClusterLocation], T]
    ) -> dict[str, T | LiveFinding]:
        """Run an action on each cluster; return the results, or a finding if a cluster is unreachable."""

        deadline = time.monotonic() + self._patience

        def task(place: ClusterLocation) -> Callable[[], T]:
            known = self._remotes.pop(place.cluster, None)

            def run() -> T:
                remote = known or ClusterClient(self._kubeconfig, place.context)
                remote.deadline = deadline
                answer = act(remote, place)
                self._remotes[place.cluster] = remote  # only one that works is kept
                return answer

            return run

        answers = run_concurrently({place.cluster: task(place) for place in places}, self._patience)
        results: dict[str, T | LiveFinding] = {}
        for place in places:
            answer = answers[place.cluster]
            if isinstance(answer, ClusterError | TimeoutError):
                results[place.cluster] = _unreachable(place, answer)
            elif isinstance(answer, Exception):
                raise answer
            else:
                results[place.cluster] = answer
        return results

    def facts(
        self, site: Site, places: Sequence[ClusterLocation], now: int
    ) -> dict[str, ClusterFacts | LiveFinding]:
        """Read the state of each cluster."""
        clusters = {cluster.name: cluster for cluster in site.clusters}

        def snapshot(remote: ClusterClient, place: ClusterLocation) -> ClusterFacts:
            return gather_facts(lists_of(remote), clusters[place.cluster], site.name, now, ClusterError)

        return self.at_each(places, snapshot)


def lists_of(remote: ClusterClient) -> Get:
    """Return how to ask a cluster for lists. It raises ClusterError for the page of a proxy, for instance."""

    def ask(path: str, query: Mapping[str, str], accept: str) -> Any:
        answer = remote.get(path, query, accept)
        items, metadata = answer.get("items") or (), answer.get("metadata") or {}
        is_list = str(answer.get("kind", "")).endswith("List") and isinstance(metadata, dict)
        if not (is_list and isinstance(items, list | tuple) and all(map(_is_object, items))):
            raise ClusterError(0, f"{path} did not return a list")
        return answer

    return ask


def _is_object(item: object) -> bool:
    metadata = item.get("metadata") if isinstance(item, dict) else None
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str)


def _unreachable(place: ClusterLocation, error: Exception) -> LiveFinding:
    status = error.status if isinstance(error, ClusterError) else 0
    context = f"the context {place.context}" if place.context else "this cluster"
    fix = f"Try: {place.kubectl('get deployments')}"
    if status == 401:
        fix = "Log in again."
    elif status == 403:
        fix = f"Ask for permission to list the objects in the namespace {place.namespace}."
    return place.finding("S001", f"{context} does not answer: {error}.", fix)


def read_clusters(
    access: ClusterAccess, site: Site, clusters: Iterable[Cluster]
) -> tuple[list[OccurrenceRecord], list[LiveFinding]]:
    """Read the records in clusters, and say what could not be read."""
    places = access.places(site, [*clusters])
    known = [place for place in places.values() if isinstance(place, ClusterLocation)]

    def listed(remote: ClusterClient, place: ClusterLocation) -> ReadRecords:
        path, selector = CONFIG_MAP.path(place.namespace), f"{SITE}={site.name},{ROLE}={RECORD}"
        return of_config_maps(list_all(lists_of(remote), path, selector, "", "application/json"))

    answers = access.at_each(known, listed)
    records: list[OccurrenceRecord] = []
    findings = [one for one in (*places.values(), *answers.values()) if isinstance(one, LiveFinding)]
    for name, answer in answers.items():
        if isinstance(answer, ReadRecords):
            records += answer.records
            fix = "It is left out. The scaler writes the record anew at the next occurrence."
            findings += [LiveFinding("S024", name, "", f"{problem}.", fix) for problem in answer.problems]
    return records, findings
