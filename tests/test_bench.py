"""What the benchmark compares Berth with makes the same objects."""

import json
from pathlib import Path
from typing import Any

import yaml

from tests.bench import plain, workload
from tests.console import printed


def objects(text: str) -> list[dict[str, Any]]:
    """With the timetable as a value, whose white space means nothing."""
    items = list(yaml.safe_load_all(text))
    for one in items:
        if "timetable.json" in one.get("data", {}):
            one["data"] = json.loads(one["data"]["timetable.json"])
    return items


def test_the_plain_script_makes_the_objects_of_berth(tmp_path: Path) -> None:
    workload.write(tmp_path, 10)
    printed("berth render", tmp_path)
    plain.main(str(tmp_path), str(tmp_path / "plain"))

    rendered = {file.name: file for file in (tmp_path / "rendered").rglob("*.yaml")}
    made = {file.name: file for file in (tmp_path / "plain").rglob("*.yaml")}
    assert made.keys() == rendered.keys()
    for name, file in made.items():
        assert objects(file.read_text()) == objects(rendered[name].read_text()), name
