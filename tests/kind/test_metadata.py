"""Metadata: what people may put on everything that is rendered, and what is ours."""

import pytest

from gen.declared import KINDS
from gen.kind.metadata import ANNOTATIONS, LABELS, METADATA, MOST_ANNOTATIONS, OF_PODS
from tests.kind.test_grammar import KEY_RULE
from tests.saying import ask, document, said, site, told


def test_labels_and_annotations_are_kept_in_the_order_of_the_file() -> None:
    value = {"name": "a", "labels": {"b": "1", "a": ""}, "annotations": {"example.org/note": "a\nb: c"}}

    assert ask(METADATA, value) == (
        {
            "name": "a",
            "labels": (("b", "1"), ("a", "")),
            "annotations": (("example.org/note", "a\nb: c"),),
        },
        [],
    )


def test_they_are_none_where_nothing_is_said() -> None:
    assert ask(METADATA, {"name": "a"}) == ({"name": "a", "labels": (), "annotations": ()}, [])


def test_numbers_and_truth_values_need_quotes_as_in_kubernetes() -> None:
    assert said(LABELS, {"year": 2026, "open": True}) == [
        'B013 year: 2026 is a number, not a label value. Write it in quotes: "2026".',
        'B013 open: true is a truth value, not a label value. Write it in quotes: "true".',
    ]
    assert said(ANNOTATIONS, {"year": 2026, "none": None}) == [
        'B013 year: 2026 is a number, not text. Write it in quotes: "2026".',
        "B013 none: null is not text. Write text.",
    ]


def test_labels_that_we_set_are_refused_and_annotations_only_in_our_domain() -> None:
    labels = {"app.kubernetes.io/name": "x", "berth.dev/site": "x", "app.kubernetes.io/component": "x"}
    annotations = {
        "app.kubernetes.io/name": "x",
        "berth.dev/override": "x",
        "berth.dev/ignore": "B031: meant",
    }

    assert said(METADATA, {"name": "a", "labels": labels, "annotations": annotations}) == [
        'B023 labels.app.kubernetes.io/name @key: "app.kubernetes.io/name" is set by Berth itself. '
        "Remove it.",
        'B023 labels.berth.dev/site @key: "berth.dev/site" is set by Berth itself. Remove it.',
        'B023 annotations.berth.dev/override @key: "berth.dev/override" is set by Berth itself. Remove it.',
    ]
    assert said(METADATA, {"name": "a", "labels": {"berth.dev/ignore": "x"}}) == [
        'B023 labels.berth.dev/ignore @key: "berth.dev/ignore" is set by Berth itself. Remove it.'
    ]


def test_our_keys_are_refused_whatever_else_is_wrong() -> None:
    labels, annotations = {"berth.dev/a": 5, "-": "x"}, {"berth.dev/b": 5, "/": 6}

    assert said(METADATA, {"labels": labels, "annotations": annotations}) == [
        'B013 labels.berth.dev/a: 5 is a number, not a label value. Write it in quotes: "5".',
        f'B020 labels.- @key: "-" is not a key that Kubernetes allows. {KEY_RULE}',
        'B013 annotations.berth.dev/b: 5 is a number, not text. Write it in quotes: "5".',
        f'B020 annotations./ @key: "/" is not a key that Kubernetes allows. {KEY_RULE}',
        'B013 annotations./: 6 is a number, not text. Write it in quotes: "6".',
        "B011 : name is missing. Add name: a DNS label.",
        'B023 labels.berth.dev/a @key: "berth.dev/a" is set by Berth itself. Remove it.',
        'B023 annotations.berth.dev/b @key: "berth.dev/b" is set by Berth itself. Remove it.',
    ]


def test_annotations_have_at_most_8_kib_in_utf_8() -> None:
    key = "example.org/note"
    room = MOST_ANNOTATIONS - len(key)

    assert said(METADATA, {"name": "a", "annotations": {key: "é" * (room // 2)}}) == []
    assert said(METADATA, {"name": "a", "annotations": {key: "é" * (room // 2), "b": "c"}}) == [
        "B020 annotations: the annotations have more than 8 KiB. Shorten them: they stand on every object."
    ]


def test_only_the_top_of_a_document_takes_keys_of_the_authors_own() -> None:
    document = {**site(), "x-room": {"any": ["thing"]}}
    inside = site()
    inside["metadata"]["x-room"] = 1
    inside["spec"]["x-room"] = 1

    assert told(document) == []
    assert told(inside) == [
        "a.yaml B010 metadata.x-room @key: this key is unknown. Known here: name, labels, annotations.",
        "a.yaml B010 spec.x-room @key: this key is unknown. Known here: berthVersion, timeZone, engine, "
        "namespace, priority, images, runtime, repository, clusters, kustomization, renku, scaler, diff.",
    ]


def test_a_document_of_another_version_is_refused() -> None:
    assert told({**site(), "apiVersion": "berth.dev/v1"}) == [
        'a.yaml B014 apiVersion: "berth.dev/v1" is not "berth.dev/v1alpha1". Did you mean berth.dev/v1alpha1?'
    ]
    without = site()
    del without["apiVersion"]
    assert told(without) == ['a.yaml B011 : apiVersion is missing. Add apiVersion: "berth.dev/v1alpha1".']


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", OF_PODS)
def test_annotations_of_pods_do_nothing_on_a_document(kind: str, key: str) -> None:
    annotations = {"example.org/course": "a", key: "true"}
    found = [one for one in told(document(kind, "a", {}, annotations=annotations)) if "B176" in one]

    assert found == [
        f"a.yaml B176 metadata.annotations.{key} @key: {key} is read on pods; annotations of a {kind} are on "
        "none. Remove it: windows hold their nodes by budgets, and placeholders may go at any time."
    ]
