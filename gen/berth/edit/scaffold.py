"""Start a repository: the files that `berth init` writes."""

from collections.abc import Iterator
from datetime import date, timedelta

from berth.edit.create import MODELINE, SCHEMA, Wanted, reservation, written
from berth.output.templates import Renderer
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.render import files, text_of
from berth.schema.describe import json_schema_text
from berth.version import VERSION

# A repository to begin with: every file of it, which passes its own checks as it is. Pure but for the
# templates that rendering reads.

ACTION = f"berth-dev/berth@v{VERSION}"
_WEEKS = 12
_SITE = """\
# What the platform team owns. Everything left out has its default.
apiVersion: berth.dev/v1alpha1
kind: Site
metadata:
  name: {name}
spec:
  timeZone: {zone}
  engine: {engine}
  clusters:
    - name: prod
"""
_CLASSES = """\
# The shape of one seat, and how its sessions are recognised.
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata:
  name: small
spec:
  requests: {cpu: "1", memory: 4Gi}
  sessions:
    source: jupyterhub  # renku, jupyterhub, pods or custom
    namespaces: [jupyterhub]
"""
_WORKFLOW = """\
name: berth
on:
  pull_request:
  merge_group:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  preview:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: {action}
"""
_README = """\
# {name}: seats for courses

`reservations/` says who needs how many seats, and when; `rendered/` is made of it and goes to the cluster.
To reserve seats:

1. `berth new my-course 09:00-13:00 --weekly mon --class small --seats 25 --from {first} --until {last}`
2. `berth render`, then `berth diff` shows what it means.
3. Commit both folders, and open a pull request. Its summary lists every date.

One date: `berth skip my-course DATE`, `berth move`, `berth extend`. All dates: `berth occurrences`.
"""


def started(name: str, zone: str, engine: str, after: date) -> dict[str, str]:
    """Text by path. The first course begins on the Monday after a date. Raises EditError.

    The name becomes that of the site; whether it may, and the zone and the engine, the project itself says.
    """
    first = after + timedelta(days=7 - after.weekday())
    last = first + timedelta(days=7 * _WEEKS - 3)
    given = {"class": "small", "seats": "25", "weekly": "mon", "from": str(first), "until": str(last)}
    course = reservation(Wanted("first-course", "weekly", ("09:00-13:00",), given))
    modeline = MODELINE.format(SCHEMA)
    declared = {
        "reservations/site.yaml": modeline + _SITE.format(name=name, zone=zone, engine=engine),
        "reservations/classes.yaml": modeline + _CLASSES,
        "reservations/first-course.yaml": written(course),
    }
    around = {
        f"reservations/{SCHEMA}": json_schema_text(),
        ".gitattributes": "rendered/** linguist-generated=true text eol=lf\n",
        ".github/workflows/berth.yaml": _WORKFLOW.format(action=ACTION),
        "README.md": _README.format(name=name, first=first, last=last),
    }
    return {**declared, **around}


def rendered(pipeline: Pipeline, output: str) -> Iterator[tuple[str, str]]:
    """Path and text of all that it renders to; nothing where it has errors."""
    renderer = Renderer(None)
    for path, text in files(pipeline, renderer, pipeline.items(text_of(pipeline, renderer))):
        yield f"{output}/{path}", text


def project(texts: dict[str, str]) -> Pipeline:
    """The project that these files make."""
    named = [path for path in texts if path.startswith("reservations/") and path.endswith(".yaml")]
    return Pipeline(sources=[Source(path, texts[path].encode()) for path in sorted(named)])
