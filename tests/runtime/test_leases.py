"""Who writes a pool: the pod that holds its Lease, and the sweep where nobody does."""

import json
from email.utils import formatdate
from itertools import count

import pytest
from berth.core.leases import ENDED, VALID_SECONDS, new_lease
from berth.core.objects import ObjectRef
from berth.core.timetable import parse_timetable
from berth.runtime.apiclient import Api, ApiError, Request, Response
from berth.runtime.leasekeeper import RETRY_SECONDS, LeaseKeeper
from berth.runtime.program import Log, RuntimeContext, ServerClock
from berth.runtime.scaler import TICK
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.objectstore import Tree, good, no_answer, refusal
from tests.runtime.fake_cluster import LEASES, FakeCluster
from tests.runtime.fake_koordinator import PATH as SLOTS
from tests.runtime.heldworld import HPA
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.slotworld import slot_text
from tests.runtime.sweepworld import Swept, cronjob, lease, missed, numbered, timetable
from tests.runtime.timetables import COURSE, Row, at, pool, timetable_text, whole_timetable_text

NAME = "course-small"
MAINTAIN = timetable_text(COURSE, behaviour="maintain")
METADATA = new_lease("example", ObjectRef("ConfigMap", "course", "uid-of-course", "course", 0))
REFUSED = refusal(403, "Forbidden")


class Keepers:
    """Keepers of one Lease, each of a pod, with one clock."""

    def __init__(self, now: str = "08:00") -> None:
        self.now = float(at(now))
        self.cluster = FakeCluster(MAINTAIN, {NAME: 0})
        self.lines: list[Tree] = []

    def of(self, pod: str) -> LeaseKeeper:
        log = Log(lambda line: self.lines.append(json.loads(line)), lambda: self.now, "course")
        context = RuntimeContext(Api(self.cluster), "berth", log, lambda: self.now, lambda: 0.0)
        return LeaseKeeper(Api(self.cluster), context, pod, NAME)

    @property
    def tree(self) -> Tree:
        return self.cluster.all_in(LEASES)[NAME]

    @property
    def says(self) -> tuple[str, str]:
        """The holder, and when it was renewed."""
        return self.tree["spec"]["holderIdentity"], self.tree["spec"]["renewTime"][11:19]

    def states(self) -> list[str]:
        return [line["state"] for line in self.lines if line["event"] == "lease"]


def keep(keeper: LeaseKeeper) -> bool:
    return keeper.keep(METADATA, {})


# One keeper, and two


def test_a_missing_lease_is_created_and_a_second_pod_stands_by() -> None:
    leases = Keepers()
    first, second = leases.of("a"), leases.of("b")

    assert (keep(first), keep(second), second.is_others) == (True, False, True)
    assert leases.says == ("a", "08:00:00")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "course", "uid": "uid-of-course"}
    assert leases.tree["metadata"]["ownerReferences"] == [owner]
    labels = {"berth.dev/site": "example", "berth.dev/reservation": "course"}
    assert leases.tree["metadata"]["labels"] == labels
    (created,) = (request for request in leases.cluster.requests if request.method == "PATCH")
    assert (created.content_type, created.path.partition("?")[2]) == (
        "application/apply-patch+yaml",
        "fieldManager=a",
    )


def test_the_slower_of_two_pods_that_create_a_lease_stands_by() -> None:
    leases = Keepers()
    first, second = leases.of("a"), leases.of("b")
    leases.cluster.once("PATCH", lambda: keep(second))

    assert (keep(first), first.is_others, second.is_held) == (False, True, True)
    assert leases.says[0] == "b"


def test_an_expired_lease_is_taken_with_its_resource_version() -> None:
    leases = Keepers()
    first, second, third = leases.of("a"), leases.of("b"), leases.of("c")
    keep(first)
    leases.now += VALID_SECONDS - 1
    assert not keep(second)
    leases.now += RETRY_SECONDS
    leases.cluster.once("PATCH", lambda: keep(third))

    assert (keep(second), second.is_others, third.is_held) == (False, True, True)
    assert leases.says[0] == "c"
    assert (keep(first), first.is_others) == (False, True)


