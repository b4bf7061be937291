"""What the values of a JupyterHub mean for placeholders is told at its place in the file of the values."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from berth.findings import Finding
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.cases import tabled
from tests.saying import Value, document, reservation, site

SITE = site({"name": "prod", "z2jh": "hub.yaml"})


def seat(name: str = "small", namespace: str = "hub", **spec: object) -> Value:
    usual = {
        "requests": {"memory": "1Gi"},
        "tolerations": [{"operator": "Exists"}],
        "schedulerName": "hub-user-scheduler",
        "sessions": {"source": "jupyterhub", "namespaces": [namespace]},
    }
    kept = {key: value for key, value in {**usual, **spec}.items() if value is not None}
    return document("ResourceClass", name, kept)


def course(name: str, seats: int, time: str = "09:00", **spec: object) -> Value:
    day = {"startDate": "2026-02-02", "endDate": "2026-02-02"}
    once = {"type": "once", **day, "schedule": [{"startTime": time, "endTime": "12:00"}]}
    made = reservation(name, **{"recurrence": once, "provisioning": {"placeholderCount": seats}, **spec})
    made["metadata"]["annotations"] = {"berth.dev/ignore": "B032: all"}
    return made


def findings(values: str | Mapping[str, str], *documents: Value, there: Value = SITE) -> list[Finding]:
    """Return all findings of a project with these documents and files."""
    files = {"hub.yaml": values} if isinstance(values, str) else values

    def other_file(path: str) -> Source:
        return Source(path, files[path].encode())

    text = "\n---\n".join(map(json.dumps, (there, *(documents or (seat(),)))))
    pipeline = Pipeline(sources=[Source("reservations/a.yaml", text.encode())], other_file=other_file)
    pipeline.items()
    return pipeline.findings()


def told(values: str, *documents: Value, **cluster: object) -> list[str]:
    """Return code, line and path of each finding, where the site says something about the cluster."""
    there = site({"name": "prod", "z2jh": "hub.yaml", **cluster})
    found = findings(values, *documents, there=there)
    return [
        f"{finding.file}:{finding.line} {finding.code} {finding.path}"
        for finding in found
        if finding.file == "hub.yaml"
    ]


USER = "singleuser: {}\nscheduling:\n"
POD, DEFAULT = "scheduling.podPriority", "scheduling.podPriority.defaultPriority"


@tabled("checks")
def test_priorities_that_conflict_with_placeholders_are_reported(values: str, expected: list[str]) -> None:
    assert told(USER + values) == [f"hub.yaml:3 {one}" for one in expected]


def test_the_priority_of_the_cluster_counts() -> None:
    values = USER + "  podPriority: {enabled: true, defaultPriority: -5}"

    assert told(values) == []
    assert f"hub.yaml:3 B262 {DEFAULT}" in told(values, priority=-4)


ENABLED = "scheduling.userScheduler.enabled"
ON, OFF = "  userScheduler: {enabled: true}", "  userScheduler: {enabled: false}"
PROFILE = "singleuser: {profileList: [{display_name: A, kubespawner_override: {scheduler_name: mine}}]}"
FLUX = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: hub}
spec: {values: {singleuser: {}%s}}
"""


@pytest.mark.parametrize(
    ("values", "scheduler", "expected"),
    [
        pytest.param(USER + ON, "a-user-scheduler", [], id="same"),
        pytest.param(USER + ON, None, [f"hub.yaml:3 B262 {ENABLED}"], id="none"),
        pytest.param(
            "singleuser: {}", None, ["hub.yaml:1 B262 scheduling.userScheduler.enabled"], id="default"
        ),
        pytest.param(USER + OFF, None, [], id="off"),
        pytest.param(USER + OFF, "default-scheduler", [], id="off-and-written"),
        pytest.param(USER + OFF, "a-user-scheduler", [f"hub.yaml:3 B262 {ENABLED}"], id="stays-pending"),
        pytest.param(PROFILE, "mine", [], id="of-the-profile"),
        pytest.param(
            PROFILE,
            "a-user-scheduler",
            ["hub.yaml:1 B262 singleuser.profileList[0]"],
            id="not-of-the-profile",
        ),
        pytest.param(FLUX % "", "hub-user-scheduler", [], id="of-the-release"),
        pytest.param(
            FLUX % "",
            "a-user-scheduler",
            ["hub.yaml:4 B262 spec.values.scheduling.userScheduler.enabled"],
            id="of-another-release",
        ),
        pytest.param(FLUX % ", fullnameOverride: x", "x-user-scheduler", [], id="full-name"),
        pytest.param(
            FLUX % ", fullnameOverride: null", "hub-jupyterhub-user-scheduler", [], id="no-full-name"
        ),
    ],
)
def test_placeholders_must_have_the_scheduler_of_their_sessions(
    values: str, scheduler: str | None, expected: list[str]
) -> None:
    assert told(values, seat(schedulerName=scheduler)) == expected


LIMIT = "hub.concurrentSpawnLimit"
TIMES = {"startTime": "06:00", "endTime": "06:30"}
REHEARSAL: dict[str, Any] = {
    "rehearses": {"name": "a", "date": "2026-02-02"},
    "recurrence": {"type": "dates", "dates": [{"date": "2026-01-26", **TIMES}]},
    "provisioning": {"placeholderCount": 64, "scaleDownBehavior": "none", "endsWhenReady": True},
}


