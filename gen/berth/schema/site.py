"""`Site`: what the platform team owns. A cluster's own values are merged over the site's."""

import re
from typing import TYPE_CHECKING, Annotated, Literal

from berth.machines.versions import GATES, NEWEST, OLDEST
from berth.names import DISTRIBUTION
from berth.schema import grammar
from berth.schema.basemodel import (
    OR_MAPPING,
    Lazy,
    ListOf,
    Model,
    NonEmpty,
    NonEmptyUnique,
    Switch,
    Text,
    UniqueList,
    Whole,
    field,
    lazy,
)
from berth.schema.documentproblems import DocumentProblems, Refusal, choice, shown
from berth.schema.engine import Destination, EngineSpec, check_engines
from berth.schema.metadata import OF_PODS, OwnLabels, PodAnnotations, check_sizes
from berth.schema.pod import Tolerating, check_amounts, check_least, check_resources
from berth.schema.types import (
    Date,
    DnsLabel,
    DnsName,
    File,
    Folder,
    ImageName,
    KubernetesVersion,
    Labels,
    Price,
    Resources,
    TimeZone,
)
from berth.version import VERSION

if TYPE_CHECKING:
    from berth.schema.heldobjects import HeldSpec
    from berth.schema.policies import PolicySpec
else:
    HeldSpec = lazy("berth.schema.heldobjects", "HeldSpec")
    PolicySpec = lazy("berth.schema.policies", "PolicySpec")

EMPTY_TO_KARPENTER = -(2**25)  # from here down a pod costs it nothing to evict
EMPTY_SINCE = (1, 14)
# The image is a tag and its digest: it is the same wherever and whenever a Job starts.
PYTHON = "python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b"

_VERSION = r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,4})?"
_STOCK = "default-scheduler"


def _berth_version(text: str) -> str:
    if text != VERSION:
        message = f"these files are for Berth {text}; this is Berth {VERSION}."
        raise Refusal(message, f"Install {DISTRIBUTION}=={text}, or change berthVersion.", "B027")
    return text


Priority = Annotated[int, Whole(-(2**31), 2**31 - 1, "whole number from -10 to -1")]
OwnNamespace = Annotated[str, Text("DNS label", grammar.own_namespace)]


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

    def check(self, report: DocumentProblems) -> None:
        if not self.seats and not self.requests:
            report("B011", (), "the ceiling limits nothing.", "Add seats or requests.")
        check_least(self.requests, report.below("requests"))


class NamespaceSpec(Model):
    name: OwnNamespace = field(meaning="its name")
    create: bool = field(
        True, "whether Berth renders the Namespace, which the engine then owns; `false`: it exists"
    )


class PrioritySpec(Model):
    """A PriorityClass of the cluster, which is not rendered."""

    class_name: DnsName = field(meaning="its name")
    value: Priority = field(meaning="its value, as `kubectl get priorityclass` shows it")


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

    def check(self, report: DocumentProblems) -> None:
        if self.scheduler_name == _STOCK:
            message = (
                f"{_STOCK} is Kubernetes' own scheduler, which does not know slots, unless Koordinator "
                "replaces it."
            )
            fix = "Write the name under which Koordinator's scheduler runs, mostly koord-scheduler."
            report("B115", "schedulerName", message, fix)


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


def check_hubs(hubs: tuple[HubSpec, ...], report: DocumentProblems) -> None:
    """Report hubs that cannot be told apart."""
    report.repeated("namespace ", [hub.namespace or i for i, hub in enumerate(hubs)], "namespace")
    for i, hub in enumerate(hubs if len(hubs) > 1 else ()):
        if hub.namespace is None:
            message = "a cluster with several hubs needs the namespace of each."
            report("B011", (i,), message, "Add namespace: where the sessions of this hub run.")


class ImagesSpec(Model):
    pause: ImageName = field(
        "registry.k8s.io/pause:3.10.1", "image of the placeholders", "`registry.k8s.io/pause:3.10.1`"
    )
    python: ImageName = field(PYTHON, "image of Berth's Jobs", "`python:3.13-slim` by digest")
    pull_secrets: UniqueList[DnsName] = field((), "names of pull Secrets in the Berth namespace", "none")


class JobResources(Model):
    requests: Resources = field({}, "mapping (quantity for each key)")
    limits: Resources = field({}, "mapping (quantity for each key)")

    def check(self, report: DocumentProblems) -> None:
        check_resources(self.requests, self.limits, report)


