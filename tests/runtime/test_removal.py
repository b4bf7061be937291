"""When a reservation counts as gone, and what of it is then removed."""

import pytest
from berth.core.actions import describe_action
from berth.core.decide import decide
from berth.core.jsonvalues import instant_text
from berth.core.objects import (
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    LEASE,
    ROLE,
    ObjectKind,
)
from berth.core.objects import (
    RIGHTS as RIGHTS_KINDS,
)

from tests.objectstore import Tree
from tests.runtime.sweepworld import (
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    lease,
    made,
    seen,
    timetable,
)
from tests.runtime.world import at

WHY = "its reservation has no timetable."
SEATS = [
    f"Scaled from 25 to 0: {WHY}",
    f"Removed Job course-1: {WHY}",
    f"Removed Deployment course-small: {WHY}",
]
LOST = f"To be removed soon: {WHY}"
FULL = deployment(25)
RIGHTS = [made(kind, "course") for kind in RIGHTS_KINDS]
REST = [cronjob(), job(), FULL, *RIGHTS]
OTHERS = inventory("# by berth\nother\nan-other-1\n")
ALL_OF_IT = [
    "Scaled from 25 to 0",
    "Removed CronJob course",
    "Removed Job course-1",
    "Removed Deployment course-small",
    "Removed RoleBinding course",
    "Removed Role course",
    "Removed ServiceAccount course",
]
HERE = inventory("other\ncourse\n")
MARKED = "To be removed soon: the inventory does not name its reservation."
BACK = "No longer to be removed: the inventory names its reservation again."


def judged(now: str, *trees: Tree, prunes: bool = False, unread: tuple[ObjectKind, ...] = ()) -> list[str]:
    return [
        describe_action(action)[2]
        for action in decide(seen(*trees, now=now, prunes=prunes, unread=unread), at(now)).actions
    ]


def orphaned_since(since: str) -> Tree:
    return timetable(annotations={"berth.dev/gone-since": since})


def lost(since: str) -> Tree:
    """A full Deployment that has been seen without a timetable."""
    return deployment(25, metadata={"annotations": {"berth.dev/gone-since": instant_text(at(since))}})


def snippet() -> Tree:
    """What session pods need, as text for people."""
    role = {"berth.dev/role": "session-affinity"}
    return made(CONFIG_MAP, "course-session-affinity", labels=role, data={"small.yaml": "{}"})


def test_a_text_for_people_is_no_timetable_and_goes_with_its_reservation() -> None:
    gone = orphaned_since("2026-02-02T08:49:00Z")

    assert judged("09:00", snippet()) == []
    assert judged("09:00", timetable(), snippet()) == judged("09:00", timetable())
    assert judged("09:00", gone, snippet(), OTHERS, prunes=True)[-2:] == [
        f"Removed ConfigMap {name}: its reservation is not in git since 2026-02-02T08:49:00Z."
        for name in ("course", "course-session-affinity")
    ]
    assert judged("09:00", snippet(), OTHERS, prunes=True) == [
        f"Removed ConfigMap course-session-affinity: {WHY}"
    ]
    assert judged("09:00", snippet(), HERE, prunes=True) == []


def record(*written: str) -> Tree:
    times = [{"manager": "berth", "time": moment} for moment in written]
    labels = {"berth.dev/role": "record"}
    metadata = {"managedFields": times}
    return made(CONFIG_MAP, "course-record", labels=labels, metadata=metadata, data={"records.json": "[]"})


def test_a_record_is_no_timetable_and_outlives_its_reservation() -> None:
    gone = orphaned_since("2026-02-02T08:49:00Z")

    assert judged("09:00", record()) == []
    assert judged("09:00", record(), OTHERS, prunes=True) == []
    assert judged("09:00", timetable(), record()) == judged("09:00", timetable())
    assert judged("09:00", FULL, record()) == [LOST]
    assert "Removed ConfigMap course" in [
        said.split(":")[0] for said in judged("09:00", gone, record(), OTHERS, prunes=True)
    ]
    assert "course-record" not in str(judged("09:00", gone, record(), OTHERS, prunes=True))


@pytest.mark.parametrize("prunes", [False, True])
def test_a_record_is_removed_more_than_a_year_after_its_reservation(prunes: bool) -> None:
    young = record("2024-01-01T00:00:00Z", "2024-12-29T09:00:01Z")
    old = record("2024-01-01T00:00:00Z", "2024-12-29T09:00:00Z")

    assert judged("09:00", young, OTHERS, prunes=prunes) == []
    assert judged("09:00", old, OTHERS, prunes=prunes) == [
        "Removed ConfigMap course-record: its reservation has been gone for more than a year."
    ]
    assert "course-record" not in str(judged("07:00", timetable(), old, HERE, prunes=prunes))


