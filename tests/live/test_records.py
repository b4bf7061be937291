"""The records that `berth report` finds in clusters."""

import json
from typing import Any

import pytest
from berth.core.record import OccurrenceRecord, record_text
from berth.cost.pastdates import past_dates
from berth.live.records import of_config_maps, of_json
from hypothesis import given
from hypothesis import strategies as st

from tests.answer import Answer
from tests.live.api_server import ApiServer
from tests.live.conftest import Live
from tests.live.sites import two
from tests.live.world import World

ONE = OccurrenceRecord("course/2026-02-02T09:00", {"small": 25}, None, {"small": 7}, window=(0, 1800, 9000))
NOW = ("--now", "2026-03-01")


def config_map(text: str | None, name: str = "course-record", **labels: str) -> dict[str, Any]:
    known = {"berth.dev/site": "uni", "berth.dev/reservation": "course", "berth.dev/role": "record"}
    metadata = {"name": name, "namespace": "berth", "labels": {**known, **labels}}
    return {"kind": "ConfigMap", "metadata": metadata, "data": {} if text is None else {"records.json": text}}


@pytest.fixture
def world(server: ApiServer) -> World:
    server.world.add(config_map(record_text([ONE])))
    return server.world


def report(live: Live) -> Answer:
    return live("report", "-o", "json", *NOW)


def dates(out: str) -> list[tuple[str, int]]:
    return [(load["id"], load["sessionsPeak"]) for load in json.loads(out)["items"]]


@pytest.mark.parametrize("is_newer_first", [True, False])
def test_an_occurrence_of_several_exports_counts_once(is_newer_first: bool) -> None:
    later = ONE._replace(peak={"small": 9}, targets={"small": ((0, 25), (600, 16))})
    gpu = ONE._replace(promised={"gpu": 2})  # the same occurrence in another cluster
    exports = [config_map(record_text([later])), config_map(record_text([ONE]))]
    if not is_newer_first:
        exports.reverse()
    found = of_config_maps([*exports, config_map(record_text([gpu]))])

    assert found == ((later, gpu), ())


def test_report_lists_only_records_of_the_site(live: Live, world: World) -> None:
    other = OccurrenceRecord("other/1", {"small": 1}, window=(0, 1, 2))
    world.add(config_map(record_text([other]), "other-record", **{"berth.dev/site": "other"}))
    code, out, err = report(live)

    assert (code, err, dates(out)) == (0, "", [(ONE.occurrence, 7)])
    assert [one.partition("?")[0] for one in world.asked] == ["/api/v1/namespaces/berth/configmaps"]


def test_a_malformed_record_does_not_hide_the_others(live: Live, world: World) -> None:
    world.add(config_map("{", "bad-record"))
    code, out, err = report(live)

    assert (code, dates(out)) == (0, [(ONE.occurrence, 7)])
    assert err.startswith("prod: warning[S024] ConfigMap bad-record")


def test_a_record_counts_only_for_its_own_reservation(live: Live, world: World) -> None:
    """Its account may write what it likes, and any label."""
    forged = OccurrenceRecord("course/2026-02-02T09:00", {"small": 25}, None, {"small": 99}, window=(0, 1, 2))
    own = OccurrenceRecord("mine/1", {"small": 1}, None, {"small": 1}, window=(0, 1, 2))
    mine = {"berth.dev/reservation": "mine"}
    world.add(config_map(record_text([forged, own]), "mine-record", **mine))
    world.add(config_map(record_text([forged]), "other-record"))
    code, out, err = report(live)

    assert (code, dates(out)) == (0, [("mine/1", 1), (ONE.occurrence, 7)])
    assert [line.partition(". ")[0] for line in err.splitlines()] == [
        'prod: warning[S024] ConfigMap mine-record: "course/2026-02-02T09:00": it is not of this reservation',
        'prod: warning[S024] ConfigMap other-record: it is not the record of reservation "course"',
    ]


def test_a_cluster_that_does_not_answer_does_not_hide_the_others(live: Live, world: World) -> None:
    asking = two(live.server, live.folder)
    code, out, err = live.berth("report", *NOW, *asking[3:], "-o", "json")

    assert world.asked
    assert (code, dates(out)) == (1, [(ONE.occurrence, 7)])
    assert err.startswith("lab: error[S001] ")


def test_an_answer_of_a_proxy_gets_s001(live: Live) -> None:
    live.server.says = {"kind": "Greeting"}
    code, _, err = report(live)

    assert (code, err[:18]) == (1, "prod: error[S001] ")


