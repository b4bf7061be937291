"""`berth import renku-classes`: classes as Renku makes the pods of their sessions, and the check of drift."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.cli.console import EXIT_BAD_INPUT
from berth.edit.classes import ClassRequest, ImportedClasses, import_renku_classes
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.values import ResourceClass

from tests.answer import Berth
from tests.cases import tabled
from tests.edit.hubvalues import SITE, declared


def renku_class(number: int, name: str = "small", **fields: object) -> dict[str, Any]:
    """Return a class as the API answers it, with what is not of use here, too."""
    usual = {"cpu": 0.5, "memory": 2, "gpu": 0, "max_storage": 100, "default_storage": 10, "default": False}
    return {"id": number, "name": name, **usual, "tolerations": [], "node_affinities": [], **fields}


def pool(*classes: dict[str, Any], name: str = "Public pool", **fields: object) -> dict[str, Any]:
    usual = {"id": 1, "default": True, "public": True, "quota": None, "platform": "linux/amd64"}
    return {"name": name, "classes": [*classes], **usual, **fields}


GPU = renku_class(
    9,
    "GPU machine",
    cpu=4,
    memory=16,
    gpu=1,
    tolerations=["renku.io/gpu"],
    node_affinities=[
        {"key": "renku.io/gpu", "required_during_scheduling": True},
        {"key": "renku.io/fast", "required_during_scheduling": False},
    ],
)
POOLS = [pool(renku_class(4), renku_class(5, "large", cpu=2, memory=8)), pool(GPU, name="GPUs", id=2)]


def imported(answer: object, *pools: str) -> ImportedClasses:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return import_renku_classes(ClassRequest((Source("pools.json", text.encode()),), pools=pools))


def classes(answer: object, *pools: str) -> dict[str, ResourceClass]:
    return declared(imported(answer, *pools))


def test_a_class_has_the_resources_and_placement_of_the_pods_of_renku() -> None:
    made = classes(POOLS)["gpu-machine"]

    assert made.renku_id == 9
    assert dict(made.requests) == {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}
    assert dict(made.limits) == {"memory": "16Gi", "nvidia.com/gpu": "1"}
    assert json.loads(json.dumps(made.pod.placement)) == {
        "tolerations": [{"key": "renku.io/gpu", "operator": "Exists"}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "renku.io/gpu", "operator": "Exists"}]}
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "preference": {"matchExpressions": [{"key": "renku.io/fast", "operator": "Exists"}]},
                    }
                ],
            }
        },
    }
    assert made.sessions is not None
    assert (made.sessions.source, made.sessions.namespaces) == ("renku", ("renku",))


@pytest.mark.parametrize(
    ("cpu", "amount"), [(0.1, "100m"), (1, "1"), (1.5, "1500m"), (0.0005001, "1m")], ids=str
)
def test_cores_are_rounded_to_thousandths(cpu: float, amount: str) -> None:
    assert dict(classes([pool(renku_class(1, cpu=cpu))])["small"].requests)["cpu"] == amount


def test_names_are_valid_and_stay_when_classes_are_added() -> None:
    listed = [renku_class(7), renku_class(3), renku_class(8, "数据科学"), renku_class(9, "1e3")]
    made = {
        resource_class.name: resource_class.renku_id
        for resource_class in classes([pool(*listed, renku_class(6, "x" * 200))]).values()
    }

    assert {name: made[name] for name in ("small", "small-7", "1e3")} == {"small": 3, "small-7": 7, "1e3": 9}
    assert len(made) == 5


def test_pools_of_other_clusters_are_left_out_unless_they_are_named() -> None:
    remote = pool(renku_class(20, "hpc"), name="Supercomputer", remote={"kind": "firecrest"})
    second = pool(renku_class(21, "far"), name="Second", cluster={"id": "01JC3CB5426KC7P5STS5X3KSS8"})
    found = imported([*POOLS, remote, second])

    assert [line.split(": ")[1] for line in found.left_out] == ["hpc (Supercomputer)", "far (Second)"]
    assert list(classes([*POOLS, remote, second], "Second")) == ["far"]


ERROR = {"error": {"code": 1401, "message": "You have to be authenticated to perform this operation."}}


@pytest.mark.parametrize(
    ("answer", "code", "path"),
    [
        (ERROR, "B013", ""),
        ([], "B011", ""),
        ([pool()], "B011", ""),
        ({"name": "x"}, "B013", ""),
        ("<html>", "B013", ""),
        ([pool(renku_class(1, memory=0))], "B012", "[Public pool].classes[small].memory"),
        ([pool(renku_class(1, cpu="2"))], "B013", "[0].classes[small].cpu"),
        ([pool(renku_class(1, cpu=0))], "B012", "[0].classes[small].cpu"),
        ([pool(renku_class(1, memory=1.5))], "B013", "[0].classes[small].memory"),
        ([pool(renku_class(1), renku_class(1, "other"))], "B016", "[0].classes[other].id"),
        (
            [pool(renku_class(1), remote={"kind": "runai"})],
            "B011",
            "",
        ),
    ],
    ids=[
        "error",
        "empty",
        "no-class",
        "another-answer",
        "page",
        "no-memory",
        "text",
        "no-cpu",
        "part-of-a-gigabyte",
        "same-id",
        "only-elsewhere",
    ],
)
def test_an_answer_without_valid_classes_is_an_error(answer: object, code: str, path: str) -> None:
    found = imported(answer)

    assert (found.classes, [finding.code for finding in found.findings]) == ((), [code])
    assert path.rpartition("].")[2] in found.findings[0].path


@pytest.mark.parametrize(("name", "meant"), [("Publik pool", "Public pool"), ("gpus", "GPUs")])
def test_a_pool_that_is_not_there_is_an_error_with_the_one_that_is_meant(name: str, meant: str) -> None:
    (found,) = imported(POOLS, name).findings

    assert (found.code, found.fix) == ("B011", f"Did you mean {meant}?")


def test_the_command_writes_one_file_and_lists_the_classes(berth: Berth, folder: Path) -> None:
    remote = pool(renku_class(20, "hpc"), name="Supercomputer", remote={"kind": "firecrest"})
    (folder / "pools.json").write_text(json.dumps([*POOLS, remote]))
    told = berth(
        "import", "renku-classes", "pools.json", "--cluster", "prod", "--file", "reservations/r.yaml"
    )

    assert told.code == 0, told.err
    assert "cpu 4, memory 16Gi, nvidia.com/gpu 1" in told.out
    assert "hpc (Supercomputer)" in told.out
    assert (folder / "reservations/r.yaml").read_text().count("renkuId: ") == 3


def drift(answer: str, **spec: object) -> list[str]:
    """Return what is told about a class with id 9 where the Site names this answer."""
    usual = {"renkuId": 9, "requests": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": 1}}
    placement = {"tolerations": ANYWHERE, "affinity": REQUIRED}
    sessions = {"source": "renku", "namespaces": ["renku"]}
    made = {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": "ResourceClass",
        "metadata": {"name": "gpu", "annotations": {"berth.dev/ignore": "B033: a test"}},
        "spec": {**usual, **placement, "sessions": sessions, **spec},
    }
    site = SITE.replace(b"name: prod", b"name: prod, renkuClasses: pools.json").replace(
        b"spec: {", b"spec: {timeZone: UTC, "
    )
    sources = [Source("a.yaml", site), Source("b.yaml", json.dumps(made).encode())]
    project = Pipeline(sources=sources, other_file=lambda path: Source(path, answer.encode()))
    assert list(project.items()) == []
    return [f"{finding.code} {finding.path}" for finding in project.findings()]


ANYWHERE = [{"key": "renku.io/gpu", "operator": "Exists"}]
REQUIRED = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "renku.io/gpu", "operator": "Exists"}]}]
        }
    }
}


@tabled("edit")
def test_a_class_that_differs_from_the_class_of_renku_is_reported(
    spec: dict[str, object], expected: list[str]
) -> None:
    assert drift(json.dumps(POOLS), **spec) == expected


@pytest.mark.parametrize("answer", ["", "[", json.dumps(ERROR)], ids=["empty", "not-json", "error"])
def test_unreadable_resource_pools_get_the_finding_b087(answer: str) -> None:
    assert drift(answer) == ["B087 spec.clusters[prod].renkuClasses"]


def test_an_id_in_use_by_another_file_is_reported_at_the_class_of_renku(berth: Berth, folder: Path) -> None:
    answer = [pool(renku_class(1, "small-one")), pool(renku_class(2, "large"), name="HPC")]
    (folder / "pools.json").write_text(json.dumps(answer))
    given = ("import", "renku-classes", "pools.json", "--cluster", "prod")
    assert berth(*given).code == 0
    told = berth(*given, "--pool", "HPC", "--file", "reservations/hpc.yaml")

    assert told.code == EXIT_BAD_INPUT
    assert told.err.startswith("pools.json, renku-large: error[B060]")
    assert not (folder / "reservations/hpc.yaml").exists()
