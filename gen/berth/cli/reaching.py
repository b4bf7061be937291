"""The clusters that a command looks at, and the way to them; or records in a file instead."""

from collections.abc import Callable, Container
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from berth.cli.command import FILE, Settings
from berth.cli.console import stderr
from berth.cli.selection import cluster_option, read_option
from berth.core.record import OccurrenceRecord
from berth.live.records import of_json
from berth.notation.refusal import CommandError
from berth.output.escape import visible
from berth.schema.values import Site

if TYPE_CHECKING:
    from berth.live.access import ClusterAccess


class ClusterChoice(NamedTuple):
    """What the options name; without `--cluster` all clusters of the site."""

    cluster: str | None
    contexts: tuple[str, ...]
    kubeconfig: str | None

    def access(
        self,
        settings: Settings,
        site: Site,
        names: Container[str] | None = None,
        patience: float | None = None,
    ) -> "ClusterAccess":
        """Return the way to these clusters, of those with the `names`.

        `patience`: seconds for the answers, if not the usual.
        """
        from berth.live import access  # noqa: PLC0415 - it loads the client

        clusters = [
            cluster
            for cluster in site.clusters
            if self.cluster in (None, cluster.name) and (names is None or cluster.name in names)
        ]
        ordered = access.parse_contexts(self.contexts, [cluster.name for cluster in clusters])
        file = None if self.kubeconfig is None else settings.given(self.kubeconfig)
        return access.ClusterAccess(site, clusters, file, ordered, patience or access.ANSWER_SECONDS)


def cluster_options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options; their values come as `choice`."""

    @cluster_option
    @click.option(
        "--context",
        "contexts",
        metavar="[CLUSTER=]CONTEXT",
        multiple=True,
        help="Context of the kubeconfig; may be repeated.",
    )
    @click.option("--kubeconfig", metavar="FILE", type=FILE, help="Kubeconfig file instead of the default.")
    @wraps(function)
    def run(
        settings: Settings,
        *,
        cluster: str | None,
        contexts: tuple[str, ...],
        kubeconfig: str | None,
        **others: Any,
    ) -> int:
        return function(settings, choice=ClusterChoice(cluster, contexts, kubeconfig), **others)

    return run


_LARGEST = 1 << 30  # bytes of a file of records
records_option = click.option(
    "--records", metavar="FILE", type=FILE, help="Read records from this file, or - for stdin."
)


def read_record_file(settings: Settings, file: str) -> tuple[OccurrenceRecord, ...]:
    """Read the records of a file, and say on stderr which of them are not as Berth writes them."""
    try:
        read = of_json(read_option(settings, "--records", file, _LARGEST))
    except ValueError as error:
        command = "kubectl get configmaps -l berth.dev/role=record -o json"
        raise CommandError(f"--records {file}: {error}. Write it with: {command}") from error
    for problem in map(visible, read.problems):
        stderr(f"--records {file}: {problem}. It is left out.\n")
    if not read.records:
        stderr(f"--records {file}: there is no record in it.\n")
    return read.records
