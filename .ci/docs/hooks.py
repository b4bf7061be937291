"""Adds pages from outside of docs/ to the site, and links out of docs/; gives findings and fields names.

MkDocs calls functions by name.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OTHER_PAGES = {
    "README.md": "quick-start.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
# tests/reference.py makes these.
MADE = ("reference/cli.md", "reference/fields.md", "reference/findings.md", "reference/json.md")
BADGE = re.compile(r"^\[!\[.*\n", re.M)
LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]+)?\)")
FINDING = re.compile(r'<h3 id="(b\d{3}-\w+)">.*</h3>\n<p>(.*?)\.?</p>')
LIVE_ROW = re.compile(r'id="s\d{3}"></a>(S\d{3})</td>\n<td>\w+</td>\n<td>(.*)</td>\n<td>(.*)</td>')
TAG = re.compile(r"<[^>]+>")
FIELD_ROW = re.compile(r"<h2 id=\"(\w+)\"|<td><code>([\w.\[\]]+)</code></td>\n<td>.*</td>\n<td>(.*)</td>")


def on_files(files: Files, config: MkDocsConfig) -> None:
    for path, page in OTHER_PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Make the links that work in the repository work on the site; take the text of pages that are made."""
    if page.file.src_uri in MADE:
        markdown = (ROOT / "build" / page.file.src_uri).read_text("utf-8")
    markdown = BADGE.sub("", markdown)  # the site loads nothing from elsewhere
    folder = Path(page.file.abs_src_path).parent
    above = "../" * page.file.src_uri.count("/")
    repository = config.repo_url

    def rewritten(link: re.Match[str]) -> str:
        image, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        path = (folder / target).resolve()
        if path.is_relative_to(DOCS):
            return f"{image}[{text}]({above}{path.relative_to(DOCS).as_posix()}{anchor})"
        name = path.relative_to(ROOT).as_posix()
        if name in OTHER_PAGES:
            return f"[{text}]({above}{OTHER_PAGES[name]}{anchor})"
        return f"[{text}]({repository}/blob/main/{name})" if repository else text

    return LINK.sub(rewritten, markdown)


def on_page_context(_: object, page: Page, config: MkDocsConfig, **__: object) -> None:
    """Give fields and findings an anchor, a name in the contents, and a title in the search."""
    if page.file.src_uri not in ("reference/fields.md", "reference/findings.md", "status.md"):
        return
    html = page.content or ""
    sections = {item.id: item for item in page.toc.items[0].children}
    index = config.plugins["material/search"].search_index  # type: ignore[attr-defined]

    def add(section: str, anchor: str, name: str, meaning: str, boost: float = 1) -> None:
        sections[section].children.append(AnchorLink(name, anchor, 3))
        entry = {"location": f"{page.url}#{anchor}", "title": name, "text": TAG.sub("", meaning)}
        index.entries.append({**entry, "boost": boost})

    if page.file.src_uri == "reference/findings.md":
        entries = {entry["location"]: entry for entry in index.entries}
        for anchor, meaning in FINDING.findall(html):
            sections[anchor].title += f": {TAG.sub('', meaning)}"
            entries[f"{page.url}#{anchor}"]["title"] = sections[anchor].title
        return
    if page.file.src_uri == "status.md":
        for code, name, meaning in LIVE_ROW.findall(html):
            add("findings", code.lower(), f"{code} {name}", meaning)
        return
    kind = ""

    def anchored(row: re.Match[str]) -> str:
        nonlocal kind
        if row[1]:
            kind = row[1]
            return row[0]
        anchor = re.sub(r"\W+", "-", f"{kind}.{row[2]}").strip("-").lower()
        if any(child.id == anchor for child in sections[kind].children):
            return row[0]  # the same field of another type of a union
        # provisioning.leadTimeMinutes comes before those of single dates
        add(kind, anchor, row[2], row[3], 1 / (1 + row[2].count(".")))
        return row[0].replace("<td>", f'<td id="{anchor}">', 1)

    page.content = FIELD_ROW.sub(anchored, html)