@pytest.mark.parametrize(
    ("values", "courses", "expected"),
    [
        pytest.param("singleuser: {}", [course("a", 64)], [], id="default-is-enough"),
        pytest.param("singleuser: {}", [course("a", 200)], [f"hub.yaml:1 B265 {LIMIT}"], id="default"),
        pytest.param("singleuser: {}\nhub: {concurrentSpawnLimit: 200}", [course("a", 200)], [], id="raised"),
        pytest.param("singleuser: {}\nhub: {concurrentSpawnLimit: 0}", [course("a", 200)], [], id="no-limit"),
        pytest.param(
            "{singleuser: {}, hub: {concurrentSpawnLimit: null}}",
            [course("a", 101)],
            [f"hub.yaml:1 B265 {LIMIT}"],
            id="of-jupyterhub",
        ),
        pytest.param(
            "singleuser: {}\nhub: {concurrentSpawnLimit: null}",
            [course("a", 100)],
            [],
            id="100-of-jupyterhub",
        ),
        pytest.param(
            "hub:\n  config: {JupyterHub: {concurrent_spawn_limit: 10}}",
            [course("a", 11)],
            ["hub.yaml:2 B265 hub.config.JupyterHub.concurrent_spawn_limit"],
            id="configured",
        ),
        pytest.param(
            "singleuser: {}", [course("a", 40), course("b", 40)], [f"hub.yaml:1 B265 {LIMIT}"], id="at-once"
        ),
        pytest.param("singleuser: {}", [course("a", 40), course("b", 40, "10:00")], [], id="one-by-one"),
        pytest.param("singleuser: {}", [course("a", 200, suspend=True)], [], id="suspended"),
        pytest.param(
            "{singleuser: {}, hub: {concurrentSpawnLimit: 63}}",
            [course("a", 60), course("rehearsal", 64, **REHEARSAL)],
            [],
            id="rehearsal",
        ),
        pytest.param("singleuser: {}", [course("a", 200, resourceClass="pods")], [], id="other-sessions"),
    ],
)
def test_more_arrivals_than_the_concurrent_spawn_limit_are_reported(
    values: str, courses: list[Any], expected: list[str]
) -> None:
    other = seat("pods", sessions={"source": "pods", "namespaces": ["hub"]})

    assert told(values, seat(), other, *courses) == expected


@pytest.mark.parametrize("namespaces", [["hub"], ["other"], {"matchLabels": {"home": "yes"}}], ids=str)
def test_a_class_with_namespace_labels_is_compared_with_each_hub(namespaces: Any) -> None:
    """Its namespace may have the label."""
    small = seat(sessions={"source": "jupyterhub", "namespaces": namespaces})
    hub = hubs({"files": ["hub.yaml"], "namespace": "hub"})
    found = findings("singleuser: {}", small, course("a", 200), there=hub)

    assert ("B265" in [finding.code for finding in found]) == (namespaces != ["other"])


def test_the_finding_names_arrivals_limit_reservation_and_time() -> None:
    found = findings("singleuser: {}", seat(), course("exam", 200))
    (message,) = [finding.message for finding in found if finding.code == "B265"]

    assert all(word in message for word in ("200", "64", "exam", "2026-02-02 09:00"))


def test_the_site_can_ignore_findings_about_values() -> None:
    metadata = {"name": "example", "annotations": {"berth.dev/ignore": "B262: a test"}}
    values = USER + "  userPlaceholder: {replicas: 5}"

    assert "B262" in {finding.code for finding in findings(values)}
    assert findings(values, there={**SITE, "metadata": metadata}) == []


def hubs(*listed: Value) -> Value:
    return site({"name": "prod", "z2jh": [*listed]})


def test_each_class_is_compared_with_the_hub_of_its_namespace() -> None:
    large = "singleuser: {memory: {guarantee: 8G}}"
    there = hubs(
        {"files": ["small.yaml"], "namespace": "hub"}, {"files": ["large.yaml"], "namespace": "other"}
    )
    found = findings(
        {"small.yaml": "singleuser: {}", "large.yaml": large},
        seat("a"),
        seat("b", "other"),
        there=there,
    )

    assert [(finding.code, finding.path) for finding in found] == [("B085", "spec.requests.memory")]
    assert "class b" in found[0].message


def test_layers_of_values_and_the_release_name_are_used() -> None:
    there = hubs({"files": ["base.yaml", "top.yaml"], "release": "b"})
    top = FLUX.replace("singleuser: {}%s", "jupyterhub: {singleuser: {}}")
    files = {"base.yaml": "jupyterhub: {singleuser: {memory: {guarantee: 8G}}}", "top.yaml": top}
    found = findings(files, seat(schedulerName="b-user-scheduler"), there=there)

    assert [finding.code for finding in found] == ["B085"]


def test_a_hub_in_a_namespace_of_no_class_is_reported() -> None:
    there = hubs({"files": ["hub.yaml"], "namespace": "elsewhere"})
    (found,) = findings("singleuser: {}", there=there)

    assert (found.code, found.path) == ("B029", "spec.clusters[prod].z2jh[0].namespace")


@tabled("checks")
def test_invalid_hub_entries_are_errors(listed: list[Any], expected: list[str]) -> None:
    found = findings("singleuser: {}", there=hubs(*listed))

    assert [f"{finding.code} {finding.path}" for finding in found if finding.severity == "error"] == expected
