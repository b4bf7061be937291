"""What `berth diff` says of changes: the claims of tests/cases/changes.yaml."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth import cli

from tests.cli import clouds, heldproject, project
from tests.diff.conftest import NOW, Pair, results, ruled

CASES: list[dict[str, Any]] = yaml.load(
    (Path(__file__).parents[1] / "cases/changes.yaml").read_text("utf-8"), yaml.CSafeLoader
)
_KOORDINATOR = '  requests: {cpu: "1", memory: 4Gi}\n  schedulerName: koord-scheduler\n' + (
    "  sessions: {source: jupyterhub, namespaces: [hub], selector: {matchLabels: {size: small}}}\n"
)
_CLOUDY = {"site.yaml": clouds.SITE, "classes.yaml": clouds.CLASSES, "cloud.yaml": clouds.CLOUD}
PROJECTS: dict[str, dict[str, str]] = {
    "small": {"site.yaml": project.SITE},
    "held": {"site.yaml": heldproject.SITE, "exam.yaml": heldproject.EXAM},
    "quota": {"site.yaml": heldproject.QUOTA_SITE, "exam.yaml": heldproject.QUOTA},
    "cloudy": _CLOUDY,
    "nodes": {**_CLOUDY, "site.yaml": clouds.STATIC, "exam.yaml": clouds.EXAM},
    "block": {
        "site.yaml": clouds.SITE,
        "classes.yaml": clouds.CLASSES.partition("---")[0],
        "cloud.yaml": clouds.BLOCK,
        "sprint.yaml": clouds.OF_BLOCK,
    },
    "slots": {
        "site.yaml": project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}}"),
        "classes.yaml": project.CLASSES.replace('  requests: {cpu: "1", memory: 4Gi}\n', _KOORDINATOR),
        "course.yaml": f"{project.COURSE}  backend: {{type: koordinator}}\n",
    },
}
TEXTS = {"COURSE": project.COURSE, "CLOUD": clouds.CLOUD}
RENDERED = ("cloudy", "nodes", "slots")  # on the base


def edited(folder: Path, edits: Iterable[list[str]]) -> None:
    for file, before, after in edits:
        path = folder / "reservations" / file
        text = path.read_text("utf-8")
        assert before in text, (file, before)
        path.write_text(text.replace(before, after), "utf-8")


def arrange(pair: Pair, case: dict[str, Any]) -> None:
    """Write both sides."""
    name = case.get("project", "small")
    for folder in (pair.was, pair.now):
        for file, text in PROJECTS[name].items():
            (folder / "reservations" / file).write_text(text, "utf-8")
        for file in ("course.yaml", "night.yaml", "rest.yaml") if name == "block" else case.get("lacks", ()):
            (folder / "reservations" / file).unlink()
        edited(folder, case.get("both", ()))
    if name in RENDERED or case.get("rendered"):
        assert cli.run(["-C", str(pair.was), "render"]) == 0
    if "policies" in case or "was" in case:
        policies = case.get("policies", ())
        ruled(pair, *policies, text=PROJECTS[name]["site.yaml"], was=case.get("was"))
    for folder, key in ((pair.was, "base"), (pair.now, "head")):
        for file, text in case.get(f"{key}_has", {}).items():
            (folder / "reservations" / file).write_text(TEXTS.get(text, text), "utf-8")
        for file in case.get(f"{key}_lacks", ()):
            (folder / "reservations" / file).unlink()
    edited(pair.was, case.get("base", ()))
    edited(pair.now, case.get("edits", ()))


def at_path(value: Any, path: str) -> Any:
    for key in path.split("/"):
        value = len(value) if key == "#" else value[int(key)] if isinstance(value, list) else value[key]
    return value


def check(pair: Pair, expected: dict[str, Any], at: str) -> None:
    """`warnings`: by code, the words of each; `json`: values by path; `says` and `silent`: texts."""
    answer = pair.diff("-o", "json", at=at)
    change = json.loads(answer.out)
    assert answer.code == expected.get("exit", 0), answer
    if "applied" in expected:
        assert results(answer) == expected["applied"]
    for code, wanted in expected.get("warnings", {}).items():
        told = [f"{one['subject']}: {one['message']}" for one in change["warnings"] if one["code"] == code]
        assert len(told) == len(wanted), told
        for text, words in zip(told, wanted, strict=True):
            assert [word for word in words if str(word) not in text] == [], text
    for path, value in expected.get("json", {}).items():
        assert at_path(change, path) == value, path
    if expected.keys() & {"says", "silent", "first"}:
        text = pair.diff(at=at, stale=True).out
        assert [one for one in expected.get("says", ()) if one not in text] == [], text
        assert [one for one in expected.get("silent", ()) if one in text] == [], text
        assert text.startswith(expected.get("first", ""))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["claim"].replace(" ", "-"))
def test_each_change_has_the_expected_effects(pair: Pair, case: dict[str, Any]) -> None:
    arrange(pair, case)
    for expected in case.get("then", [case]):
        edited(pair.now, expected.get("now", ()))
        check(pair, expected, str(expected.get("at", NOW)))
