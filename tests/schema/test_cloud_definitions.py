"""Whatever we accept of a cloud is accepted by the definitions of Karpenter's kinds, which are strict here.

Their rules in CEL need an API server: `make e2e` has one.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.nodeclass import VolumeSize
from jsonschema import Draft202012Validator

from tests.manifests.cloudparts import of_karpenter
from tests.manifests.schemas import strict
from tests.saying import Value, read, said
from tests.schema.test_cloudcapacity import cloud
from tests.schema.test_garbage import JUNK, changed, places
from tests.schema.test_garbage_clouds import CLOUD
from tests.schema.test_nodeclass import WHOLE

CRDS = Path(__file__).parents[1] / "e2e" / "crds"
MORE: tuple[Any, ...] = (
    "al2@latest",
    "Custom",
    "windows2022@latest",
    "0",
    "1h",
    "Never",
    "100%",
    "5%",
    5,
    100,
)
WORDS = (
    "a",
    "5Gi",
    "cr-0",
    "subnet-0",
    "ami-0",
    "@daily",
    "64000G",
    "*",
    ["a", "b"],
    [5],
    {"a": "b"},
    {"": ""},
)


def definition(kind: str) -> Draft202012Validator:
    (version,) = yaml.safe_load((CRDS / f"karpenter-{kind}.yaml").read_text("utf-8"))["spec"]["versions"]
    return Draft202012Validator(strict(version["schema"]["openAPIV3Schema"]["properties"]["spec"]))


NODE_CLASS, NODE_POOL = definition("ec2nodeclass"), definition("nodepool")


def refusals(found: CloudCapacity) -> list[str]:
    """What the definitions do not take of what is rendered of it."""
    made = of_karpenter(found)
    return [
        error.message
        for kind, definition in (("EC2NodeClass", NODE_CLASS), ("NodePool", NODE_POOL))
        for error in definition.iter_errors(made[kind]["spec"])
    ]


def variants(whole: Value) -> Iterator[Value]:
    """The document with something else at every place below its spec."""
    yield whole
    for path in places(whole):
        if path[:1] == ("spec",) and len(path) > 1:
            for other in (*JUNK, *MORE, *WORDS):
                yield changed(whole, path, other)


def test_a_size_of_a_volume_is_one_that_the_definition_takes() -> None:
    """It forgets some, and takes those without a number."""
    schema: Any = NODE_CLASS.schema
    devices = schema["properties"]["blockDeviceMappings"]["items"]["properties"]
    theirs = devices["ebs"]["properties"]["volumeSize"]["pattern"]
    many = (0, 1, 9999, 10000, *range(58998, 64003))
    sizes = {f"{number}{unit}" for unit in ("Ti", "T") for number in ("", *range(70))}
    sizes |= {f"{number}{unit}" for unit in ("Gi", "G") for number in many}

    ours = {size for size in sizes if not said(VolumeSize, size)}

    assert {size for size in sizes if re.match(theirs, size)} == ours | {"Ti", "T"}
    assert said(VolumeSize, "18Ti") == ["B022"]


@pytest.mark.parametrize(
    "whole", [CLOUD, cloud("machines", nodeClass=WHOLE)], ids=["every-key", "every-key-of-a-machine"]
)
def test_what_we_accept_is_accepted_by_karpenter(whole: Value) -> None:
    accepted = 0
    for one in variants(whole):
        for found in read(one).clouds.values():
            accepted += 1
            assert refusals(found) == [], one
    assert accepted > 100
