"""What is told of a cluster: a line for every pool, and what is wrong. Values only."""

from typing import NamedTuple

from gen.live.facts import Place
from gen.live.rules import Live

PENDING, ACTIVE, COMPLETED, FAILED = "pending", "active", "completed", "failed"


class SlotCount(NamedTuple):
    """The slots of a pool. `handed` ones have only a placeholder of their own pool; `over` hold nothing."""

    free: int
    in_use: int
    handed: int
    pending: int
    over: int


Numbers = tuple[int | None, int | None, int | None, int | None, int | None]
"""Wanted, asked for (replicas), ready, pending, active."""


class PoolStatus(NamedTuple):
    """One pool at one look. `open` and `end` (seconds) are those of what is open, else of what comes next,
    else of what was last; None without any. The numbers are None where nobody knows them.

    `wanted` and `replicas` are placeholders that should stand and that are asked for, `ready` and `pending`
    those that stand and that wait, `active` the sessions that count for it. Where slots hold the seats,
    `wanted`, `ready` and `pending` are those without a session, and `replicas` all that live.
    """

    reservation: str
    resource_class: str
    cluster: str
    state: str
    open: int | None
    end: int | None
    wanted: int | None
    replicas: int | None
    ready: int | None
    pending: int | None
    active: int | None
    findings: tuple[Live, ...]
    remark: str = ""  # what is no finding: suspended
    slots: SlotCount | None = None  # None: slots hold nothing of it, or nobody knows
    stands: bool = False  # without windows: `end` is when it expires, None never


class ClusterStatus(NamedTuple):
    """Its pools by reservation, and what is wrong with the cluster as a whole. `place` None: no context."""

    cluster: str
    place: Place | None
    pools: tuple[PoolStatus, ...]
    findings: tuple[Live, ...]
