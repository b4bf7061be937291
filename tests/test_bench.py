"""What the benchmark compares Berth with makes the same objects."""

import json
from pathlib import Path
from typing import Any

import yaml

from tests.bench import plain, workload
from tests.console import printed


def objects(text: str) -> list[dict[str, Any]]:
    """With the timetable as a value, whose white space means nothing."""
    found = list(yaml.safe_load_all(text))
    for one in found:
        if one["kind"] == "ConfigMap":
            one["data"] = {name: json.loads(value) for name, value in one["data"].items()}
    return found


def test_the_plain_script_makes_the_objects_of_berth(tmp_path: Path) -> None:
    workload.write(tmp_path, 10)
    printed("berth render", tmp_path)
    plain.main(str(tmp_path), str(tmp_path / "plain"))

    for file in (tmp_path / "plain").iterdir():
        ours = tmp_path / "rendered/clusters/prod/reservations" / file.name
        assert objects(file.read_text()) == objects(ours.read_text()), file.name
