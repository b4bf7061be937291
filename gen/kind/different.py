"""A list in which nothing may stand twice."""

from typing import Any

from gen.finding import Path
from gen.kind.shape import CONFLICT, INVALID, ListOf, Report, shown


class Different(ListOf):
    """Kubernetes keeps such a list as a set, or takes only the first of two."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        checked = ListOf.check(self, value, path, report)
        for i, one in enumerate(checked if isinstance(checked, tuple) else ()):
            if one is not INVALID and one in checked[:i]:
                report(CONFLICT, (*path, i), f"{shown(one)} stands twice.", "Remove one of the two.")
        return checked
