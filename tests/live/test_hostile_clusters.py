"""No text of a cluster acts on a terminal or in a log, whatever has happened there."""

import json
from typing import Any

import pytest
from berth.cli.status import as_answer, as_text
from berth.core.jsonvalues import parse_instant
from berth.dates.moments import named
from berth.output.answers import serialize
from berth.output.escape import printed

from tests.cases import tabled
from tests.hostile import WHATEVER, acts_on_a_log, acts_on_a_terminal
from tests.live import project
from tests.live.conftest import Live
from tests.live.happenings import CASES, Case, in_order
from tests.live.judged import looked_before, status
from tests.live.sites import asking
from tests.live.world import World

MESSAGES = {"message", "reason", "manager", "component", "image", "nodeName", "schedulerName", "value"}
RECORD = {"berth.dev/site": "uni", "berth.dev/reservation": "course", "berth.dev/role": "record"}
IDENTITY = {
    "kind",
    "apiVersion",
    "name",
    "namespace",
    "labels",
    "uid",
    "resourceVersion",
    "data",
    "type",
    "status",
}


def spoiled(tree: Any, *, whole: bool, key: str = "") -> Any:
    """Return an object whose texts act: those for people, or the `whole` of what others may write."""
    if isinstance(tree, dict):
        keep = whole and key in IDENTITY
        return {k: v if keep else spoiled(v, whole=whole, key=k) for k, v in tree.items()}
    if isinstance(tree, list):
        return [spoiled(item, whole=whole, key=key) for item in tree]
    is_time = key.lower().endswith(("time", "timestamp"))
    is_text = isinstance(tree, str) and (key in MESSAGES or (whole and key not in IDENTITY and not is_time))
    return f"{tree}{WHATEVER}" if is_text else tree


def spoil(world: World, *, whole: bool) -> None:
    world.objects = [spoiled(object_, whole=whole) for object_ in world.objects]
    world.refused = {path: f"{message}{WHATEVER}" for path, message in world.refused.items()}


@pytest.mark.parametrize("whole", [False, True], ids=["messages", "whole"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_text_of_an_object_controls_a_terminal_or_a_log(case: Case, whole: bool) -> None:
    git = project.project()
    world = in_order(git, case.now)
    case.happen(world)
    earlier = looked_before(case, world, git)
    spoil(world, whole=whole)
    found = [status(world, git, case.now, earlier)]

    for wide in (False, True):
        text = as_text(found, lambda _: named("UTC"), parse_instant(case.now), wide=wide, color=False)
        assert acts_on_a_terminal(text) == []
        assert acts_on_a_log(printed(text)) == []
    assert acts_on_a_terminal(serialize(as_answer(found), "json")) == []


def test_hostile_texts_of_objects_appear_in_findings() -> None:
    """Else the test above tells nothing."""
    found = set()
    for case in CASES:
        git = project.project()
        world = in_order(git, case.now)
        case.happen(world)
        spoil(world, whole=False)
        state = status(world, git, case.now)
        findings = [*state.findings, *(finding for pool in state.pools for finding in pool.findings)]
        found |= {
            finding.code for finding in findings if WHATEVER[:6] in f"{finding.message}{finding.subject}"
        }

    assert len(found) > 4


@tabled("live")
@pytest.mark.parametrize("says", ["objects", "refusal", "garbage"])
def test_no_answer_of_a_server_controls_a_terminal_or_a_log(words: list[str], live: Live, says: str) -> None:
    reachable = asking(live.server, live.folder)[1:]
    metadata = {"name": f"course{WHATEVER}", "namespace": "berth", "labels": RECORD}
    records = json.dumps([{"occurrence": WHATEVER}])
    live.world.add({"kind": "ConfigMap", "metadata": metadata, "data": {"records.json": records}})
    spoil(live.world, whole=True)
    if says == "refusal":
        live.world.refused["/"] = f"HTTP 403: {WHATEVER}"
    elif says == "garbage":
        live.server.garbage = WHATEVER.encode()
    answer = live.berth(*words, *reachable)

    assert acts_on_a_terminal(answer.out + answer.err) == []
    assert acts_on_a_log(answer.out + answer.err) == []
