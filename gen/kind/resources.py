"""Requests and limits of a container: amounts that the API server takes, completed as it would."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.shape import CONFLICT, Made, MapOf, Report, items
from gen.kind.value import Text
from gen.quantity import NANO, parse

Amounts = dict[str, str]

SHARED = ("cpu", "memory", "ephemeral-storage")
_MOST_DEVICES = 10**15 * NANO  # above, the API server counts thousandths that overflow


class Amount(Text):
    """A quantity; a plain number is one too, as in Kubernetes."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is int:
            value = str(value)
        elif type(value) is float and abs(value) < 2**53:
            value = f"{value:.9f}".rstrip("0").rstrip(".")
        return Text.check(self, value, path, report)


AMOUNT = Amount("quantity", grammar.quantity)
RESOURCES = MapOf(grammar.resource_name, AMOUNT)


def agree(made: Made, path: Path, report: Report) -> None:
    """Report where `requests` and `limits` of `made` would be refused together."""
    requests, limits = _sound(made["requests"]), _sound(made["limits"])
    for name in {**requests, **limits}:
        where = "requests" if name in requests else "limits"
        request, limit = requests.get(name, limits.get(name, "")), limits.get(name)
        if name not in SHARED:
            _agree_on_device(name, request, (*path, where, name), report)
        if limit is not None:
            _agree_on_limit(name, request, limit, (*path, "limits", name), report)
        if grammar.page_size(name) and not {"cpu", "memory"} & _names(made):
            message, fix = "huge pages need cpu or memory beside them.", "Add cpu or memory."
            report(CONFLICT, (*path, where, name), message, fix)


def _agree_on_limit(name: str, request: str, limit: str, at: Path, report: Report) -> None:
    asked, most = parse(request) or 0, parse(limit) or 0
    if name not in SHARED and most != asked:
        message = f"the limit {limit} differs from the request {request}."
        report(CONFLICT, at, message, "Write the same amount: Kubernetes does not share such resources.")
    elif most < asked:
        report(CONFLICT, at, f"the limit {limit} is below the request {request}.", "Raise it, or remove it.")


def _agree_on_device(name: str, amount: str, at: Path, report: Report) -> None:
    nanos, page = parse(amount) or 0, grammar.page_size(name)
    if page and nanos % page:
        report(
            CONFLICT, at, f"{amount} is no multiple of the page size.", f"Write a multiple of {name[10:]}."
        )
    elif not page and nanos % NANO:
        report(CONFLICT, at, f"{amount} is no whole number of devices.", "Write a whole number.")
    elif not page and nanos > _MOST_DEVICES:
        report(CONFLICT, at, f"{amount} is more than Kubernetes counts.", "Write how many devices there are.")


def _names(made: Made) -> set[Any]:
    return {name for name, _ in (*items(made["requests"]), *items(made["limits"]))}


def _sound(pairs: Any) -> Amounts:
    return {name: amount for name, amount in items(pairs) if type(name) is str and type(amount) is str}


def completed(requests: Any, limits: Any) -> tuple[Amounts, Amounts]:
    """As Kubernetes completes them: a limit without a request is one too; what is not shared has both."""
    asked: Amounts = {**dict(requests), **{n: a for n, a in limits if n not in dict(requests)}}
    most: Amounts = {**dict(limits), **{n: a for n, a in asked.items() if n not in SHARED}}
    return asked, most
