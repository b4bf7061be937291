"""How do the flags of a command line lead to clusters? Imports the client, so only those who need it ask."""

from collections.abc import Sequence

from gen.command.asked import Asked, UsageError
from gen.live.contexts import UnclearError, said
from gen.live.reach import Reach
from gen.model import Cluster


def reach(asked: Asked, clusters: Sequence[Cluster]) -> Reach:
    """`clusters` are those that are asked for."""
    try:
        ordered = said(asked.values("--context"), [one.name for one in clusters])
    except UnclearError as error:
        raise UsageError(f"--context: {error}") from error
    return Reach(asked.value("--kubeconfig"), ordered)
