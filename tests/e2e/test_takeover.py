"""A pod that is taken over, and pods that lost their permissions, on the real cluster.

Somebody has the token of the reservation `mine` and tries what it gives, while the sweep runs every minute
and is the only one that opens `victim`. Two other reservations lose their RoleBinding: `unbound` before it
opens, `cut` in the middle.
"""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from berth.core.decide import CRONJOB_GRACE
from berth.core.leases import VALID_SECONDS

from tests.e2e import project
from tests.e2e.account import Account
from tests.e2e.cluster import Cluster
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import GRACE, MINUTE, Recorder, entry, reservation, sleep_until

SPACE, SITE = "berth-takeover-e2e", "taken"
WINDOW = 5  # minutes
ROUND = MINUTE + GRACE  # seconds until a round of the sweep is over
UNLED = VALID_SECONDS + ROUND  # seconds from the last renewal of a Lease until the sweep takes over
APPLY = "application/apply-patch+yaml"

CONFIG_MAPS = f"/api/v1/namespaces/{SPACE}/configmaps"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"
JOBS = f"/apis/batch/v1/namespaces/{SPACE}/jobs"
CRON_JOBS = f"/apis/batch/v1/namespaces/{SPACE}/cronjobs"
ROLES = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{SPACE}"
NOTE: dict[str, Any] = {"metadata": {"annotations": {"taken": "over"}}}
TEN: dict[str, Any] = {"spec": {"replicas": 10}}
REFUSED: list[tuple[str, str, dict[str, Any] | None]] = [
    *(("PATCH", f"{CONFIG_MAPS}/{name}", NOTE) for name in ("victim", "victim-record", "mine", "invented")),
    ("POST", CONFIG_MAPS, {"metadata": {"name": "invented"}}),
    ("DELETE", f"{CONFIG_MAPS}/mine-record", None),
    ("PATCH", f"{DEPLOYMENTS}/victim-small/scale", TEN),
    ("PATCH", f"{DEPLOYMENTS}/mine-small", NOTE),
    ("GET", f"{DEPLOYMENTS}/victim-small", None),
    *((verb, f"{LEASES}/victim-small", NOTE) for verb in ("GET", "PATCH")),
    ("GET", LEASES, None),
    ("DELETE", f"{LEASES}/mine-small", None),
    ("PATCH", f"{CRON_JOBS}/mine", NOTE),
    ("POST", JOBS, {"metadata": {"name": "theirs"}}),
    ("GET", JOBS, None),
    ("GET", f"/api/v1/namespaces/{SPACE}/secrets", None),
    ("GET", f"{ROLES}/roles", None),
    ("PATCH", f"{ROLES}/rolebindings/mine", NOTE),
    ("POST", f"/api/v1/namespaces/{SPACE}/serviceaccounts/berth-sweep/token", {}),
    ("GET", "/api/v1/nodes", None),
]
ALLOWED: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", f"{CONFIG_MAPS}/mine", None),
    ("GET", f"{DEPLOYMENTS}/mine-small/scale", None),
    ("PATCH", f"{DEPLOYMENTS}/mine-small/scale", {"spec": {"replicas": 4}}),
    ("PATCH", f"{CONFIG_MAPS}/mine-record", NOTE),
    ("PATCH", f"{LEASES}/mine-small", NOTE),
]


# After it nobody can tell when the record was written, by its managed fields.
YEAR_ZERO: dict[str, Any] = {
    "metadata": {
        "managedFields": [
            {
                "manager": "thief",
                "operation": "Update",
                "apiVersion": "v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:data": {"f:spoiled": {}}},
                "time": "0000-01-01T00:00:00Z",
            }
        ]
    },
    "data": {"spoiled": "yes"},
}


