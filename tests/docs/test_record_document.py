"""The queries of docs/record.md find what they say, in what a run of an occurrence really writes.

Loki is not asked: the two kinds of filters that the document uses are small enough to be here.
"""

import json
import re
from collections.abc import Mapping

import yaml
from berth.core.record import LOST, NOT_READY, OPENED_LATE, OccurrenceRecord, record_json
from berth.plugins.rehearsals.obstacles import CAUSES

from tests.console import ROOT
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.timetables import COURSE, NEXT, timetable_text

TEXT = (ROOT / "docs/record.md").read_text("utf-8")
RENDERED = ROOT / "rendered/clusters/prod/reservations/data-science-101.yaml"


def world() -> ScalerPod:
    """The seats of the second occurrence never come; a pool of the first is scaled by hand."""
    made = ScalerPod("07:30", timetable_text(COURSE, NEXT), small=0)
    made.plan("08:00:01", lambda: made.cluster.set("course-small", 0))
    made.plan("09:20", lambda: made.cluster.ready.update({"course-small": 0}))
    made.run()
    return made


def matches(query: str, found: Mapping[str, str]) -> bool:
    """A selector of LogQL with = and != only; a label that is not there is an empty one."""
    tests = re.findall(r'(\w+)(!?=)"([^"]*)"', query)
    assert tests
    return all((found.get(name, "") == value) is (how == "=") for name, how, value in tests)


def extracted(value: object) -> str:
    """As the stage `json` of Loki does."""
    return value if isinstance(value, str) else json.dumps(value)


def found_by(query: str, lines: list[dict[str, object]], container: str) -> list[dict[str, object]]:
    stream, form, *filters = query.split(" | ")
    assert form == "json"
    if not matches(stream, {"namespace": "berth", "container": container}):
        return []
    for filter_ in filters:
        name, value = re.fullmatch(r'(\w+)="(.*)"', filter_).groups()  # type: ignore[union-attr]
        lines = [line for line in lines if extracted(line.get(name, "")) == value]
    return lines


def test_the_loki_queries_find_the_records_and_manual_scales() -> None:
    records, never_ready, by_hand = re.findall(r"^    (\{namespace=.*)$", TEXT, re.M)
    pod = next(one for one in yaml.safe_load_all(RENDERED.read_text("utf-8")) if one["kind"] == "CronJob")
    spec = pod["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    container = spec["initContainers"][0]["name"]
    lines = world().log

    assert [line["occurrence"] for line in found_by(records, lines, container)] == ["course/1", "course/2"]
    assert [line["occurrence"] for line in found_by(never_ready, lines, container)] == ["course/2"]
    assert [(line["from"], line["to"]) for line in found_by(by_hand, lines, container)] == [(0, 25)]


def test_the_commands_name_the_record_as_it_is_written() -> None:
    made = world()
    assert made.cluster.record is not None
    data, metadata = made.cluster.record["data"], made.cluster.record["metadata"]

    assert re.findall(r"configmap ([\w-]+) -o jsonpath='\{\.data\.(.*?)\}'", TEXT) == [
        ("data-science-101-record", next(iter(data)).replace(".", r"\."))
    ]
    assert re.findall(r"-l berth\.dev/role=(\w+)", TEXT) == [metadata["labels"]["berth.dev/role"]]
    assert f'.data["{next(iter(data))}"] | fromjson[] | select(.readyAt == null) | .occurrence' in TEXT


def test_the_page_names_every_key_of_a_record_and_every_log_event() -> None:
    first, rest = TEXT.split("## Log lines")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", first, re.M)
    told = set(re.findall(r"`(\w+)`", " ".join(rows)))
    events = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| ((?:`[a-z]+`(?:, )?)+) \|", rest, re.M))))
    written = "".join(
        path.read_text("utf-8")
        for folder in ("runtime", "plugins/slots")
        for path in (ROOT / "gen/berth" / folder).glob("*.py")
        if path.name not in {"sweep.py", "actionrunner.py"}  # the sweep logs by itself
    )
    used = set(re.findall(r'log\.(?:info|error)\)?\(\s*"(\w+)"|_line\("\w+", "(\w+)"', written))

    points = {"small": ((0, 1),)}
    shortfalls = {"small": dict.fromkeys((OPENED_LATE, NOT_READY, LOST), 1)}
    whole = OccurrenceRecord(
        "course/1", {"small": 1}, 0, {"small": 1}, points, (0, 1, 99), 0, shortfalls, ("run: no",)
    )
    whole = whole._replace(rehearses="course/9", ready=points, nodes={"n": 1})
    assert told == record_json(whole).keys()
    assert all(f"`{cause}`, " in first for cause in shortfalls["small"])
    assert all(f"`{cause}`" in first for cause in CAUSES)
    assert events == {one or other for one, other in used}
