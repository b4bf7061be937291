"""Parts of a pod as in the Kubernetes API: where it is scheduled, and what its container requests.

They are checked so that the API server accepts what is rendered, and are rendered as they were written.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from berth.findings import Path
from berth.quantity import NANO, parse
from berth.schema import grammar
from berth.schema.base import Json, ListOf, Model, field, lazy
from berth.schema.report import CONFLICT, INVALID, Report, items
from berth.schema.types import DnsName, Labels

if TYPE_CHECKING:
    from berth.schema.scheduling import Affinity, Toleration, TopologySpread
else:
    Affinity = lazy("berth.schema.scheduling", "Affinity")
    Toleration = lazy("berth.schema.scheduling", "Toleration")
    TopologySpread = lazy("berth.schema.scheduling", "TopologySpread")


class Tolerating(Model):
    """Which nodes a pod may be on, by their labels and taints."""

    node_selector: Labels | None = field(None, "as in a pod: nodes that carry all of these labels", "none")
    tolerations: ListOf[Toleration] | None = field(None, "as in a pod", "none")


class Placing(Tolerating):
    """All constraints of a pod on its node."""

    affinity: Affinity | None = field(None, "as in a pod", "none")
    topology_spread_constraints: ListOf[TopologySpread] | None = field(None, "as in a pod", "none")

    def check(self, path: Path, report: Report) -> None:
        """Report constraints that the API server refuses: one topology key with the same answer twice."""
        found = self.topology_spread_constraints
        if not found or found is INVALID:
            return
        pairs: list[Any] = []
        for i, one in enumerate(found):
            is_sound = report.is_sound((*path, "topologySpreadConstraints", i), one)
            pair = (one.topology_key, one.when_unsatisfiable) if is_sound else None
            if pair is not None and pair in pairs:
                message = f"duplicate constraint: {pair[0]} with {pair[1]}."
                report(CONFLICT, (*path, "topologySpreadConstraints", i), message, "Remove one of the two.")
            pairs.append(pair)

    @property
    def placement(self) -> Json:
        """Return the constraints as fields of a pod's spec, without empty ones."""
        names = set(Placement.model_fields)
        said = self.model_dump(by_alias=True, exclude_none=True, include=names)
        return {name: value for name, value in said.items() if value}


class Placement(Placing):
    scheduler_name: DnsName | None = field(None, "as in a pod", "the cluster's default scheduler")

    @property
    def pod(self) -> "Placement":
        """Return the placement alone, without the other keys of a class."""
        said = {known.alias: getattr(self, name) for name, known in Placement.model_fields.items()}
        return Placement.model_construct(**{str(alias): value for alias, value in said.items()})


# Requests and limits of a container: amounts that the API server accepts, completed as it does.

Amounts = dict[str, str]

_MOST_DEVICES = 10**15 * NANO  # above, the API server counts thousandths that overflow


def check_resources(requests: Any, limits: Any, path: Path, report: Report) -> None:
    """Report requests and limits that the API server would refuse together."""
    asked, most = _sound(requests), _sound(limits)
    names = {name for name, _ in (*items(requests), *items(limits))}
    for name in {**asked, **most}:
        where = "requests" if name in asked else "limits"
        request, limit = asked.get(name, most.get(name, "")), most.get(name)
        if name not in grammar.SHARED:
            _check_device(name, request, (*path, where, name), report)
        if limit is not None:
            _check_limit(name, request, limit, (*path, "limits", name), report)
        if grammar.page_size(name) and not {"cpu", "memory"} & names:
            message, fix = "huge pages also need cpu or memory.", "Add cpu or memory."
            report(CONFLICT, (*path, where, name), message, fix)


def _check_limit(name: str, request: str, limit: str, at: Path, report: Report) -> None:
    asked, most = parse(request) or 0, parse(limit) or 0
    if name not in grammar.SHARED and most != asked:
        message = f"the limit {limit} differs from the request {request}."
        report(CONFLICT, at, message, "Write the same amount: Kubernetes does not overcommit such resources.")
    elif most < asked:
        report(CONFLICT, at, f"the limit {limit} is below the request {request}.", "Raise it, or remove it.")


def _check_device(name: str, amount: str, at: Path, report: Report) -> None:
    nanos, page = parse(amount) or 0, grammar.page_size(name)
    if page and nanos % page:
        message = f"{amount} is not a multiple of the page size."
        report(CONFLICT, at, message, f"Write a multiple of {name[10:]}.")
    elif not page and nanos % NANO:
        report(CONFLICT, at, f"{amount} is not a whole number of devices.", "Write a whole number.")
    elif not page and nanos > _MOST_DEVICES:
        report(
            CONFLICT, at, f"{amount} is more than Kubernetes can count.", "Write how many devices there are."
        )


def _sound(amounts: Any) -> Amounts:
    return {name: amount for name, amount in items(amounts) if amount is not INVALID}


def completed(requests: Mapping[str, str], limits: Mapping[str, str]) -> tuple[Amounts, Amounts]:
    """Complete as Kubernetes does: a limit without a request is one too; what is not shared has both."""
    asked: Amounts = {**requests, **{n: a for n, a in limits.items() if n not in requests}}
    most: Amounts = {**limits, **{n: a for n, a in asked.items() if n not in grammar.SHARED}}
    return asked, most


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
