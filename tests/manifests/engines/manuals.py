"""What docs/argocd.md and docs/flux.md show in blocks: samples and commands."""

import re
from typing import Any

import yaml

from tests.console import ROOT

MANUALS = {name: (ROOT / f"docs/{name}.md").read_text("utf-8") for name in ("argocd", "flux")}


def blocks(engine: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", MANUALS[engine], re.M | re.S)


def commands(engine: str) -> tuple[list[str], list[str]]:
    """What is done once, and what is looked at later; each as its words."""
    once, look = (block.split() for block in blocks(engine, "console"))
    return once, look


def sample(engine: str, kind: str) -> dict[str, Any]:
    """The object of that kind that the page shows, or an example beside it."""
    examples = sorted((ROOT / "docs/examples").glob(f"{engine}-*.yaml"))
    texts = [*blocks(engine, "yaml"), *(path.read_text("utf-8") for path in examples)]
    samples = [one for text in texts for one in yaml.safe_load_all(text)]
    (found,) = [one for one in samples if one.get("kind") == kind]
    shown: dict[str, Any] = found
    return shown


def clusters(engine: str) -> list[dict[str, Any]]:
    """Of the part of a site that the page shows."""
    (found,) = [one["clusters"] for one in map(yaml.safe_load, blocks(engine, "yaml")) if "clusters" in one]
    shown: list[dict[str, Any]] = found
    return shown
