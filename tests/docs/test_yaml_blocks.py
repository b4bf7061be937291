"""Every YAML block of README and of the pages, and every example of a number that is held, is valid in a
repository as `berth init` writes it.

A block is whole documents; or keys of a spec, which replace those of the page's first document of that kind;
or something else, and then the text before it names its file, or says that Berth renders it. What a block
needs is named before it, too: the class `gpu`, the cluster `hub`, the term `spring-2026`, `engine: argocd`.
So is the code of a warning.
"""

import json
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from berth.core.objects import group_of
from berth.edit.scaffold import Starter, project_of, starter_files
from berth.findings import ERROR, Finding
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.outline import fields
from berth.schema.reservationspec import ReservationSpec
from berth.schema.resourceclass import ResourceClassSpec
from berth.schema.site import SiteSpec

from tests.console import ROOT
from tests.pages import PASTED, pages, text_of

Document = dict[str, Any]
API = "berth.dev/v1alpha1"
PARTS = {
    "CapacityReservation": fields(ReservationSpec),
    "Site": fields(SiteSpec),
    "ResourceClass": fields(ResourceClassSpec),
}
ELSEWHERE = re.compile(r"`[\w./-]+\.ya?ml`|\bBerth renders\b")
NEEDS = re.compile(r"\b(class|cluster|term) `([\w-]+)`|`(engine): (\w+)`")


class Block(NamedTuple):
    before: str  # all since the block before it
    content: Any


def contents(text: str) -> list[Any]:
    """Return the documents of a text as Berth reads it. Where a reader puts a digest, there is one."""
    documents, problems = parse(Source("", text.replace("DIGEST", "0" * 64).encode()))
    assert not problems, text
    return [document.value for document in documents]


def blocks(text: str) -> Iterator[Block]:
    end = 0
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.M | re.S):
        if match[2] == "yaml":
            for content in contents(dedent(match[3])):
                yield Block(text[end : match.start()], content)
            end = match.end()


def example(path: Path) -> list[Block]:
    text = path.read_text("utf-8")
    return [Block(text, content) for content in contents(text)]


EXAMPLES = sorted((ROOT / "docs/examples").glob("hold-*.yaml"))
PAGES = [page for page in pages() if any(blocks(text_of(page)))]


def fresh(year: int) -> list[Document]:
    """Return the documents of a repository whose courses begin on the first Monday of February."""
    starter = Starter("seats", "prod", "jupyterhub", "jupyterhub", "Europe/Zurich", "none")
    texts = starter_files(starter, now=1_769_810_400 + (year - 2026) * 364 * 86_400)  # a Friday
    found = [content for source in project_of(texts).sources for content in contents(source.text.decode())]
    return [
        {**source, "spec": {**source["spec"], "cluster": "prod"}}
        if source["kind"] == "ResourceClass"
        else source
        for source in found
    ]


def is_declaration(content: Any) -> bool:
    return isinstance(content, dict) and content.get("apiVersion") == API


def kind_of_part(content: Any) -> str | None:
    """Return the kind that has these keys; `metadata` alone is that of a reservation."""
    keys = set(content) if isinstance(content, dict) else {""}
    return next((kind for kind, known in PARTS.items() if keys <= {*known, "metadata"}), None)


def is_told(block: Block) -> bool:
    """Whether it is an object of another API, or the text before it says what it is."""
    is_object = isinstance(block.content, dict) and {"apiVersion", "kind", "metadata"} <= block.content.keys()
    return is_object or ELSEWHERE.search(block.before.strip().rpartition("\n\n")[2]) is not None


def merged(document: Document, part: Document) -> Document:
    """Replace keys of its spec, and in these only what is given; but what has a type is whole."""
    document = deepcopy(document)
    document["metadata"] |= part.get("metadata", {})
    spec = document["spec"]
    for key, value in part.items():
        if key == "clusters":
            spec[key] = [*{one["name"]: one for one in (*spec[key], *value)}.values()]
        elif key != "metadata":
            is_whole = not isinstance(value, dict) or "type" in value or key not in spec
            spec[key] = value if is_whole else {**spec[key], **value}
    return document


