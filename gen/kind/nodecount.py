"""Whole nodes or seats: how a reservation counts them is a matter of its backend, and is asked here alone."""

from collections.abc import Iterator

from gen.finding import Path
from gen.kind.backend import NODE_POOL
from gen.kind.shape import CONFLICT, INVALID, MISSING, Made, Report

COUNTS_SESSIONS = "B170"


def agree_on_nodes(made: Made, backend: str, path: Path, report: Report) -> None:
    """`made` is the spec of a reservation. A count that is missing is told here too: of the kind that is
    meant.
    """
    needed, refused, what = "placeholderCount", "nodeCount", "seats"
    if backend == NODE_POOL:
        needed, refused, what = refused, needed, "nodes"
    for at, counted, is_needed in _counts(made):
        if counted[refused] is not None:
            message = f"backend {backend} holds seats, not nodes."
            fix = "Write placeholderCount, or backend: {type: nodePool}."
            if backend == NODE_POOL:
                message = "backend nodePool holds whole nodes, not seats."
                fix = "Write nodeCount: how many nodes."
            report(CONFLICT, (*path, *at, refused), message, fix, at_key=True)
        elif is_needed and counted[needed] is None:
            report(MISSING, (*path, *at), f"{needed} is missing.", f"Add {needed}: how many {what}.")
    provisioning = made["provisioning"]
    if backend == NODE_POOL and provisioning is not INVALID:
        behaviour = provisioning["scaleDownBehavior"]
        if behaviour not in (None, INVALID, "none"):
            message = f"nodes cannot {behaviour}: whole nodes do not give way to sessions one by one."
            at = (*path, "provisioning", "scaleDownBehavior")
            report(COUNTS_SESSIONS, at, message, "Write none, or leave it out.")


def _counts(made: Made) -> Iterator[tuple[Path, Made, bool]]:
    """Every mapping that may count seats or nodes, with its place, and whether it must."""
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
        yield at, one, at == ("provisioning",) and one["seats"] is None
        seats = one["seats"] if isinstance(one["seats"], tuple) else ()
        yield from (((*at, "seats", i), each, True) for i, each in enumerate(seats) if each is not INVALID)
