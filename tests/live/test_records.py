"""The records that `berth report` finds in clusters."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.core.record import OccurrenceRecord, record_text
from berth.cost.attendance import attendances
from berth.live.records import of_config_maps, of_text
from hypothesis import given
from hypothesis import strategies as st

from tests.answer import Berth
from tests.live.api_server import ApiServer, kubeconfig
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


def report(berth: Berth, server: ApiServer, folder: Path, *more: str) -> tuple[int, str, str]:
    file = kubeconfig(folder / "kubeconfig", {"prod": server.url})
    return berth("report", *NOW, "--kubeconfig", str(file), "-o", "json", *more)


def dates(out: str) -> list[tuple[str, int]]:
    return [(load["id"], load["sessionsPeak"]) for load in json.loads(out)["items"]]


def test_it_lists_only_records_of_the_site(
    berth: Berth, server: ApiServer, world: World, tmp_path: Path
) -> None:
    other = OccurrenceRecord("other/1", {"small": 1}, window=(0, 1, 2))
    world.add(config_map(record_text([other]), "other-record", **{"berth.dev/site": "other"}))
    code, out, err = report(berth, server, tmp_path)

    assert (code, err, dates(out)) == (0, "", [(ONE.occurrence, 7)])
    assert [one.partition("?")[0] for one in world.asked] == ["/api/v1/namespaces/berth/configmaps"]


def test_a_malformed_record_does_not_hide_the_others(
    berth: Berth, server: ApiServer, world: World, tmp_path: Path
) -> None:
    world.add(config_map("{", "bad-record"))
    code, out, err = report(berth, server, tmp_path)

    assert (code, dates(out)) == (0, [(ONE.occurrence, 7)])
    assert err.startswith("prod: warning[S024] ConfigMap bad-record")


def test_a_record_tells_of_its_own_reservation_only(
    berth: Berth, server: ApiServer, world: World, tmp_path: Path
) -> None:
    """Its account may write what it likes, and any label."""
    forged = OccurrenceRecord("course/2026-02-02T09:00", {"small": 25}, None, {"small": 99}, window=(0, 1, 2))
    own = OccurrenceRecord("mine/1", {"small": 1}, None, {"small": 1}, window=(0, 1, 2))
    mine = {"berth.dev/reservation": "mine"}
    world.add(config_map(record_text([forged, own]), "mine-record", **mine))
    world.add(config_map(record_text([forged]), "other-record"))
    code, out, err = report(berth, server, tmp_path)

    assert (code, dates(out)) == (0, [("mine/1", 1), (ONE.occurrence, 7)])
    assert [line.partition(" has")[0] for line in err.splitlines()] == [
        "prod: warning[S024] ConfigMap mine-record",
        "prod: warning[S024] ConfigMap other-record",
    ]


def test_a_cluster_that_does_not_answer_does_not_hide_the_others(
    berth: Berth, server: ApiServer, world: World, tmp_path: Path
) -> None:
    asking = two(server, tmp_path)
    code, out, err = berth("report", *NOW, *asking[3:], "-o", "json")

    assert world.asked
    assert (code, dates(out)) == (1, [(ONE.occurrence, 7)])
    assert err.startswith("lab: error[S001] ")


def test_a_page_of_a_proxy_is_no_list(berth: Berth, server: ApiServer, tmp_path: Path) -> None:
    server.says = {"kind": "Greeting"}
    code, _, err = report(berth, server, tmp_path)

    assert (code, err[:18]) == (1, "prod: error[S001] ")


def test_what_kubectl_prints_and_one_record_alone_are_read() -> None:
    text = record_text([ONE])
    listed = json.dumps({"kind": "List", "items": [config_map(text), config_map(None, "somebody-else")]})

    assert of_text(listed) == of_text(json.dumps(config_map(text))) == of_text(text)
    assert of_text(text).records == (ONE,)
    assert of_config_maps([config_map("[]")]) == of_config_maps([])


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
        },
    ),
    max_size=2,
)


@given(ANYTHING | RECORDS)
def test_whatever_somebody_writes_is_read_or_refused(tree: object) -> None:
    text = json.dumps(tree)
    try:
        read_records = of_text(text)
    except ValueError:
        return
    wrapped = of_config_maps([config_map(text)])
    assert wrapped.malformed or wrapped.records == read_records.records or isinstance(tree, dict)
    for attendance in attendances(read_records.records, 5, ()):
        assert attendance.late >= 0
        assert attendance.reservation in ("course", "")
