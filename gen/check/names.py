"""Would two rendered objects have one name? `a-b` with class `c` and `a` with class `b-c` would."""

from collections.abc import Iterator

from gen.finding import Problem
from gen.manifest import naming
from gen.placed import Placed

MEET = "B066"


class Names:
    """Remembers the names given in each cluster; one `take` for each reservation and cluster, in order of name."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str, str], str] = {}

    def take(self, placed: Placed, cronjobs: int) -> Iterator[Problem]:
        reservation = placed.reservation
        name, cluster = reservation.name, placed.cluster.name
        wanted = [("Deployment", naming.pool(name, found.name)) for found in placed.classes]
        wanted += [("CronJob", naming.cronjob(name, i + 1)) for i in range(cronjobs)]
        wanted.append(("ConfigMap", naming.single(name)))
        for kind, given in wanted:
            owner = self._owners.setdefault((cluster, kind, given), name)
            if owner != name or given == naming.RUNTIME and kind == "ConfigMap":
                other = "Berth itself" if given == naming.RUNTIME else f"reservation {owner}"
                message = f"its {kind} would be named {given}, like that of {other}."
                path = (*reservation.origin.prefix, "name") if reservation.renku else ("metadata", "name")
                yield Problem(
                    MEET, *reservation.origin[:2], path, message, "Rename the reservation or its class."
                )