class RuntimeSpec(Tolerating):
    image: Annotated[str, Text("image by digest", grammar.image_by_digest)] | None = field(
        None, "an image by digest that contains Berth's code, built from `Containerfile`", "ConfigMaps"
    )
    resources: JobResources | None = field(
        None,
        "`{requests, limits}` of each container of Berth's Jobs; what is not named stays",
        "requests 10m and 32Mi, limit 64Mi; of the container that only waits, 1m, 12Mi and 32Mi",
    )
    pod_labels: OwnLabels = field({}, "labels of the pods of Berth's Jobs", "none")
    pod_annotations: PodAnnotations = field({}, "annotations of the pods of Berth's Jobs", "none")
    priority_class_name: DnsName | None = field(
        None, "PriorityClass of the pods of Berth's Jobs", "the cluster's default"
    )

    def check(self, report: DocumentProblems) -> None:
        check_sizes(self.pod_labels, self.pod_annotations, report, OF_PODS)


_metric = grammar.matching(
    "[A-Za-z_:][A-Za-z0-9_:]*",
    "the name of a Prometheus metric",
    "Write its name only, without labels and braces.",
)


class MonitoringSpec(Model):
    prometheus_rule: bool = field(
        False, "render a PrometheusRule with the alerts of docs/alerts.md", "`false`"
    )
    dashboard: bool = field(False, "render a ConfigMap with a dashboard for Grafana", "`false`")
    labels: Labels = field(
        {}, "labels of both objects, by which a Prometheus and a Grafana select what they load", "none"
    )
    events: Annotated[str, Text("name of a metric", _metric)] = field(
        "", "a metric that counts Events, as eventrouter has it: alerts of Berth's warnings", "none"
    )
    runbooks: Annotated[str, Text("address of a page", grammar.url)] = field(
        "", "address of the page with the runbooks, without the anchor", "docs/alerts.md of this version"
    )


class ScalerSpec(Model):
    stabilization_seconds: Annotated[int, Whole(0, 3600)] = field(
        30, "how long a session that ended still counts, 0 to 3600"
    )
    ready_minutes: Annotated[int, Whole(0, 180)] = field(
        5, "minutes before the start at which missing seats are reported, 0 to 180"
    )


class DiffSpec(Model):
    notice_hours: Annotated[int, Whole(0, 8760)] = field(
        24, "hours; a change of a date that opens sooner is a warning"
    )
    budget: Price | None = field(
        None, "the most that a month may cost; a change that exceeds it fails", "none"
    )


class Overridable(Model):
    """What a site sets for all its clusters, and each cluster may override."""

    engine: EngineSpec | None = field(
        None, "what applies `rendered/`: a word, or `{type}` and the options of docs/", "`none`"
    )
    namespace: Annotated[OwnNamespace | NamespaceSpec, OR_MAPPING] | None = field(
        None,
        "namespace of all namespaced objects that are rendered; `{name, create: false}` where it exists "
        "and belongs to somebody else",
        "`berth`",
    )
    priority: Annotated[Priority | PrioritySpec, OR_MAPPING] | None = field(
        None,
        "priority of the placeholders, -10 to -1; `{className, value}` of a PriorityClass that exists",
        "-10",
    )
    images: Annotated[ImagesSpec, Lazy(ImagesSpec)] | None = field(None, "container images", "see below")
    runtime: Annotated[RuntimeSpec, Lazy(RuntimeSpec)] | None = field(
        None, "image, resources and pods of Berth's Jobs", "see below"
    )
    monitoring: Annotated[MonitoringSpec, Lazy(MonitoringSpec)] | None = field(
        None, "alerts for Prometheus and a dashboard for Grafana", "none"
    )


class ClusterSpec(Overridable):
    name: DnsLabel = field(meaning="name of the cluster, and of its folder in `rendered/clusters/`")
    destination: Destination | None = field(
        None,
        "only Argo CD: `{server}` or `{name}` of the cluster, as Argo CD knows it",
        "the engine's own cluster",
    )
    autoscaler: Literal["cluster-autoscaler", "karpenter", "none"] = field(
        "none", "what adds nodes; makes checks stricter"
    )
    platform: Literal["kubernetes", "openshift", "gke-autopilot", "eks-auto-mode"] = field(
        "kubernetes",
        "whose rules for pods and nodes hold there: see docs/platforms.md",
    )
    kubernetes: KubernetesVersion | None = field(
        None, 'version of Kubernetes there, such as "1.36"', "not known"
    )
    largest_node: Resources = field(
        {}, "allocatable resources of its largest node: a seat must fit", "not known"
    )
    ceilings: ListOf[CeilingSpec] = field((), "the most that may be reserved at once", "none")
    koordinator: KoordinatorSpec | None = field(
        None, "the cluster has Koordinator; `{}` is enough", "the cluster has none"
    )
    karpenter: KarpenterSpec | None = field(None, "Karpenter there: its version and gates", "not known")
    capacity_buffers: bool = field(
        False,
        "only cluster-autoscaler: whether it keeps CapacityBuffers, which its flags "
        "`--capacity-buffer-controller-enabled` and `--capacity-buffer-pod-injection-enabled` turn on",
    )
    held: ListOf[HeldSpec] = field(
        (), "objects of others whose numbers reservations of backend value may hold", "none"
    )
    z2jh: Annotated[File | NonEmpty[HubSpec], Switch(lambda value: int(isinstance(value, list)))] | None = (
        field(
            None,
            "path of the values of its JupyterHub, with whose profiles classes are compared; a list for "
            "several files or hubs",
            "none",
            alias="z2jh",
        )
    )
    renku_classes: File | None = field(
        None,
        "path of what its Renku answers to GET /api/data/resource_pools, with which classes are compared",
        "none",
    )

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        check_amounts(self.largest_node, report.below("largestNode"))
        if isinstance(self.z2jh, tuple):
            check_hubs(self.z2jh, report.below("z2jh"))

    @property
    def autoscaler_of_priority(self) -> str:
        """Return the autoscaler that a priority must suit.

        An older Karpenter only asks whether pods can be moved, so any priority suits it.
        """
        is_older = self.karpenter is not None and self.karpenter.version < EMPTY_SINCE
        return "none" if self.autoscaler == "karpenter" and is_older else self.autoscaler