def test_a_lease_is_renewed_every_twenty_seconds() -> None:
    leases = Keepers()
    keeper, renewals = leases.of("a"), []
    for _ in range(60):
        assert keep(keeper)
        renewals.append(leases.says[1])
        leases.now += 1

    assert sorted(set(renewals)) == ["08:00:00", "08:00:20", "08:00:40"]
    assert leases.states() == ["held"]


@pytest.mark.parametrize("trouble", [REFUSED, no_answer(), refusal(500, "InternalError")])
def test_after_two_refused_renewals_a_pod_stops_before_its_lease_expires(
    trouble: Response | Exception,
) -> None:
    leases = Keepers()
    keeper = leases.of("a")
    keep(keeper)
    leases.cluster.interfere("leases", trouble)
    held = []
    for _ in range(VALID_SECONDS):
        leases.now += 1
        held.append(keep(keeper))

    assert (held.index(False), any(held[held.index(False) :])) == (20 + RETRY_SECONDS - 1, False)
    assert not keeper.is_others
    leases.cluster.interfere("", None)
    leases.now += RETRY_SECONDS
    assert keep(keeper)
    assert leases.states() == ["held", "lost", "held"]


def test_a_released_lease_is_taken_by_another_pod_at_once_but_not_by_the_sweep() -> None:
    leases = Keepers()
    first, second = leases.of("a"), leases.of("b")
    keep(first)
    leases.now += 5
    keep(second)
    first.release(Api(leases.cluster))

    assert (leases.says, first.is_held) == (("", "08:00:00"), False)
    swept = Swept("08:00:40", *missed(), lease("08:00", holder=""))
    assert (swept.run(), swept.cluster.replicas()) == (0, {NAME: 0})
    leases.now += RETRY_SECONDS
    assert keep(second)
    assert leases.says == ("b", "08:00:09")


def test_a_pod_does_not_release_a_lease_that_it_lost() -> None:
    leases = Keepers()
    first, second = leases.of("a"), leases.of("b")
    keep(first)
    leases.now += VALID_SECONDS
    keep(second)
    first.release(Api(leases.cluster))

    assert leases.says == ("b", "08:01:00")


def test_a_lease_deleted_with_its_owner_is_created_again_by_its_holder() -> None:
    """The timetable was deleted and applied again: another uid owns the new Lease."""
    leases = Keepers()
    keeper = leases.of("a")
    keep(keeper)
    leases.cluster.all_in(LEASES).clear()
    leases.now += 20

    assert keeper.keep(new_lease("example", ObjectRef("ConfigMap", "course", "another-uid", "course", 0)), {})
    assert leases.tree["metadata"]["ownerReferences"][0]["uid"] == "another-uid"
    assert leases.states() == ["held"]


def test_the_lease_notes_an_ended_rehearsal_and_the_next_holder_keeps_the_note() -> None:
    leases = Keepers()
    first, second, ended = leases.of("a"), leases.of("b"), {"course/9/rehearsal": at("07:34")}
    keep(first)
    leases.now += 1
    first.keep(METADATA, ended)
    note = {ENDED: "course/9/rehearsal 2026-02-02T07:34:00Z"}

    assert leases.tree["metadata"]["annotations"] == note
    leases.now += VALID_SECONDS
    assert keep(second)
    assert (second.found and second.found.ended) == ended
    assert leases.tree["metadata"]["annotations"] == note


# Two pods of one reservation


