"""Karpenter's definitions of its kinds, made strict."""

from pathlib import Path

import yaml
from berth.schema.cloudcapacity import CloudCapacity
from jsonschema import Draft202012Validator

from tests.manifests.cloudparts import of_karpenter
from tests.manifests.schemas import strict

CRDS = Path(__file__).parents[1] / "e2e" / "crds"


def definition(kind: str) -> Draft202012Validator:
    (version,) = yaml.safe_load((CRDS / f"karpenter-{kind}.yaml").read_text("utf-8"))["spec"]["versions"]
    return Draft202012Validator(strict(version["schema"]["openAPIV3Schema"]["properties"]["spec"]))


NODE_CLASS, NODE_POOL = definition("ec2nodeclass"), definition("nodepool")


def refusals(found: CloudCapacity) -> list[str]:
    """What the definitions do not take of what is rendered of it."""
    objects = of_karpenter(found)
    return [
        error.message
        for kind, definition in (("EC2NodeClass", NODE_CLASS), ("NodePool", NODE_POOL))
        for error in definition.iter_errors(objects[kind]["spec"])
    ]
