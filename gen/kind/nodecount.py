"""Whole nodes instead of seats: what a reservation of backend nodePool may say, and no other."""

from collections.abc import Iterator

from gen.finding import Path
from gen.kind.backend import NODE_POOL
from gen.kind.shape import CONFLICT, INVALID, Made, Report

COUNTS_SESSIONS = "B170"


def agree_on_nodes(made: Made, backend: str, path: Path, report: Report) -> None:
    """`made` is the spec of a reservation."""
    refused, meant = ("placeholderCount", "nodeCount") if backend == NODE_POOL else ("nodeCount", "")
    for at, counted in _counts(made):
        if counted.get(refused) is None:
            continue
        if meant:
            message, fix = "backend nodePool holds whole nodes, not seats.", f"Write {meant}: how many nodes."
        else:
            message = f"backend {backend} holds seats, not nodes."
            fix = "Write placeholderCount, or backend: {type: nodePool}."
        report(CONFLICT, (*path, *at, refused), message, fix, at_key=True)
    provisioning = made["provisioning"]
    if backend == NODE_POOL and provisioning is not INVALID:
        behaviour = provisioning["scaleDownBehavior"]
        if behaviour not in (None, INVALID, "none"):
            message = f"nodes cannot {behaviour}: whole nodes do not give way to sessions one by one."
            at = (*path, "provisioning", "scaleDownBehavior")
            report(COUNTS_SESSIONS, at, message, "Write none, or leave it out.")


def _counts(made: Made) -> Iterator[tuple[Path, Made]]:
    """Every mapping that may count seats or nodes, with its place."""
    lines: list[tuple[Path, Made]] = [(("provisioning",), made["provisioning"])]
    recurrence = made["recurrence"] if isinstance(made["recurrence"], dict) else {}
    for name in ("schedule", "extra"):
        entries = recurrence.get(name)
        lines += [
            (("recurrence", name, i), one)
            for i, one in enumerate(entries if isinstance(entries, tuple) else ())
        ]
    for at, one in lines:
        if one is INVALID:
            continue
        yield at, one
        seats = one["seats"] if isinstance(one["seats"], tuple) else ()
        yield from (((*at, "seats", i), each) for i, each in enumerate(seats) if each is not INVALID)
