"""What is rendered for numbers of somebody else: a ConfigMap that stays, and Roles over what is listed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases import tabled
from tests.checks.heldnumbers import API, DEPLOYMENT, HPA, NODE_POOL, WEB
from tests.manifests.cloudparts import Object, capacity, mondays, objects, resource_class, texts
from tests.manifests.cloudparts import site as karpenter_site
from tests.saying import document

POOL: Object = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "gpu", "path": "spec.limits.cpu"}
PATH = "clusters/prod/reservations/exam.yaml"


def site(*held: Object, **cluster: Any) -> Object:
    return karpenter_site(held=list(held), **cluster)


def bench() -> Object:
    return document("ResourceClass", "bench", {"requests": {"cpu": "1"}})


def number(target: Object, name: str = "exam", **options: Any) -> Object:
    return mondays(name, backend={"type": "value", "target": target, **options})


def rendered(folder: Path, target: Object, *held: Object, **options: Any) -> dict[str, Object]:
    return objects(texts(folder, site(*held), bench(), number(target, **options))[PATH])


def rules_of(found: dict[str, Object], key: str) -> list[tuple[str, ...]]:
    """Return resource, names and verbs of each rule."""
    return [
        (" ".join(rule["resources"]), " ".join(rule.get("resourceNames", ())), " ".join(rule["verbs"]))
        for rule in found[key]["rules"]
    ]


@tabled("manifests")
def test_the_target_file_has_the_unit_of_the_number(
    path: str, options: Object, unit: str, tmp_path: Path
) -> None:
    held: Object = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}
    found = rendered(tmp_path, {**POOL, "path": path}, held, **options)
    (text,) = [each["data"]["target.json"] for key, each in found.items() if key.endswith(".target")]

    assert json.loads(text)["unit"] == unit


def test_nodes_of_a_node_pool_are_held_through_its_scale(tmp_path: Path) -> None:
    """It has one since Karpenter 1.8, and its limits are beside that."""
    held: Object = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "scale": True}
    found = rendered(tmp_path, {**POOL, "path": "spec.replicas"}, held, otherwise=0)
    (text,) = [each["data"]["target.json"] for key, each in found.items() if key.endswith(".target")]
    (role,) = [key for key in found if key.startswith("ClusterRole/")]

    assert {key: json.loads(text)[key] for key in ("plural", "scale", "ready")} == {
        "plural": "nodepools",
        "scale": True,
        "ready": ["status", "nodes"],
    }
    assert rules_of(found, role) == [
        ("nodepools", "gpu", "get"),
        ("nodepools/scale", "gpu", "get patch"),
    ]


def test_unneeded_quotes_in_a_path_render_the_same(tmp_path: Path) -> None:
    plain, quoted = ({**POOL, "path": path} for path in ("spec.limits.cpu", 'spec.limits["cpu"]'))
    held: Object = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}

    assert rendered(tmp_path / "a", plain, held) == rendered(tmp_path / "b", quoted, held)


def test_another_number_has_another_config_map(tmp_path: Path) -> None:
    """It is immutable: an edit makes another one, and the sweep gives back what the first one names."""
    names = [
        next(key for key in rendered(tmp_path / word, {**API, "name": word}, HPA) if key.endswith(".target"))
        for word in ("api", "web")
    ]

    assert len({*names}) == 2


@pytest.mark.parametrize(
    ("target", "held", "role", "expected"),
    [
        pytest.param(
            WEB,
            DEPLOYMENT,
            "Role/berth-occurrence-held.uni.exam",
            [("deployments", "web", "get"), ("deployments/scale", "web", "get patch")],
            id="scale",
        ),
        pytest.param(
            POOL,
            NODE_POOL,
            "ClusterRole/berth-occurrence-held.uni.exam",
            [("nodepools", "gpu", "get patch")],
            id="cluster",
        ),
    ],
)
def test_a_reservation_may_change_only_the_object_that_it_names(
    tmp_path: Path, target: Object, held: Object, role: str, expected: list[tuple[str, ...]]
) -> None:
    found = rendered(tmp_path, target, held)

    assert rules_of(found, role) == expected
    assert found[role]["metadata"].get("namespace") == target.get("namespace")


def test_a_site_without_held_kinds_gets_no_roles_for_them(tmp_path: Path) -> None:
    assert "-held" not in texts(tmp_path, karpenter_site())["clusters/prod/base.yaml"]


def test_a_reservation_that_shares_a_number_reads_the_timetables_of_its_peers(tmp_path: Path) -> None:
    shared = [number(API, name, otherwise=3) for name in ("zebra", "exam", "ant")]
    found = objects(texts(tmp_path, site(HPA), bench(), *shared)[PATH])
    pool = json.loads(found["ConfigMap/exam"]["data"]["timetable.json"])["pools"]["bench"]

    assert pool["peers"] == ["ant", "zebra"]
    assert ("configmaps", "ant zebra", "get") in rules_of(found, "Role/exam")


def test_windows_of_held_numbers_get_no_node_budget(tmp_path: Path) -> None:
    """Nobody knows on which nodes the pods of somebody else run, so no budget keeps any."""
    held = number(API)
    files = [
        texts(tmp_path / word, site(HPA), capacity(), resource_class(), *more)
        for word, more in (("with", [held]), ("without", []))
    ]

    (name,) = [name for name in files[0] if "odcr" in name]
    assert files[0][name] == files[1][name]
