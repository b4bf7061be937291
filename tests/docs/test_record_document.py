"""The queries of docs/record.md find what they say, in what a run of an occurrence really writes.

Neither kube-state-metrics nor Loki is asked: their rules for names, and the two kinds of filters that the
document uses, are small enough to be here.
"""

import re
from collections.abc import Mapping

import yaml

from tests.console import ROOT
from tests.runtime.world import COURSE, NEXT, World, timetable_text

TEXT = (ROOT / "docs/record.md").read_text("utf-8")
RENDERED = ROOT / "rendered/clusters/prod/reservations/data-science-101.yaml"


def world() -> World:
    """The seats of the second occurrence never come; a pool of the first is scaled by hand."""
    made = World("07:30", timetable_text(COURSE, NEXT), small=0)
    made.plan("08:00:01", lambda: made.cluster.set("course-small", 0))
    made.plan("09:20", lambda: made.cluster.ready.update({"course-small": 0}))
    made.run()
    return made


def annotations(ready: bool) -> dict[str, str]:
    """Of a Job."""
    made = World("07:30", timetable_text(COURSE), small=0)
    if not ready:
        made.cluster.ready["course-small"] = 12
    made.run()
    return made.cluster.job


def labels(allowed: list[str], notes: Mapping[str, str]) -> dict[str, str]:
    """As kube-state-metrics names them: whatever may not be in a label's name becomes an underscore."""
    return {"annotation_" + re.sub(r"\W", "_", key): notes[key] for key in allowed if key in notes}


def matches(query: str, found: Mapping[str, str]) -> bool:
    """A selector of PromQL or LogQL with = and != only; a label that is not there is an empty one."""
    tests = re.findall(r'(\w+)(!?=)"([^"]*)"', query)
    assert tests
    return all((found.get(name, "") == value) is (how == "=") for name, how, value in tests)


def test_kube_state_metrics_would_find_the_occurrences_that_were_never_ready() -> None:
    (listed,) = re.findall(r"--metric-annotations-allowlist=jobs=\[(.*?)\]", TEXT)
    (query,) = re.findall(r"kube_job_annotations(\{.*?\})", TEXT)
    late, in_time = (labels(listed.split(","), annotations(ready)) for ready in (False, True))

    assert set(re.findall(r"(\w+)!?=", query)) <= late.keys()
    assert matches(query, late)
    assert not matches(query, in_time)
    assert not matches(query, {})  # of a Job that is not ours


def found_by(query: str, lines: list[dict[str, object]], container: str) -> list[dict[str, object]]:
    stream, form, *filters = query.split(" | ")
    assert form == "json"
    if not matches(stream, {"namespace": "berth", "container": container}):
        return []
    for one in filters:
        name, how, value = re.fullmatch(r'(\w+)(=~?)"(.*)"', one).groups()  # type: ignore[union-attr]
        pattern = value if how == "=~" else re.escape(value)
        lines = [line for line in lines if re.fullmatch(pattern, str(line.get(name, "")))]
    return lines


def test_loki_would_find_the_records_and_who_scaled_by_hand() -> None:
    records, by_hand = re.findall(r"^    (\{namespace=.*)$", TEXT, re.M)
    pod = next(one for one in yaml.safe_load_all(RENDERED.read_text("utf-8")) if one["kind"] == "CronJob")
    container = pod["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["name"]
    lines = world().log

    assert [line["occurrence"] for line in found_by(records, lines, container)] == ["course/1", "course/2"]
    assert [(line["from"], line["to"]) for line in found_by(by_hand, lines, container)] == [(0, 25)]


def test_it_names_every_annotation_that_is_written_and_every_event_of_the_log() -> None:
    told = set(re.findall(r"^\| `(berth\.dev/[\w-]+)` \|", TEXT, re.M))
    events = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| ((?:`[a-z]+`(?:, )?)+) \|", TEXT, re.M))))
    written = "".join(
        (ROOT / "gen/berth/runtime" / f"{name}.py").read_text("utf-8")
        for name in ("program", "occurrence", "reconciler", "slotreconciler", "recorder", "scaler")
    )
    used = set(re.findall(r'log\.(?:info|error)\(\s*"(\w+)"|_line\("\w+", "(\w+)"', written))

    assert told == annotations(ready=True).keys()
    assert events == {one or other for one, other in used}
