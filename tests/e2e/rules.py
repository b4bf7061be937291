"""The rules and queries that Berth renders, as Prometheus reads them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def _objects(rendered: Path) -> Iterator[dict[str, Any]]:
    yield from yaml.load_all(rendered.read_text("utf-8"), yaml.CSafeLoader)


def groups(rendered: Path) -> list[dict[str, Any]]:
    """The groups of rules in a `monitoring.yaml`."""
    (found,) = (object_ for object_ in _objects(rendered) if object_["kind"] == "PrometheusRule")
    made: list[dict[str, Any]] = found["spec"]["groups"]
    return made


def write_rules(rendered: Path, file: Path) -> Path:
    """As a file of rules, which is what the operator of Prometheus makes of a PrometheusRule."""
    file.write_text(json.dumps({"groups": groups(rendered)}))
    return file


def dashboard_queries(rendered: Path) -> list[tuple[str, str]]:
    """Title and query of each target of each panel of the dashboard."""
    (found,) = (object_ for object_ in _objects(rendered) if object_["kind"] == "ConfigMap")
    (text,) = found["data"].values()
    panels = json.loads(text)["panels"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel["targets"]]


def faster(groups: list[dict[str, Any]], factor: int) -> list[dict[str, Any]]:
    """The rules with all their times shortened, so that a story need not last for hours."""

    def shorter(match: re.Match[str]) -> str:
        seconds = int(match["number"]) * {"h": 3600, "m": 60, "s": 1}[match["unit"]]
        return f"{match['before']}{seconds // factor}s"

    def expression(text: str) -> str:
        text = re.sub(r"(?P<before>\[|offset )(?P<number>\d+)(?P<unit>[hms])", shorter, text)
        return re.sub(r"(?<=[<>] )(360|600|3600)\b", lambda one: str(int(one[1]) // factor), text)

    def hold(text: str) -> str:
        return re.sub(r"(?P<before>^)(?P<number>\d+)(?P<unit>[hms])$", shorter, text)

    return [
        {
            **group,
            "rules": [
                {**one, "expr": expression(one["expr"]), "for": hold(one["for"])} for one in group["rules"]
            ],
        }
        for group in groups
    ]
