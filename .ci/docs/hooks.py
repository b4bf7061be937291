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
LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]+)?\)")
FINDING = re.compile(r"^### (B\d{3}) (\w+)\n\n(.+?)\.?\n", re.M)
FIELD_ROW = re.compile(r"<h2 id=\"(\w+)\"|<td><code>([\w.\[\]]+)</code></td>\n<td>.*</td>\n<td>(.*)</td>")


def on_files(files: Files, config: MkDocsConfig) -> None:
    for path, page in OTHER_PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Make the links that work in the repository work on the site."""
    folder = Path(page.file.abs_src_path).parent
    above = "../" * page.file.src_uri.count("/")
    repository = config.extra["repository"]

    def rewritten(link: re.Match[str]) -> str:
        image, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        path = (folder / target).resolve()
        if path.is_relative_to(DOCS):
            return f"{image}[{text}]({above}{path.relative_to(DOCS).as_posix()}{anchor})"
        name = path.relative_to(ROOT).as_posix()
        if name in OTHER_PAGES:
            return f"[{text}]({above}{OTHER_PAGES[name]}{anchor})"
        return f"[{text}]({repository}/blob/main/{name})" if repository else text

    if page.file.src_uri == "reference/findings.md":  # its name is in the contents, and found first
        markdown = FINDING.sub(
            lambda found: f"### {found[1]} {found[2]}: {found[3]} {{ #{found[1].lower()}-{found[2]} }}\n",
            markdown,
        )
    return LINK.sub(rewritten, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Give each field an anchor, its name in the contents, and an entry in the search index."""
    if page.file.src_uri != "reference/fields.md":
        return html
    kinds = {item.id: item for item in page.toc.items[0].children}
    index = config.plugins["material/search"].search_index  # type: ignore[attr-defined]
    kind = ""

    def anchored(row: re.Match[str]) -> str:
        nonlocal kind
        if row[1]:
            kind = row[1]
            return row[0]
        name, meaning = row[2], re.sub(r"<[^>]+>", "", row[3])
        anchor = re.sub(r"\W+", "-", f"{kind}.{name}").strip("-").lower()
        kinds[kind].children.append(AnchorLink(name, anchor, 3))
        title = f"{name} of a {kinds[kind].title}"
        boost = 1 / (1 + name.count("."))  # provisioning.leadTimeMinutes before those of single dates
        location = f"{page.url}#{anchor}"
        index.entries.append({"location": location, "title": title, "text": meaning, "boost": boost})
        return row[0].replace("<td>", f'<td id="{anchor}">', 1)

    return FIELD_ROW.sub(anchored, html)
