"""Metadata: what people may put on everything that is rendered, and what is ours."""

import time

import pytest
from berth.findings import Origin
from berth.schema.declared import KINDS, document_of
from berth.schema.documentproblems import DocumentProblems
from berth.schema.metadata import DO_NOT_DISRUPT, MOST_ANNOTATIONS, Metadata
from berth.schema.types import Annotations, Labels

from tests.cases import tabled
from tests.clouddocuments import cloud
from tests.saying import document, reservation, resource_class, said, site, told


def test_numbers_and_booleans_need_quotes() -> None:
    assert said(Labels, {"year": 2026, "open": True}) == ["B013 open", "B013 year"]
    assert said(Annotations, {"year": 2026, "none": None}) == ["B013 none", "B013 year"]


def test_labels_that_we_set_and_annotations_in_our_domain_are_refused() -> None:
    labels = {"app.kubernetes.io/name": "x", "berth.dev/site": "x", "app.kubernetes.io/component": "x"}
    annotations = {
        "app.kubernetes.io/name": "x",
        "berth.dev/override": "x",
        "berth.dev/ignore": "B031: meant",
    }

    assert said(Metadata, {"name": "a", "labels": labels, "annotations": annotations}) == [
        "B023 annotations.berth.dev/override @key",
        "B023 labels.app.kubernetes.io/name @key",
        "B023 labels.berth.dev/site @key",
    ]
    assert said(Metadata, {"name": "a", "labels": {"berth.dev/ignore": "x"}}) == [
        "B023 labels.berth.dev/ignore @key"
    ]


def test_our_keys_are_refused_beside_other_faults() -> None:
    labels, annotations = {"berth.dev/a": 5, "-": "x"}, {"berth.dev/b": 5, "/": 6}

    assert said(Metadata, {"labels": labels, "annotations": annotations}) == [
        "B011",
        "B013 annotations./",
        "B013 annotations.berth.dev/b",
        "B013 labels.berth.dev/a",
        "B019 annotations./ @key",
        "B019 labels.- @key",
        "B023 annotations.berth.dev/b @key",
        "B023 labels.berth.dev/a @key",
    ]


def test_annotations_have_at_most_8_kib_in_utf_8() -> None:
    key = "example.org/note"
    room = MOST_ANNOTATIONS - len(key)

    assert said(Metadata, {"name": "a", "annotations": {key: "é" * (room // 2)}}) == []
    assert said(Metadata, {"name": "a", "annotations": {key: "é" * (room // 2), "b": "c"}}) == [
        "B019 annotations"
    ]


def test_only_the_top_level_of_a_document_allows_custom_keys() -> None:
    document = {**site(), "x-room": {"any": ["thing"]}}
    inside = site()
    inside["metadata"]["x-room"] = 1
    inside["spec"]["x-room"] = 1

    assert told(document) == []
    assert told(inside) == ["a.yaml B010 metadata.x-room @key", "a.yaml B010 spec.x-room @key"]


def test_a_document_of_another_version_is_refused() -> None:
    assert told({**site(), "apiVersion": "berth.dev/v1"}) == ["a.yaml B014 apiVersion"]
    without = site()
    del without["apiVersion"]
    assert told(without) == ["a.yaml B011"]


SOUND = {
    "Site": site(),
    "ResourceClass": resource_class(),
    "Calendar": document("Calendar", "holidays", {"dates": []}),
    "CloudCapacity": cloud(),
    "CapacityReservation": reservation(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_annotation_on_a_document_is_reported(kind: str) -> None:
    annotations = {"example.org/course": "a", DO_NOT_DISRUPT: "true"}
    metadata = {**SOUND[kind]["metadata"], "annotations": annotations}
    found = [one for one in told({**SOUND[kind], "metadata": metadata}) if "B176" in one]

    assert found == [f"a.yaml B176 metadata.annotations.{DO_NOT_DISRUPT} @key"]


@tabled("schema")
def test_options_of_engines_that_keep_or_reset_objects_are_reported_on_a_reservation(
    name: str, text: str, expected: bool
) -> None:
    course = reservation()
    course["metadata"]["annotations"] = {"example.org/room": "7", name: text}
    holidays = document("Calendar", "a", {"dates": []}, annotations={name: text})

    assert [one for one in told(course, site(), holidays) if "B076" in one] == (
        [f"a.yaml B076 metadata.annotations.{name}"] if expected else []
    )


def test_flux_options_in_labels_are_reported_and_those_of_argo_cd_are_not() -> None:
    flux, argo = "kustomize.toolkit.fluxcd.io/prune", "argocd.argoproj.io/hook"
    course = reservation()
    course["metadata"]["labels"] = {flux: "disabled", argo: "Sync"}

    assert told(course, site()) == [f"a.yaml B076 metadata.labels.{flux}"]


@tabled("schema")
@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_keys_that_kubernetes_or_an_engine_reads_are_refused(name: str, field: str) -> None:
    assert said(Metadata, {"name": "a", field: {name: "x"}}) == [f"B023 {field}.{name} @key"]


@pytest.mark.parametrize(
    "name", ["kueue.x-k8s.io/queue-name", "mykubernetes.io/x", "app.kubernetes.io/version", "x"]
)
def test_other_keys_are_accepted(name: str) -> None:
    assert said(Metadata, {"name": "a", "labels": {name: "x"}, "annotations": {name: "x"}}) == []


def test_there_are_at_most_64_labels() -> None:
    labels = {f"example.org/{number}": "x" for number in range(65)}

    assert said(Metadata, {"name": "a", "labels": labels}) == ["B019 labels"]
    assert said(Metadata, {"name": "a", "labels": dict([*labels.items()][:64])}) == []


def test_problems_beyond_100_are_counted_and_not_listed() -> None:
    """A hundred are listed, and nobody waits for the rest."""
    course = reservation("course")
    course["spec"].update({f"unknown{number}": 1 for number in range(40_000)})
    report = DocumentProblems(Origin("a.yaml"))
    begun = time.process_time()
    made = document_of("CapacityReservation").read(course, report)
    problems = report.closed()

    assert made is None
    assert time.process_time() - begun < 30
    assert [problem.code for problem in problems] == ["B010"] * 100 + ["B272"]
    assert "39900 more" in problems[-1].message


def test_an_error_is_listed_even_after_many_warnings() -> None:
    report = DocumentProblems(Origin("a.yaml"))
    for number in range(150):
        report("B053", (number,), "twice.", "Remove it.")
    report("B010", ("x",), "unknown key.", "Remove it.")
    report("B010", ("y",), "unknown key.", "Remove it.")

    assert [one.code for one in report.closed()] == ["B053"] * 100 + ["B010", "B272"]
    assert report.errors == 2
