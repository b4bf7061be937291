"""Whatever stands wherever: reading goes on, and answers with sentences where the fault is."""

from random import Random
from typing import Any

import pytest
from berth.findings import ERROR, Path, severity

from tests.saying import document, lines, read, resource_class, site, weekly
from tests.schema.clouds import MACHINES
from tests.schema.clouds import WHOLE as CLOUDS
from tests.schema.junk import JUNK, changed, everything, judge, misspelt, places

TIMES = {"startTime": "09:00", "endTime": "13:00"}
SEATS = {"resourceClass": "small", "placeholderCount": 20}
PROD = {
    "name": "prod",
    "destination": {"server": "https://a"},
    "autoscaler": "karpenter",
    "ceilings": [
        {"seats": {"small": 900}, "requests": {"cpu": "900"}, "from": "2026-02-01", "until": "2026-03-01"}
    ],
    "runtime": {"tolerations": [{"operator": "Exists"}], "resources": {"limits": {"memory": "1Gi"}}},
}
SITE = site(
    PROD,
    {"name": "lab", "engine": {"type": "argocd", "automated": False, "syncOptions": ["Validate=false"]}},
    timeZone="Europe/Zurich",
    engine={"type": "flux", "sourceKind": "Bucket", "dependsOn": ["a"], "labels": {"a": "b"}},
    repository={"url": "https://git.example.org/a", "revision": "main", "path": "a/b"},
    images={"pullSecrets": ["a"]},
    priority=-5,
)
TERM = {"topologyKey": "a", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["c"]}
CLASS = resource_class(
    cluster="prod",
    renkuId=5,
    limits={"cpu": 2},
    sessions={"source": "renku", "namespaces": ["renku"]},
    podLabels={"a": "b"},
    nodeSelector={"a": "b"},
    affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}},
    topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"}],
)
CALENDAR = document(
    "Calendar", "holidays", {"dates": ["2026-02-09", {"from": "2026-02-23", "to": "2026-02-24"}]}
)
COURSE = document(
    "CapacityReservation",
    "course",
    {
        "title": "A course",
        "recurrence": weekly(
            {"dayOfWeek": 1, **TIMES},
            {"daysOfWeek": ["tue"], **TIMES, "endDay": 1, "seats": [{**SEATS}]},
            timeZone="Europe/Zurich",
            calendars=["holidays"],
            **{"except": ["2026-02-03", {"date": "2026-02-16", "startTime": "09:00"}]},
            moved=[{"date": "2026-02-02", "startTime": "09:00", "to": {"date": "2026-02-04"}}],
            extra=[{"date": "2026-03-02", **TIMES}],
        ),
        "provisioning": {"seats": [{**SEATS}], "leadTimeMinutes": 5},
        "sessions": {"matchLabels": {"a": "b"}, "earlier": "ignore"},
        "backend": {"type": "placeholder"},
        "suspend": False,
    },
    labels={"a": "b"},
    annotations={"c": "d", "berth.dev/ignore": "B031: meant"},
)  # fmt: skip
WHOLE: list[Any] = [
    SITE,
    CLASS,
    CALENDAR,
    COURSE,
]


PROJECTS = {"courses": WHOLE, "clouds": CLOUDS}
of_each_file = pytest.mark.parametrize(
    ("project", "file"),
    [
        *((name, file) for name, documents in PROJECTS.items() for file in range(len(documents))),
        ("machines", 1),
    ],
)


def documents_of(project: str) -> list[Any]:
    return [CLOUDS[0], MACHINES] if project == "machines" else PROJECTS[project]


def judge_with(project: str, file: int, value: Any) -> None:
    """Judge the project with this document in the place of its own."""
    documents = documents_of(project)
    judge(file, [*documents[:file], value, *documents[file + 1 :]])


def test_the_unchanged_documents_have_no_error() -> None:
    assert [problem for problem in everything(WHOLE) if severity(problem.code) == ERROR] == []
    assert everything(CLOUDS) == []
    # No class names the machines.
    assert [problem.code for problem in everything(documents_of("machines"))] == ["B158"]


@of_each_file
def test_an_invalid_value_at_any_place_is_reported_there_or_is_harmless(project: str, file: int) -> None:
    document = documents_of(project)[file]
    for path in places(document):
        for junk in JUNK if path else JUNK[1:]:  # a document that is nothing is none
            judge_with(project, file, changed(document, path, junk))


@of_each_file
def test_a_misspelled_key_at_any_place_is_reported_there_or_is_harmless(project: str, file: int) -> None:
    document = documents_of(project)[file]
    for path in places(document):
        if path and isinstance(path[-1], str):
            judge_with(project, file, misspelt(document, path))


def faults(value: Any) -> list[tuple[Path, Any]]:
    """Places and junk for them; not the kind, without which nothing else is known."""
    chosen = [path for path in places(value) if path and path != ("kind",)]
    return [(path, junk) for path in chosen for junk in ("A b", -1)]


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=["site", "class", "calendar", "course"])
def test_two_faults_in_a_document_are_both_reported(file: int) -> None:
    random = Random(file)
    name = f"{chr(97 + file)}.yaml"

    def errors(value: Any) -> set[str]:
        problems = read(*WHOLE[:file], value, *WHOLE[file + 1 :]).problems
        own = [problem for problem in problems if problem.file == name and severity(problem.code) == ERROR]
        return set(lines(own))

    all_faults = faults(WHOLE[file])
    for path, junk in all_faults:
        for other, second in random.sample(all_faults, 4):
            if path[: len(other)] == other or other[: len(path)] == path:
                continue
            one, two = changed(WHOLE[file], path, junk), changed(WHOLE[file], other, second)

            assert errors(one) | errors(two) <= errors(changed(one, other, second)), (path, other)
