"""docs/karpenter.md: the samples are valid, and what they say is rendered is rendered."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.diff.manifests import compare_file
from berth.diff.risks import node_warnings
from berth.findings import RULES
from berth.schema.cloudcapacity import CloudSpec
from berth.schema.outline import fields as keys_of
from berth.schema.site import ClusterSpec

from tests.console import ROOT, blocks, printed
from tests.manifests.cloudparts import MACHINES, NODE_CLASS, capacity, objects, resource_class, texts
from tests.manifests.parts import Object
from tests.reference import fields_page
from tests.saying import ask

MANUAL = (ROOT / "docs/karpenter.md").read_text("utf-8")
SAMPLES: list[Any] = [yaml.safe_load(text) for language, text in blocks(MANUAL) if language == "yaml"]
DOCUMENTS = [one for one in SAMPLES if "kind" in one]
CLOUD = "cloud/faculty.yaml"


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cluster's folder of its samples, beside our examples."""
    folder = tmp_path_factory.mktemp("manual")
    write_samples(folder)
    out = printed("berth validate --strict", folder)
    assert re.fullmatch(r"\d+ reservations (are valid|in order)\.\n", out), out
    assert printed("berth render", folder).startswith("rendered/: ")
    return folder / "rendered/clusters/hub"


def write_samples(folder: Path) -> None:
    shutil.copytree(ROOT / "reservations", folder / "reservations")
    for language, text in blocks(MANUAL):
        if language == "yaml" and "\nkind:" in text:
            name = yaml.safe_load(text)["metadata"]["name"]
            (folder / "reservations" / f"manual-{name}.yaml").write_text(text)


def read(folder: Path, file: str) -> dict[str, Object]:
    return objects((folder / file).read_text("utf-8"))


def test_the_manual_shows_a_document_of_each_kind() -> None:
    assert [one["kind"] for one in DOCUMENTS] == [
        "CloudCapacity",
        "ResourceClass",
        "CapacityReservation",
        "CapacityReservation",
    ]


def test_the_site_block_is_valid_and_part_of_the_example_site() -> None:
    (cluster,) = SAMPLES[0]["clusters"]
    (example,) = (
        one
        for one in yaml.safe_load((ROOT / "reservations/site.yaml").read_text())["spec"]["clusters"]
        if one["name"] == "hub"
    )

    assert ask(ClusterSpec, cluster)[1] == []
    assert cluster.items() <= example.items()


def test_the_budgets_in_the_manual_are_those_of_its_course(rendered: Path) -> None:
    budgets = read(rendered, CLOUD)["NodePool/example-university.cloud.faculty"]["spec"]["disruption"][
        "budgets"
    ]
    (told,) = (one for one in SAMPLES if isinstance(one, list))

    assert budgets == [{"nodes": "10%"}, *told]


def test_rendered_objects_have_the_names_in_the_manual(rendered: Path) -> None:
    exam = read(rendered, "reservations/algebra-exam.yaml")

    assert list(read(rendered, CLOUD)) == [
        "EC2NodeClass/example-university.cloud.faculty",
        "NodePool/example-university.cloud.faculty",
        "ConfigMap/notebook.session-affinity",
    ]
    assert "NodePool/example-university.algebra-exam-notebook" in exam
    assert "ClusterRole/berth-occurrence.example-university.algebra-exam" in exam
    assert "ClusterRole/berth-sweep-nodes.example-university" in read(rendered, "base.yaml")


CHANGES: dict[str, Any] = {
    "labels": {"example.org/room": "b"},
    "taints": [{"key": "a", "effect": "PreferNoSchedule"}],
    "startupTaints": [{"key": "a", "effect": "NoSchedule"}],
    "expireAfter": "100h",
    "terminationGracePeriod": "1h",
    "capacityTypes": ["reserved", "on-demand", "spot"],
    "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
    "reservations": [{"id": "cr-0b", **MACHINES}],
    "weight": 7,
    "limits": {"cpu": "1000"},
    "disruption": {"consolidateAfter": "5m"},
    "instanceTypes": [{"name": "m7i.4xlarge", "onDemandPrice": 0.9}],
    "daemonRequests": {"cpu": "1"},
    "volumesPerNode": 20,
    "nodeStartMinutes": 5,
    "imagePullMinutes": 5,
    "amiSelectorTerms": [{"alias": "al2023@v20260210"}],
    "amiFamily": "AL2023",
    "subnetSelectorTerms": [{"id": "subnet-0123456789abcdef0"}],
    "securityGroupSelectorTerms": [{"id": "sg-0123456789abcdef1"}],
    "ipPrefixCount": 2,
}


