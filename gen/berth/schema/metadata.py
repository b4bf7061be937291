"""`metadata` of all documents: which labels and annotations people may set, and what all kinds share."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from berth.findings import Origin
from berth.schema import grammar, validate
from berth.schema.basemodel import Model, Text, field
from berth.schema.documentproblems import DocumentProblems, Refusal, shown
from berth.schema.types import Annotations, AnyText, DnsLabel, Labels, LabelValue

BERTH_DOMAIN = "berth.dev/"
IGNORE = "berth.dev/ignore"
# What an import records: the name that people gave the calendar, the feed, an id of the calendar or of the
# program, and the event: its UID, or the title that several events share.
IMPORTED_FEED = "berth.dev/imported-feed"
IMPORTED_UID, IMPORTED_TITLE = "berth.dev/imported-uid", "berth.dev/imported-title"
IMPORTED = (IMPORTED_FEED, IMPORTED_UID, IMPORTED_TITLE)
FOR_BERTH = (IGNORE, *IMPORTED)
BERTH_LABELS = ("app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/managed-by")
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
_NOT_RENDERED = (*FOR_BERTH, DO_NOT_DISRUPT)  # annotations of which another rule tells
_KEPT = "its placeholders and Jobs would stay in the cluster when the reservation is removed"
_FROZEN = "changes of the reservation would not reach the cluster"
_RESET = "each sync may reset the number of placeholders in an open window"
_ARGO_CD, _FLUX = "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/"
_ANY = ""
# What options of engines and of Helm would do to the objects of a reservation, by key and value.
_ENGINE_OPTIONS = {
    f"{_ARGO_CD}sync-options": {
        **dict.fromkeys(("prune=false", "prune=confirm", "delete=false", "delete=confirm"), _KEPT),
        **dict.fromkeys(("replace=true", "force=true"), _RESET),
    },
    f"{_ARGO_CD}compare-options": {
        "ignoreextraneous": "Argo CD would not show objects that stay when the reservation is removed"
    },
    f"{_ARGO_CD}hook": {_ANY: _KEPT},
    "helm.sh/hook": {_ANY: _KEPT},  # Argo CD reads it as its own
    "helm.sh/resource-policy": {"keep": _KEPT},
    f"{_FLUX}prune": {"disabled": _KEPT},
    f"{_FLUX}reconcile": {"disabled": _KEPT},
    f"{_FLUX}ssa": dict.fromkeys(("ifnotpresent", "ignore"), _FROZEN),
}
_RESERVED_DOMAINS = ("kubernetes.io", "k8s.io")
_ALLOWED = ("app.kubernetes.io/component", "app.kubernetes.io/version")
_TRACKING = (  # how engines know which objects are theirs
    f"{_ARGO_CD}instance",
    f"{_ARGO_CD}tracking-id",
    f"{_ARGO_CD}installation-id",
    f"{_FLUX}name",
    f"{_FLUX}namespace",
    "helm.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
)
MOST_LABELS = 64
MOST_ANNOTATIONS = 8 * 1024  # bytes; client-side apply records them once more, beside a whole timetable


def refusal_of_ours(name: str) -> Refusal | None:
    """Refuse a label that Berth sets."""
    is_ours = name in BERTH_LABELS or name.startswith(BERTH_DOMAIN)
    return _set_by_berth(name) if is_ours else None


def _set_by_berth(name: str) -> Refusal:
    return Refusal(f"{shown(name)} is set by Berth itself.", "Remove it.", "B023", at_key=True)


# What Berth's templates annotate pods with: see templates/placeholder/ and templates/window/.
_ON_OUR_PODS = (
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes",
)


def _key(
    ours: tuple[str, ...], allowed: tuple[str, ...] = (), *, of_document: bool = False
) -> Callable[[str], str]:
    """Make the grammar of a key that authors may set: not one of `ours`, nor of Berth's domain."""

    def read(text: str) -> str:
        name = grammar.label_key(text)
        if name in ours or (name.startswith(BERTH_DOMAIN) and name not in allowed):
            raise _set_by_berth(name)
        if of_document:
            _refuse_reserved(name)
        return name

    return read


def _refuse_reserved(name: str) -> None:
    """Refuse a key of authors that Kubernetes or an engine gives a meaning."""
    domain = name.rpartition("/")[0]
    is_reserved = any(domain == reserved or domain.endswith(f".{reserved}") for reserved in _RESERVED_DOMAINS)
    if name in _TRACKING or (is_reserved and name not in (*BERTH_LABELS, *_ALLOWED)):
        owner = "an engine, which takes the objects for its own" if name in _TRACKING else "Kubernetes"
        raise Refusal(f"{shown(name)} belongs to {owner}.", "Remove it.", "B023", at_key=True)


