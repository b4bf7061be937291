"""A term in a few minutes, as an engine lives through it: first sync, edits, an upgrade, an outage, the end.

The same story for every engine, side by side; each test file reads its own. The short story has no edits and
no outage: a window opens, everything is upgraded while it is open, and the last reservation goes.
"""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e import project, windows
from tests.e2e.appliers import Applier, eventually
from tests.e2e.capacity import Capacity
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct
from tests.e2e.heldobjects import AUTOSCALER, Numbers, held_by, held_kinds
from tests.e2e.neighbour import Neighbour
from tests.e2e.owners import IN_GIT, KEPT, OMITTED, RESET, Owner
from tests.e2e.replicas import Replicas
from tests.e2e.windows import MINUTE, entry, reservation, sleep_until

TITLE = "Costs ${5} for ${COURSE} and $(date)"  # no engine may see more in it than text
LONG = 40  # minutes: longer than any story
HELD = 40  # of somebody else's numbers
POOLS = (("course", 5), ("edited", 7), ("gone", 3), ("before", 4))
KINDS = "deployments,configmaps,cronjobs,roles,rolebindings,serviceaccounts"


class Story(NamedTuple):
    """What happened: instants in seconds since the epoch, and what was seen at them."""

    record: Replicas
    neighbours: Replicas
    numbers: Numbers
    opens: int
    moments: dict[str, float]
    seen: dict[str, Any]


