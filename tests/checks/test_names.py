"""Names of rendered objects that would meet are told of both reservations."""

from collections.abc import Iterable, Sequence

import pytest
from berth.checks.collisions import check_rendered_names
from berth.checks.project import Part, Project
from berth.manifests import code, naming
from berth.manifests.placed import Placed
from berth.schema.values import Cluster

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.manifests.slotparts import SLOTS, altered
from tests.saying import Value, finding, lines, read, reservation, resource_class, site, valid

TWO = ({"name": "prod"}, {"name": "hub"})


def told(documents: Sequence[Value | list[Value]], cronjobs: int = 1) -> list[str]:
    """Each reservation by name, with as many CronJobs."""
    declared = valid(*documents)
    project = project_of(declared)
    return names_of(project, [part.placed for part in project.parts], cronjobs)


def names_of(project: Project, placed: Iterable[Placed], cronjobs: int = 1) -> list[str]:
    """Return what is told of these parts instead of those of the project."""
    parts = tuple(Part(one, (), ("0 7 * * 1",) * cronjobs, ()) for one in placed)
    items = [project.items[0]._replace(parts=parts)]
    return lines(check_rendered_names(project._replace(items=items)), files=True)


def test_different_names_have_no_finding() -> None:
    assert told([reservation("a"), reservation("b"), resource_class(), site()]) == []


def test_pools_whose_joined_names_are_equal_are_reported() -> None:
    first = reservation("a", resourceClass="b-c")
    second = reservation("a-b", resourceClass="c")

    assert told([first, second, resource_class("b-c"), resource_class("c"), site()]) == [
        finding("b.yaml B066 metadata.name", "reservation a", "a-b-c"),
        finding("a.yaml B066 metadata.name", "a-b-c"),
    ]


def test_a_numbered_cron_job_that_equals_a_reservation_name_is_reported() -> None:
    documents = [reservation("a"), reservation("a-2"), resource_class(), site()]

    assert told(documents) == []
    assert told(documents, cronjobs=2) == [
        finding("b.yaml B066 metadata.name", "reservation a", "a-2"),
        finding("a.yaml B066 metadata.name", "a-2"),
    ]


def test_a_record_that_equals_a_reservation_name_is_reported() -> None:
    documents = [reservation("a"), reservation("a-record"), resource_class(), site()]

    assert told(documents) == [
        finding("b.yaml B066 metadata.name", "a-record", "-record"),
        finding("b.yaml B066 metadata.name", "reservation a", "a-record"),
        finding("a.yaml B066 metadata.name", "a-record"),
    ]


def test_a_reservation_name_that_ends_in_record_is_reported() -> None:
    """An account may write its record, and could say by its labels that it is a timetable."""
    assert told([reservation("exam-record"), resource_class(), site()]) == [
        finding("a.yaml B066 metadata.name", "exam-record", "-record")
    ]


def test_a_session_affinity_map_that_equals_a_reservation_name_is_reported() -> None:
    documents = [reservation("a"), reservation("a-session-affinity"), resource_class(), site()]
    declared = read(*documents)
    project = project_of(declared)
    first, second = declared.reservations
    asking = first._replace(holder=altered(SLOTS, session_affinity=True))
    (cluster,) = project.site.clusters
    placed = [Placed(one, cluster, ()) for one in (asking, second)]

    assert names_of(project, placed[:1]) == []
    assert names_of(project, placed)[0] == (
        finding("b.yaml B066 metadata.name", "reservation a", "a-session-affinity")
    )


def test_names_that_only_resemble_code_config_maps_are_allowed() -> None:
    assert all(naming.of_code(code_map_.name) for code_map_ in map(code.code_map, code.PACKAGES))
    for name in ("berth-core", "berth-runtime-course", "a-berth-core-0123456789", "berth-core-01234567890"):
        assert told([reservation(name), resource_class(), site()]) == []


def test_equal_names_in_two_clusters_have_no_finding() -> None:
    first, second = reservation("a", resourceClass="b-c"), reservation("a-b", resourceClass="c")
    classes = [resource_class("b-c", cluster="prod"), resource_class("c", cluster="hub")]

    assert told([first, second, *classes, site(*TWO)]) == []


def of_berth(kind: str, name: str) -> list[str]:
    return [finding("a.yaml B066 metadata.name", kind, name)]


@tabled("checks")
def test_names_of_berth_objects_are_refused(kind: str, name: str) -> None:
    assert told([reservation(name), resource_class(), site()]) == of_berth(kind, name)


def test_the_inventory_name_is_reserved_only_if_no_engine_prunes() -> None:
    documents = [reservation("berth-inventory"), resource_class()]
    home = {"url": "https://git.example.org/capacity.git"}

    assert told([*documents, site(engine="argocd", repository=home)]) == []


def test_a_pool_may_have_the_name_of_the_sweep() -> None:
    """`berth` has no CronJob `berth-sweep` and a Deployment of that name meets nothing."""
    assert told([reservation("berth", resourceClass="sweep"), resource_class("sweep"), site()]) == []


@pytest.mark.parametrize(
    ("namespaces", "meets"), [(["hub"], False), (["hub", "berth"], True)], ids=["other", "our-own"]
)
def test_the_session_role_name_is_reserved_only_with_sessions_in_our_namespace(
    namespaces: list[str], meets: bool
) -> None:
    name = "berth-example-sessions"
    found = resource_class(sessions={"source": "pods", "namespaces": namespaces})

    assert told([reservation(name), found, site()]) == (of_berth("Role", name) if meets else [])


def test_sessions_of_another_cluster_reserve_no_name() -> None:
    pods = {"source": "pods", "namespaces": ["berth"]}
    classes = [resource_class("small", cluster="prod"), resource_class("other", cluster="hub", sessions=pods)]

    assert told([reservation("berth-example-sessions"), *classes, site(*TWO)]) == []


def test_an_inventory_larger_than_a_config_map_is_reported() -> None:
    declared = read(reservation("a"), resource_class(), site({"name": "hub", "engine": "flux"}, *TWO[:1]))
    project = project_of(declared)
    hub, prod = project.site.clusters
    (only,) = declared.reservations

    def told_of(cluster: Cluster, number: int) -> list[str]:
        named = (only._replace(name=f"{i:063}") for i in range(number))
        return names_of(project, [Placed(one, cluster, ()) for one in named])

    assert told_of(hub, 3201) == []
    assert told_of(prod, 3200) == []
    assert told_of(prod, 3201) == [finding("c.yaml B073 spec.clusters.1", "3201", "200")]


def test_the_name_kustomization_is_refused() -> None:
    assert told([reservation("kustomization"), resource_class(), site()]) == [
        finding("a.yaml B066 metadata.name", "kustomization")
    ]


def test_long_names_that_are_cut_do_not_collide() -> None:
    documents = [reservation("a" * 60), reservation("a" * 61), resource_class(), site()]

    assert told(documents, cronjobs=3) == []
