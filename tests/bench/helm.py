"""Render the objects of many courses with Helm 4 as a library: `python -m tests.bench.helm INPUT OUTPUT`.

It does less than Berth: nothing is checked, every course has 17 weeks, and local times stay local.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml


def main(folder: str, output: str) -> None:
    from helm_python.chart import Chart  # noqa: PLC0415 - an optional package, only of this process

    values: dict[str, Any] = {"reservations": [], "classes": {}, "timeZone": "Europe/Zurich"}
    values["images"] = {"pause": "registry.k8s.io/pause:3.10.1", "python": "python:3.13-slim"}
    for file in sorted(Path(folder, "reservations").glob("*.yaml")):
        for document in yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader):
            if document["kind"] == "CapacityReservation":
                values["reservations"].append(document)
            elif document["kind"] == "ResourceClass":
                values["classes"][document["metadata"]["name"]] = document["spec"]
    with Chart.load(Path(__file__).parent / "chart") as chart:
        rendered = chart.render(json.loads(json.dumps(values, default=str)))
    Path(output).write_text("".join(rendered.values()), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
