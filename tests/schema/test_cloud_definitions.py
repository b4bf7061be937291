"""Whatever we accept of a cloud is accepted by the definitions of Karpenter's kinds, which are strict here.

Their rules in CEL need an API server: `make e2e` has one.
"""

import re
from collections.abc import Iterator
from typing import Any

from berth.schema.nodeclass import VolumeSize

from tests.saying import Value, read, said
from tests.schema.clouds import CLOUD
from tests.schema.definitions import NODE_CLASS, refusals
from tests.schema.junk import JUNK, changed, places

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


def variants(whole: Value) -> Iterator[Value]:
    """The document with something else at every place below its spec, but for what is passed on as it is."""
    yield whole
    for path in places(whole):
        if path[:1] == ("spec",) and len(path) > 1 and path[1] != "nodeClass":
            for other in (*JUNK, *MORE, *WORDS):
                yield changed(whole, path, other)


def test_volume_sizes_match_the_definition_of_karpenter() -> None:
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


def test_every_accepted_capacity_is_accepted_by_karpenter() -> None:
    accepted = 0
    for variant in variants(CLOUD):
        for found in read(variant).clouds.values():
            accepted += 1
            assert refusals(found) == [], variant
    assert accepted > 100
