"""Requests and limits of a container: amounts that the API server accepts, completed as it would."""

from collections.abc import Mapping
from typing import Any

from berth.findings import Path
from berth.quantity import NANO, parse
from berth.schema import grammar
from berth.schema.labels import items
from berth.schema.report import CONFLICT, INVALID, Report

Amounts = dict[str, str]

SHARED = ("cpu", "memory", "ephemeral-storage")
_MOST_DEVICES = 10**15 * NANO  # above, the API server counts thousandths that overflow


def check_resources(requests: Any, limits: Any, path: Path, report: Report) -> None:
    """Report requests and limits that the API server would refuse together."""
    asked, most = _sound(requests), _sound(limits)
    names = {name for name, _ in (*items(requests), *items(limits))}
    for name in {**asked, **most}:
        where = "requests" if name in asked else "limits"
        request, limit = asked.get(name, most.get(name, "")), most.get(name)
        if name not in SHARED:
            _check_device(name, request, (*path, where, name), report)
        if limit is not None:
            _check_limit(name, request, limit, (*path, "limits", name), report)
        if grammar.page_size(name) and not {"cpu", "memory"} & names:
            message, fix = "huge pages need cpu or memory beside them.", "Add cpu or memory."
            report(CONFLICT, (*path, where, name), message, fix)


def _check_limit(name: str, request: str, limit: str, at: Path, report: Report) -> None:
    asked, most = parse(request) or 0, parse(limit) or 0
    if name not in SHARED and most != asked:
        message = f"the limit {limit} differs from the request {request}."
        report(CONFLICT, at, message, "Write the same amount: Kubernetes does not share such resources.")
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
        report(CONFLICT, at, f"{amount} is more than Kubernetes counts.", "Write how many devices there are.")


def _sound(amounts: Any) -> Amounts:
    return {name: amount for name, amount in items(amounts) if amount is not INVALID}


def completed(requests: Mapping[str, str], limits: Mapping[str, str]) -> tuple[Amounts, Amounts]:
    """Complete as Kubernetes does: a limit without a request is one too; what is not shared has both."""
    asked: Amounts = {**requests, **{n: a for n, a in limits.items() if n not in requests}}
    most: Amounts = {**limits, **{n: a for n, a in asked.items() if n not in SHARED}}
    return asked, most
