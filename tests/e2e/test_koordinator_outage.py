"""The API server is away for two minutes: over the opening of a window of slots, in the middle, over the end.

Minutes count from when this story begins. Beside the fault tests it is they who take it away, at
these minutes.
"""

from collections.abc import Sequence

import pytest

from tests.e2e import koordinatorcases, koordinatorstory, koordscheduler
from tests.e2e.component import Component
from tests.e2e.direct import Direct
from tests.e2e.faultcases import RETURN
from tests.e2e.gitops import Engine
from tests.e2e.koordinatorcases import COUNT, KEY, ROOM, Case
from tests.e2e.koordinatorstory import Story, at, left, session, short
from tests.e2e.koordscheduler import NAME as SCHEDULER
from tests.e2e.project import Document
from tests.e2e.sidebyside import Stage
from tests.e2e.slotrecord import SlotRecord
from tests.e2e.windows import MINUTE, sleep_until

NAMESPACE, SITE, SESSIONS = "berth-slots-away", "slots-away", "slots-away-sessions"
AWAY = (0.5, 2.5)  # as SERVER_AWAY of the faults, from the minute at which this story begins
WHERE, LAST = "away", 5
EARLY = 3 * MINUTE  # seconds before, when the faults have given the controllers back
TAIL = 40  # seconds
prepare = koordscheduler.start
CASES: Sequence[Case] = (
    Case("over-open", opens=1, ends=LAST, where=WHERE, short=(AWAY[1] - 1) * MINUTE + RETURN + 40),
    Case("in-the-middle", opens=-1, ends=LAST, where=WHERE),
    Case("over-end", opens=-1, ends=2, where=WHERE, clean=(AWAY[1] - 2) * MINUTE + RETURN + 60),
)


def tell(stage: Stage) -> Story:
    cluster, direct, opens = stage.cluster, stage.connect(), stage.opens
    sleep_until(opens - EARLY)
    koordinatorstory.install(cluster)
    cluster.create_namespace(SESSIONS)
    stage.forget(NAMESPACE, SESSIONS)
    taint = {"key": KEY, "value": "", "effect": "NoSchedule"}
    cluster.kwok.create_nodes(1, "slots-away", ROOM, {KEY: WHERE}, [taint])
    engine = Engine(direct, stage.folder)
    engine.begin(_documents(opens))
    stage.undo.callback(koordinatorstory.remove, direct, SITE)
    record = SlotRecord(direct, SITE, NAMESPACE, SESSIONS, [one.name for one in CASES])
    with koordscheduler.kept_running(cluster):
        try:
            record.start()
            _happen(cluster.control_plane.apiserver, direct, opens)
            story = Story(opens, record, {})
            koordinatorstory.write_down("slots-away", story, CASES)
            return story
        finally:
            record.stop()


def _documents(opens: int) -> list[Document]:
    documents = koordinatorcases.documents(opens, SITE, NAMESPACE, CASES)
    for document in documents:
        if document["kind"] == "ResourceClass":
            document["spec"]["sessions"]["namespaces"] = [SESSIONS]
    return documents


def _happen(apiserver: Component, direct: Direct, opens: int) -> None:
    sleep_until(opens + 0.2 * MINUTE)
    where = f"/api/v1/namespaces/{SESSIONS}/pods"
    direct.create(where, session("session", "in-the-middle", WHERE, SCHEDULER))
    sleep_until(opens + AWAY[0] * MINUTE)
    apiserver.stop()
    sleep_until(opens + AWAY[1] * MINUTE)
    apiserver.start(again=True)
    sleep_until(opens + LAST * MINUTE + TAIL)


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_seats_are_never_missing_for_longer_than_the_bound(story: Story, one: Case) -> None:
    assert any(look.at >= at(story, one.ends) for look in story.record.looks[one.name])
    assert short(story, one) <= one.short


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_no_slots_placeholders_or_jobs_are_left_after_the_end(story: Story, one: Case) -> None:
    after = left(story, one)

    assert after is not None
    assert after <= one.clean


def test_slots_do_not_change_during_an_outage_in_the_middle_of_a_window(story: Story) -> None:
    """The session keeps its slot, and no slot is made or removed."""
    during = [
        look
        for look in story.record.looks["in-the-middle"]
        if at(story, AWAY[0]) <= look.at < at(story, LAST - 0.1)
    ]

    assert {(look.free, look.used, look.pending, look.dead) for look in during} == {(COUNT - 1, 1, 0, 0)}
    assert len(story.record.made["in-the-middle"]) == COUNT
