"""Windows around the present minute: reservations that open soon, and a record of what the cluster did."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple

from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Mirror
from tests.e2e.looking import Looking
from tests.e2e.project import NAMESPACE, Document, document
from tests.e2e.waiting import is_ready

MINUTE = 60
# Seconds after its minute within which a window opens and closes. Steps of a story are a minute apart, so
# on a busy machine, where pods start late, one is still not taken for the next.
GRACE = 40
OPENING = 55  # the same for openings: pods start then
CLASS = "berth.dev/resource-class"
# Where it is six hours from midnight at least: all windows of a test run are on one date.
ZONES = {0: "UTC", 12: "Etc/GMT-12"}  # hours east; the name has it the other way round
EAST = 0 if 6 <= datetime.now(UTC).hour < 18 else 12
LOCAL = timezone(timedelta(hours=EAST))


class Look(NamedTuple):
    """One look at a pool: when (seconds since the epoch), replicas asked for, placeholders that are ready."""

    at: float
    wanted: int
    ready: int


class Recorder(Looking):
    """Looks at every pool of a namespace twice a second, until it is stopped."""

    def __init__(self, direct: Direct, namespace: str = NAMESPACE) -> None:
        self._pods = Mirror(direct, f"/api/v1/namespaces/{namespace}/pods?labelSelector={CLASS}")
        self._pools = Mirror(direct, f"/apis/apps/v1/namespaces/{namespace}/deployments")
        super().__init__((self._pods, self._pools), interval=0.5)
        self.looks: dict[str, list[Look]] = {}

    def _look(self, at: float) -> None:
        ready: dict[str, int] = {}
        for pod in self._pods.objects():
            labels = pod["metadata"]["labels"]
            name = f"{labels['berth.dev/reservation']}-{labels[CLASS]}"
            ready[name] = ready.get(name, 0) + ("deletionTimestamp" not in pod["metadata"] and is_ready(pod))
        for pool in self._pools.objects():
            name = pool["metadata"]["name"]
            look = Look(at, pool["spec"]["replicas"], ready.get(name, 0))
            self.looks.setdefault(name, []).append(look)

    def changes(self, pool: str) -> list[tuple[float, int]]:
        """When the number of replicas that are requested became another, beginning with the first look."""
        found: list[tuple[float, int]] = []
        for look in self.looks.get(pool, []):
            if not found or found[-1][1] != look.wanted:
                found.append((look.at, look.wanted))
        return found

    def between(self, pool: str, first: float, last: float) -> list[Look]:
        return [look for look in self.looks.get(pool, []) if first <= look.at < last]


def next_minute(ahead: int) -> int:
    """A full minute at least `ahead` seconds from now."""
    return (int(time.time()) + ahead + MINUTE - 1) // MINUTE * MINUTE


def sleep_until(instant: float) -> None:
    time.sleep(max(0.0, instant - time.time()))


def suspend_sweep(cluster: Cluster, namespace: str) -> None:
    """It comes every five minutes, which is another minute of a story each time."""
    patch = '--patch={"spec":{"suspend":true}}'
    cluster.kubectl("patch", "cronjob/berth-sweep", f"--namespace={namespace}", patch)


def wait_until(holds: Callable[[], bool], last: float) -> None:
    """Or until `last`, in seconds since the epoch: the tests judge what is missing then."""
    while not holds() and time.time() < last:
        time.sleep(0.2)


def entry(opens: int, lead: int, minutes: int, **seats: Any) -> Document:
    """A schedule entry that opens at the instant `opens`; it lasts `minutes` after its lead."""
    start = datetime.fromtimestamp(opens + lead * MINUTE, LOCAL)
    end = datetime.fromtimestamp(opens + (lead + minutes) * MINUTE, LOCAL)
    return {"startTime": f"{start:%H:%M}", "endTime": f"{end:%H:%M}", **seats}


def rehearsed(declared: Document, at: int, *, today: bool = False) -> list[Document]:
    """A course whose windows are tomorrow, and today if it says so, and the rehearsal of tomorrow's at `at`.

    The rehearsal has the name that is declared, and lasts for the lead; the course ends with `-course`.
    """
    here, name, spec = datetime.fromtimestamp(at, LOCAL), declared["metadata"]["name"], declared["spec"]
    tomorrow = f"{here + timedelta(days=1):%Y-%m-%d}"
    recurrence, provisioning = spec["recurrence"], spec["provisioning"]
    recurrence["dates"] = [*(recurrence["dates"] if today else ()), tomorrow]
    end = here + timedelta(minutes=provisioning["leadTimeMinutes"])
    when = {"date": f"{here:%Y-%m-%d}", "startTime": f"{here:%H:%M}", "endTime": f"{end:%H:%M}"}
    rehearsal = {
        "rehearses": {"name": f"{name}-course", "date": tomorrow},
        "recurrence": {"type": "dates", "timeZone": recurrence["timeZone"], "dates": [when]},
        "provisioning": {**provisioning, "leadTimeMinutes": 0, "endsWhenReady": True},
    }
    declared["metadata"]["name"] = f"{name}-course"
    return [declared, document("CapacityReservation", name, rehearsal)]


def reservation(
    name: str, opens: int, entries: list[Document], *, lead: int, seats: Mapping[str, int], **spec: Any
) -> Document:
    """Its entries are on the date of the first start."""
    date = f"{datetime.fromtimestamp(opens + lead * MINUTE, LOCAL):%Y-%m-%d}"
    listed = [{"resourceClass": one, "placeholderCount": count} for one, count in seats.items()]
    provisioning = {
        "seats": listed,
        "leadTimeMinutes": lead,
        "scaleDownBehavior": spec.pop("behaviour", "none"),
    }
    recurrence = {"type": "dates", "dates": [date], "timeZone": ZONES[EAST], "schedule": entries}
    told = {"recurrence": recurrence, "provisioning": provisioning, **spec}
    return document("CapacityReservation", name, told)
