"""The floors of the architecture: who may import whom, and how large anything may grow."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gen"

# Ground floor first. A module imports from floors below its own only. Every module has a floor.
FLOORS = [
    {"gen.version", "gen.finding", "gen.model", "gen.naming", "gen.quantity", "gen.runtime.*"},
]
GATES = {
    "jinja2": {"gen.template", "gen.templaterules"},
    "yaml": {"gen.yamltree"},
    "tzdata": {"gen.zone"},
    "zoneinfo": {"gen.zone"},
}
