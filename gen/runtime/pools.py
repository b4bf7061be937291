"""Which pools a run looks after: all that any timetable of it has named, until they are empty."""

from collections.abc import Iterable, Mapping

from gen.runtime.timetable import Pool


def followed(known: Mapping[str, Pool], named: Iterable[Pool]) -> dict[str, Pool]:
    """By key. `known` are those that were followed before, `named` those of the timetable that holds.

    What a backend before has left is a pool of its own, which nobody names any more. A Deployment has one
    keeper only: the one that the timetable asks for.
    """
    found = {}
    for pool in known.values():
        if pool.has_deployment:
            found[pool.deployment] = pool._replace(slots=None)
        if pool.node_pool:
            found[pool.key] = pool
        if pool.slots:
            found[pool.key] = pool._replace(slots=pool.slots._replace(placeholders=False))
    for pool in named:
        found[pool.key] = pool
        if pool.slots and pool.has_deployment:
            found.pop(pool.deployment, None)
    return found
