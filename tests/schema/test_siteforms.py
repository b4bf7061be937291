"""Forms of a Site for clusters that belong to others, and what they refuse."""

from tests.cases import tabled
from tests.saying import Value, finding, read, resource_class, site, told, valid


def cluster(**spec: object) -> object:
    declared = valid(site({"name": "prod", **spec}))
    assert declared.site is not None
    return declared.site.clusters[0]


def problems(*clusters: Value, **spec: object) -> list[str]:
    return told(site(*clusters, **spec))


def test_a_namespace_is_a_name_or_says_whether_it_is_created() -> None:
    for said, name, creates in (
        ("seats", "seats", True),
        ({"name": "seats"}, "seats", True),
        ({"name": "jhub", "create": False}, "jhub", False),
    ):
        found = cluster(namespace=said)
        assert (found.namespace, found.creates_namespace) == (name, creates)  # type: ignore[attr-defined]


def test_a_namespace_of_the_platform_is_refused_in_both_forms() -> None:
    assert problems(namespace="kube-system") == ["a.yaml B019 spec.namespace"]
    assert problems(namespace={"name": "default", "create": False}) == ["a.yaml B019 spec.namespace.name"]
    assert problems(namespace="openshift-monitoring") == [finding("a.yaml B019 spec.namespace", "OpenShift")]
    assert problems(namespace={"create": False}) == ["a.yaml B011 spec.namespace"]
    assert problems(namespace=["a"]) == ["a.yaml B013 spec.namespace"]


def test_a_namespace_of_a_cluster_replaces_the_whole_form_of_the_site() -> None:
    declared = read(site({"name": "prod", "namespace": "own"}, namespace={"name": "jhub", "create": False}))
    assert declared.site is not None

    assert (declared.site.clusters[0].namespace, declared.site.clusters[0].creates_namespace) == ("own", True)


@tabled("schema")
def test_an_existing_priority_class_needs_a_name_and_a_value_below_0(
    priority: object, expected: list[str]
) -> None:
    assert problems(priority=priority) == expected


def test_keys_that_berth_sets_on_pods_are_refused() -> None:
    runtime = {
        "podLabels": {"berth.dev/site": "a", "app.kubernetes.io/name": "b", "team": "c"},
        "podAnnotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "x", "a": "b"},
    }
    seat: Value = {
        "podAnnotations": {"berth.dev/x": "y", "cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    }

    assert problems(runtime=runtime) == [
        "a.yaml B023 spec.runtime.podAnnotations."
        "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes @key",
        "a.yaml B023 spec.runtime.podLabels.app.kubernetes.io/name @key",
        "a.yaml B023 spec.runtime.podLabels.berth.dev/site @key",
    ]
    assert told(site(), resource_class(**seat)) == [
        "b.yaml B023 spec.podAnnotations.berth.dev/x @key",
        "b.yaml B023 spec.podAnnotations.cluster-autoscaler.kubernetes.io/safe-to-evict @key",
    ]
    large = resource_class(podAnnotations={"a": "x" * 9000})
    assert told(site(), large) == ["b.yaml B019 spec.podAnnotations"]


def test_labels_and_annotations_without_an_object_are_reported() -> None:
    notes = {"labels": {"team": "a"}, "annotations": {"team": "b", "berth.dev/ignore": "B037: told by hand"}}
    documents = {
        "Site": site(),
        "ResourceClass": resource_class(),
        "Calendar": {**site(), "kind": "Calendar", "spec": {"dates": []}},
    }
    for kind, document in documents.items():
        document["metadata"] |= notes
        found = [line for line in told(document) if " B029 " in line]
        assert found == [
            finding("a.yaml B029 metadata.annotations @key", kind),
            finding("a.yaml B029 metadata.labels @key", kind),
        ]
        document["metadata"] = {"name": "a", "annotations": {"berth.dev/ignore": "B037: told by hand"}}
        assert not [line for line in told(document) if " B029 " in line]