class Twins:
    """Two pods of one reservation that count different sessions: 5 and 9 of 25."""

    def __init__(self) -> None:
        first = ScalerPod("08:00", MAINTAIN, small=25)
        self.pods = [first, ScalerPod("08:00", MAINTAIN, beside=first)]
        for pod, sessions in zip(self.pods, (5, 9), strict=True):
            pod.sessions(small={"course/1": sessions})
        self.cluster, self.writes = first.cluster, first.writes
        self.alive, self.wakes = [True, True], [first.now, first.now]

    @property
    def now(self) -> float:
        return self.pods[0].now

    @property
    def written(self) -> list[int]:
        return [replicas for _, _, replicas in self.writes]

    def holders(self) -> list[int]:
        return [n for n, pod in enumerate(self.pods) if self.alive[n] and self.holds(pod)]

    @staticmethod
    def holds(pod: ScalerPod) -> bool:
        return any(keeper.is_held for keeper in pod.scaler._keepers.values())

    def step(self, n: int) -> None:
        if self.alive[n] and self.pods[n].scaler.exit_code is None:
            self.wakes[n] = self.now + self.pods[n].scaler.step()

    def run(self, seconds: float) -> None:
        goal = self.now + seconds
        while (soonest := min(self.wakes[n] for n in (0, 1) if self.alive[n])) <= goal:
            self.pods[0].now = max(self.now, soonest)
            for n in (0, 1):
                if self.wakes[n] <= self.now:
                    self.step(n)
        self.pods[0].now = goal


def test_two_pods_that_count_differently_do_not_write_against_each_other() -> None:
    twins = Twins()
    twins.run(600)

    assert (twins.written, twins.holders()) == ([20], [0])


@pytest.mark.parametrize(
    ("is_released", "seconds"), [(True, TICK), (False, VALID_SECONDS + TICK)], ids=["gone", "killed"]
)
def test_a_second_pod_takes_over_within_68_seconds(is_released: bool, seconds: float) -> None:
    twins = Twins()
    twins.run(60)
    if is_released:
        twins.pods[0].scaler.release(None)
    twins.alive[0] = False
    twins.run(seconds)

    assert (twins.holders(), twins.cluster.scales[NAME]) == ([1], 16)


NUMBER: Tree = {**pool("course-shop", "none"), "number": HPA, "peers": ["other"]}
OF_THREE_CLASSES: Row = ("course/1", "07:30", "08:00", "10:00", {"shop": 1, "small": 25, "huge": 2})


@pytest.mark.parametrize(
    ("taken", "is_written"),
    [("small", False), ("huge", True), ("shop", True)],
    ids=["first", "second", "shared"],
)
def test_the_pod_that_holds_the_first_unshared_pool_writes_the_record(taken: str, is_written: bool) -> None:
    """That which holds the first pool, of those that no other reservation may hold."""
    pools = {"shop": NUMBER, **{name: pool(f"course-{name}", "none") for name in ("small", "huge")}}
    text = whole_timetable_text("course", pools, [OF_THREE_CLASSES])
    pod = ScalerPod("07:30", text, small=0, huge=0)
    (name,) = (known.lease for known in parse_timetable(text).pools if known.resource_class == taken)
    pod.cluster.put(LEASES, lease("07:30:30", name, "another"))
    pod.run(until="07:31")

    assert (pod.cluster.record is not None) is is_written
    assert {name for _, name, _ in pod.writes} == {"small", "huge"} - {taken}


