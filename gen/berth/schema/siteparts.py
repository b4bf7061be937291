"""The parts of a `Site` that most sites leave out."""

import re
from typing import Annotated, Literal

from berth.findings import Path
from berth.machines.versions import GATES, NEWEST, OLDEST
from berth.schema import grammar
from berth.schema.basemodel import Model, NonEmptyUnique, Text, Whole, field
from berth.schema.documentproblems import DocumentProblems, Refusal, choice, shown
from berth.schema.pod import check_least
from berth.schema.types import AnyText, Date, DnsLabel, DnsName, File, Folder, Resources

_VERSION = r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,4})?"
_STOCK = "default-scheduler"


def _karpenter_version(text: str) -> tuple[int, int]:
    match = re.fullmatch(_VERSION, text, re.ASCII)
    if match is None:
        raise Refusal(f"{shown(text)} is not a version.", 'Write it as "1.15".', "B283")
    version = int(match[1]), int(match[2])
    if version < OLDEST:
        message = f"Karpenter {text} does not have the API karpenter.sh/v1."
        raise Refusal(message, "Use Karpenter 1.0 or later.", "B283")
    return version


def _gate(text: str) -> str:
    if text in GATES:
        return text
    raise Refusal(f"{shown(text)} is not a feature gate of Karpenter.", choice(text, GATES), "B283")


class CeilingSpec(Model):
    """The most that may be open at once. Dates are local dates of the site's zone, both inclusive."""

    dates_in_order = ("from", "until")
    seats: dict[DnsLabel, Annotated[int, Whole(0)]] = field(
        {}, "most seats open at once, by class", "no ceiling"
    )
    requests: Resources = field({}, "most requests of open seats at once, by resource", "no ceiling")
    first: Date | None = field(
        None, "first date of the ceiling, in the time zone of the site", "always", alias="from"
    )
    until: Date | None = field(None, "last date of the ceiling, inclusive", "always")

    def check(self, path: Path, report: DocumentProblems) -> None:
        if not self.seats and not self.requests:
            report("B011", path, "the ceiling limits nothing.", "Add seats or requests.")
        check_least(self.requests, (*path, "requests"), report)


class NamespaceSpec(Model):
    name: Annotated[str, Text("DNS label", grammar.own_namespace)] = field(meaning="its name")
    create: bool = field(
        True, "whether Berth renders the Namespace, which the engine then owns; `false`: it exists"
    )


class PrioritySpec(Model):
    """A PriorityClass of the cluster, which is not rendered."""

    class_name: DnsName = field(meaning="its name")
    value: Annotated[int, Whole(-(2**31), 2**31 - 1, "whole number from -10 to -1")] = field(
        meaning="its value, as `kubectl get priorityclass` shows it"
    )


class TokenSecret(Model):
    name: DnsName = field(meaning="its name")
    key: Annotated[str, Text("key of a Secret", grammar.secret_key)] = field(meaning="the key of the token")


class RenkuSpec(Model):
    url: Annotated[str, Text("address of a web server", grammar.url)] = field(
        meaning="address of Renku without /api, with http or https"
    )
    token_secret: TokenSecret | None = field(
        None,
        "a Secret in the Berth namespace of each cluster with Renku classes, which the Jobs of reservations "
        "with a project template mount if it exists",
        "no token",
    )


class RepositorySpec(Model):
    """The git repository of the site, or an artifact, as an engine finds it; `path` leads to the project."""

    url: Annotated[str, Text("address of a repository", grammar.repository)] = field(
        meaning="where the engine finds `rendered/`"
    )
    revision: Annotated[str, Text("revision", grammar.revision)] = field(
        "HEAD", "branch, commit, or tag as refs/tags/NAME; for `oci://` a tag or digest. Flux requires it"
    )
    path: Folder = field("", "folder of the repository that contains `rendered/`", "`.`")


class KoordinatorSpec(Model):
    scheduler_name: DnsName = field("koord-scheduler", "name of the scheduler of Koordinator")
    allocate_policy: Literal["Restricted", "Aligned"] = field(
        "Restricted", "policy of every Reservation in the cluster: Restricted or Aligned"
    )
    colocation_profiles: bool = field(
        False, "whether the webhook of Koordinator may change session pods, for `sessionAffinity`"
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.scheduler_name == _STOCK:
            message = (
                f"{_STOCK} is Kubernetes' own scheduler, which does not know slots, unless Koordinator "
                "replaces it."
            )
            fix = "Write the name under which Koordinator's scheduler runs, mostly koord-scheduler."
            report("B115", (*path, "schedulerName"), message, fix)


class KarpenterSpec(Model):
    version: Annotated[tuple[int, int], Text("version", _karpenter_version)] = field(
        NEWEST, "version of Karpenter", f'`"{NEWEST[0]}.{NEWEST[1]}"`'
    )
    gates: dict[Annotated[str, Text("gate", _gate)], bool] = field(
        {}, "feature gates of Karpenter, true or false", "Karpenter's own"
    )


class HubSpec(Model):
    """A JupyterHub, by the values of its chart."""

    files: NonEmptyUnique[File] = field(
        meaning="its values, HelmRelease or Application; several are layers: later ones win, as in Helm"
    )
    namespace: DnsLabel | None = field(
        None, "where its sessions run; required with several hubs", "any that a class names"
    )
    release: DnsName | None = field(
        None, "name of its Helm release", "that of its HelmRelease or Application"
    )


def check_hubs(hubs: tuple[HubSpec, ...], path: Path, report: DocumentProblems) -> None:
    """Report hubs that cannot be told apart."""
    report.repeated("namespace ", [hub.namespace or i for i, hub in enumerate(hubs)], path, "namespace")
    for i, hub in enumerate(hubs if len(hubs) > 1 else ()):
        if hub.namespace is None:
            message = "a cluster with several hubs needs the namespace of each."
            report("B011", (*path, i), message, "Add namespace: where the sessions of this hub run.")


class Destination(Model):
    server: AnyText | None = field(None)
    name: AnyText | None = field(None)

    def check(self, path: Path, report: DocumentProblems) -> None:
        report.exclude({"server": self.server, "name": self.name}, path)
        if self.server is None and self.name is None:
            report("B011", path, "it has neither server nor name.", "Add one of the two.")
