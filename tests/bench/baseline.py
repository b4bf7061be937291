"""The baselines: what other ways to write the same objects, or merely to copy the same bytes, take.

`python -m tests.bench.baseline KIND OBJECTS OUTPUT` is the process that is measured; OBJECTS was prepared
with `pickle`.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import yaml


def prepare(rendered: Path, objects: Path) -> int:
    """Keep every object of the rendered files; answers how many there are."""
    found: list[Any] = []
    for file in sorted(rendered.rglob("*.yaml")):
        found += yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader)
    objects.write_bytes(pickle.dumps(found))
    return len(found)


def main(kind: str, objects: str, output: str) -> None:
    found = pickle.loads(Path(objects).read_bytes())
    with Path(output).open("w", encoding="utf-8") as stream:
        if kind == "pyyaml":
            yaml.dump_all(found, stream, yaml.CSafeDumper, sort_keys=False)
        else:
            from ruamel.yaml import YAML  # noqa: PLC0415 - only its own run pays for it

            YAML(typ="safe", pure=True).dump_all(found, stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
