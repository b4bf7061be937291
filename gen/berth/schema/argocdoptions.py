"""`engine: {type: argocd}`: the options of Argo CD, and those that all engines have."""

from typing import Annotated, Literal

from berth.schema import grammar
from berth.schema.basemodel import ListOf, Model, Text, Whole, field
from berth.schema.metadata import OwnLabels
from berth.schema.types import Annotations, DnsLabel, DnsName

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
