"""Which changes make Karpenter replace nodes that stand? Pure.

It keeps a hash of most of what describes a node; when that changes, all nodes have drifted. Of the rest it
asks whether a node still matches (Karpenter v1.14, `Hash` of NodePool and EC2NodeClass).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gen.diff.manifests import ADDED, REMOVED, ObjectChange, section

_BUDGETS = "as many at once as its disruption budgets allow, also while a window is open."


class _Described(NamedTuple):
    at: Sequence[str]  # where nodes are described
    asked: Sequence[Sequence[str]]  # keys from there of what is asked of each node
    free: Sequence[Sequence[str]] = ()  # of what concerns new nodes only


# By kind; of the whole cluster, and a change of one is told by what becomes of its nodes.
DESCRIBED: Mapping[str, _Described] = {
    "NodePool": _Described(("spec", "template"), asked=[("spec", "requirements")]),
    "EC2NodeClass": _Described(
        ("spec",),
        asked=[
            (key,)
            for key in (
                "amiFamily",
                "amiSelectorTerms",
                "capacityReservationSelectorTerms",
                "securityGroupSelectorTerms",
                "subnetSelectorTerms",
            )
        ],
        free=[("ipPrefixCount",)],
    ),
}


def of_nodes(one: ObjectChange) -> Iterator[tuple[str, str]]:
    """Code and message."""
    described = DESCRIBED.get(one.kind)
    if described is None or one.change == ADDED:
        return
    if one.change == REMOVED:
        if one.kind == "NodePool":
            yield "nodes-replaced", "its nodes go with it, also while a window is open."
        return
    if _hashed(one.before, described) != _hashed(one.after, described):
        yield "nodes-replaced", f"all of its nodes drift: Karpenter replaces them, {_BUDGETS}"
    elif any(
        _part(one.before, described, key) != _part(one.after, described, key) for key in described.asked
    ):
        yield "nodes-replaced", f"nodes that no longer match drift: Karpenter replaces them, {_BUDGETS}"


def _hashed(text: str, described: _Described) -> list[str]:
    """Lines of the description, without those of the parts that are not hashed."""
    lines = section(text, *described.at)
    for keys in (*described.asked, *described.free):
        part = _part(text, described, keys)
        if part:
            at = next(n for n in range(len(lines)) if lines[n : n + len(part)] == part)
            lines = lines[:at] + lines[at + len(part) :]
    return lines


def _part(text: str, described: _Described, keys: Sequence[str]) -> list[str]:
    return section(text, *described.at, *keys)
