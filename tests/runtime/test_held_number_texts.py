"""What a timetable says of a number of somebody else, and how its values and fields are read."""

import json
import pathlib
import subprocess
import sys
from shutil import rmtree
from typing import Any

import pytest
from berth.core.holders import Step
from berth.core.jsonvalues import TimetableError
from berth.core.timetable import parse_timetable
from berth.plugins.numbers.fieldpatches import field_manager, field_patch
from berth.plugins.numbers.foreignnumbers import field_value

from tests.objectstore import json_patched
from tests.runtime.heldworld import HPA, number_text, parsed, shop
from tests.runtime.programs import PODS, make_berth

Path = tuple[Step, ...]
BAD_VALUES: list[object] = ["many", -1, True, {}]
MALFORMED: list[tuple[str, object]] = [
    ("kind", 3),
    ("apiVersion", ""),
    ("plural", None),
    ("namespace", ""),
    ("name", []),
    *(("path", path) for path in ([], "spec.replicas", [["name"]])),
    *(("path", ["spec", step]) for step in (-1, True, ["name", 3])),
    ("ready", [1.5]),
    ("scale", "yes"),
    ("unit", ""),
    ("suffix", "Zi"),
    *(("otherwise", value) for value in BAD_VALUES),
    *((key, ...) for key in ("kind", "apiVersion", "plural", "name", "path", "scale", "unit")),
]


@pytest.mark.parametrize(("key", "value"), MALFORMED)
def test_a_malformed_or_incomplete_number_is_rejected_with_its_path(key: str, value: object) -> None:
    number = {name: other for name, other in (HPA | {key: value}).items() if other is not ...}
    with pytest.raises(TimetableError, match=rf"pools\.small\.number\.{key}"):
        parse_timetable(number_text(number))


@pytest.mark.parametrize("peers", ["exam", [3], [""], {}])
def test_peers_that_are_not_a_list_of_names_are_rejected(peers: object) -> None:
    with pytest.raises(TimetableError, match=r"pools\.small\.peers"):
        parse_timetable(number_text(HPA, peers=peers))


@pytest.mark.parametrize(("key", "plugin"), [("number", "numbers"), ("slots", "slots")])
def test_a_pod_without_a_plugin_reads_the_sessions_of_reservations_that_use_it(
    key: str, plugin: str, tmp_path: pathlib.Path
) -> None:
    """It competes with it for sessions."""
    berth = make_berth(tmp_path)
    rmtree(berth / "berth/plugins")
    code = (
        "import sys; from berth.core.claims import competing_reservation as read\n"
        "from berth.core.timetable import parse_timetable\n"
        "timetable = parse_timetable(sys.argv[1])\n"
        "pool = timetable.pools[0]\n"
        "found = dict(read(timetable, {'small': pool.sessions}, 0).recognitions)\n"
        "print(pool.holder.plugin, found['small'].source)"
    )
    text = number_text(HPA, sessions=PODS).replace('"number"', f'"{key}"')
    command = [sys.executable, "-S", "-c", code, text]
    done = subprocess.run(command, cwd=berth, capture_output=True, text=True, check=True)

    assert done.stdout.split() == [plugin, "pods"]


def test_a_number_has_one_note_name_for_all_holders_and_after_edits() -> None:
    edit = {"apiVersion": "autoscaling/v1", "otherwise": 3, "unit": "pods", "ready": ["status", "x"]}
    note = parsed(HPA).note_name("course-small")
    others: list[dict[str, object]] = [
        {"name": "api"},
        {"namespace": "x"},
        {"path": ["spec", "maxReplicas"]},
        {"kind": "X"},
        {"apiVersion": "keda.sh/v2"},
        {"apiVersion": "v2"},
    ]

    assert parsed(HPA | edit).note_name("exam-huge") == note
    assert len({note, *(parsed(HPA | other).note_name("course-small") for other in others)}) == 7


TREE: dict[str, Any] = {
    "metadata": {"resourceVersion": "7"},
    "spec": {
        "a/b~c": {"x": 1},
        "items": [{"name": "one"}, {"name": "two", "n": 2}],
        "none": None,
        "list": [4, 5],
    },
}
PATHS: list[Path] = [
    ("spec", "a/b~c", "x"),
    ("spec", "a/b~c", "y"),
    ("spec", "p", "q", "r"),
    ("spec", "none", "q"),
    ("spec", "none"),
    ("spec", "items", ("name", "two"), "n"),
    ("spec", "items", ("name", "one"), "n"),
    ("spec", "items", 1, "n"),
    ("spec", "list", 1),
]


@pytest.mark.parametrize("path", PATHS, ids=repr)
def test_a_patch_sets_a_field_and_a_second_patch_restores_it(path: Path) -> None:
    before = field_value(TREE, path)
    changed = json_patched(TREE, field_patch(TREE, path, "9"))
    assert field_value(changed, path) == "9"
    back = json_patched(changed, field_patch(changed, path, before))

    assert field_value(back, path) == before
    assert json.dumps(back["metadata"]) == json.dumps(TREE["metadata"])


NUMBER: Path = ("spec", "n")
KEYED: dict[str, object] = {"f:a": {'k:{"name":"x"}': {"f:n": {}}}}
MANAGERS: list[tuple[Path, object, str]] = [
    (NUMBER, {"f:spec": {"f:n": {}}}, "helm"),
    (NUMBER, {"f:spec": {"f:m": {}}}, ""),
    (NUMBER, {"f:spec": {}}, "helm"),
    (("a", ("name", "x"), "n"), KEYED, "helm"),
    (("a", ("name", "y"), "n"), KEYED, ""),
    (("a", 0), {"f:a": {"i:0": {}}}, "helm"),
    (NUMBER, None, ""),
    (NUMBER, [], ""),
]


@pytest.mark.parametrize(("path", "fields", "manager"), MANAGERS)
def test_the_last_writer_of_a_field_is_its_manager(path: Path, fields: object, manager: str) -> None:
    tree = shop()
    minutes = {"berth-scaler": "31", "helm": "30", "before": "20"}
    tree["metadata"]["managedFields"] = [
        {"manager": name, "time": f"2026-02-02T07:{minute}:00Z", "fieldsV1": fields}
        for name, minute in minutes.items()
    ]

    assert field_manager(tree, path, ("berth-scaler",)) == manager
