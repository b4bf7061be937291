"""Checks whether a cluster has what git says, and nothing else. Pure."""

from collections.abc import Collection, Iterator

from berth.core.jsonvalues import instant_text
from berth.core.target import full_count, open_now, target
from berth.core.timetable import Timetable, active_occurrences
from berth.findings import LiveFinding
from berth.live import expected
from berth.live.clusterfacts import LiveCronJob, LiveTimetable
from berth.live.expected import timetable_difference
from berth.live.poolstate import EDIT, REPAIR, ClusterState, PoolState, occurrences_of
from berth.schema.engine import CALLED


def check_reservation(
    snapshot: ClusterState, name: str, known: LiveTimetable, cronjobs: Collection[LiveCronJob]
) -> Iterator[LiveFinding]:
    """Compare the reservation with git. `known` is its timetable in the cluster."""
    git, cluster, malformed = snapshot.git.timetables.get(name), known.read, known.malformed
    has_pools = any(deployment.reservation == name for deployment in snapshot.facts.pools)
    if malformed and known.is_newer:
        message = f"its timetable is of a newer version of Berth: {malformed}."
        fix = "Upgrade Berth here; to apply an older file would break what runs there."
        yield snapshot.place.finding("S024", message, fix, name)
    elif malformed:
        fix = f"{apply_hint(snapshot, name)} Until then its pods keep the last valid one."
        yield snapshot.place.finding("S024", f"its timetable is malformed: {malformed}.", fix, name)
    elif git is None and cluster is None and not has_pools:
        pass  # slots alone are left, and no engine knows them
    elif git is None:
        what = "its windows are" if name in snapshot.git.persistent else "it is"
        fix = {"none": "The sweep removes it within 16 minutes of the next apply."}.get(
            snapshot.cluster.engine, "It goes with the next sync, if that prunes."
        )
        yield snapshot.place.finding("S023", f"{what} in the cluster but not in git.", fix, name)
    elif cluster is None:
        what = "its timetable is not" if has_pools else "it is in git but not"
        message = f"{what} in the cluster."
        yield snapshot.place.finding("S022", message, apply_hint(snapshot, name), name)
    elif unlike := timetable_difference(git, cluster):
        yield snapshot.place.finding("S022", f"not synced: {unlike}.", apply_hint(snapshot, name), name)
    yield from _check_cronjobs(snapshot, name, cluster, cronjobs)


def check_template(case: PoolState) -> Iterator[LiveFinding]:
    """Compare the pod template with git."""
    if not (case.object and case.git and any(pool.key == case.pool.key for pool in case.git.pools)):
        return
    git = case.snapshot.git.templates.get(case.object.name, "")
    if unlike := expected.template_difference(git, case.object.template):
        yield case.finding("S022", f"not synced: {unlike}.", apply_hint(case.snapshot, case.reservation))


def check_pool(case: PoolState) -> Iterator[LiveFinding]:
    """Report a pool that git has open for longer than a repair takes, and the cluster does not."""
    if case.git is None or case.override is not None:
        return
    now, name = case.snapshot.now, case.pool.resource_class
    full = full_count(name)
    mine = [each for each in open_now(occurrences_of(case.git, name), now) if each.open + REPAIR <= now]
    known = target(case.occurrences(), now, full, case.pool.overlap)
    missing = target(mine, now, full, case.pool.overlap)
    if missing and not known and now >= case.changed + EDIT:
        since = instant_text(min(each.open for each in mine))
        message = f"{case.seats(missing)} should be open by git, since {since}."
        yield case.finding("S020", message, apply_hint(case.snapshot, case.reservation))


def _check_cronjobs(
    snapshot: ClusterState, name: str, cluster: Timetable | None, cronjobs: Collection[LiveCronJob]
) -> Iterator[LiveFinding]:
    """Check CronJobs if there are occurrences to open."""
    if cluster is None or not any(
        occurrence.end > snapshot.now for occurrence in active_occurrences(cluster)
    ):
        return
    if not cronjobs:
        fix = f"{apply_hint(snapshot, name)} Until then only the sweep opens it, up to 6 minutes late."
        yield snapshot.place.finding("S022", "it has no CronJob to open it.", fix, name)
    for cronjob in cronjobs:
        if cronjob.suspended:
            patch = snapshot.place.kubectl(
                f'patch cronjob/{cronjob.name} --patch=\'{{"spec":{{"suspend":false}}}}\''
            )
            yield snapshot.place.finding(
                "S022", f"its CronJob {cronjob.name} is suspended.", f"Resume it: {patch}", name
            )


def apply_hint(snapshot: ClusterState, name: str) -> str:
    """Return how to apply the file of a reservation."""
    file = f"rendered/clusters/{snapshot.place.cluster}/reservations/{name}.yaml"
    engine = CALLED.get(snapshot.cluster.engine)
    if engine:
        return f"See why {engine} has not applied {file}; it may not be merged yet."
    return f"Apply it: {snapshot.place.kubectl(f'apply -f {file}', namespaced=False)}"
