"""Leases: which pod writes a pool. Pure.

A scaler holds the Lease of each of its pools while it works; the sweep holds none. All instants are by the
clock of the API server.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from berth.core.jsonvalues import Tree, instant_or_none, instant_text, part
from berth.core.labels import RESERVATION, SITE
from berth.core.objects import ObjectRef

RENEW_SECONDS = 20  # between two renewals
VALID_SECONDS = 60  # after the last one, for which the sweep leaves the pool alone
ENDED = "berth.dev/ended"  # an annotation: rehearsals that are over before their time, and since when


class PoolLease(NamedTuple):
    """A Lease as it was read."""

    name: str
    reservation: str  # as its label says
    holder: str  # the name of a pod; empty: it has been given up
    renewed: int
    version: str
    ended: Mapping[str, int] = {}  # when rehearsals were over, by id

    def is_valid(self, now: int) -> bool:
        """Return whether somebody works, or has stopped so lately that another scaler may come."""
        return abs(now - self.renewed) < VALID_SECONDS  # one that says it comes from the future is none

    def is_free(self, pod: str, now: int) -> bool:
        """Return whether the pod may take it."""
        return self.holder in ("", pod) or not self.is_valid(now)


def parse_lease(tree: Tree) -> PoolLease:
    """Parse a Lease. What is malformed was never renewed. Raises KeyError without a name."""
    metadata, spec = part(tree, "metadata"), part(tree, "spec")
    words = str(part(metadata, "annotations").get(ENDED, "")).split()
    instants = [instant_or_none(word) for word in words[1::2]]
    return PoolLease(
        str(metadata["name"]),
        str(part(metadata, "labels").get(RESERVATION, "")),
        str(spec.get("holderIdentity") or ""),
        instant_or_none(f"{str(spec.get('renewTime'))[:19]}Z") or 0,
        str(metadata.get("resourceVersion", "")),
        {name: at for name, at in zip(words[::2], instants, strict=False) if at is not None},
    )


def new_lease(site: str, timetable: ObjectRef) -> Tree:
    """Return the metadata of a Lease that the timetable owns."""
    owners = [timetable.as_owner] if timetable.uid else []
    return {"labels": {SITE: site, RESERVATION: timetable.reservation}, "ownerReferences": owners}


def lease_spec(pod: str, now: float) -> Tree:
    """Return the spec of a Lease that the pod holds."""
    return {
        "holderIdentity": pod,
        "leaseDurationSeconds": VALID_SECONDS,
        "renewTime": f"{instant_text(int(now))[:-1]}.000000Z",
    }


def ended_note(ended: Mapping[str, int]) -> str:
    """Return the value of the annotation."""
    return " ".join(f"{name} {instant_text(at)}" for name, at in sorted(ended.items()))


def ended_rehearsals(leases: Iterable[PoolLease]) -> dict[str, int]:
    """Return when rehearsals were over before their time, by id."""
    return {name: at for lease in leases for name, at in lease.ended.items()}
