"""What a timetable says of a number of somebody else, and how its values and fields are read."""

import json
import subprocess
import sys
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from berth.core.holders import Step
from berth.core.jsonvalues import TimetableError
from berth.core.timetable import parse_timetable
from berth.plugins.numbers.fieldpatches import field_manager, field_patch
from berth.plugins.numbers.foreignnumbers import ForeignNumber, field_value

from tests.objectstore import json_patched
from tests.runtime.heldworld import HPA, number_text, parsed, shop
from tests.runtime.programs import PODS, make_berth


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", 3),
        ("apiVersion", ""),
        ("plural", None),
        ("namespace", ""),
        ("name", []),
        ("path", []),
        ("path", "spec.replicas"),
        ("path", [["name"]]),
        ("path", ["spec", -1]),
        ("path", ["spec", True]),
        ("path", ["spec", ["name", 3]]),
        ("ready", [1.5]),
        ("scale", "yes"),
        ("unit", ""),
        ("suffix", "Zi"),
        ("otherwise", "many"),
        ("otherwise", -1),
        ("otherwise", True),
        ("otherwise", {}),
    ],
)
def test_a_number_that_is_malformed_is_refused_with_its_place(key: str, value: object) -> None:
    with pytest.raises(TimetableError, match=rf"pools\.small\.number\.{key}"):
        parse_timetable(number_text(HPA | {key: value}))


@pytest.mark.parametrize("key", ["kind", "apiVersion", "plural", "name", "path", "scale", "unit"])
def test_a_key_that_is_missing_is_refused(key: str) -> None:
    number = {name: value for name, value in HPA.items() if name != key}
    with pytest.raises(TimetableError, match=rf"pools\.small\.number\.{key}"):
        parse_timetable(number_text(number))


@pytest.mark.parametrize("peers", ["exam", [3], [""], {}])
def test_peers_are_names(peers: object) -> None:
    with pytest.raises(TimetableError, match=r"pools\.small\.peers"):
        parse_timetable(number_text(HPA, peers=peers))


def test_a_pod_without_the_plugin_reads_the_sessions_of_a_reservation_with_a_number(tmp_path: Path) -> None:
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
    text = number_text(HPA, sessions=PODS)
    command = [sys.executable, "-S", "-c", code, text]
    done = subprocess.run(command, cwd=berth, capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["numbers", "pods"]


def test_the_same_number_has_one_note_whoever_holds_it_and_however_it_is_edited() -> None:
    number: ForeignNumber = parsed(HPA)
    edited: ForeignNumber = parsed(
        HPA | {"apiVersion": "autoscaling/v1", "otherwise": 3, "unit": "pods", "ready": ["status", "x"]}
    )

    assert number.note_name("course-small") == edited.note_name("exam-huge")
    others: list[dict[str, object]] = [
        {"name": "api"},
        {"namespace": "x"},
        {"path": ["spec", "maxReplicas"]},
        {"kind": "X"},
        {"apiVersion": "keda.sh/v2"},
        {"apiVersion": "v2"},
    ]
    names = {parsed(HPA | other).note_name("course-small") for other in others}
    assert len({*names, number.note_name("course-small")}) == len(others) + 1


@pytest.mark.parametrize(
    ("suffix", "value", "units"),
    [
        ("", 3, 3),
        ("", "500m", 0.5),
        ("", "2k", 2000),
        ("Gi", "64Gi", 64),
        ("Gi", "65536Mi", 64),
        ("Gi", "512Mi", 0.5),
        ("", 1234567, 1234567),
        ("", None, None),
        ("", True, None),
        ("", "many", None),
        ("", [3], None),
        ("", float("nan"), None),
    ],
)
def test_a_value_is_a_number_of_units(suffix: str, value: object, units: float | None) -> None:
    number = parsed(HPA | ({"suffix": suffix} if suffix else {}))

    assert number.units(value) == units


TREE: dict[str, Any] = {
    "metadata": {"resourceVersion": "7"},
    "spec": {
        "a/b~c": {"x": 1},
        "items": [{"name": "one"}, {"name": "two", "n": 2}],
        "none": None,
        "list": [4, 5],
    },
}


@pytest.mark.parametrize(
    "path",
    [
        ("spec", "a/b~c", "x"),
        ("spec", "a/b~c", "y"),
        ("spec", "p", "q", "r"),
        ("spec", "none", "q"),
        ("spec", "none"),
        ("spec", "items", ("name", "two"), "n"),
        ("spec", "items", ("name", "one"), "n"),
        ("spec", "items", 1, "n"),
        ("spec", "list", 1),
    ],
    ids=repr,
)
def test_what_a_patch_sets_is_there_and_what_it_removes_is_gone(path: tuple[Step, ...]) -> None:
    before = field_value(TREE, path)
    changed = json_patched(TREE, field_patch(TREE, path, "9"))
    assert field_value(changed, path) == "9"
    back = json_patched(changed, field_patch(changed, path, before))

    assert field_value(back, path) == before
    assert json.dumps(back["metadata"]) == json.dumps(TREE["metadata"])


@pytest.mark.parametrize("path", [("spec", "items", ("name", "six"), "n"), ("spec", "list", 2)], ids=repr)
def test_items_are_never_made(path: tuple[Step, ...]) -> None:
    assert field_value(TREE, path) is None
    with pytest.raises(KeyError):
        field_patch(TREE, path, 1)


OURS = ("berth-scaler",)


@pytest.mark.parametrize(
    ("path", "fields", "manager"),
    [
        (("spec", "n"), {"f:spec": {"f:n": {}}}, "helm"),
        (("spec", "n"), {"f:spec": {"f:m": {}}}, ""),
        (("spec", "n"), {"f:spec": {}}, "helm"),
        (("a", ("name", "x"), "n"), {"f:a": {'k:{"name":"x"}': {"f:n": {}}}}, "helm"),
        (("a", ("name", "y"), "n"), {"f:a": {'k:{"name":"x"}': {"f:n": {}}}}, ""),
        (("a", 0), {"f:a": {"i:0": {}}}, "helm"),
        (("spec", "n"), None, ""),
        (("spec", "n"), [], ""),
    ],
)
def test_the_manager_of_a_field_is_the_last_that_wrote_it(
    path: tuple[Step, ...], fields: object, manager: str
) -> None:
    tree = shop()
    tree["metadata"]["managedFields"] = [
        {"manager": "berth-scaler", "time": "2026-02-02T07:31:00Z", "fieldsV1": fields},
        {"manager": "helm", "time": "2026-02-02T07:30:00Z", "fieldsV1": fields},
        {"manager": "before", "time": "2026-02-02T07:20:00Z", "fieldsV1": fields},
    ]

    assert field_manager(tree, path, OURS) == manager
