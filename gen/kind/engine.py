"""`engine`: what applies `rendered/`, as one word or as a mapping with the options of that engine.

`gen.kind.enginechecks` says what options mean together, and beside the rest of the site.
"""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.metadata import ANNOTATIONS, LABELS, refuse_our_label
from gen.kind.shape import Either, Field, Fields, ListOf, Made, Report, items
from gen.kind.value import Flag, OneOf, Text, Whole

CALLED = {"argocd": "Argo CD", "flux": "Flux"}
ENGINES = (*CALLED, "none")
_NAMESPACE = Text("DNS label", grammar.dns_label)
_NAME = Text("DNS name", grammar.dns_name)
_DURATION = Text("duration such as 10m", grammar.duration)
_METADATA = {
    "labels": Field(LABELS, (), "of the engine's own objects", "none"),
    "annotations": Field(ANNOTATIONS, (), "of the engine's own objects", "none"),
}

_ARGOCD = {
    "type": Field(OneOf(("argocd",)), meaning="Argo CD"),
    "version": Field(
        OneOf(("3.2", "3.3")), None, "3.2 for any before 3.3, whose projects cannot allow single names", "3.3"
    ),
    "namespace": Field(_NAMESPACE, None, "where Argo CD and its Applications are", "`argocd`"),
    "project": Field(_NAME, None, "an AppProject of your own, instead of the rendered one", "`berth-<site>`"),
    "serviceAccount": Field(
        Text("account such as argocd:berth", grammar.service_account),
        None,
        "account that applies, by the rendered AppProject (impersonation)",
        "Argo CD's own",
    ),
    "automated": Field(Flag(), None, "sync by itself; false: somebody presses the button", "true"),
    "prune": Field(Flag(), None, "delete what is gone from git", "true"),
    "selfHeal": Field(Flag(), None, "put back what was changed by hand", "true"),
    "retries": Field(Whole(-1, 1000), None, "of a sync that failed; -1: for ever", "5"),
    "syncOptions": Field(
        ListOf(Text("sync option such as Validate=false", grammar.sync_option)),
        None,
        "more sync options; of one that is named twice the last counts",
        "none",
    ),
    "cascade": Field(
        Flag(), None, "deleting the Application deletes all that it applied (a finalizer)", "false"
    ),
    **_METADATA,
}

_FLUX = {
    "type": Field(OneOf(("flux",)), meaning="Flux"),
    "version": Field(
        OneOf(("2.8", "2.9")), None, "2.8 for any before 2.9, which cannot leave fields alone", "2.9"
    ),
    "namespace": Field(_NAMESPACE, None, "of the objects of Flux", "`flux-system`"),
    "sourceKind": Field(
        OneOf(("GitRepository", "OCIRepository", "Bucket", "ExternalArtifact")),
        None,
        "kind of the source that sourceName names",
        "`GitRepository`",
    ),
    "sourceName": Field(
        _NAME, None, "a source of your own, instead of the rendered one", "`berth-<site>.<cluster>`"
    ),
    "sourceSecret": Field(_NAME, None, "Secret with which the rendered source is read", "none"),
    "sourceProvider": Field(
        OneOf(("generic", "aws", "azure", "gcp", "github")),
        None,
        "how Flux signs in there: by an identity of its cloud, or (github) as an app",
        "`generic`: a Secret, if any",
    ),
    "sourceInterval": Field(_DURATION, None, "between two looks of the rendered source", "`1m`"),
    "path": Field(
        Text("folder", grammar.folder),
        None,
        "of the cluster's manifests in the source",
        "`<repository.path>/rendered/clusters/<cluster>`",
    ),
    "interval": Field(_DURATION, None, "between two looks at the cluster", "`10m`"),
    "retryInterval": Field(_DURATION, None, "after a failure", "`1m`"),
    "timeout": Field(_DURATION, None, "of one apply", "`5m`"),
    "prune": Field(Flag(), None, "delete what is gone from git", "true"),
    "deletionPolicy": Field(
        OneOf(("MirrorPrune", "Delete", "WaitForTermination", "Orphan")),
        None,
        "what deleting the Kustomization does to all that it applied",
        "`MirrorPrune`: as prune says",
    ),
    "suspend": Field(Flag(), None, "do nothing until somebody resumes it", "false"),
    "dependsOn": Field(
        ListOf(_NAME), None, "Kustomizations that come first, as one with the namespaces of sessions", "none"
    ),
    "serviceAccountName": Field(_NAME, None, "account that applies", "Flux's own"),
    "kubeConfigSecret": Field(
        _NAME, None, "Secret with a kubeconfig, for a cluster that Flux does not run in", "none"
    ),
    "kubeConfigMap": Field(
        _NAME, None, "instead, a ConfigMap that says how to reach that cluster (`spec.kubeConfig`)", "none"
    ),
    **_METADATA,
}


def _agree(made: Made, path: Path, report: Report) -> None:
    for key, _ in items(made["labels"]):
        refuse_our_label(key, (*path, "labels", key), report)


OPTIONS: dict[str, Fields] = {
    "argocd": Fields(_ARGOCD, agree=_agree),
    "flux": Fields(_FLUX, agree=_agree),
    "none": Fields({"type": Field(OneOf(("none",)), meaning="nothing: `kubectl apply`")}),
}


# Where the type is wrong, the other options are still looked at; a version is one of some engine.
_OF_ANY = Fields(
    {
        **{key: field for one in (_FLUX, _ARGOCD) for key, field in one.items() if key != "version"},
        "type": Field(OneOf(ENGINES)),
    },
    agree=_agree,
)


class _ByType(Fields):
    """Which keys there are, the type says."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        kind = value.get("type") if type(value) is dict else None
        if type(kind) is str and kind in OPTIONS:
            return OPTIONS[kind].check(value, path, report)
        if type(value) is dict:
            value = {key: one for key, one in value.items() if key != "version"}
        return _OF_ANY.check(value, path, report)


ENGINE = Either(OneOf(ENGINES), _ByType({"type": Field(OneOf(ENGINES), meaning="the engine")}))


def merged(site: Any, own: Any) -> tuple[str, Made]:
    """Type and options: a cluster's own over the site's, key by key if both are of one type."""
    chosen = own if own is not None else site
    if chosen is None:
        return "none", {}
    kind = chosen["type"] if isinstance(chosen, dict) else chosen
    options: Made = {}
    for layer in (site, own):
        if isinstance(layer, dict) and layer["type"] == kind:
            options.update({key: value for key, value in layer.items() if value not in (None, ())})
    options.pop("type", None)
    return kind, options