def test_a_pod_that_ends_because_nothing_is_open_releases_its_lease() -> None:
    pod = ScalerPod("09:59", timetable_text(COURSE), small=25)

    assert pod.run() == 0
    assert pod.cluster.all_in(LEASES)[NAME]["spec"]["holderIdentity"] == ""


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from((0.1, 1.0, 7.0, 8.0, 20.0, 45.0, 61.0)),
            st.sampled_from(("", "", "", "refused", "lost", "gone", "restart", "reset")),
        ),
        min_size=5,
        max_size=40,
    )
)
def test_a_pod_writes_its_own_count_only_while_it_holds_the_lease(
    moves: list[tuple[int, float, str]],
) -> None:
    """Pods sleep as long as it pleases, requests fail, answers are lost, Leases are deleted, pods restart.

    After its step a pod that believes to hold the pool holds it at the server, and whatever a pod writes in a
    step it writes by its own count. That a Lease was deleted is seen within a minute.
    """
    twins, counts, gone = Twins(), [20, 16], float("-inf")
    for n, seconds, event in moves:
        twins.pods[0].now += seconds
        if twins.now >= at("09:50"):
            break
        if event == "refused":
            twins.cluster.interfere("leases", REFUSED, times=2)
        elif event == "lost":
            twins.cluster.lose_an_answer(f"PATCH {LEASES}")
        elif event == "gone":
            twins.cluster.all_in(LEASES).clear()
            gone = twins.now
        elif event == "restart":
            twins.pods[n].scaler = twins.pods[n].make()
        elif event == "reset":
            twins.cluster.set(NAME, 3)
        before = len(twins.writes)
        twins.step(n)
        written = {*twins.written[before:]}
        twins.cluster.interferences.clear()

        assert written <= {counts[n], 25}
        if 25 in written:
            assert event in ("refused", "lost") or not twins.pods[n].scaler._keepers[NAME].is_held
        holder = twins.cluster.all_in(LEASES).get(NAME, {"spec": {"holderIdentity": ""}})["spec"]
        if event != "refused" and written == {counts[n]} and twins.now - gone >= VALID_SECONDS:
            assert holder["holderIdentity"] == twins.pods[n].name
    twins.run(2 * VALID_SECONDS)

    (holder,) = twins.holders()
    assert twins.cluster.scales[NAME] == counts[holder]


def test_slow_writes_to_some_pools_do_not_let_leases_expire() -> None:
    """An admission webhook takes half a minute for each write; all pools change at once."""
    pools = {f"class-{n}": f"course-{n}" for n in range(4)}
    pod = ScalerPod("07:29:59", timetable_text((*COURSE[:4], dict.fromkeys(pools, 2)), pools=pools))
    for name in pools.values():
        pod.cluster.set(name, 0)
    pod.scaler.step()
    pod.now += 1
    oldest: list[float] = []

    def slow(request: Request) -> None:
        if request.method == "PATCH" and "/deployments/" in request.path:
            pod.now += 30
            renewed = [tree["spec"]["renewTime"][11:19] for tree in pod.cluster.all_in(LEASES).values()]
            oldest.append(pod.now - min(map(at, renewed)))

    pod.cluster.interferences.append(slow)
    pod.scaler.step()

    assert len(oldest) == 4
    assert max(oldest) < VALID_SECONDS


@pytest.mark.parametrize("trouble", [REFUSED, no_answer()], ids=["refused", "unanswered"])
def test_without_a_lease_a_pool_is_opened_once_in_full_and_left_to_the_sweep(
    trouble: Response | ApiError,
) -> None:
    """It is never lowered, and what somebody resets is the sweep's to put right."""
    pod = ScalerPod("07:30", MAINTAIN, small=0)
    pod.sessions(small={"course/1": 7})
    pod.cluster.interfere("/leases", trouble)
    pod.plan("08:00", lambda: pod.cluster.set(NAME, 40))
    pod.plan("08:30", lambda: pod.cluster.set(NAME, 3))

    assert pod.run(until="09:00") is None
    assert (pod.seats, pod.replicas) == ([("07:30:00", 25)], 3)
    swept = Swept("09:00", *missed(replicas=3))
    assert (swept.run(), swept.cluster.replicas()) == (0, {NAME: 25})


# The sweep beside a scaler


@pytest.mark.parametrize(("renewed", "replicas"), [("09:00", 10), ("08:55", 25)], ids=["taken", "run-out"])
def test_the_sweep_does_not_write_if_a_lease_is_renewed_after_its_list(renewed: str, replicas: int) -> None:
    """A scaler comes between the list and the write."""
    swept = Swept("09:00", *missed(replicas=10))

    def come(request: str) -> None:
        if request == f"GET leases {NAME}":
            swept.cluster.add(lease(renewed))

    swept.cluster.interfere = come

    assert swept.run() == 0
    assert swept.cluster.replicas() == {NAME: replicas}
    assert len(swept.told("left")) == (replicas == 10)


