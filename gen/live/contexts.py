"""Which kubeconfig context leads to which cluster of the site? Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gen.live.rules import Live


class Known(NamedTuple):
    """The contexts of a kubeconfig. `current` is empty where none is chosen. `inside`: we run in a cluster,
    and there is no kubeconfig.
    """

    names: tuple[str, ...]
    current: str
    inside: bool = False


class UnclearError(Exception):
    """What was said cannot be followed; the message is for people."""


def said(words: Sequence[str], clusters: Sequence[str]) -> dict[str, str]:
    """By cluster, from `CLUSTER=CONTEXT`, or `CONTEXT` where there is one cluster. A context may have `=` in
    its name. Raises UnclearError.
    """
    found: dict[str, str] = {}
    for word in words:
        cluster, equals, context = word.partition("=")
        if equals and cluster in clusters:
            found[cluster] = context
        elif len(clusters) == 1:
            found[clusters[0]] = word
        else:
            known = ", ".join(clusters)
            raise UnclearError(f'"{word}" names none of the clusters {known}. Write CLUSTER=CONTEXT.')
    return found


def chosen(cluster: str, ordered: Mapping[str, str], known: Known, *, only: bool) -> str | Live | None:
    """The context that was ordered, else the one of the cluster's name, else, where it is the site's `only`
    cluster, the current one; None: the cluster that we are in.
    """
    if cluster in ordered:
        if ordered[cluster] in known.names:
            return ordered[cluster]
        message = f"the kubeconfig has no context {ordered[cluster]}: {_listed(known)}."
        return Live("S002", cluster, "", message, "Name one of them.")
    if cluster in known.names:
        return cluster
    if only and known.current:
        return known.current
    if only and known.inside:
        return None
    message = f"the kubeconfig has no context {cluster}: {_listed(known)}."
    fix = f"Say which one it is: --context {cluster}=CONTEXT."
    return Live("S002", cluster, "", message, fix)


def _listed(known: Known) -> str:
    return f"it has {', '.join(sorted(known.names))}" if known.names else "it has none"
