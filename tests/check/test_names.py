"""Names of rendered objects that would meet are told of both reservations."""

from collections.abc import Sequence

from gen.check.names import Names
from gen.placed import placed
from tests.saying import Value, lines, payload, read, reservation, resource_class, site

TWO = ({"name": "prod"}, {"name": "hub"})


def told(documents: Sequence[Value | list[Value]], cronjobs: int = 1) -> list[str]:
    """Each reservation by name, with as many CronJobs."""
    declared = read(*documents)
    assert declared.problems == []
    assert declared.site is not None
    names, found = Names(declared.site, declared.classes.values()), []
    for one in declared.reservations:
        for part in placed(one, declared, declared.site):
            found += [f"{p.file} {line}" for p in names.take(part, cronjobs) for line in lines([p])]
    return found


def test_names_of_their_own_are_no_fault() -> None:
    assert told([reservation("a"), reservation("b"), resource_class(), site()]) == []


def test_pools_meet_where_names_and_classes_join_to_the_same() -> None:
    first = reservation("a", resourceClass="b-c")
    second = reservation("a-b", resourceClass="c")

    assert told([first, second, resource_class("b-c"), resource_class("c"), site()]) == [
        "b.yaml B066 metadata.name: its Deployment would be named a-b-c, like that of reservation a. "
        "Rename the reservation or its class.",
        "a.yaml B066 metadata.name: its Deployment would be named a-b-c, like that of reservation a-b. "
        "Rename the reservation or its class.",
    ]


def test_a_second_schedule_meets_a_reservation_with_a_number() -> None:
    documents = [reservation("a"), reservation("a-2"), resource_class(), site()]

    assert told(documents) == []
    assert told(documents, cronjobs=2) == [
        "b.yaml B066 metadata.name: its CronJob would be named a-2, like that of reservation a. "
        "Rename the reservation or its class.",
        "a.yaml B066 metadata.name: its CronJob would be named a-2, like that of reservation a-2. "
        "Rename the reservation or its class.",
    ]


def test_in_two_clusters_nothing_meets() -> None:
    first, second = reservation("a", resourceClass="b-c"), reservation("a-b", resourceClass="c")
    classes = [resource_class("b-c", cluster="prod"), resource_class("c", cluster="hub")]

    assert told([first, second, *classes, site(*TWO)]) == []


def test_the_code_of_the_runtime_has_its_name() -> None:
    assert told([reservation("berth-runtime"), resource_class(), site()]) == [
        "a.yaml B066 metadata.name: its ConfigMap would be named berth-runtime, like that of Berth itself. "
        "Rename the reservation or its class."
    ]


def test_no_file_has_the_name_that_kustomize_looks_for() -> None:
    assert told([reservation("kustomization"), resource_class(), site()]) == [
        "a.yaml B066 metadata.name: its file would be named kustomization.yaml, like that of kustomize. "
        "Rename the reservation or its class."
    ]


def test_a_payload_is_told_at_its_name() -> None:
    answer = [payload(name="B"), payload(name="Berth runtime")]

    assert told([answer, resource_class(renkuId=5), site()]) == [
        "a.yaml B066 1.name: its ConfigMap would be named berth-runtime, like that of Berth itself. "
        "Rename the reservation or its class."
    ]


def test_long_names_are_cut_and_do_not_meet_for_it() -> None:
    documents = [reservation("a" * 60), reservation("a" * 61), resource_class(), site()]

    assert told(documents, cronjobs=3) == []