def test_lists_of_kubectl_and_single_records_are_read() -> None:
    text = record_text([ONE])
    listed = json.dumps({"kind": "List", "items": [config_map(text), config_map(None, "somebody-else")]})

    assert (
        of_json(listed.encode()) == of_json(json.dumps(config_map(text)).encode()) == of_json(text.encode())
    )
    assert of_json(listed.encode("utf-16")) == of_json(text.encode())  # as PowerShell writes it
    assert of_json(text.encode()).records == (ONE,)
    assert of_config_maps([config_map("[]")]) == of_config_maps([])


WHOLE: dict[str, Any] = json.loads(
    record_text(
        [
            OccurrenceRecord(
                "course/1",
                {"small": 25},
                600,
                {"small": 7},
                {"small": ((0, 25), (900, 9))},
                (0, 1800, 9000),
                60,
                {"small": {"lost": 3}},
                ("no answer",),
            )
        ]
    )
)[0]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"promised": {"small": -3}}, "promised.small: -3 is not a non-negative integer"),
        ({"promised": {"small": True}}, "promised.small: true is not a non-negative integer"),
        ({"promised": {"small": 2.5}}, "promised.small: 2.5 is not a non-negative integer"),
        ({"promised": {"small": float("nan")}}, "promised.small: NaN is not a non-negative integer"),
        ({"promised": {"small": 10**12}}, "promised.small: 1000000000000 is more than 2147483647"),
        ({"promised": [["small", 25]]}, 'promised: [["small", 25]] is not an object'),
        ({"sessionsPeak": {"small": "7"}}, 'sessionsPeak.small: "7" is not a non-negative integer'),
        ({"shortfalls": {"small": 3}}, "shortfalls.small: 3 is not an object"),
        ({"targets": {"small": [[0, 25]]}}, "targets.small: 0 is not a non-empty string"),
        ({"targets": {"small": [["1970-01-01T00:00:00Z"]]}}, "targets.small: a point is not an instant"),
        ({"faults": ["\ud800"]}, 'faults: "\\ud800" is not a non-empty string'),
        ({"nodes": {"\ud800": 1}}, 'nodes: "\\ud800" is not a non-empty string'),
        ({"faults": "no answer"}, 'faults: "no answer" is not a list'),
        ({"open": "1970-01-01T09:00:00Z"}, "open, start and end are not in order"),
        ({"end": "noon"}, "end: 'noon' is not an instant"),
        ({"readyAt": "1971-01-01T00:00:00Z"}, "firstReadyAt or readyAt is not between open and end"),
        ({"occurrence": ""}, 'occurrence: "" is not a non-empty string'),
    ],
)
def test_an_invalid_record_is_named_and_left_out(change: dict[str, Any], problem: str) -> None:
    other = {**WHOLE, "occurrence": "course/2"}
    read = of_json(json.dumps([{**WHOLE, **change}, other, 7]).encode())
    of_map = of_config_maps([config_map(json.dumps([{**WHOLE, **change}]))])

    assert [record.occurrence for record in read.records] == ["course/2"]
    assert problem in "".join(read.problems)
    assert "[2]: occurrence: is missing" in read.problems
    assert of_map.problems[0].startswith("ConfigMap course-record: ")


INSTANTS = st.sampled_from(("2026-02-02T07:30:00Z", "2026-02-02T09:00:00Z", "noon"))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | INSTANTS
KEYS = st.sampled_from(("items", "metadata", "data", "name", "small", "occurrence"))
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
COUNTS = st.dictionaries(st.just("small"), SCALARS, max_size=1)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"occurrence": st.sampled_from(("course/1", "", 7)), "promised": COUNTS, "targets": COUNTS},
        optional={
            **dict.fromkeys(("open", "start", "end", "readyAt", "firstReadyAt"), INSTANTS),
            "sessionsPeak": COUNTS,
            "shortfalls": st.dictionaries(st.just("small"), COUNTS, max_size=1),
            "faults": ANYTHING,
            "rehearses": SCALARS,
            "ready": ANYTHING | COUNTS,
            "nodes": ANYTHING | COUNTS,
        },
    ),
    max_size=2,
)


@given(ANYTHING | RECORDS)
def test_any_json_is_read_or_rejected_with_its_problems(tree: object) -> None:
    text = json.dumps(tree)
    try:
        read = of_json(text.encode())
    except ValueError:
        return
    if isinstance(tree, list):
        assert len(read.problems) + len(read.records) <= len(tree)
    for date in past_dates(read.records, 5, 10**10):
        assert date.late >= 0
        assert 0 <= (date.unused or 0) <= 2**31 * (date.end - date.open)
        assert date.reservation in ("course", "")
