"""The floors of the architecture: who may import whom, and how large anything may grow."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gen"

# Ground floor first. A module imports from floors below its own only. Every module has a floor.
FLOORS = [
    {"gen.version", "gen.finding", "gen.model", "gen.manifest.naming", "gen.quantity", "gen.runtime.*"},
]
GATES = {
    "jinja2": {"gen.output.template", "gen.output.templaterules"},
    "yaml": {"gen.input.yamltree"},
    "tzdata": {"gen.dates.zone"},
    "zoneinfo": {"gen.dates.zone"},
}