class SiteSpec(Overridable):
    berth_version: Annotated[str, Text("version", _berth_version)] | None = field(
        None, "the version of Berth that renders; another one refuses to work", "any"
    )
    time_zone: TimeZone | None = field(None, "time zone of reservations that name none", "`UTC`")
    calendars: UniqueList[DnsLabel] = field(
        (), "names of Calendars whose dates happen for no reservation", "none"
    )
    repository: RepositorySpec | None = field(None, "the git repository of this site", "none")
    clusters: NonEmpty[ClusterSpec] = field(meaning="one or more clusters")
    kustomization: bool = field(False, "render a kustomization.yaml for each cluster too")
    renku: RenkuSpec | None = field(None, "Renku's API, for project templates", "none")
    scaler: ScalerSpec = field(ScalerSpec.model_construct(), "how scalers work", "see below")
    diff: DiffSpec = field(DiffSpec.model_construct(), "what `berth diff` warns of", "24 hours")
    policies: ListOf[PolicySpec] = field((), "what needs an approval, a warning, or is refused", "none")

    def check(self, report: DocumentProblems) -> None:
        """Check that names differ, that priorities fit the autoscalers, and what engines mean together."""
        names = [cluster.name for cluster in self.clusters]
        inherited = set()
        for i, cluster in enumerate(self.clusters):
            here = report.below("clusters", i)
            if names.count(cluster.name) > 1:
                message = f"duplicate cluster name {shown(cluster.name)}."
                here("B060", "name", message, "Give each its own name.")
            if cluster.held:
                from berth.schema.heldobjects import check_held  # noqa: PLC0415 - few sites have some

                check_held(cluster.held, namespace_of(cluster, self)[0], here.below("held"))
            autoscaler = cluster.autoscaler_of_priority
            if cluster.priority is None:
                inherited.add(autoscaler)
            else:
                check_priority(cluster.priority, {autoscaler}, here)
        check_priority(self.priority, inherited, report)
        policies = [policy.name for policy in self.policies]
        report.below("policies").repeated("policy ", policies, "name", "B060")
        check_engines(self, report)


def namespace_of(cluster: ClusterSpec, site: SiteSpec) -> tuple[str, bool]:
    """Return the name of a cluster's namespace, and whether Berth renders it."""
    namespace = site.namespace if cluster.namespace is None else cluster.namespace
    if namespace is None or isinstance(namespace, str):
        return namespace or "berth", True
    return namespace.name, namespace.create


def check_priority(
    priority: int | PrioritySpec | None, autoscalers: set[str], report: DocumentProblems
) -> None:
    """Report priorities with which autoscalers add no nodes, or sessions cannot preempt."""
    if priority is None:
        return
    value, at = (
        (priority, ("priority",)) if isinstance(priority, int) else (priority.value, ("priority", "value"))
    )
    fix = "Write a whole number from -10 to -1."
    if value >= 0:
        report("B025", at, f"{value} is not below 0: sessions could not preempt placeholders.", fix)
    elif value < -10 and "cluster-autoscaler" in autoscalers:
        whose = " (kubernetes.io's page on overprovisioning has it)" if value == -1000 else ""
        message = f"{value}{whose} is below -10: cluster-autoscaler adds no node for such pods."
        report("B025", at, message, fix)
    elif value <= EMPTY_TO_KARPENTER and "karpenter" in autoscalers:
        message = (
            f"{value} is so low that Karpenter from 1.14 on treats nodes of placeholders as empty: it "
            "deletes them, and buys them again."
        )
        report("B025", at, message, fix)
    elif value < -10:
        fix = "Write a whole number from -10 to -1, unless you know that yours does not ignore them."
        report("B026", at, f"{value} is below -10: many autoscalers ignore such pods.", fix)