def slots_of(number: int) -> list[Tree]:
    """The reservation `course` of slots, whose scaler was taken over, beside one of placeholders."""
    row: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 4})
    ours = [timetable(text=slot_text(row)), cronjob(), *numbered(number, digest="dddd4444")]
    return [*ours, *missed("other")]


def test_nine_thousand_slots_delay_no_other_pool_and_no_job() -> None:
    """They take all the time that there is to be removed."""
    swept = Swept("09:00", *slots_of(9000))
    done: dict[str, int] = {}
    began = swept.cluster.now

    def slow(request: str) -> None:
        if request.startswith("DELETE reservations"):
            swept.cluster.now += 1
        elif request.startswith("PATCH"):
            done[request] = swept.cluster.now - began

    swept.cluster.interfere = slow
    swept.run()

    assert {write: at for write, at in done.items() if (at < 5 and "other" in write) or "jobs" in write} == {
        "PATCH deployments other-small scale": 0,
        "PATCH jobs course-sweep": 0,
        "PATCH jobs other-sweep": 0,
    }
    assert swept.cluster.now - began < 280


@pytest.mark.parametrize("are_deep", [False, True])
def test_pages_of_slots_that_never_end_delay_no_other_pool_and_no_job(are_deep: bool) -> None:
    """Also where each nests too deep to be read, and only its name is."""
    swept = Swept("09:00", *slots_of(1))
    (page,) = (tree for tree in swept.koordinator.objects.values())
    numbers, began, whole = count(1), swept.cluster.now, swept.cluster.koordinator

    def endless(request: Request) -> Response:
        if request.method == "GET" and request.path.partition("?")[0] == SLOTS:
            swept.cluster.now += 2
            metadata = {"resourceVersion": "1", "continue": str(next(numbers))}
            if "includeObject" in request.path:
                return good({"kind": "Table", "metadata": metadata, "rows": [{"cells": ["deep"]}]})
            if are_deep:
                return Response(200, b"[" * 200_000)
            return good({"kind": "ReservationList", "metadata": metadata, "items": [page]})
        return whole(request)

    swept.cluster.koordinator = endless  # type: ignore[assignment]

    assert swept.run() == 1
    told = swept.told("failed")
    assert told[-1] == ("list reservations", "DeadlineExceeded")
    assert (("read reservations deep", "TooLarge") in told) == are_deep
    assert swept.cluster.replicas() == {"other-small": 25}
    assert sorted(swept.cluster.of("jobs")) == ["course-sweep", "other-sweep"]
    assert swept.cluster.now - began < 280


# The clock of the API server


@example(0.0, [(0.0, 0.25, 0.5)])
@given(
    st.floats(-10_800, 10_800),
    st.lists(st.tuples(st.floats(0, 90), st.floats(0, 3), st.floats(0, 1)), min_size=1, max_size=20),
)
def test_the_clock_follows_the_server_to_within_a_second_and_the_latency(
    ahead: float, answers: list[tuple[float, float, float]]
) -> None:
    """Answers come late, and at any moment after the request the server may have dated them."""
    true = [1_770_000_000.5]
    clock = ServerClock(lambda: true[0] + ahead)
    for pause, takes, when in answers:
        true[0] += pause

        def answer(_: Request, takes: float = takes, when: float = when) -> Response:
            date = formatdate(int(true[0] + takes * when), usegmt=True)
            true[0] += takes
            return Response(200, b"{}", date=date)

        clock.learns_from(answer)(Request("GET", "/version"))

        assert abs(clock() - true[0]) <= 1 + takes + 1e-3
        assert ahead or clock() == true[0]  # one that is right is never moved
