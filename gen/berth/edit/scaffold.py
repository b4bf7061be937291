"""Create the files of a new repository, which `berth init` writes."""

from collections.abc import Iterator
from datetime import date, timedelta

from berth.edit.create import MODELINE, SCHEMA, ReservationRequest, new_reservation, reservation_yaml
from berth.output.templates import Renderer
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.render import files, text_of
from berth.schema.describe import json_schema_text
from berth.version import VERSION

ACTION = f"berth-dev/berth@v{VERSION}"
_WEEKS = 12
_SITE = """\
# Settings of the platform team. All other fields have their defaults.
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
# The shape of one seat, and how its sessions are recognized.
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

`reservations/` declares who needs how many seats, and when. `rendered/` is generated from it for the cluster.
To reserve seats:

1. `berth new my-course 09:00-13:00 --weekly mon --class small --seats 25 --from {first} --until {last}`
2. `berth render`, then `berth diff` to see what changes.
3. Commit both folders, and open a pull request. Its summary lists all dates.

One date: `berth skip my-course DATE`, `berth move`, `berth extend`. All dates: `berth occurrences`.
"""

# The code in runtime.yaml and the dates of reservations are reviewed where they come from; permissions here.
_ATTRIBUTES = """\
rendered/** linguist-generated=true text eol=lf
rendered/clusters/*/base.yaml -linguist-generated
rendered/gitops/** -linguist-generated
"""


def starter_files(name: str, zone: str, engine: str, after: date) -> dict[str, str]:
    """Return the text of each file by path. The first course begins on the Monday after a date.

    `name` is the name of the site. The values are not checked: validate the project.
    """
    first = after + timedelta(days=7 - after.weekday())
    last = first + timedelta(days=7 * _WEEKS - 3)
    given = {"class": "small", "seats": "25", "weekly": "mon", "from": str(first), "until": str(last)}
    course = new_reservation(ReservationRequest("first-course", "weekly", ("09:00-13:00",), given))
    modeline = MODELINE.format(SCHEMA)
    declared = {
        "reservations/site.yaml": modeline + _SITE.format(name=name, zone=zone, engine=engine),
        "reservations/classes.yaml": modeline + _CLASSES,
        "reservations/first-course.yaml": reservation_yaml(course),
    }
    others = {
        f"reservations/{SCHEMA}": json_schema_text(),
        ".gitattributes": _ATTRIBUTES,
        ".github/workflows/berth.yaml": _WORKFLOW.format(action=ACTION),
        "README.md": _README.format(name=name, first=first, last=last),
    }
    return {**declared, **others}


def render_files(pipeline: Pipeline, output: str) -> Iterator[tuple[str, str]]:
    """Render a project: yield paths and texts; nothing if it has errors."""
    renderer = Renderer(None)
    for path, text in files(pipeline, renderer, pipeline.items(text_of(pipeline, renderer))):
        yield f"{output}/{path}", text


def project_of(texts: dict[str, str]) -> Pipeline:
    """Return the project with these files."""
    paths = [path for path in texts if path.startswith("reservations/") and path.endswith(".yaml")]
    return Pipeline(sources=[Source(path, texts[path].encode()) for path in sorted(paths)])
