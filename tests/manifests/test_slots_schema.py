"""What `validate` accepts becomes slots that Koordinator takes by its definition, with nothing dropped."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotobjects import persistent_slots, pool_slots
from berth.pipeline import Item, Pipeline
from berth.quantity import parse
from berth.schema.grammar import go_duration, utc
from jsonschema import Draft202012Validator

from tests import generate
from tests.manifests.schemas import drop_refused, strict
from tests.seeds import seeds

CRD = Path(__file__).parents[1] / "e2e" / "crds" / "koordinator-reservation.yaml"
LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
WINDOW = {"ttl": "4h0m0s", "expires": "2026-02-02T12:00:00Z"}  # as an occurrence adds them


def definition() -> Draft202012Validator:
    (version,) = yaml.safe_load(CRD.read_text("utf-8"))["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return Draft202012Validator(strict(spec))


SPEC = definition()


def slots(folder: Path, seed: int) -> Iterator[tuple[Item, str, dict[str, Any]]]:
    """Every shape of a slot in a project made by chance, as it is given to the API server."""
    generate.project(folder, seed, 60)
    drop_refused(folder)
    pipeline = Pipeline(str(folder))
    assert pipeline.site is not None
    for item in pipeline.items():
        reservation = item.reservation
        for part in item.parts if isinstance(reservation.holder, SlotHolder) else ():
            for resource_class in part.placed.classes:
                given = (pipeline.site, part.placed.cluster, reservation, resource_class)
                if reservation.holder.persistence:
                    ((name, made),) = persistent_slots(*given, 1)
                    yield item, name, made
                else:
                    said = pool_slots(*given)
                    made = said["object"]
                    yield (
                        item,
                        f"{said['name']}-0-{said['hash']}",
                        {**made, "spec": {**made["spec"], **WINDOW}},
                    )


@pytest.mark.parametrize("seed", seeds(3, 8))
def test_a_slot_is_what_the_definition_takes(seed: int, tmp_path: Path) -> None:
    items = list(slots(tmp_path, seed))
    assert items
    for item, name, made in items:
        spec = json.loads(json.dumps(made["spec"]))  # tuples are lists to everybody else
        assert [error.message for error in SPEC.iter_errors(spec)] == [], item.reservation.origin.file
        assert go_duration(spec["ttl"]) == spec["ttl"]
        assert utc(spec.get("expires", "2026-01-01T00:00:00Z"))
        assert NAME.fullmatch(name)
        assert all(LABEL.fullmatch(text) for text in made["metadata"]["labels"].values())
        rules(item, spec, made["metadata"])


def rules(item: Item, spec: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Those of Koordinator that its definition does not know."""
    cluster = item.parts[0].placed.cluster.koordinator
    assert cluster is not None
    pod = spec["template"]["spec"]
    assert pod["schedulerName"] in {part.placed.cluster.koordinator.scheduler_name for part in item.parts}  # type: ignore[union-attr] # asserted of the first
    assert spec.get("allocatePolicy", "Aligned") in ("Restricted", "Aligned")
    assert type(spec["allocateOnce"]) is bool
    if spec.get("preAllocation"):
        assert (spec["allocatePolicy"], spec["allocateOnce"]) == ("Restricted", False)
    assert not (spec["ttl"] == "0s" and "expires" in spec)
    for container in pod["containers"]:
        assert container["resources"]["requests"]
        assert all(parse(str(amount)) is not None for amount in container["resources"]["requests"].values())
    for owner in spec["owners"]:
        assert any(owner.values())
        assert "apiVersion" not in owner.get("object", {})
        assert (
            owner.get("controller", {}).keys() >= {"apiVersion", "kind", "name", "uid"}
            or "controller" not in owner
        )
    order = metadata["labels"].get("scheduling.koordinator.sh/reservation-order")
    assert order is None or 0 < int(order) < 2**63


def test_the_strict_definition_refuses_what_would_be_pruned() -> None:
    good = {"owners": [{"object": {"name": "x"}}], "template": {"any": "thing"}}

    assert list(SPEC.iter_errors(good)) == []
    assert [error.message for error in SPEC.iter_errors({**good, "alocateOnce": True})] == [
        "Additional properties are not allowed ('alocateOnce' was unexpected)"
    ]
    assert len(list(SPEC.iter_errors({**good, "owners": []}))) == 1
    assert len(list(SPEC.iter_errors({**good, "allocatePolicy": "Default"}))) == 1
    assert len(list(SPEC.iter_errors({**good, "owners": [{"controller": {"name": "x"}}]}))) == 3
