"""The sweep over objects in memory: what it asks, writes, tells and leaves."""

from berth.core.objects import CONFIG_MAP, DEPLOYMENT, ROLE, ROLE_BINDING

from tests.runtime.sweepworld import (
    TEMPLATE,
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    lease,
    made,
    missed,
    served,
    swept_line,
    timetable,
)
from tests.runtime.world import NEXT

LISTS = [
    *(f"LIST {plural}" for plural in ("deployments", "leases", "jobs", "cronjobs")),
    *["LIST configmaps"] * 2,  # records, of which nothing but metadata is read, and the others
]


def test_where_all_is_right_it_lists_each_kind_and_writes_nothing() -> None:
    swept = Swept("09:00", *served())

    assert swept.run() == 0
    assert (swept.cluster.requests, swept.cluster.writes) == (LISTS, [])
    assert swept_line(swept) == {
        "reservation": "",
        "timetables": 1,
        "deployments": 1,
        "cronjobs": 1,
        "jobs": 1,
        "done": {},
        "failed": 0,
        "seconds": 0.0,
    }


def test_a_missed_run_is_opened_and_gets_a_job_and_both_are_told() -> None:
    swept = Swept("09:00", *missed())

    assert swept.run() == 0
    assert swept.cluster.writes == [
        "PATCH deployments course-small scale",
        "PATCH jobs course-sweep",
        "POST events",
        "POST events",
    ]
    assert swept.cluster.replicas() == {"course-small": 25}
    assert swept.cluster.events() == [
        ("course-small", "SweepOpened", "Scaled from 0 to 25: course/1 is open and no pod serves it."),
        ("course-small", "SweepStartedJob", "Started Job course-sweep: no pod serves course/1."),
    ]
    assert swept.told("scale") == [("course", "Scaled from 0 to 25: course/1 is open and no pod serves it.")]
    assert swept_line(swept)["done"] == {"SweepOpened": 1, "SweepStartedJob": 1}


def test_its_job_is_the_cronjobs_with_our_labels_and_an_owner() -> None:
    swept = Swept("09:00", *missed())
    swept.run()

    found = swept.cluster.of("jobs")["course-sweep"]
    metadata = {key: found["metadata"][key] for key in ("labels", "annotations", "ownerReferences")}
    assert metadata == {
        "labels": {
            "team": "blue",
            "berth.dev/site": "example",
            "berth.dev/reservation": "course",
            "berth.dev/role": "occurrence",
        },
        "annotations": {},
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "course", "uid": "uid-ConfigMap-course"}
        ],
    }
    assert found["spec"] == TEMPLATE["spec"]


def test_a_job_that_failed_is_made_again_and_keeps_its_name() -> None:
    swept = Swept("09:00", *missed(replicas=25), job("course-sweep", end="Failed"))

    assert swept.run() == 0
    assert swept.cluster.writes == ["DELETE jobs course-sweep", "PATCH jobs course-sweep", "POST events"]
    assert swept.cluster.of("jobs")["course-sweep"]["metadata"]["uid"].startswith("made-")


def test_lists_are_read_in_pages() -> None:
    trees = [tree for name in "abcde" for tree in missed(name)]
    swept = Swept("09:00", *trees, page=2)

    assert swept.run() == 0
    assert set(swept.cluster.replicas().values()) == {25}
    assert swept.cluster.requests.count("LIST configmaps") == 4


def test_a_gone_reservation_is_removed_with_all_that_it_has_and_others_stay() -> None:
    rights = [made(kind, name, name) for kind in (ROLE, ROLE_BINDING) for name in ("course", "stays")]
    gone = timetable(annotations={"berth.dev/gone-since": "2026-02-02T08:50:00Z"})
    stays = [timetable(NEXT, name="stays"), deployment(0, "stays-small", reservation="stays")]
    trees = [gone, deployment(25), cronjob(), job(), lease(), *rights, *stays, inventory("stays\n")]
    swept = Swept("09:00", *trees, prunes=True)

    assert swept.run() == 0
    left = [name for trees in swept.cluster.collections.values() for name in trees if "." not in name]
    assert sorted(left) == ["berth-inventory", "stays", "stays", "stays", "stays-small"]
    assert swept.cluster.events() == [
        ("course-small", reason, f"{said}: its reservation is not in git since 2026-02-02T08:50:00Z.")
        for reason, said in [
            ("SweepClosed", "Scaled from 25 to 0"),
            *(
                ("SweepRemoved", f"Removed {ref}")
                for ref in ("CronJob course", "Job course-1", "Deployment course-small")
            ),
            ("SweepRemoved", "Removed RoleBinding course"),
            ("SweepRemoved", "Removed Role course"),
            ("SweepRemoved", "Removed ConfigMap course"),
        ]
    ]


def test_what_left_the_inventory_is_marked_and_what_came_back_no_more() -> None:
    swept = Swept("07:00", timetable(), deployment(0), inventory("other"), prunes=True)

    def mark() -> str | None:
        notes: dict[str, str] = swept.cluster.of("configmaps")["course"]["metadata"]["annotations"]
        return notes.get("berth.dev/gone-since")

    assert (swept.run(), mark()) == (0, "2026-02-02T07:00:00Z")
    assert (swept.run(), swept.cluster.writes) == (0, [])
    swept.cluster.add(inventory("course"))
    assert (swept.run(), mark()) == (0, None)
    assert [event[1] for event in swept.cluster.events()] == ["SweepGone", "SweepBack"]


def test_a_malformed_timetable_is_told_once() -> None:
    swept = Swept("09:00", timetable(text="{"), deployment(25), job())

    for wrote in (["POST events"], []):
        assert (swept.run(), swept.cluster.writes) == (0, wrote)


def test_what_is_not_labelled_as_ours_does_not_exist_for_it() -> None:
    others = [
        deployment(7, "unlabelled", labels={"berth.dev/site": None}),
        deployment(7, "of-another-site", labels={"berth.dev/site": "another"}),
        deployment(7, "of-no-reservation", labels={"berth.dev/reservation": None}),
        made(CONFIG_MAP, "berth-runtime", labels={"berth.dev/reservation": None}),
        made(DEPLOYMENT, "x", labels={"berth.dev/site": None}, spec={"replicas": 7}),
    ]
    swept = Swept("11:00", timetable(), deployment(0), *others)

    assert (swept.run(), swept.cluster.writes) == (0, [])