@pytest.mark.parametrize(
    ("trees", "expected"),
    [
        pytest.param([FULL, job()], [LOST], id="nobody-serves"),
        pytest.param([lost("08:55:31"), job()], [], id="nobody-serves-for-less-than-a-round"),
        pytest.param([lost("08:55:30"), job()], SEATS, id="nobody-serves-for-a-round"),
        pytest.param([lost("09:00:01"), job()], [LOST], id="marked-in-the-future"),
        pytest.param([lost("08:00"), job(), lease()], [], id="marked-and-served"),
        pytest.param([FULL, job(), lease()], [], id="served"),
        pytest.param([lost("08:00"), job()], SEATS, id="not-served-yet"),
        pytest.param([deployment(0)], [SEATS[2]], id="closed"),
        pytest.param([job(end="Complete")], [SEATS[1]], id="a-job-alone"),
        pytest.param([cronjob(), *RIGHTS], [], id="what-the-engine-prunes"),
        pytest.param([deployment(1, created="08:58")], [], id="two-minutes-old"),
        pytest.param([deployment(1, created="08:57:59")], [LOST], id="older-than-two-minutes"),
        pytest.param(
            [deployment(25, metadata={"deletionTimestamp": "2026-02-02T08:00:00Z"})],
            [SEATS[0]],
            id="deleted-but-held-by-a-finalizer",
        ),
        pytest.param(
            [timetable(text="{"), FULL, job(created="08:00")], [], id="timetable-that-cannot-be-read"
        ),
        pytest.param([made(CONFIG_MAP, "course"), FULL], [], id="config-map-without-a-timetable"),
        pytest.param([made(CONFIG_MAP, "other", "course"), FULL], [LOST], id="config-map-of-another-name"),
    ],
)
def test_leftovers_where_an_engine_prunes(trees: list[Tree], expected: list[str]) -> None:
    assert judged("09:00", *trees) == expected


def test_a_timetable_that_an_engine_makes_again_takes_nothing_away() -> None:
    found = "No longer to be removed: its reservation has a timetable again."

    assert judged("09:00", timetable(), lost("08:55"), job(), lease()) == [found]
    assert judged("09:00", HERE, timetable(), lost("08:55"), cronjob(), lease(), job(), prunes=True) == []


def test_what_is_written_is_read_by_the_next_round() -> None:
    """Of two Deployments one is enough."""
    swept = Swept("09:00", FULL, deployment(3, "course-huge"), job())
    assert (swept.run(), swept.cluster.writes) == (0, ["PATCH deployments course-huge", "POST events"])
    assert swept.cluster.events() == [("course-huge", "SweepGone", LOST)]
    swept.cluster.now = at("09:05")

    assert swept.run() == 0
    assert swept.cluster.of("deployments") == swept.cluster.of("jobs") == {}


@pytest.mark.parametrize(
    "unread", [CONFIG_MAP, DEPLOYMENT, JOB, LEASE, CRON_JOB], ids=lambda kind: kind.plural
)
def test_nothing_is_a_leftover_unless_all_lists_are_there(unread: ObjectKind) -> None:
    assert judged("09:00", FULL, job(), unread=(unread,)) == []


@pytest.mark.parametrize(
    ("trees", "expected"),
    [
        pytest.param([OTHERS, *REST], ALL_OF_IT, id="not-named"),
        pytest.param([HERE, *REST], [], id="named"),
        pytest.param(REST, [], id="no-inventory"),
    ],
)
def test_leftovers_where_nobody_else_prunes(trees: list[Tree], expected: list[str]) -> None:
    assert [said.split(":")[0] for said in judged("09:00", *trees, prunes=True)] == expected


