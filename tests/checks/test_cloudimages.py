"""Images of machines that may be others tomorrow."""

from tests.checks.clouds import of_cloud
from tests.clouddocuments import GOOD
from tests.saying import Value, finding


def images(*terms: Value, **more: str) -> list[str]:
    return of_cloud(nodeClass={**GOOD, "amiSelectorTerms": list(terms), **more})


def test_an_image_that_moves_replaces_nodes() -> None:
    assert images({"alias": "al2023@latest"}) == [
        finding("B186 spec.nodeClass.amiSelectorTerms.0", "al2023", "v20260107")
    ]
    assert images({"alias": "windows2022@latest"}) == []


def test_an_image_by_what_is_not_its_own_may_be_another_tomorrow() -> None:
    still: list[Value] = [
        {"id": "ami-0a"},
        {"name": "nodes-7", "owner": "self"},
        {"ssmParameter": "/nodes/ami:7"},
    ]
    moving: list[Value] = [
        {"name": "nodes-*"},
        {"tags": {"team": "ml"}},
        {"ssmParameter": "/nodes/ami"},
        {"ssmParameter": "/nodes/ami:good"},
    ]

    assert images(*still, amiFamily="AL2023") == []
    assert images(*still, *moving, amiFamily="AL2023") == [
        finding("B186 spec.nodeClass.amiSelectorTerms.3", "nodes-*"),
        "B186 spec.nodeClass.amiSelectorTerms.4",
        finding("B186 spec.nodeClass.amiSelectorTerms.5", "/nodes/ami"),
        finding("B186 spec.nodeClass.amiSelectorTerms.6", "/nodes/ami:good"),
    ]
