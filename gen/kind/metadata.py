"""`metadata` of our documents, and the labels and annotations that people may put on what is rendered."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.shape import Field, Fields, Make, MapOf, OneOf, Report, Text, shown

OUR_DOMAIN = "berth.dev/"
IGNORE = "berth.dev/ignore"
OUR_LABELS = (
    "app.kubernetes.io/name",
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/managed-by",
)
RESERVED = "B023"

NAME = Text("DNS label", grammar.dns_label)
LABELS = MapOf(Text("label key", grammar.label_key), Text("label value", grammar.label_value))
ANNOTATIONS = MapOf(Text("annotation key", grammar.label_key), Text())


def _reserved(made: dict[str, Any], path: Path, report: Report) -> Any:
    for field in ("labels", "annotations"):
        for key, _ in made[field]:
            if key in OUR_LABELS or (key.startswith(OUR_DOMAIN) and (field, key) != ("annotations", IGNORE)):
                refuse_our_key(key, (*path, field, key), report)
    return made


def refuse_our_key(key: str, path: Path, report: Report) -> Any:
    return report(RESERVED, path, f"{shown(key)} is set by Berth itself.", "Remove it.", at_key=True)


METADATA = Fields(
    {
        "name": Field(NAME, meaning="unique among the documents of its kind"),
        "labels": Field(LABELS, (), "set on every object rendered for it", "none"),
        "annotations": Field(ANNOTATIONS, (), "set on every object rendered for it", "none"),
    },
    _reserved,
)


def document(kind: str, spec: Fields, make: Make) -> Fields:
    """The shape of a whole document of one kind."""
    return Fields(
        {
            "apiVersion": Field(OneOf(("berth.dev/v1alpha1",))),
            "kind": Field(OneOf((kind,))),
            "metadata": Field(METADATA),
            "spec": Field(spec),
        },
        make,
        extensions=True,
    )
