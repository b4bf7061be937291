"""Every option of each engine, but for those that would leave others without effect."""

from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).parents[1] / "cases/engines.yaml"
EVERY: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text("utf-8"))