class Thief(Account):
    """Has the token of `mine`."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.spoiled: list[int] = []  # answers

    def forge(
        self, reservation: str, text: str, until: float, spoil: dict[str, Any] | None = None
    ) -> list[int]:
        """Make a timetable of the own record, whatever its pod writes there, and `spoil` it after each time.

        Return the answers.
        """
        labels = {"berth.dev/site": SITE, "berth.dev/reservation": reservation, "berth.dev/role": "timetable"}
        tree = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "mine-record", "labels": labels},
            "data": {"timetable.json": text},
        }
        path, answers = f"{CONFIG_MAPS}/mine-record?fieldManager=thief&force=true", []
        while time.time() < until:
            answers.append(self.ask("PATCH", path, tree, APPLY))
            if spoil is not None:
                self.spoiled.append(self.ask("PATCH", f"{CONFIG_MAPS}/mine-record", spoil))
            time.sleep(1)
        return answers


class Story(NamedTuple):
    record: Recorder
    opens: int
    cut: float  # when a RoleBinding was deleted in the middle
    refused: list[int]  # the answers to what must be refused
    allowed: list[int]
    forged: list[int]
    spoiled: list[int]
    status: dict[str, list[tuple[str, str]]]  # codes and messages of findings, by reservation
    ignored: list[str]  # codes of findings about the cluster while the record was forged
    objects: list[str]  # Jobs and Deployments in the end


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    sleep_until(opens - MINUTE)  # the faults take the API server away before
    cluster.kwok.create_nodes(1, "taken", capacity={"pods": "100", "cpu": "50", "memory": "100Gi"})
    small = project.resource_class("small")
    small["spec"].pop("sessions")
    documents = [
        reservation(name, opens, [entry(opens, 0, WINDOW)], lead=0, seats={"small": seats})
        for name, seats in (("mine", 4), ("victim", 5), ("unbound", 3), ("cut", 3))
    ]
    stage.apply([project.site(SITE, namespace=SPACE), small, *documents], SPACE)
    direct = stage.connect()
    direct.sweep_each_minute(SPACE)
    record = Recorder(direct, SPACE)
    record.start()
    try:
        return _happen(cluster, folder, record, opens)
    finally:
        record.stop()


def _happen(cluster: Cluster, folder: Path, record: Recorder, opens: int) -> Story:
    def kubectl(*words: str) -> str:
        return cluster.kubectl(*words, f"--namespace={SPACE}")

    kubectl("patch", "cronjob/victim", "--patch", '{"spec": {"suspend": true}}')
    kubectl("delete", "rolebinding/unbound")
    account = Thief(kubectl("create", "token", "mine").strip())
    timetable = cluster.get("configmap", "victim", SPACE)["data"]["timetable.json"]
    forged = account.forge("victim", timetable.replace('"victim"', '"mine"'), opens + 0.5 * MINUTE, YEAR_ZERO)
    refused = [account.ask(*one) for one in REFUSED]
    allowed = [account.ask(*one) for one in ALLOWED]
    cut = time.time()
    kubectl("delete", "rolebinding/cut")
    kubectl("scale", "deployment/cut-small", "--replicas=1")
    with ThreadPoolExecutor(1) as beside:
        forging = beside.submit(account.forge, "victim", timetable, opens + 2.2 * MINUTE, YEAR_ZERO)
        sleep_until(opens + 1.8 * MINUTE)
        status = json.loads(_status(cluster, folder))
        forged += forging.result()
    for name in ("invented", "mine-record"):
        until = time.time() + 1.1 * MINUTE
        forged += account.forge(name, timetable.replace('"victim"', f'"{name}"'), until)
    sleep_until(cut + UNLED)
    objects = [f"{one['kind']} {one['metadata']['name']}" for one in cluster.find("jobs,deployments", SPACE)]
    found = {
        load["reservation"]: [(each["code"], each["message"]) for each in load["findings"]]
        for load in status["items"]
    }
    ignored = [each["code"] for load in status["clusters"] for each in load["findings"]]
    return Story(record, opens, cut, refused, allowed, forged, account.spoiled, found, ignored, objects)


def _status(cluster: Cluster, folder: Path) -> str:
    context = cluster.flat_kubeconfig()["current-context"]
    words = ("--kubeconfig", str(cluster.kubeconfig), "--context", context)
    return project.berth(folder, "status", *words, "-o", "json", codes=(1,))


def reached(story: Story, pool: str, wanted: int, since: float) -> float:
    """Return the seconds from an instant until so many were requested."""
    return next(at for at, count in story.record.changes(pool) if at >= since and count == wanted) - since


def test_a_stolen_token_gives_the_permissions_of_its_role(story: Story) -> None:
    assert story.allowed == [200] * len(ALLOWED)
    assert {*story.forged} <= {200, 201, 409}
    assert story.forged.count(200) > 60
    assert {*story.spoiled} <= {200, 409}
    assert story.spoiled.count(200) > 20


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[f"{one[0]} {one[1]}" for one in REFUSED])
def test_a_stolen_token_gives_no_access_to_another_reservation(story: Story, number: int) -> None:
    assert story.refused[number] == 403


def test_the_victim_opens_despite_a_record_that_claims_to_be_its_timetable(story: Story) -> None:
    """Only the sweep opens it."""
    assert reached(story, "victim-small", 5, story.opens) <= CRONJOB_GRACE + ROUND


def test_an_invented_reservation_opens_nothing(story: Story) -> None:
    assert sorted(object_ for object_ in story.objects if object_.startswith("Deployment")) == [
        f"Deployment {name}-small" for name in ("cut", "mine", "unbound", "victim")
    ]
    assert not [object_ for object_ in story.objects if "invented" in object_ or "record" in object_]


def test_the_forged_record_gets_the_finding_s024(story: Story) -> None:
    assert "S024" in story.ignored


def test_the_sweep_opens_the_pool_of_a_pod_without_permissions(story: Story) -> None:
    assert reached(story, "unbound-small", 3, story.opens) <= CRONJOB_GRACE + ROUND


def test_a_pod_that_lost_its_permissions_no_longer_counts_as_serving(story: Story) -> None:
    assert reached(story, "cut-small", 1, story.cut) <= GRACE
    assert reached(story, "cut-small", 3, story.cut + 1) <= UNLED


def test_the_pool_of_a_working_pod_does_not_change(story: Story) -> None:
    looks = story.record.between("mine-small", story.opens + 2 * GRACE, story.cut + UNLED)

    assert {look.wanted for look in looks} == {4}


@pytest.mark.parametrize("name", ["unbound", "cut"])
def test_status_names_the_missing_permission_and_role_binding(story: Story, name: str) -> None:
    (message,) = [message for code, message in story.status[name] if code == "S073"]

    assert f"the ServiceAccount {name} may not " in message
    assert f"the RoleBinding {name} is missing in the namespace {SPACE}" in message
