"""The options of engines: of Argo CD, of Flux, and of one whose type is wrong."""

from typing import Annotated, Any, Literal

from berth.schema import grammar
from berth.schema.basemodel import ListOf, Model, Text, Whole, field
from berth.schema.metadata import OwnLabels
from berth.schema.types import Annotations, DnsLabel, DnsName, Duration, EngineWord, Folder

Account = Annotated[str, Text("account such as argocd:berth", grammar.service_account)]
SyncOption = Annotated[str, Text("sync option such as Validate=false", grammar.sync_option)]


class EngineOptions(Model):
    """Options that both engines have."""

    labels: OwnLabels = field({}, "for the objects of the engine", "none")
    annotations: Annotations = field({}, "for the objects of the engine", "none")


class ArgoCDKeys(Model):
    project: DnsName | None = field(
        None, "an AppProject of your own, instead of the rendered one", "`berth-<site>`"
    )
    service_account: Account | None = field(
        None, "account that Argo CD impersonates to apply, named in the rendered AppProject", "Argo CD's own"
    )
    automated: bool | None = field(None, "sync automatically; false: somebody starts each sync", "true")
    prune: bool | None = field(None, "delete what was removed from git", "true")
    self_heal: bool | None = field(None, "revert changes made by hand", "true")
    retries: Annotated[int, Whole(-1, 1000)] | None = field(
        None, "how often a failed sync is tried again; -1: without end", "5"
    )
    sync_options: ListOf[SyncOption] | None = field(
        None, "additional sync options; the last one of a name counts", "none"
    )
    cascade: bool | None = field(
        None, "deleting the Application deletes everything that it applied (a finalizer)", "false"
    )


class ArgoCD(EngineOptions, ArgoCDKeys):
    type: Literal["argocd"] = field(meaning="Argo CD")
    version: Literal["3.2", "3.3"] | None = field(
        None, "3.2 for every version before 3.3, whose projects cannot allow single names", "3.3"
    )
    namespace: DnsLabel | None = field(None, "namespace of Argo CD and its Applications", "`argocd`")


SourceKind = Literal["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"]
Provider = Literal["generic", "aws", "azure", "gcp", "github"]
DeletionPolicy = Literal["MirrorPrune", "Delete", "WaitForTermination", "Orphan"]


class FluxKeys(Model):
    source_kind: SourceKind | None = field(
        None, "kind of the source that sourceName names", "`GitRepository`"
    )
    source_name: DnsName | None = field(
        None, "a source of your own, instead of the rendered one", "`berth-<site>.<cluster>`"
    )
    source_secret: DnsName | None = field(None, "Secret for reading the rendered source", "none")
    source_provider: Provider | None = field(
        None,
        "how Flux authenticates: with an identity of its cloud, or (github) as an app",
        "`generic`: a Secret, if any",
    )
    source_interval: Duration | None = field(None, "how often Flux looks for new commits", "`1m`")
    path: Folder | None = field(
        None,
        "folder with the manifests of the cluster in the source",
        "`<repository.path>/rendered/clusters/<cluster>`",
    )
    interval: Duration | None = field(None, "how often Flux compares the cluster", "`10m`")
    retry_interval: Duration | None = field(None, "how long Flux waits after a failure", "`1m`")
    timeout: Duration | None = field(None, "time limit of one apply", "`5m`")
    prune: bool | None = field(None, "delete what was removed from git", "true")
    deletion_policy: DeletionPolicy | None = field(
        None,
        "what deleting the Kustomization does to everything that it applied",
        "`MirrorPrune`: as prune says",
    )
    suspend: bool | None = field(None, "apply nothing until somebody resumes it", "false")
    depends_on: ListOf[DnsName] | None = field(
        None, "Kustomizations that are applied first, such as one with the namespaces of sessions", "none"
    )
    service_account_name: DnsName | None = field(None, "account that Flux uses to apply", "Flux's own")
    kube_config_secret: DnsName | None = field(
        None, "Secret with a kubeconfig, for a cluster in which Flux does not run", "none"
    )
    kube_config_map: DnsName | None = field(
        None, "instead, a ConfigMap that says how to reach that cluster (`spec.kubeConfig`)", "none"
    )


class Flux(EngineOptions, FluxKeys):
    type: Literal["flux"] = field(meaning="Flux")
    version: Literal["2.8", "2.9"] | None = field(
        None, "2.8 for every version before 2.9, which cannot ignore fields", "2.9"
    )
    namespace: DnsLabel | None = field(None, "namespace of the objects of Flux", "`flux-system`")


class AnyEngine(EngineOptions, FluxKeys, ArgoCDKeys):
    """Holds the options of an engine whose type is wrong, so that they are still looked at."""

    type: EngineWord = field(meaning="the engine")
    version: Any = field(None)  # one of some engine
    namespace: DnsLabel | None = field(None)
