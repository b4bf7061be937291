"""Mappings that are passed on as they are: checked, they are plain mappings again."""

from typing import Any

from gen.finding import Path
from gen.kind.shape import INVALID, RANGE, Made, MapOf, Report


class PlainMap(MapOf):
    """As `MapOf`, but the answer is a mapping of what is sound; `most` keys."""

    most = 100

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if isinstance(value, dict) and len(value) > self.most:
            return report(RANGE, path, f"it has {len(value)} keys.", f"Write at most {self.most}.")
        checked = MapOf.check(self, value, path, report)
        return {k: v for k, v in checked if INVALID not in (k, v)} if isinstance(checked, tuple) else checked


class Tags(PlainMap):
    """Of a selector: more are refused by Karpenter."""

    most = 20


def given(made: Made) -> dict[str, Any]:
    """What was written, as plain mappings and lists; what was left out stays out."""
    return {key: value for key, value in made.items() if value is not None}
