"""Schemas made strict, and projects without what `validate` refuses."""

from pathlib import Path
from typing import Any

from berth.pipeline import Pipeline


def strict(schema: Any) -> Any:
    """The schema with what the API server would prune as an error, but where it keeps all."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        made["additionalProperties"] = False
    return made


def drop_refused(folder: Path) -> None:
    """Removes reservations that `validate` refuses, until it refuses none: one may hide behind another."""
    while refused := sorted(errors(folder)):
        for file in refused:
            assert file.startswith("reservations/capacityreservation-")
            (folder / file).unlink()


def errors(folder: Path) -> set[str]:
    pipeline = Pipeline(str(folder))
    pipeline.items()
    return {finding.file for finding in pipeline.findings() if finding.severity == "error"}
