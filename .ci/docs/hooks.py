"""Adds pages from outside of docs/ to the site, and links out of docs/. MkDocs calls functions by name."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OTHER_PAGES = {
    "README.md": "quick-start.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]+)?\)")


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

    return LINK.sub(rewritten, markdown)