@pytest.mark.parametrize(
    ("found", "timetable_found", "expected"),
    [
        pytest.param(HERE, timetable(), [], id="named"),
        pytest.param(OTHERS, timetable(), [MARKED], id="not-named"),
        pytest.param(inventory("# empty\n"), timetable(), [MARKED], id="none-is-named"),
        pytest.param(OTHERS, orphaned_since("2026-02-02T06:55:00Z"), [], id="marked"),
        pytest.param(OTHERS, orphaned_since("yesterday"), [MARKED], id="marked-by-hand"),
        pytest.param(OTHERS, orphaned_since("2026-02-02T07:05:00Z"), [MARKED], id="marked-in-the-future"),
        pytest.param(HERE, orphaned_since("2026-02-02T06:55:00Z"), [BACK], id="named-again"),
        pytest.param(HERE, orphaned_since("2026-02-01T06:55:00Z"), [BACK], id="named-again-after-a-day"),
        pytest.param(inventory(""), timetable(), [], id="empty-inventory"),
        pytest.param(inventory(" \n\n"), orphaned_since("2026-02-01T06:55:00Z"), [], id="blank-inventory"),
        pytest.param(inventory("<html>\nno"), orphaned_since("2026-02-01T06:55:00Z"), [], id="nonsense"),
        pytest.param(
            inventory(None), orphaned_since("2026-02-01T06:55:00Z"), [], id="inventory-without-its-key"
        ),
    ],
)
def test_gone_is_what_the_inventory_does_not_name(
    found: Tree, timetable_found: Tree, expected: list[str]
) -> None:
    trees = [found, timetable_found, deployment(0), cronjob(), *RIGHTS]

    assert judged("07:00", *trees, prunes=True) == expected


def test_where_an_engine_prunes_no_inventory_counts() -> None:
    assert judged("07:00", OTHERS, orphaned_since("2026-02-01T06:55:00Z"), deployment(0)) == []


def test_after_ten_minutes_all_of_it_goes_even_while_open_and_served_its_timetable_last() -> None:
    trees = [OTHERS, orphaned_since("2026-02-02T08:50:00Z"), *REST, lease()]

    why = "its reservation is not in git since 2026-02-02T08:50:00Z."
    assert judged("09:00", *trees, prunes=True) == [
        f"{said}: {why}" for said in [*ALL_OF_IT, "Removed ConfigMap course"]
    ]


def test_until_then_it_is_opened_as_ever() -> None:
    """Ten minutes are two rounds of the sweep: thirty seconds less, as rounds are not exact."""
    trees = [OTHERS, orphaned_since("2026-02-02T08:50:00Z"), cronjob(), FULL, *RIGHTS]

    assert judged("08:59:29", *trees, prunes=True) == ["Started Job course-sweep: no pod serves course/1."]
    assert judged("08:59:30", *trees, prunes=True)[1:2] == [
        "Removed CronJob course: its reservation is not in git since 2026-02-02T08:50:00Z."
    ]


@pytest.mark.parametrize(
    "unread",
    [DEPLOYMENT, JOB, LEASE, CRON_JOB, ROLE],
    ids=lambda kind: kind.plural,
)
def test_nothing_is_gone_unless_all_lists_are_there(unread: ObjectKind) -> None:
    trees = [OTHERS, orphaned_since("2026-02-02T06:50:00Z"), deployment(0), cronjob(), *RIGHTS]

    assert judged("07:00", *trees, prunes=True, unread=(unread,)) == []


def listing(objects: str | None = "# more\nCronJob course-2\n") -> Tree:
    return inventory("course\n", objects=objects)


CLASS_GONE = "Removed Deployment course-huge: its reservation no longer has it."
TIME_GONE = "Removed CronJob course-3: its reservation no longer has it."
LATE = cronjob("course-3", created="06:55")
SIXTY = timetable(
    annotations={"berth.dev/override": '{"small": {"target": 25, "until": "2026-02-02T12:00:00Z"}}'}
)
EXTRA = [deployment(0, "course-huge"), cronjob("course-2"), cronjob("course-3")]
ALL_TIMES = [timetable(), cronjob(), deployment(0)]


