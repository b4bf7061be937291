"""Would two rendered objects have one name? `a-b` with class `c` and `a` with class `b-c` would."""

from collections.abc import Iterator

from gen.finding import Problem
from gen.manifest import naming
from gen.model import Reservation
from gen.placed import Placed

MEET = "B066"
KUSTOMIZE = "kustomization"  # kustomize and Flux take a folder with a file of this name for one of theirs


class Names:
    """Remembers the names given in each cluster; one `take` for each reservation and cluster."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str, str], Reservation] = {}

    def take(self, placed: Placed, cronjobs: int) -> Iterator[Problem]:
        """Both reservations that would meet are told."""
        reservation = placed.reservation
        name, cluster = reservation.name, placed.cluster.name
        if name == naming.RUNTIME:
            yield _meet(reservation, "ConfigMap", naming.RUNTIME, "Berth itself")
        if name == KUSTOMIZE:
            yield _meet(reservation, "file", f"{KUSTOMIZE}.yaml", "kustomize")
        wanted = [("Deployment", naming.pool(name, found.name)) for found in placed.classes]
        wanted += [("CronJob", naming.cronjob(name, i + 1)) for i in range(cronjobs)]
        wanted.append(("ConfigMap", naming.single(name)))
        for kind, given in wanted:
            owner = self._owners.setdefault((cluster, kind, given), reservation)
            if owner.name != name:
                yield _meet(reservation, kind, given, f"reservation {owner.name}")
                yield _meet(owner, kind, given, f"reservation {name}")


def _meet(reservation: Reservation, kind: str, given: str, other: str) -> Problem:
    message = f"its {kind} would be named {given}, like that of {other}."
    path = (*reservation.origin.prefix, "name") if reservation.renku else ("metadata", "name")
    fix = "Rename the reservation or its class."
    return Problem(MEET, *reservation.origin[:2], path, message, fix)
