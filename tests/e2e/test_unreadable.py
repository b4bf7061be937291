"""Records that nobody can read, on the real API server, which takes them all: what is listed beside them."""

import json
from typing import Any

import pytest
from berth.core.objects import CONFIG_MAP
from berth.runtime.apiclient import Api, Connection
from berth.runtime.watch import Collection, list_objects

from tests.e2e.cluster import Cluster
from tests.e2e.direct import MERGE, as_administrator

SPACE = "berth-unreadable-e2e"
SECONDS = 60  # that the API server has for an answer: such objects are much work for it
NAMES = ("a-course", "mine-record", "z-course")


def patch(key: str, depth: int, pad: str = "") -> bytes:
    """What an account may write into its record, its managed fields included."""
    entry = {"manager": "thief", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    entry |= {"time": "2026-01-01T00:00:00Z", "fieldsV1": "FIELDS"}
    metadata: dict[str, Any] = {"managedFields": [entry], "annotations": {"example.org/pad": pad[:250_000]}}
    fields = '{"f:data":' + f"{{{json.dumps(f'f:{key}')}:" * depth + "{}" + "}" * (depth + 1)
    return json.dumps({"metadata": metadata, "data": {"pad": pad}}).replace('"FIELDS"', fields).encode()


PATCHES = {
    "deep": patch("a", 1200),
    "large": patch("<" * 150_000, 1, "<" * 1_000_000),  # each takes six bytes in an answer
}


@pytest.mark.parametrize("spoiled", PATCHES.values(), ids=PATCHES)
def test_a_list_has_all_but_what_nobody_can_read(cluster: Cluster, spoiled: bytes) -> None:
    cluster.create_namespace(SPACE)
    path = CONFIG_MAP.path(SPACE)
    connect = as_administrator()
    try:
        for name in NAMES:
            cluster.kubectl("create", "configmap", name, f"--namespace={SPACE}")
        raw = connect(SECONDS)
        raw.request("PATCH", f"{path}/mine-record", spoiled, {"Content-Type": MERGE})
        assert raw.getresponse().status == 200
        raw.close()
        found, skipped = list[str](), list[str]()
        connection = Connection(lambda: connect(SECONDS), "", SECONDS)

        def may_skip(name: str, _: object) -> bool:
            skipped.append(name)
            return True

        def take(tree: dict[str, Any]) -> None:
            found.append(tree["metadata"]["name"])

        list_objects(
            Api(connection), Collection(path, fields="metadata.name!=kube-root-ca.crt"), take, may_skip
        )
        connection.close()
    finally:
        cluster.kubectl("delete", "namespace", SPACE, "--wait=true")

    assert (found, skipped) == (["a-course", "z-course"], ["mine-record"])
