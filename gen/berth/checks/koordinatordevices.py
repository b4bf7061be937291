"""Check that Koordinator accepts placeholders, and that its scheduler can place seats with these devices.

The rules for devices are those of its plugin DeviceShare (v1.8): a pod with any other combination stays
pending. It measures GPUs in percent, so that 50 is half of one and 200 are two.
"""

from collections.abc import Iterator, Mapping

from berth.checks.project import CheckedReservation, Project
from berth.core.jsonvalues import part, parts
from berth.findings import Path, Problem
from berth.manifests.placed import Placed
from berth.quantity import NANO, parse
from berth.schema.values import ResourceClass

_QOS = "koordinator.sh/qosClass"
_BATCH = "kubernetes.io/batch-"
_OWN = "koordinator.sh/"
_GPU, _CORE, _MEMORY, _RATIO, _SHARED = (
    f"{_OWN}{name}" for name in ("gpu", "gpu-core", "gpu-memory", "gpu-memory-ratio", "gpu.shared")
)
_NPU_CORE, _NPU_CPU, _NPU_DVPP = (f"huawei.com/npu-{name}" for name in ("core", "cpu", "dvpp"))
_NPU = {_NPU_CORE, _NPU_CPU}
_WHOLE = ("nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu")
_GPUS = {_GPU, _CORE, _MEMORY, _RATIO, _SHARED, _NPU_CORE, _NPU_CPU, _NPU_DVPP, *_WHOLE}
_PERCENT = (_GPU, _CORE, _RATIO, f"{_OWN}rdma", f"{_OWN}fpga")
_TOGETHER = (
    *({name} for name in (*_WHOLE, _GPU, _MEMORY, _RATIO)),
    *({one, other} for one in (_CORE, _SHARED) for other in (_MEMORY, _RATIO)),
    *({_SHARED, _CORE, other} for other in (_MEMORY, _RATIO)),
    {_NPU_CORE, _RATIO},
    {_SHARED, _MEMORY, *_NPU},
    {_SHARED, _MEMORY, _NPU_DVPP, *_NPU},
)


def check_reserved_devices(checked: CheckedReservation) -> Iterator[Problem]:
    """Check the placeholders of a reservation in clusters with Koordinator."""
    for place in checked.places if checked.reservation.holder.has_placeholders else ():
        yield from _placeholders(place)


def _placeholders(part: Placed) -> Iterator[Problem]:
    """Check that Koordinator's webhook accepts placeholders: their negative priority is in none of its
    bands.
    """
    for resource_class in part.classes if part.cluster.koordinator else ():
        qos = resource_class.pod_labels.get(_QOS)
        if qos in ("BE", "LSR"):
            message = (
                f"Koordinator in cluster {part.cluster.name} rejects pods with {_QOS} {qos} and priority "
                f"{part.cluster.priority}: no placeholder could be created."
            )
            path: Path = ("spec", "podLabels", _QOS)
            yield resource_class.origin.problem("B118", path, message, "Remove the label.")
        for name in filter(lambda name: name.startswith(_BATCH), resource_class.requests):
            message = (
                f"Koordinator in cluster {part.cluster.name} rejects pods that request {name} without {_QOS} "
                f"BE, and with it those of priority {part.cluster.priority}: no placeholder could be created."
            )
            path = ("spec", "requests", name)
            fix = "Use backend koordinator without placeholders, or request cpu and memory."
            yield resource_class.origin.problem("B118", path, message, fix, at_key=True)


def check_device_requests(project: Project) -> Iterator[Problem]:
    """Check the requests of each class that has devices of Koordinator."""
    for resource_class in project.declared.classes.values():
        amounts: dict[str, int] = {}
        for name, text in _requests(resource_class):
            amounts[name] = amounts.get(name, 0) + (parse(str(text)) or 0)
        amounts = {name: amount // NANO for name, amount in amounts.items() if amount}
        if not any(name.startswith(_OWN) for name in amounts):
            continue
        for name, message, fix in _lacks(amounts):
            is_own = name in resource_class.requests
            path: Path = ("spec", "requests", name) if is_own else ("spec", "reservation")
            yield resource_class.origin.problem("B118", path, message, fix, at_key=True)


def _requests(found: ResourceClass) -> Iterator[tuple[str, object]]:
    """Yield what a seat requests, and what its slot has in addition."""
    yield from found.requests.items()
    for container in parts(found.slot_patch, "spec", "template", "spec", "containers"):
        yield from part(container, "resources", "requests").items()


def _lacks(amounts: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield the resource, what is wrong with it, and what to write. `amounts` are above 0."""
    gpus = [name for name in amounts if name in _GPUS]
    if gpus and set(gpus) not in _TOGETHER:
        yield _combination(gpus)
    elif _SHARED in gpus:
        yield from _parts(amounts)
    for name in _PERCENT:
        amount = amounts.get(name, 0)
        if amount > 100 and amount % 100 and _SHARED not in gpus:
            message = f"{amount} is more than one device and no multiple of 100: Koordinator never places it."
            yield name, message, f"Write {amount // 100 * 100} or {-(-amount // 100) * 100}, or at most 100."


def _combination(gpus: list[str]) -> tuple[str, str, str]:
    if gpus == [_CORE]:
        message = f"{_CORE} alone says nothing of the GPU's memory: Koordinator never places it."
        return _CORE, message, f"Add {_RATIO} with the same percentage, or {_MEMORY}."
    whole = next((name for name in gpus if name in _WHOLE), "")
    if whole:
        own = next(name for name in gpus if name != whole)
        message = f"{whole} counts whole devices; beside {own} Koordinator never places the seat."
        return own, message, "Write one of the two."
    message = f"Koordinator never places a seat with {', '.join(sorted(gpus))} together."
    fix = f"Write {_MEMORY} or {_RATIO}, and if need be {_CORE} and {_SHARED}."
    return gpus[0], message, fix


def _parts(amounts: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """Check the amounts of a seat that has parts of several GPUs: each part is of the same size."""
    parts = amounts[_SHARED]
    for name in (_CORE, _RATIO):
        amount = amounts.get(name, 0)
        if amount % parts or amount // parts > 100:
            message = f"{amount} is not at most 100 of each of {parts} GPUs: Koordinator never places it."
            yield name, message, f"Write a multiple of {parts} up to {100 * parts}."
    if amounts.get(_NPU_CORE) and parts > 1:
        message = f"Koordinator shares one NPU at most, not {parts}."
        yield _SHARED, message, "Write 1."