class Repository:
    """The documents of a fresh repository, and those of a page."""

    def __init__(self, year: int) -> None:
        self._year = year
        self.documents = {key(document): document for document in fresh(year)}
        self._models = {
            document["kind"]: document for document in self.documents.values()
        }  # what parts are put into
        self._of_page: set[str] = set()

    def need(self, what: str, name: str) -> None:
        """Add what the text before a block names."""
        if what == "engine":
            self.part("Site", {"engine": name})
        elif what == "cluster":
            self.part("Site", {"clusters": [{"name": name}]})
        elif what == "class":
            for one in (self._models["ResourceClass"]["metadata"]["name"], name):  # both tell sessions apart
                self.part("ResourceClass", {"sessions": {"selector": {"matchLabels": {"class": one}}}}, one)
        else:
            term = {"name": name, "from": f"{self._year}-02-16", "to": f"{self._year}-05-28"}
            metadata = {"name": f"calendar-of-{name}"}
            self.add({"apiVersion": API, "kind": "Calendar", "metadata": metadata, "spec": {"terms": [term]}})

    def add(self, document: Document) -> None:
        if document["kind"] == "Site" or document["kind"] not in self._of_page:
            self._models[document["kind"]] = document
        self._of_page.add(document["kind"])
        self.documents[key(document)] = document

    def part(self, kind: str, part: Document, name: str | None = None) -> None:
        """Add the document that a part is of: another one if it has a name."""
        document = merged(self._models[kind], part)
        if name is not None:
            document["metadata"]["name"] = name
        self.documents[key(document)] = document
        if kind == "Site":
            self._models[kind] = document


def repository(year: int, parts: Iterable[Block]) -> list[Document]:
    """Return the documents of a fresh repository with all blocks of a page."""
    found = Repository(year)
    for number, block in enumerate(parts):
        for match in NEEDS.finditer(block.before):
            found.need(match[1] or match[3], match[2] or match[4])
        kind = kind_of_part(block.content)
        if is_declaration(block.content):
            found.add(block.content)
        elif kind is not None:
            found.part(kind, block.content, f"part-{number}" if kind == "CapacityReservation" else None)
    return [*found.documents.values()]


def key(document: Document) -> tuple[str, str]:
    """There is one site, whatever its name."""
    kind = document["kind"]
    return kind, "" if kind == "Site" else document["metadata"]["name"]


def findings(documents: list[Document]) -> list[Finding]:
    sources = [
        Source(f"{'-'.join(key(document))}.json", json.dumps(document).encode()) for document in documents
    ]
    pipeline = Pipeline(sources=sorted(sources))
    pipeline.items()
    return [finding for finding in pipeline.findings() if finding.severity != "note"]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_valid_in_a_fresh_repository(page: str) -> None:
    told = " ".join(block.before for block in blocks(text_of(page)))

    assert [
        finding
        for finding in findings(repository(2027 if page in PASTED else 2026, blocks(text_of(page))))
        if finding.severity == ERROR or finding.code not in told
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_block_that_is_no_declaration_has_an_introduction(page: str) -> None:
    others = [
        block
        for block in blocks(text_of(page))
        if not is_declaration(block.content) and kind_of_part(block.content) is None
    ]

    assert [other.before.strip().splitlines()[-1] for other in others if not is_told(other)] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_valid_and_engines_ignore_its_held_numbers(path: Path) -> None:
    parts = example(path)
    specs = [block.content.get("spec", {}) for block in parts]
    targets = [spec["backend"]["target"] for spec in specs if "target" in spec.get("backend", {})]
    held = {(group_of(target["apiVersion"]), target["kind"], target["name"]) for target in targets}
    argo_cd = [rule for spec in specs for rule in spec.get("ignoreDifferences", ())]
    flux = [rule["target"] for spec in specs for rule in spec.get("ignore", ())]

    assert {(finding.severity, finding.code) for finding in findings(repository(2026, parts))} <= {
        ("warning", "B302")
    }
    assert held
    for rules in (argo_cd, flux):
        assert {(rule.get("group", ""), rule["kind"], rule["name"]) for rule in rules} == held
