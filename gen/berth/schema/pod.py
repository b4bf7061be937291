"""Parts of a pod as in the Kubernetes API: where it is scheduled, and what its container requests.

They are checked so that the API server accepts what is rendered, and are rendered as they were written.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from berth.quantity import NANO, add, parse
from berth.quantity import text as _text
from berth.schema import grammar
from berth.schema.basemodel import Json, ListOf, Model, field, lazy
from berth.schema.documentproblems import DocumentProblems
from berth.schema.types import DnsName, Labels

if TYPE_CHECKING:
    from berth.schema.scheduling import Affinity, PodToleration, TopologySpread
else:
    Affinity = lazy("berth.schema.scheduling", "Affinity")
    PodToleration = lazy("berth.schema.scheduling", "PodToleration")
    TopologySpread = lazy("berth.schema.scheduling", "TopologySpread")


class Tolerating(Model):
    """Which nodes a pod may be on, by their labels and taints."""

    node_selector: Labels | None = field(None, "as in a pod: nodes that carry all of these labels", "none")
    tolerations: ListOf[PodToleration] | None = field(None, "as in a pod", "none")


class Placing(Tolerating):
    """All constraints of a pod on its node."""

    affinity: Affinity | None = field(None, "as in a pod", "none")
    topology_spread_constraints: ListOf[TopologySpread] | None = field(None, "as in a pod", "none")

    def check(self, report: DocumentProblems) -> None:
        """Report constraints that the API server refuses: one topology key with the same answer twice."""
        constraints = self.topology_spread_constraints or ()
        pairs = [f"{constraint.topology_key} {constraint.when_unsatisfiable}" for constraint in constraints]
        report.below("topologySpreadConstraints").repeated("constraint ", pairs)

    @property
    def placement(self) -> Json:
        """Return the constraints as fields of a pod's spec, without empty ones."""
        names = set(Placement.model_fields)
        written = self.model_dump(by_alias=True, exclude_none=True, include=names)
        return {name: value for name, value in written.items() if value}


class Placement(Placing):
    scheduler_name: DnsName | None = field(None, "as in a pod", "the cluster's default scheduler")

    @property
    def pod(self) -> "Placement":
        """Return the placement alone, without the other keys of a class."""
        return Placement.model_construct(**{name: getattr(self, name) for name in Placement.model_fields})


# Requests and limits of a container: amounts that the API server accepts, completed as it does.

Amounts = dict[str, str]

_GIB = 2**30 * NANO
_LEAST_BYTES = 2**20 * NANO  # no container runs with less
_MOST = {"cpu": 2048 * NANO, "memory": 2**15 * _GIB, "ephemeral-storage": 2**20 * _GIB}  # of any machine
# Machines have 1 to 55 GiB for each core. Far from that, one of the two amounts has another unit than meant.
_MANY_CORES, _LEAST_BY_CORE = 100 * NANO, _GIB // 2
_MUCH_MEMORY, _MOST_BY_CORE = 2**10 * _GIB, 64 * _GIB
_PARTS_OF_BYTES = ("m", "u", "n")
_NUMBER_AND_UNIT = r"[+]?([0-9.]+)([A-Za-z]*)"
_SMALLER_UNITS = {"Ei": "Pi", "Pi": "Ti", "Ti": "Gi", "Gi": "Mi", "E": "P", "P": "T", "T": "G", "G": "M"}
_MOST_DEVICES = 10**15 * NANO  # above, the API server counts thousandths that overflow


def check_resources(requests: Amounts, limits: Amounts, report: DocumentProblems) -> None:
    """Report requests and limits that the API server would refuse together."""
    names = {**requests, **limits}
    both = {"cpu": "0", "memory": "0", **names}
    check_amounts(requests, report.below("requests"), both)
    check_amounts(limits, report.below("limits"), both)
    for name in names:
        where = "requests" if name in requests else "limits"
        request, limit = requests.get(name, limits.get(name, "")), limits.get(name)
        if name not in grammar.SHARED:
            _check_device(name, request, report.below(where, name))
        if limit is not None:
            _check_limit(name, request, limit, report.below("limits", name))
        if grammar.page_size(name) and not {"cpu", "memory"} & names.keys():
            message, fix = "huge pages also need cpu or memory.", "Add cpu or memory."
            report("B016", (where, name), message, fix)


def _check_limit(name: str, request: str, limit: str, report: DocumentProblems) -> None:
    asked, most = parse(request) or 0, parse(limit) or 0
    if name not in grammar.SHARED and most != asked:
        message = f"the limit {limit} differs from the request {request}."
        report("B016", (), message, "Write the same amount: Kubernetes does not overcommit such resources.")
    elif most < asked:
        report("B016", (), f"the limit {limit} is below the request {request}.", "Raise it, or remove it.")


def _check_device(name: str, amount: str, report: DocumentProblems) -> None:
    nanos, page = parse(amount) or 0, grammar.page_size(name)
    if page and nanos % page:
        message = f"{amount} is not a multiple of the page size."
        report("B016", (), message, f"Write a multiple of {name[10:]}.")
    elif not page and nanos % NANO:
        report("B016", (), f"{amount} is not a whole number of devices.", "Write a whole number.")
    elif not page and nanos > _MOST_DEVICES:
        report(
            "B016", (), f"{amount} is more than Kubernetes can count.", "Write how many devices there are."
        )


