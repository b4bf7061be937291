"""Access to the clusters of a site: the kubeconfig context of each, and requests to all at once.

A cluster that cannot be read becomes a finding and does not hide the others.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from berth.core.labels import RECORD, ROLE, SITE
from berth.core.objects import CONFIG_MAP
from berth.core.record import OccurrenceRecord
from berth.findings import LiveFinding
from berth.live.client import ClusterClient, KubeContexts, read_contexts
from berth.live.clusterfacts import ClusterFacts, ClusterLocation
from berth.live.gather import gather_facts
from berth.live.kubeobject import ClusterError, Get, list_all
from berth.live.records import ReadRecords, of_config_maps
from berth.notation.refusal import CommandError
from berth.schema.values import Cluster, Site

T = TypeVar("T")
Places = Mapping[str, ClusterLocation | LiveFinding]
"""The location of each cluster, or a finding if it is unknown."""


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
    """Access to clusters of a site. Keeps working clients for the next time."""

    def __init__(
        self,
        site: Site,
        clusters: Sequence[Cluster],
        kubeconfig: str | None,
        ordered: Mapping[str, str],
        patience: float = ANSWER_SECONDS,
    ) -> None:
        """A kubeconfig file, or the default ones; and contexts by cluster."""
        self._site, self._clusters = site, {cluster.name: cluster for cluster in clusters}
        self._kubeconfig, self._ordered, self._patience = kubeconfig, ordered, patience
        self._remotes: dict[str, ClusterClient] = {}

    def places(self) -> Places:
        try:
            known = read_contexts(self._kubeconfig)
        except ClusterError as error:
            fix = error.fix or "Name a kubeconfig: --kubeconfig FILE, or the variable KUBECONFIG."
            return {name: LiveFinding("S001", name, "", f"{error}.", fix) for name in self._clusters}
        return {name: self._place(cluster, known) for name, cluster in self._clusters.items()}

    def _place(self, cluster: Cluster, known: KubeContexts) -> ClusterLocation | LiveFinding:
        """Choose the context that is given, or has the cluster's name, or is current with an only cluster."""
        name, is_given = cluster.name, cluster.name in self._ordered
        context: str | None = self._ordered.get(name, name)
        if context not in known.names:
            if is_given or len(self._site.clusters) > 1 or not (known.current or known.inside):
                those = f"it has {', '.join(sorted(known.names)) or 'none'}"
                fix = "Name one of them." if is_given else f"Say which one it is: --context {name}=CONTEXT."
                message = f"the kubeconfig has no context {context}: {those}."
                return LiveFinding("S001", name, "", message, fix)
            context = known.current or None
        return ClusterLocation(name, cluster.namespace, context)

    def at_each(
        self, places: Places, act: Callable[[ClusterClient, ClusterLocation], T]
    ) -> dict[str, T | LiveFinding]:
        """Run an action on each cluster; return the results, or why a cluster is unknown or unreachable."""

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

        known = {name: place for name, place in places.items() if isinstance(place, ClusterLocation)}
        answers = run_concurrently({name: task(place) for name, place in known.items()}, self._patience)
        results: dict[str, T | LiveFinding] = {}
        for name, place in places.items():
            answer = place if isinstance(place, LiveFinding) else answers[name]
            if isinstance(answer, ClusterError | TimeoutError):
                results[name] = _unreachable(known[name], answer)
            elif isinstance(answer, Exception):
                raise answer
            else:
                results[name] = answer
        return results

    def facts(self, places: Places, now: int) -> dict[str, ClusterFacts | LiveFinding]:
        """Read the state of each cluster."""

        def snapshot(remote: ClusterClient, place: ClusterLocation) -> ClusterFacts:
            return gather_facts(lists_of(remote), self._clusters[place.cluster], self._site.name, now)

        return self.at_each(places, snapshot)

    def records(self) -> tuple[list[OccurrenceRecord], list[LiveFinding]]:
        """Read the records in clusters, and say what could not be read."""
        selector = f"{SITE}={self._site.name},{ROLE}={RECORD}"

        def listed(remote: ClusterClient, place: ClusterLocation) -> ReadRecords:
            return of_config_maps(list_all(lists_of(remote), CONFIG_MAP.path(place.namespace), selector))

        records: list[OccurrenceRecord] = []
        findings: list[LiveFinding] = []
        for name, answer in self.at_each(self.places(), listed).items():
            if isinstance(answer, LiveFinding):
                findings.append(answer)
                continue
            records += answer.records
            fix = "It is left out. The scaler writes the record anew at the next occurrence."
            findings += [LiveFinding("S024", name, "", f"{problem}.", fix) for problem in answer.problems]
        return records, findings


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
