"""Create the files of a new repository, which `berth init` writes."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from berth.edit import workflow
from berth.edit.create import MODELINE, ReservationRequest, new_reservation, reservation_yaml
from berth.edit.issueform import ISSUE_FORM, issue_form
from berth.output.yamltext import quote
from berth.pipeline import Pipeline
from berth.reading.source import SCHEMA, Source
from berth.schema.describe import json_schema_text
from berth.schema.metadata import IGNORE
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass

VENDOR = "vendor"
README = "README.md"
NAMESPACES = {"jupyterhub": "jupyterhub", "renku": "renku", "pods": "default"}
"""The usual namespace of sessions, by their source."""
_BRANCH = "main"
_DEMO_DELAY = timedelta(minutes=2)
_DEMO_LENGTH = timedelta(minutes=30)
_WEEKS = 12
SAMPLE_CLASS, SAMPLE_COURSES = "small", ("first-course", "demo")
_SAMPLE = ((IGNORE, "B032: a sample; the next course names its sessions"),)
_CALENDAR = "university-holidays"
_SITE = """\
# Settings of the platform team. All other fields have their defaults.
apiVersion: berth.dev/v1alpha1
kind: Site
metadata:
  name: {name}
spec:
  timeZone: {zone}
  engine: {engine}
  calendars: [{calendar}]  # no course happens on their dates
{repository}\
  clusters:
    - name: {cluster}
"""
_REPOSITORY = """\
  repository:
    url: {url}
    revision: {branch}
"""
_CLASSES = """\
# The shape of one seat, and how its sessions are recognized.
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata:
  name: small
spec:
{renku}\
  requests: {requests}
  sessions:
    source: {source}
    namespaces: [{namespace}]  # must exist in the cluster
{selector}"""
_RENKU = "  renkuId: 1  # the id of the class in Renku\n"
_SELECTOR = "    selector:\n      matchLabels: {app: session}\n"
_REQUESTS = '{cpu: "1", memory: 4Gi}'
_DEMO_REQUESTS = "{cpu: 100m, memory: 64Mi}"  # they fit into any cluster
_CALENDARS = """\
# Dates without courses, for all reservations: the Site names this calendar. Add those of your house, such as
# {{date: {holiday}, title: Example of a holiday}}.
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata:
  name: {name}
spec:
  dates: []
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


class Starter(NamedTuple):
    """What a new repository should contain. The values are not checked: validate the project."""

    name: str  # of the site
    requirement: str  # what the workflow tells pip to install
    cluster: str
    source: str
    namespace: str
    zone: str
    engine: str
    repository: str = ""
    demo: bool = False
    parts: tuple[str, ...] = ()  # keys of OPTIONAL


def starter_files(starter: Starter, now: int) -> dict[str, str]:
    """Return the text of each file by path. The first course begins on the next Monday."""
    today = datetime.fromtimestamp(now, UTC).date()
    first = today + timedelta(days=7 - today.weekday())
    last = first + timedelta(days=7 * _WEEKS - 3)
    declared = {
        "site": _site(starter),
        "classes": _classes(starter),
        "calendars": _CALENDARS.format(name=_CALENDAR, holiday=first + timedelta(weeks=2)),
    }
    modeline = MODELINE.format(SCHEMA)
    reservations = {
        **{f"reservations/{name}.yaml": modeline + text for name, text in declared.items()},
        "reservations/first-course.yaml": _course(first, last),
        **({"reservations/demo.yaml": _demo(now)} if starter.demo else {}),
    }
    return {
        **reservations,
        f"reservations/{SCHEMA}": json_schema_text(),
        ".gitattributes": _ATTRIBUTES,
        workflow.PREVIEW: workflow.workflow(workflow.PREVIEW, starter.requirement),
        **part_files(starter.parts, starter.requirement, project_of(reservations)),
        README: _README.format(name=starter.name, first=first, last=last),
    }


def part_files(parts: Iterable[str], requirement: str, project: Pipeline) -> dict[str, str]:
    """Return the text of each file that optional parts add to a project, by path."""
    paths = [workflow.OPTIONAL[part].path for part in parts]
    forms = {ISSUE_FORM: issue_form(project.declared, project.site)} if workflow.REQUESTS in paths else {}
    return {
        workflow.REQUIREMENTS: workflow.requirements(),
        **{path: workflow.workflow(path, requirement) for path in paths},
        **forms,
    }


def project_of(texts: dict[str, str]) -> Pipeline:
    """Return the project with these files."""
    paths = [path for path in texts if path.startswith("reservations/") and path.endswith(".yaml")]
    return Pipeline(sources=[Source(path, texts[path].encode()) for path in sorted(paths)])


def next_commands(starter: Starter) -> tuple[str, ...]:
    """Return the commands that lead from the files to pods, to be run in the repository."""
    if starter.engine == "none":
        apply: tuple[str, ...] = (
            "berth render",
            f"kubectl apply --recursive -f rendered/clusters/{starter.cluster}",
            "kubectl create job first-sweep --namespace berth --from=cronjob/berth-sweep",
        )
    else:
        push = f'git add --all && git commit --message "Reserve seats" && git push origin HEAD:{_BRANCH}'
        apply = (f"berth render && {push}", f"kubectl apply -f rendered/gitops/{starter.engine}")
    return (*apply, "kubectl get pods --namespace berth --watch")


def _site(starter: Starter) -> str:
    url = starter.repository
    return _SITE.format(
        name=quote(starter.name),
        zone=starter.zone,
        engine=starter.engine,
        calendar=_CALENDAR,
        repository=_REPOSITORY.format(url=url, branch=_BRANCH) if url else "",
        cluster=quote(starter.cluster),
    )


def _classes(starter: Starter) -> str:
    return _CLASSES.format(
        source=starter.source,
        namespace=quote(starter.namespace),
        renku=_RENKU if starter.source == "renku" else "",
        selector=_SELECTOR if starter.source == "pods" else "",
        requests=_DEMO_REQUESTS if starter.demo else _REQUESTS,
    )


def _course(first: date, last: date) -> str:
    given = {"class": SAMPLE_CLASS, "seats": "25", "weekly": "mon", "from": str(first), "until": str(last)}
    request = ReservationRequest(SAMPLE_COURSES[0], "weekly", ("09:00-13:00",), given)
    return _sample(new_reservation(request))


def _demo(now: int) -> str:
    """Return a course that opens at the first minute after the delay. In UTC, no time of day comes twice."""
    start = datetime.fromtimestamp(-(-now // 60) * 60, UTC) + _DEMO_DELAY
    end = start + _DEMO_LENGTH
    given = {"class": SAMPLE_CLASS, "seats": "2", "from": f"{start:%F}", "until": f"{end:%F}"}
    given |= {"lead": "0", "time-zone": "UTC"}
    request = ReservationRequest(SAMPLE_COURSES[1], "once", (f"{start:%R}-{end:%R}",), given)
    return _sample(new_reservation(request))


def _sample(reservation: Reservation) -> str:
    return reservation_yaml(reservation._replace(annotations=_SAMPLE))


def is_sample_class(resource_class: ResourceClass, source: Source) -> bool:
    """Tell whether a class is the sample of `berth init`, alone in its file and as it was written."""
    sessions = resource_class.sessions
    if resource_class.name != SAMPLE_CLASS or sessions is None or len(sessions.namespace_names) != 1:
        return False
    return source.text in [
        (MODELINE.format(SCHEMA) + _classes(starter)).encode()
        for starter in (
            Starter("", "", "", sessions.source, sessions.namespace_names[0], "", "", demo=demo)
            for demo in (False, True)
        )
    ]
