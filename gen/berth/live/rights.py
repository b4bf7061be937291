"""Checks of what the pods of a reservation may do. Pure."""

from collections.abc import Iterator

from berth.findings import LiveFinding
from berth.live.grants import MissingGrant, missing_grants
from berth.live.health import nothing_applied
from berth.live.poolstate import ClusterState
from berth.live.sync import apply_hint


def check_grants(snapshot: ClusterState, reservation: str, *, is_needed: bool) -> Iterator[LiveFinding]:
    """Report permissions that git grants to a reservation, or to the sweep (empty), and the cluster does not.

    `is_needed`: something is open, or opens before anybody can correct it, and the cluster has what git says.
    """
    if nothing_applied(snapshot):
        return
    home, cluster = snapshot.place.namespace, snapshot.place.cluster
    granted = [grant for grant in snapshot.git.grants if grant.reservation == reservation]
    for missing in missing_grants(granted, snapshot.facts.grants, home):
        is_over_number = any(access.verb == "patch" for access in missing.grant.access)
        if missing.grant.namespace != home and not is_over_number:
            yield _sessions_unread(snapshot, reservation, missing)
            continue
        code = "S073" if is_needed else "S022"
        fix = f"Apply rendered/clusters/{cluster}/base.yaml."
        if reservation:
            fix = apply_hint(snapshot, reservation)
        if missing.grant.namespace in snapshot.facts.grants.missing:
            fix = f"Make the namespace {missing.grant.namespace}, then apply again."
        yield snapshot.place.finding(code, f"{missing.describe()}.", fix, reservation)


def _sessions_unread(snapshot: ClusterState, reservation: str, missing: MissingGrant) -> LiveFinding:
    """Report sessions that the pods cannot read. Their watches may outlive the permission for minutes."""
    message = (
        f"its sessions cannot be read: {missing.describe()}. New ones do not count; ten minutes later its "
        "pools hold their full count."
    )
    fix = f"Make the namespace {missing.grant.namespace}, then apply again."
    if missing.grant.namespace not in snapshot.facts.grants.missing:
        folder = f"rendered/clusters/{snapshot.place.cluster}"
        fix = f"Apply {folder} again: base.yaml and the file of {reservation}."
    return snapshot.place.finding("S085", message, fix, reservation)
