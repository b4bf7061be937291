"""The tables of every field and option, its default and its meaning, made from the shapes that check them.

`python -m tests.fieldtable` writes them into docs/reference/fields.md and the pages of the engines.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gen.declared import KINDS
from gen.kind.engine import OPTIONS
from gen.kind.nodeclass import NODE_CLASS
from gen.kind.nodepool import BUDGET, REQUIREMENT, TAINT
from gen.kind.pod import AFFINITY, SELECTOR, SPREAD, TOLERATION
from gen.kind.shape import REQUIRED, Either, Field, Fields, ListOf, Shape, shown
from gen.kind.site import CLUSTER, OVERRIDABLE

ROOT = Path(__file__).parents[1]
FIELDS = ROOT / "docs" / "reference" / "fields.md"
BEGIN, END = "<!-- fields: made by python -m tests.fieldtable -->\n", "<!-- end of fields -->\n"
ENGINES = {"argocd": ROOT / "docs" / "argocd.md", "flux": ROOT / "docs" / "flux.md"}
BEGIN_OPTIONS, END_OPTIONS = (
    "<!-- options: made by python -m tests.fieldtable -->\n",
    "<!-- end of options -->\n",
)
AS_IN_KUBERNETES: tuple[Shape, ...] = (
    AFFINITY,
    BUDGET,
    NODE_CLASS,
    REQUIREMENT,
    SELECTOR,
    SPREAD,
    TAINT,
    TOLERATION,
)


def rows(fields: Fields, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    for name, field in fields.fields.items():
        path = f"{prefix}{name}"
        if fields is CLUSTER and name in OVERRIDABLE:
            continue
        yield path, default(field), field.meaning or field.shape.words()
        inner, suffix = within(field.shape)
        if inner is not None:
            yield from rows(inner, f"{path}{suffix}.")


def within(shape: Shape) -> tuple[Fields | None, str]:
    """The mapping inside of a shape that has known keys of ours, and how a path says that it is in a list."""
    if shape in AS_IN_KUBERNETES:
        return None, ""
    if isinstance(shape, Fields):
        return shape, ""
    if isinstance(shape, ListOf):
        inner, suffix = within(shape.item)
        return inner, f"[]{suffix}"
    return within(shape.mapping) if isinstance(shape, Either) else (None, "")


def default(field: Field) -> str:
    if field.default is REQUIRED:
        return "**required**"
    if field.default_words:
        return field.default_words
    value: Any = field.default
    return "none" if value in (None, (), "") else f"`{shown(value).strip(chr(34))}`"


def text() -> str:
    parts = []
    for kind, document in KINDS.items():
        spec = document.fields["spec"].shape
        assert isinstance(spec, Fields)
        lines = [f"| `{path}` | {default_} | {meaning} |" for path, default_, meaning in rows(spec)]
        parts.append(
            "\n".join(
                [f"#### {kind}", "", "| `spec.` | default | meaning |", "|---|---|---|", *lines, "", ""]
            )
        )
    return "\n" + "".join(parts)


def updated(page: str) -> str:
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{text()}{END}{rest.split(END)[1]}"


def options_text(engine: str) -> str:
    lines = [f"| `{path}` | {default_} | {meaning} |" for path, default_, meaning in rows(OPTIONS[engine])]
    return "\n".join(["", "| `engine.` | default | meaning |", "|---|---|---|", *lines, "", ""])


def updated_options(page: str, engine: str) -> str:
    before, rest = page.split(BEGIN_OPTIONS)
    return f"{before}{BEGIN_OPTIONS}{options_text(engine)}{END_OPTIONS}{rest.split(END_OPTIONS)[1]}"


if __name__ == "__main__":
    FIELDS.write_text(updated(FIELDS.read_text("utf-8")), "utf-8")
    for name, page in ENGINES.items():
        page.write_text(updated_options(page.read_text("utf-8"), name), "utf-8")