def check_overhead(overhead: Amounts, report: DocumentProblems) -> None:
    """Report amounts that no pod can have in addition to its containers."""
    check_amounts(overhead, report)
    for name, amount in overhead.items():
        if name not in grammar.SHARED:
            _check_device(name, amount, report.below(name))


def check_amounts(amounts: Amounts | None, report: DocumentProblems, beside: Amounts | None = None) -> None:
    """Warn of amounts of one pod or node that are probably meant in another unit.

    cpu and memory are compared where both are in `beside`, which is `amounts` by default.
    """
    check_least(amounts, report)
    amounts = amounts or {}
    every = amounts if beside is None else beside
    cores, memory = (parse(every[name]) if name in every else None for name in ("cpu", "memory"))
    for name, amount in amounts.items():
        nanos = parse(amount) or 0
        is_cpu, is_memory = name == "cpu", name == "memory"
        fix = _fewer_cores(nanos) if is_cpu else _smaller(amount)
        if nanos > _MOST.get(name, nanos):
            report("B241", name, f"{amount} of {name} is more than a machine has.", fix)
        elif (
            is_cpu and nanos >= _MANY_CORES and memory is not None and memory * NANO < nanos * _LEAST_BY_CORE
        ):
            report("B241", name, f"{amount} is {_text(nanos)} cores, far more than fit the memory.", fix)
        elif is_memory and nanos >= _MUCH_MEMORY and cores and nanos * NANO > cores * _MOST_BY_CORE:
            report("B241", name, f"{amount} is far more memory than fits the cores.", fix)


def check_least(amounts: Amounts | None, report: DocumentProblems) -> None:
    """Report amounts that are too small for anything that runs, also in sums over many pods."""
    for name, amount in (amounts or {}).items():
        nanos = parse(amount) or 0
        if name == "cpu" and 0 < nanos < NANO // 1000:
            fix = "Write cores, such as 2, or thousandths of them, such as 500m."
            report("B241", name, f"{amount} is less than a thousandth of a core.", fix)
        elif name in ("memory", "ephemeral-storage") and 0 < nanos < _LEAST_BYTES:
            message = f"{amount} is {_text(nanos)} bytes: no container runs with that."
            is_part = amount.endswith(_PARTS_OF_BYTES)
            report("B022" if is_part else "B241", name, message, _larger(amount))


def _fewer_cores(nanos: int) -> str:
    """Suggest thousandths of a core in place of cores, if that is a size that pods have."""
    cores = nanos // NANO
    return f'Did you mean "{cores}m"?' if cores <= 64_000 else "Write how many cores it has."


def _larger(amount: str) -> str:
    """Suggest the same number with the unit that is usual for it."""
    number, _ = _parts(amount)
    if number is None:
        return 'Write it with a unit, such as "512Mi" or "4Gi".'
    size = float(number)
    units = ("Gi",) if size <= 32 else ("Gi", "Mi") if size < 128 else ("Mi",) if size < 2**17 else ("Ki",)
    return f"Did you mean {' or '.join(f'{chr(34)}{number}{unit}{chr(34)}' for unit in units)}?"


def _smaller(amount: str) -> str:
    number, unit = _parts(amount)
    if number is None or unit not in _SMALLER_UNITS:
        return "Write how much it has."
    return f'Did you mean "{number}{_SMALLER_UNITS[unit]}"?'


def _parts(amount: str) -> tuple[str | None, str]:
    """Return number and unit as they are written; no number where it has an exponent."""
    match = re.fullmatch(_NUMBER_AND_UNIT, amount, re.ASCII)
    return (match[1], match[2]) if match else (None, "")


def completed(requests: Mapping[str, str], limits: Mapping[str, str]) -> tuple[Amounts, Amounts]:
    """Complete as Kubernetes does: a limit without a request is one too; what is not shared has both."""
    asked: Amounts = {**requests, **{n: a for n, a in limits.items() if n not in requests}}
    most: Amounts = {**limits, **{n: a for n, a in asked.items() if n not in grammar.SHARED}}
    return asked, most


def with_overhead(requests: Amounts, limits: Amounts, overhead: Amounts) -> tuple[Amounts, Amounts]:
    """Add the overhead of a pod to its completed requests, and to those limits that it has."""
    return completed(
        requests | {name: add(requests.get(name, "0"), amount) for name, amount in overhead.items()},
        limits | {name: add(limits[name], amount) for name, amount in overhead.items() if name in limits},
    )


def layered(
    below: Mapping[str, Mapping[str, str]], requests: Mapping[str, str], limits: Mapping[str, str]
) -> dict[str, Amounts]:
    """Return requests and limits over those of a container, key by key.

    What is below and contradicts them gives way: a request above the new limit becomes that limit, and a
    limit below the new request becomes that request.
    """
    asked = {**below.get("requests", {}), **requests}
    most = {**below.get("limits", {}), **limits}
    for name in asked.keys() & most.keys():
        if (parse(most[name]) or 0) < (parse(asked[name]) or 0):
            asked[name] = most[name] = requests.get(name) or limits[name]
    asked, most = completed(asked, most)
    return {"requests": asked, "limits": most} if most else {"requests": asked}