OwnLabels = dict[Annotated[str, Text("label key", _key(BERTH_LABELS))], LabelValue]
_AnnotationKey = Annotated[str, Text("label key", _key((), FOR_BERTH, of_document=True))]
PodAnnotations = dict[Annotated[str, Text("label key", _key(_ON_OUR_PODS))], AnyText]


def check_sizes(
    labels: Labels | None,
    annotations: Annotations | None,
    report: DocumentProblems,
    keys: tuple[str, str] = ("labels", "annotations"),
) -> None:
    """Report too many labels, and annotations that are too large together: both are on every object."""
    if labels and len(labels) > MOST_LABELS:
        message = f"there are {len(labels)} labels."
        fix = f"Write at most {MOST_LABELS}: they are on every object."
        report("B019", keys[0], message, fix)
    pairs = (annotations or {}).items()
    if sum(len(name) + len(text.encode("utf-8", "replace")) for name, text in pairs) > MOST_ANNOTATIONS:
        message = f"the annotations have more than {MOST_ANNOTATIONS // 1024} KiB."
        report("B019", keys[1], message, "Shorten them: they are on every object.")


OF_PODS = ("podLabels", "podAnnotations")


def warn_of_engine_options(metadata: "Metadata", report: DocumentProblems) -> None:
    """Report annotations, and Flux's as labels, with which the engine keeps or resets what it applied."""
    for field_name, pairs in (("annotations", metadata.annotations), ("labels", metadata.labels)):
        for name, text in pairs.items():
            effects = _ENGINE_OPTIONS.get(name, {})
            if field_name == "labels" and not name.startswith(_FLUX):
                continue
            for option in text.split(","):
                effect = effects.get(option.strip().lower(), effects.get(_ANY))
                if effect is not None:
                    message = f"with {name}: {option.strip()}, {effect}."
                    report("B076", (field_name, name), message, "Remove it.")
                    break


Pairs = tuple[tuple[str, str], ...]


class Metadata(Model):
    name: DnsLabel = field(meaning="unique among the documents of its kind")
    labels: dict[Annotated[str, Text("label key", _key(BERTH_LABELS, of_document=True))], LabelValue] = field(
        {}, "set on every object rendered for it: a reservation, or a CloudCapacity of AWS", "none"
    )
    annotations: dict[_AnnotationKey, AnyText] = field(
        {}, "the same; `berth.dev/ignore` on any document", "none"
    )

    def check(self, report: DocumentProblems) -> None:
        check_sizes(self.labels, self.annotations, report)

    @property
    def label_pairs(self) -> Pairs:
        return tuple(self.labels.items())

    @property
    def annotation_pairs(self) -> Pairs:
        """Return the annotations, but for what they say to Berth."""
        return tuple(pair for pair in self.annotations.items() if pair[0] not in FOR_BERTH)


class KindDocument(Model):
    """A whole document of one kind; each kind adds its `kind` and `spec`."""

    api_version: Literal["berth.dev/v1alpha1"]
    metadata: Metadata
    instead_of_metadata: ClassVar[str] = "Remove them."
    if TYPE_CHECKING:
        kind: str

    @property
    def renders_metadata(self) -> bool:
        """Tell whether objects are rendered with the document's labels and annotations."""
        return False

    @classmethod
    def read(cls, value: Mapping[str, Any], report: DocumentProblems) -> Any:
        """Return the declaration, or None after it was reported why there is none."""
        # Keys that begin with x- are the author's own.
        document = validate.read(cls, {k: v for k, v in value.items() if not k.startswith("x-")}, report)
        return None if document is None else document.declared(report.origin)

    def declared(self, origin: Origin) -> Any:
        """Return the declaration as the rest of the program uses it."""
        raise NotImplementedError

    def check(self, report: DocumentProblems) -> None:
        """Report labels and annotations that are on no object, and those that are read on pods only."""
        if not self.renders_metadata:
            others = [name for name in self.metadata.annotations if name not in _NOT_RENDERED]
            for field_name, there in (("labels", self.metadata.labels), ("annotations", others)):
                if there:
                    message = f"{field_name} of a {self.kind} are on no object."
                    report("B029", ("metadata", field_name), message, self.instead_of_metadata, at_key=True)
        if DO_NOT_DISRUPT in self.metadata.annotations:
            message = f"{DO_NOT_DISRUPT} is an annotation of pods; on a {self.kind} it has no effect."
            fix = "Remove it: disruption budgets keep the nodes of open windows."
            report("B176", ("metadata", "annotations", DO_NOT_DISRUPT), message, fix, at_key=True)