def replaced(folder: Path, field: str) -> set[str]:
    """What `berth diff` says of nodes when the field changes."""
    spec: Object = {"reservations": [{"id": "cr-0a", **MACHINES}]}
    change: Object = {field: CHANGES[field]}
    if field not in keys_of(CloudSpec):
        change = {"nodeClass": {**NODE_CLASS, **change}}
    pair = (capacity(**spec), capacity(**{**spec, **change}))
    texts_of = [texts(folder / str(i), one, resource_class()) for i, one in enumerate(pair)]
    path = "clusters/prod/cloud/odcr.yaml"
    change_of_file = compare_file(path, texts_of[0][path], texts_of[1][path])
    objects_of_file = change_of_file.objects if change_of_file else ()
    return {message.partition(":")[0] for object_ in objects_of_file for _, message in node_warnings(object_)}


@pytest.mark.parametrize(
    ("row", "told"),
    [(0, {"all of its nodes drift"}), (1, {"nodes that no longer match drift"}), (2, set())],
    ids=["all", "those-that-no-longer-match", "none"],
)
def test_the_manual_lists_the_changes_that_replace_nodes(tmp_path: Path, row: int, told: set[str]) -> None:
    table = MANUAL.split("| change of | nodes of the capacity |")[1].split("\n\n")[0].splitlines()[2:]
    fields = set(re.findall(r"`(\w+)`", table[row].split("|")[1])) - {"nodeClass"}

    assert len(fields) > 4
    assert {field: replaced(tmp_path / field, field) for field in fields} == dict.fromkeys(fields, told)


def test_the_table_of_changes_has_every_field() -> None:
    table = MANUAL.split("| change of | nodes of the capacity |")[1].split("\n\n")[0]
    fields = re.findall(r"`(\w+)`", table)

    assert keys_of(CloudSpec).keys() - {"cluster", "provider"} <= set(fields)
    assert sorted(set(fields) - {"nodeClass"}) == sorted(CHANGES)


def test_session_pods_need_the_node_selector_in_the_manual(rendered: Path) -> None:
    said = read(rendered, CLOUD)["ConfigMap/notebook.session-affinity"]["data"]["session.yaml"]
    (line,) = (text for language, text in blocks(MANUAL) if language == "python")

    assert json.loads(said) == {"spec": {"nodeSelector": json.loads(line.partition(" = ")[2])}}


def test_a_class_can_select_reserved_machines_as_in_the_manual(tmp_path: Path) -> None:
    """Placeholders, session pods and whole nodes then have the label."""
    (asked,) = (one["nodeSelector"] for one in SAMPLES if isinstance(one, dict) and "nodeSelector" in one)
    ((key, value),) = asked.items()
    write_samples(tmp_path)
    path = tmp_path / "reservations/manual-notebook.yaml"
    path.write_text(f"{path.read_text()}  nodeSelector: {json.dumps(asked)}\n")
    assert printed("berth render", tmp_path).startswith("rendered/: ")

    folder = tmp_path / "rendered/clusters/hub"
    course = read(folder, "reservations/linear-algebra.yaml")["Deployment/linear-algebra-notebook"]
    told = read(folder, CLOUD)["ConfigMap/notebook.session-affinity"]["data"]["session.yaml"]
    exam = read(folder, "reservations/algebra-exam.yaml")
    whole = exam["NodePool/example-university.algebra-exam-notebook"]["spec"]["template"]["spec"]
    assert course["spec"]["template"]["spec"]["nodeSelector"] == asked
    assert asked.items() <= json.loads(told)["spec"]["nodeSelector"].items()
    assert {"key": key, "operator": "In", "values": [value]} in whole["requirements"]


def test_the_codes_in_the_manual_exist() -> None:
    assert [code for code in re.findall(r"\bB\d{3}\b", MANUAL) if code not in RULES] == []


def test_every_field_of_a_capacity_is_shown_or_explained() -> None:
    """Except those that the page of fields explains completely."""
    table = {"provider", "startupTaints"}
    page = fields_page()
    (section,) = re.findall(r"^#+ CloudCapacity\n(.*?)(?:^#|\Z)", page, re.M | re.S)
    fields = set(re.findall(r"^\| `(?:spec\.)?(\w+)[.\[`]", section, re.M))

    assert {name for name in fields if name not in MANUAL} <= table
    assert len(fields) > 15
