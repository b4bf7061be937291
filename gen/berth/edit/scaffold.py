"""Create the files of a new repository, which `berth init` writes. `templates/repository/` has their text."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from berth.edit.create import ReservationRequest, new_reservation, reservation_yaml
from berth.edit.issueform import ISSUE_FORM, issue_form
from berth.edit.prompts import ANSWER_MARK, FORM
from berth.edit.wheel import build_wheel
from berth.output.templates import built_in_folder, repository_file
from berth.pipeline import Pipeline
from berth.reading.source import SCHEMA, Source
from berth.schema.describe import json_schema_text
from berth.schema.metadata import IGNORE

README = "README.md"
ACTION = ".github/berth/"
"""The folder with the action, its scripts, and what they install."""
PREVIEW = ".github/workflows/berth.yaml"
REQUESTS = ".github/workflows/berth-request.yaml"
NAMESPACES = {"jupyterhub": "jupyterhub", "renku": "renku", "pods": "default"}
"""The usual namespace of sessions, by their source."""
SAMPLE_CLASS, SAMPLE_COURSES = "small", ("first-course", "demo")
_DECLARED = [f"reservations/{name}.yaml" for name in ("site", "classes", "calendars")]
_DEMO_DELAY = timedelta(minutes=2)
_DEMO_LENGTH = timedelta(minutes=30)
_WEEKS = 12
_SAMPLE = ((IGNORE, "B032: a sample; the next course names its sessions"),)


class OptionalWorkflow(NamedTuple):
    """A workflow that `berth init` adds if its option is given, and what the option says."""

    path: str
    help: str


OPTIONAL = {
    "calendar": OptionalWorkflow(
        ".github/workflows/berth-calendar.yaml", "Add a workflow that publishes a calendar page."
    ),
    "report": OptionalWorkflow(
        ".github/workflows/berth-report.yaml", "Add a weekly workflow that proposes seats and leads."
    ),
    "requests": OptionalWorkflow(
        REQUESTS, "Add an issue form, and a workflow that turns it into pull requests."
    ),
}
"""By the name of the option."""


class Starter(NamedTuple):
    """What a new repository should contain. The values are not checked: validate the project."""

    name: str  # of the site
    cluster: str
    source: str
    namespace: str
    zone: str
    engine: str
    repository: str = ""
    demo: bool = False
    parts: tuple[str, ...] = ()  # keys of OPTIONAL


def starter_files(starter: Starter, now: int) -> dict[str, bytes]:
    """Return the content of each file by path. The first course begins on the next Monday."""
    today = datetime.fromtimestamp(now, UTC).date()
    first = today + timedelta(days=7 - today.weekday())
    last = first + timedelta(days=7 * _WEEKS - 3)
    values = {**starter._asdict(), "first": first, "last": last, "holiday": first + timedelta(weeks=2)}
    weekly = {"class": SAMPLE_CLASS, "seats": "25", "weekly": "mon", "from": str(first), "until": str(last)}
    texts = {path: repository_file(path, values) for path in (*_DECLARED, ".gitattributes", README)}
    texts["reservations/first-course.yaml"] = _sample(
        ReservationRequest(SAMPLE_COURSES[0], "weekly", ("09:00-13:00",), weekly)
    )
    if starter.demo:
        texts["reservations/demo.yaml"] = _demo(now)
    files = {path: text.encode() for path, text in texts.items()}
    files[f"reservations/{SCHEMA}"] = json_schema_text().encode()
    return {**files, **part_files(starter.parts, project_of(files)), **action_files()}


def part_files(parts: Iterable[str], project: Pipeline) -> dict[str, bytes]:
    """Return the content of each file that optional parts add to a project, by path."""
    values = {"heading": f"### {FORM['title'].heading}", "mark": ANSWER_MARK}
    texts = {OPTIONAL[part].path: repository_file(OPTIONAL[part].path, values) for part in parts}
    if REQUESTS in texts:
        texts[ISSUE_FORM] = issue_form(project.declared, project.site)
    return {path: text.encode() for path, text in texts.items()}


def action_files() -> dict[str, bytes]:
    """Return the workflow of pull requests by path, and all that it runs, with a wheel of this Berth."""
    repository = Path(built_in_folder(), "repository")
    files = [path for path in sorted((repository / ACTION).rglob("*")) if path.is_file()]
    name, wheel = build_wheel()
    return {
        **{path.relative_to(repository).as_posix(): path.read_bytes() for path in files},
        f"{ACTION}{name}": wheel,
        PREVIEW: repository_file(PREVIEW, {}).encode(),
    }


def project_of(files: dict[str, bytes]) -> Pipeline:
    """Return the project with these files."""
    paths = [path for path in files if path.startswith("reservations/") and path.endswith(".yaml")]
    return Pipeline(sources=[Source(path, files[path]) for path in sorted(paths)])


def next_commands(starter: Starter) -> tuple[str, ...]:
    """Return the commands that lead from the files to pods, to be run in the repository."""
    if starter.engine == "none":
        apply: tuple[str, ...] = (
            "berth render",
            f"kubectl apply --recursive -f rendered/clusters/{starter.cluster}",
            "kubectl create job first-sweep --namespace berth --from=cronjob/berth-sweep",
        )
    else:
        push = 'git add --all && git commit --message "Reserve seats" && git push origin HEAD:main'
        apply = (f"berth render && {push}", f"kubectl apply -f rendered/gitops/{starter.engine}")
    return (*apply, "kubectl get pods --namespace berth --watch")


def _demo(now: int) -> str:
    """Return a course that opens at the first minute after the delay. In UTC, no time of day comes twice."""
    start = datetime.fromtimestamp(-(-now // 60) * 60, UTC) + _DEMO_DELAY
    end = start + _DEMO_LENGTH
    given = {"class": SAMPLE_CLASS, "seats": "2", "from": f"{start:%F}", "until": f"{end:%F}"}
    given |= {"lead": "0", "time-zone": "UTC"}
    return _sample(ReservationRequest(SAMPLE_COURSES[1], "once", (f"{start:%R}-{end:%R}",), given))


def _sample(request: ReservationRequest) -> str:
    return reservation_yaml(new_reservation(request)._replace(annotations=_SAMPLE))
