"""How do the flags of a command line lead to clusters? Imports the client, so only those who need it ask."""

from collections.abc import Sequence

from gen.command.asked import Asked, UsageError
from gen.live.access import ClusterAccess, ContextArgumentError, parse_contexts
from gen.model import Cluster


def reach(asked: Asked, clusters: Sequence[Cluster]) -> ClusterAccess:
    """`clusters` are those that are asked for."""
    try:
        ordered = parse_contexts(asked.values("--context"), [one.name for one in clusters])
    except ContextArgumentError as error:
        raise UsageError(f"--context: {error}") from error
    return ClusterAccess(asked.value("--kubeconfig"), ordered)
