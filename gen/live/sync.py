"""Is what git says in the cluster, and nothing else? Pure."""

from collections.abc import Iterable, Iterator

from gen.live import podtemplate
from gen.live.case import EDIT, REPAIR, Case, Look, occurrences_of
from gen.live.expected import difference
from gen.live.facts import CronJob
from gen.live.rules import Live
from gen.runtime.instant import instant_text
from gen.runtime.target import full_count, open_now, target
from gen.runtime.timetable import Timetable, in_force
from gen.schema.engine import CALLED


def of_reservation(
    look: Look, name: str, cluster: Timetable | None, malformed: str, cronjobs: Iterable[CronJob]
) -> Iterator[Live]:
    """`cluster` is what is read there; None: it is missing, or `malformed` as this says."""
    git = look.expected.get(name)
    if malformed:
        fix = f"{apply(look, name)} Until then its pods keep the last one that they understood."
        yield _live(look, "S024", name, f"its timetable cannot be understood: {malformed}.", fix)
    elif (
        git is None and cluster is None and not any(one.reservation == name for one in look.facts.deployments)
    ):
        pass  # slots alone are left, and no engine knows them
    elif git is None:
        what = "its windows are" if name in look.standing else "it is"
        fix = {"none": "The sweep removes it within 16 minutes of the next apply."}.get(
            look.engine, "It goes with the next sync, if that prunes."
        )
        yield _live(look, "S023", name, f"{what} in the cluster and not in git.", fix)
    elif cluster is None:
        message = "it is in git and not in the cluster."
        if any(one.reservation == name for one in look.facts.deployments):
            message = "its timetable is not in the cluster."
        yield _live(look, "S021", name, message, apply(look, name))
    elif unlike := difference(git, cluster):
        yield _live(look, "S022", name, f"not synced: {unlike}.", apply(look, name))
    yield from _of_cronjobs(look, name, cluster, list(cronjobs))


def of_template(case: Case) -> Iterator[Live]:
    """What stands there is not what git would have stand."""
    if case.deployment is None:
        return
    git = case.look.templates.get(case.deployment.name, "")
    if unlike := podtemplate.difference(git, case.deployment.template):
        yield case.live("S022", f"not synced: {unlike}.", apply(case.look, case.reservation))


def of_pool(case: Case) -> Iterator[Live]:
    """Git has it open now, for longer than a repair may take, and the cluster does not."""
    if case.git is None or case.override is not None:
        return
    now, full = case.look.now, full_count(case.pool.resource_class)
    mine = [one for one in occurrences_of(case.git, case.pool.resource_class) if one.open + REPAIR <= now]
    known = target(case.occurrences(), now, full)
    missing = target(open_now(mine, now), now, full)
    if missing and not known and now >= case.changed + EDIT:
        since = instant_text(min(one.open for one in open_now(mine, now)))
        message = f"{case.seats(missing)} should be open by git, since {since}."
        yield case.live("S020", message, apply(case.look, case.reservation))


def _of_cronjobs(look: Look, name: str, cluster: Timetable | None, cronjobs: list[CronJob]) -> Iterator[Live]:
    """Only where something comes that they should open."""
    if cluster is None or not any(one.end > look.now for one in in_force(cluster)):
        return
    if not cronjobs:
        fix = f"{apply(look, name)} Until then only the sweep opens it, up to 6 minutes late."
        yield _live(look, "S026", name, "it has no CronJob that would open it.", fix)
    for one in cronjobs:
        if one.suspended:
            patch = look.place.kubectl(f'patch cronjob/{one.name} --patch=\'{{"spec":{{"suspend":false}}}}\'')
            yield _live(look, "S026", name, f"its CronJob {one.name} is suspended.", f"Resume it: {patch}")


def apply(look: Look, name: str) -> str:
    file = f"rendered/clusters/{look.place.cluster}/reservations/{name}.yaml"
    engine = CALLED.get(look.engine)
    if engine:
        return f"See why {engine} has not applied {file}; it may not be merged yet."
    context = f" --context={look.place.context}" if look.place.context else ""
    return f"Apply it: kubectl{context} apply -f {file}"


def _live(look: Look, code: str, subject: str, message: str, fix: str) -> Live:
    return Live(code, look.place.cluster, subject, message, fix)
