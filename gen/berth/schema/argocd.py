"""`engine: {type: argocd}`: the options of Argo CD, and those that all engines have."""

from typing import Annotated, Literal

from berth.findings import Path
from berth.schema import grammar
from berth.schema.base import ListOf, Model, Text, Whole, field
from berth.schema.metadata import refuse_our_labels
from berth.schema.report import Report
from berth.schema.types import Annotations, DnsLabel, DnsName, Labels

Account = Annotated[str, Text("account such as argocd:berth", grammar.service_account)]
SyncOption = Annotated[str, Text("sync option such as Validate=false", grammar.sync_option)]


class EngineOptions(Model):
    """Options that both engines have."""

    labels: Labels = field({}, "of the engine's own objects", "none")
    annotations: Annotations = field({}, "of the engine's own objects", "none")

    def check(self, path: Path, report: Report) -> None:
        refuse_our_labels(self.labels, (*path, "labels"), report)


class ArgoCDKeys(Model):
    project: DnsName | None = field(
        None, "an AppProject of your own, instead of the rendered one", "`berth-<site>`"
    )
    service_account: Account | None = field(
        None, "account that applies, by the rendered AppProject (impersonation)", "Argo CD's own"
    )
    automated: bool | None = field(None, "sync by itself; false: somebody presses the button", "true")
    prune: bool | None = field(None, "delete what is gone from git", "true")
    self_heal: bool | None = field(None, "put back what was changed by hand", "true")
    retries: Annotated[int, Whole(-1, 1000)] | None = field(None, "of a sync that failed; -1: for ever", "5")
    sync_options: ListOf[SyncOption] | None = field(
        None, "more sync options; of one that is named twice the last counts", "none"
    )
    cascade: bool | None = field(
        None, "deleting the Application deletes all that it applied (a finalizer)", "false"
    )


class ArgoCD(EngineOptions, ArgoCDKeys):
    type: Literal["argocd"] = field(meaning="Argo CD")
    version: Literal["3.2", "3.3"] | None = field(
        None, "3.2 for any before 3.3, whose projects cannot allow single names", "3.3"
    )
    namespace: DnsLabel | None = field(None, "where Argo CD and its Applications are", "`argocd`")
