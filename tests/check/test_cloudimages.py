"""Images of machines that may be others tomorrow."""

from tests.check.clouds import of_cloud
from tests.saying import Value
from tests.schema.test_nodeclass import GOOD


def images(*terms: Value, **more: str) -> list[str]:
    return of_cloud(nodeClass={**GOOD, "amiSelectorTerms": list(terms), **more})


def test_an_image_that_moves_replaces_nodes() -> None:
    assert images({"alias": "al2023@latest"}) == [
        "B186 spec.nodeClass.amiSelectorTerms.0: al2023@latest changes with each release of AWS, and nodes "
        "are replaced at any time then. Write a version, such as al2023@v20260107, and raise it between "
        "windows."
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
    fix = "Write its id, and change that between windows."
    version = "Write its version after a colon, or the id of the image, and change that between windows."

    assert images(*still, amiFamily="AL2023") == []
    assert images(*still, *moving, amiFamily="AL2023") == [
        'B186 spec.nodeClass.amiSelectorTerms.3: an image named "nodes-*" may come at any time, and nodes '
        f"are replaced then. {fix}",
        "B186 spec.nodeClass.amiSelectorTerms.4: an image with these tags may come at any time, and nodes "
        f"are replaced then. {fix}",
        'B186 spec.nodeClass.amiSelectorTerms.5: "/nodes/ami" may name another image at any time, and nodes '
        f"are replaced then. {version}",
        'B186 spec.nodeClass.amiSelectorTerms.6: "/nodes/ami:good" may name another image at any time, and '
        f"nodes are replaced then. {version}",
    ]