@pytest.mark.parametrize(
    ("now", "trees", "expected"),
    [
        pytest.param("07:00", [listing(), *ALL_TIMES, *EXTRA], [TIME_GONE, CLASS_GONE], id="both"),
        pytest.param(
            "07:00",
            [listing("# none\n"), *ALL_TIMES, *EXTRA],
            [TIME_GONE.replace("-3", "-2"), TIME_GONE, CLASS_GONE],
            id="none-is-listed-and-the-first-stays",
        ),
        pytest.param("07:00", [listing(None), *ALL_TIMES, *EXTRA], [], id="an-older-inventory"),
        pytest.param("07:00", [listing(""), *ALL_TIMES, *EXTRA], [], id="emptied-by-hand"),
        pytest.param("07:00", [listing("<html>no such page"), *ALL_TIMES, *EXTRA], [], id="nonsense"),
        pytest.param("07:00", [*ALL_TIMES, *EXTRA], [], id="no-inventory"),
        pytest.param(
            "07:00", [inventory("other\n", objects="# none\n"), *ALL_TIMES, *EXTRA], [MARKED], id="all-goes"
        ),
        pytest.param(
            "11:00",
            [listing(), SIXTY, FULL, cronjob(), job(), lease(), *EXTRA],
            [],
            id="an-override-holds-a-pod",
        ),
        pytest.param("07:28", [listing(), *ALL_TIMES, *EXTRA], [], id="it-opens-soon"),
        pytest.param("09:00", [listing(), *ALL_TIMES[:2], FULL, job(), lease(), *EXTRA], [], id="it-is-open"),
        pytest.param(
            "07:00",
            [listing(), timetable(changed="06:50:31"), *ALL_TIMES[1:], *EXTRA],
            [],
            id="edited-less-than-ten-minutes-ago",
        ),
        pytest.param(
            "07:00",
            [
                listing(),
                *ALL_TIMES,
                deployment(0, "course-huge", created="06:55"),
                cronjob("course-3", created="06:55"),
            ],
            [],
            id="newer-than-inventory-and-timetable-perhaps",
        ),
        pytest.param(
            "07:00",
            [listing(), *ALL_TIMES, deployment(3, "course-huge")],
            ["Scaled from 3 to 0: the timetable names no such pool."],
            id="closed-before-it-is-removed",
        ),
    ],
)
def test_what_a_reservation_no_longer_has_goes_where_nobody_else_prunes(
    now: str, trees: list[Tree], expected: list[str]
) -> None:
    assert judged(now, *trees, prunes=True) == expected


def test_where_an_engine_prunes_it_is_left_to_it() -> None:
    assert judged("07:00", *ALL_TIMES, *EXTRA) == []


def test_a_timetable_that_cannot_be_read_goes_with_its_reservation() -> None:
    def malformed(since: str = "") -> Tree:
        return timetable(text="{", annotations={"berth.dev/gone-since": since} if since else {})

    why = "its reservation is not in git since 2026-02-02T08:49:00Z."
    assert judged("09:00", HERE, malformed(), *REST, prunes=True) == []
    assert judged("09:00", OTHERS, malformed(), *REST, prunes=True) == [MARKED]
    assert judged("09:00", HERE, malformed("2026-02-02T08:49:00Z"), *REST, prunes=True) == [BACK]
    assert judged("09:00", OTHERS, malformed("2026-02-02T08:49:00Z"), *REST, prunes=True) == [
        f"{said}: {why}" for said in [*ALL_OF_IT, "Removed ConfigMap course"]
    ]
    assert judged("09:00", malformed(), *REST) == []


def code_map(name: str, created: str = "07:00") -> Tree:
    labels = {"berth.dev/reservation": None, "berth.dev/role": "code"}
    return made(CONFIG_MAP, name, created=created, labels=labels)


def mounting(tree: Tree, *names: str) -> Tree:
    """A CronJob or Job whose pods mount these ConfigMaps."""
    volumes = [
        {"name": "share", "emptyDir": {}},
        *({"name": "code", "configMap": {"name": name}} for name in names),
    ]
    template = {"spec": {"template": {"spec": {"volumes": volumes}}}}
    spec = {"jobTemplate": template} if tree["kind"] == "CronJob" else template["spec"]
    return tree | {"spec": spec}


def code_removed(*trees: Tree, unread: tuple[ObjectKind, ...] = ()) -> list[str]:
    decision = decide(seen(timetable(), *trees, unread=unread), at("08:00"))
    return [action.ref.name for action in decision.actions if action.ref.name.startswith("berth-core")]


def test_code_that_nothing_mounts_is_removed_after_ten_minutes() -> None:
    code = [code_map("berth-core-old"), code_map("berth-core-new", created="07:55")]

    assert code_removed(*code) == ["berth-core-old"]


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(mounting(cronjob(), "berth-core-old"), id="cronjob"),
        pytest.param(mounting(cronjob(labels={"berth.dev/reservation": None}), "berth-core-old"), id="sweep"),
        pytest.param(mounting(job(), "berth-core-old"), id="job-of-an-older-release"),
    ],
)
def test_code_that_a_pod_may_still_need_stays(user: Tree) -> None:
    assert code_removed(code_map("berth-core-old"), user) == []


def test_code_of_a_finished_job_is_removed() -> None:
    done = mounting(job(end="Complete"), "berth-core-old")

    assert code_removed(code_map("berth-core-old"), done) == ["berth-core-old"]


@pytest.mark.parametrize("unread", [CRON_JOB, JOB])
def test_without_a_list_of_what_mounts_code_none_is_removed(unread: ObjectKind) -> None:
    assert code_removed(code_map("berth-core-old"), unread=(unread,)) == []
