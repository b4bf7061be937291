"""Documents of a cloud capacity and a node class, with little to say."""

from tests.saying import Value, document

GOOD: Value = {
    "role": "nodes",
    "subnetSelectorTerms": [{"tags": {"a": "b"}}],
    "securityGroupSelectorTerms": [{"id": "sg-0a"}],
    "amiSelectorTerms": [{"alias": "al2023@v20260107"}],
}


def cloud(name: str = "gpu", **spec: object) -> Value:
    return document("CloudCapacity", name, {"nodeClass": GOOD, **spec})