class Telling:
    def __init__(  # noqa: PLR0913 - all who take part
        self,
        cluster: Cluster,
        applier: Applier,
        neighbour: Neighbour,
        owner: Owner,
        folder: Path,
        *,
        is_short: bool = False,
    ) -> None:
        self._is_short = is_short
        self._cluster = cluster
        self._applier = applier
        self._neighbour = neighbour
        self.name = applier.name
        self.namespace = f"berth-{applier.name}"
        self._sessions = f"sessions-{applier.name}"
        self.owner = owner
        self._owners_folder = folder / "owner"
        self._capacity = Capacity(applier, folder / "ours", self.namespace, held_kinds(owner.namespace))
        self._direct = Direct()
        self._numbers = Numbers(self._direct, owner.namespace)
        self._record = Replicas(self.namespace)
        self._opens = 0
        self._moments: dict[str, float] = {}
        self._seen: dict[str, Any] = {}

    def tell(self) -> Story:
        for name in (self._sessions, self.owner.namespace):  # other people's: they are there before us
            self._cluster.create_namespace(name)
        self._applier.up()
        try:
            self._record.start()
            self._numbers.start()
            self._begin()
            self._open()
            if self._is_short:
                self._upgrade_now()
                self._end([name for name, _ in POOLS] + ["stuck"])
            else:
                self._live_on()
        finally:
            self._record.stop()
            self._numbers.stop()
            self._direct.close()
            self._neighbour.record.stop()
            self._applier.down()
        records = (self._record, self._neighbour.record, self._numbers)
        return Story(*records, self._opens, self._moments, self._seen)

    def _live_on(self) -> None:
        self._edit_by_hand()
        self._change()
        self._look_hard()
        self._hold()
        self._give_back()
        self._be_refused()
        self._upgrade()
        self._go_down()
        self._end(["course", "edited", "stuck", "late", "after", "alone"])
        self._leave()

    def _commit(self, moment: str, upgraded: bool = False) -> None:
        self._moments[moment], self._moments[f"{moment} applied"] = self._capacity.commit(moment, upgraded)

    def _begin(self) -> None:
        self._opens = windows.next_minute(60 if self._is_short else 90)
        self._capacity.write_site()
        self._capacity.write(*self._classes(cpu="100m"))
        for name, seats in POOLS:
            self._capacity.write(self._reservation(name, seats))
        self._capacity.write(self._reservation("stuck", 2, "lost"))
        self._commit("first")
        self._seen["base"] = self._capacity.base()
        self._seen["first"] = self._objects()
        self._seen["replicas at first"] = self._replicas()
        pool = self._cluster.get("deployment", "course-small", self.namespace)
        self._seen["title"] = pool["metadata"]["annotations"]["berth.dev/title"]
        if not self._is_short:
            self._neighbour.begin(self._opens, LONG)

    def _classes(self, cpu: str) -> list[project.Document]:
        """`lost` has a node selector that no node has: its placeholders stay Pending."""
        classes = [project.resource_class("small"), project.resource_class("lost")]
        classes[1]["spec"]["nodeSelector"] = {"type": "nowhere"}
        for resource_class in classes:
            resource_class["spec"]["requests"]["cpu"] = cpu
            resource_class["spec"]["sessions"]["namespaces"] = [self._sessions]
        return classes

    def _reservation(self, name: str, seats: int, resource_class: str = "small") -> project.Document:
        entries = [entry(self._opens, 0, LONG)]
        asked = {resource_class: seats}
        return reservation(name, self._opens, entries, lead=0, seats=asked, title=TITLE)

    def _open(self) -> None:
        sleep_until(self._opens)
        for name, seats in POOLS:
            self._wait_wanted(f"{name}-small", seats)
        self._wait_wanted("stuck-lost", 2)
        self._moments["open"] = time.time()

    def _edit_by_hand(self) -> None:
        """A field of the pool itself, a label of it, and an object that is deleted."""
        patch = {
            "metadata": {"labels": {"app.kubernetes.io/part-of": "by-hand"}},
            "spec": {"revisionHistoryLimit": 7},
        }
        self._kubectl("patch", "deployment/course-small", "--type=merge", f"--patch={json.dumps(patch)}")
        self._kubectl("delete", "rolebinding/course")
        self._moments["edited by hand"] = time.time()

        def is_back() -> bool:
            pool = self._cluster.get("deployment", "course-small", self.namespace)
            label = pool["metadata"]["labels"]["app.kubernetes.io/part-of"]
            there = "rolebinding/course" in self._objects()
            return (label, pool["spec"]["revisionHistoryLimit"], there) == (self._applier.name, 1, True)

        self._moments["put back"] = eventually("what was edited by hand to be put back", is_back)

    def _hold(self) -> None:
        """Hold numbers of objects that the same engine applies for somebody else.

        Their window has begun, so that the sweep opens it and starts the Jobs.
        """
        self.owner.begin(self._owners_folder)
        self._capacity.write(*(self._holding(name) for name in (RESET, KEPT, OMITTED)))
        self._commit("holding")
        self._sweep("holding")
        eventually("the owner's numbers to be held", lambda: self._are(HELD, KEPT, OMITTED), 120)
        eventually("somebody to be told of a reset", lambda: bool(self._resets()), 120)
        self.owner.change()
        self._applier.look_hard()
        self._seen["resets"] = self._resets()
        self._seen["roles of the owner's"] = self._roles_there()

    def _holding(self, name: str) -> project.Document:
        held = held_by(AUTOSCALER, self.owner.namespace, name)
        entries = [entry(self._opens, 0, LONG)]
        asked = {"small": HELD}
        return reservation(f"hold-{name}", self._opens, entries, lead=0, seats=asked, backend=held)

    def _give_back(self) -> None:
        """By the sweep: their reservations have left git, and a note about each has not."""
        self._capacity.remove([f"hold-{name}" for name in (RESET, KEPT, OMITTED)])
        self._commit("given back")
        self._moments["given back"] = time.time()
        self._seen["targets that were not pruned"] = self._targets()
        eventually("their pods to be gone", lambda: not self._pods_of("hold-kept"))
        self._sweep("back")
        eventually("the numbers to be given back", lambda: self._are(IN_GIT, KEPT) and self._are(1, OMITTED))
        eventually("the notes to be gone", lambda: not self._sweep_away())
        self._seen["roles that were not pruned"] = self._roles_there()
        self.owner.leave()

    def _sweep_away(self) -> list[str]:
        """What is left of the notes after one more sweep."""
        self._sweep(f"away-{int(time.time())}")
        return self._targets()

    def _sweep(self, name: str) -> None:
        self._kubectl("create", "job", "--from=cronjob/berth-sweep", f"sweep-{name}")
        self._kubectl("wait", "--for=condition=Complete", f"job/sweep-{name}", "--timeout=90s")

    def _are(self, value: int, *names: str) -> bool:
        return all(self._numbers.steps(f"{AUTOSCALER}/{name}")[-1:] == [value] for name in names)

    def _resets(self) -> list[tuple[str, str]]:
        """Of whose number somebody was told, and what."""
        events = self._direct.items(f"/api/v1/namespaces/{self.namespace}/events")
        told = [one for one in events if one["reason"] == "NumberSetBack"]
        return [(one["involvedObject"]["name"], one["message"]) for one in told]

    def _targets(self) -> list[str]:
        found = self._cluster.find("configmaps", self.namespace, "berth.dev/role in (target, held)")
        return sorted(one["metadata"]["name"].rpartition(".")[2] for one in found)

    def _roles_there(self) -> list[str]:
        """Of ours, in the owner's namespace."""
        found = self._cluster.find("roles,rolebindings", self.owner.namespace, "berth.dev/site")
        return sorted(f"{one['kind']}/{one['metadata']['name']}" for one in found)

    def _pods_of(self, name: str) -> list[project.Document]:
        return self._cluster.find("pods", self.namespace, f"berth.dev/reservation={name}")

    def _change(self) -> None:
        """One commit: another template of every pool, and what lecturers do in the middle of a class."""
        self._capacity.write(*self._classes(cpu="150m"))
        self._capacity.write(self._reservation("late", 6), self._reservation("edited", 9))
        self._capacity.remove(["gone", "before"])
        self._capacity.write(self._reservation("after", 4))
        self._commit("changed")
        pool = self._cluster.get("deployment", "course-small", self.namespace)
        self._seen["template"] = pool["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
        eventually(
            "removed pools to be gone", lambda: not {"gone-small", "before-small"} & set(self._replicas())
        )
        self._moments["removed"] = time.time()
        self._wait_wanted("edited-small", 9)
        # What opened before it was in the cluster is the sweep's, which comes every five minutes.
        self._kubectl("create", "job", "--from=cronjob/berth-sweep", "sweep-by-hand")
        self._wait_wanted("late-small", 6)
        self._wait_wanted("after-small", 4)
        self._moments["late open"] = time.time()
        self._seen["cpu of the neighbour"] = self._neighbour.change()

    def _look_hard(self) -> None:
        """As after a week: Kubernetes has given up on a pool whose placeholders find no node."""
        patch = '--patch={"spec": {"progressDeadlineSeconds": 1}}'
        self._kubectl("patch", "deployment/stuck-lost", "--type=merge", patch)
        eventually("Kubernetes to give up", lambda: "ProgressDeadlineExceeded" in self._reasons("stuck-lost"))
        self._applier.look_hard()
        time.sleep(5)
        self._applier.look_hard()
        self._seen["after a hard look"] = self._replicas()
        self._seen["state with pending placeholders"] = self._applier.state()
        self._seen["pending"] = self._pending("stuck")

    def _be_refused(self) -> None:
        self._capacity.refuse()
        self._seen["after the refusal"] = self._replicas()
        self._commit("mended")
        self._seen["mended"] = self._capacity.commits[-1]

    def _upgrade(self) -> None:
        """Every object changes, as with a new Berth; and the engine will sleep over the next window."""
        opens = windows.next_minute(75)
        self._moments["alone opens"] = opens
        self._capacity.write(reservation("alone", opens, [entry(opens, 0, 1)], lead=0, seats={"small": 8}))
        self._upgrade_now()

    def _upgrade_now(self) -> None:
        self._seen["before the upgrade"] = self._replicas()
        self._commit("upgraded", upgraded=True)
        kinds = self._kubectl("get", KINDS, "-o", "json")
        self._seen["not upgraded"] = [
            f"{load['kind']}/{load['metadata']['name']}"
            for load in json.loads(kinds)["items"]
            if (found := load["metadata"].get("labels", {})).get("berth.dev/site")
            and found.get("berth.dev/role") != "record"
            and "example.org/release" not in found
        ]
        self._seen["after the upgrade"] = self._replicas()

    def _go_down(self) -> None:
        self._applier.stop()
        self._moments["stopped"] = time.time()
        sleep_until(self._moments["alone opens"] + MINUTE + 12)
        self._moments["started"] = time.time()
        self._applier.start()
        self._applier.look_hard()
        self._seen["after the outage"] = self._replicas()

    def _end(self, names: list[str]) -> None:
        """The last reservations, which have these names, are removed."""
        self._capacity.remove(names)
        self._moments["last removed"] = time.time()
        self._commit("emptied")
        eventually("the last pools to be gone", lambda: self._replicas() == {})
        self._moments["all gone"] = time.time()
        self._seen["left"] = self._objects()
        self._seen["state at the end"] = self._applier.state()
        self._seen["commits"] = self._capacity.commits
        self._seen["messages"] = self._applier.chat.messages

    def _leave(self) -> None:
        """The neighbour first, so that its objects must survive nothing but that."""
        self._seen["neighbour is left"] = self._neighbour.leave()
        self._applier.leave()
        eventually("the namespace to be gone", lambda: not self._is_there(self.namespace))
        classes = self._cluster.find("priorityclasses", selector="berth.dev/site")
        sites = {resource_class["metadata"]["labels"]["berth.dev/site"] for resource_class in classes}
        self._seen["sites left"] = {site for site in sites if site.startswith(self.name)}

    def _is_there(self, namespace: str) -> bool:
        return bool(self._cluster.kubectl("get", "namespace", namespace, "--ignore-not-found"))

    def _wait_wanted(self, pool: str, wanted: int) -> None:
        eventually(f"{wanted} seats of {pool}", lambda: self._replicas().get(pool) == wanted, 120)

    def _replicas(self) -> dict[str, int]:
        found = self._cluster.find("deployments", self.namespace)
        return {one["metadata"]["name"]: one["spec"]["replicas"] for one in found}

    def _objects(self) -> list[str]:
        """All of ours in the namespace but for Jobs, sorted. The record is written in the cluster."""
        text = self._kubectl("get", KINDS, "--selector=berth.dev/site,berth.dev/role!=record", "-o", "json")
        return sorted(
            f"{load['kind']}/{load['metadata']['name']}".lower() for load in json.loads(text)["items"]
        )

    def _reasons(self, pool: str) -> list[str]:
        status = self._cluster.get("deployment", pool, self.namespace)["status"]
        return [one["reason"] for one in status.get("conditions", [])]

    def _pending(self, name: str) -> int:
        pods = self._cluster.find(
            "pods", self.namespace, f"berth.dev/reservation={name},berth.dev/resource-class"
        )
        return sum(1 for pod in pods if pod["status"]["phase"] == "Pending")

    def _kubectl(self, *words: str) -> str:
        return self._cluster.kubectl(*words, f"--namespace={self.namespace}")
