"""A node class with every field."""

from pathlib import Path

import yaml

from tests.saying import Value

WHOLE: Value = yaml.safe_load((Path(__file__).parents[1] / "cases/nodeclass.yaml").read_text("utf-8"))


def plain(value: object) -> object:
    """With lists for tuples."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value
