"""Seats as Koordinator's Reservations on the real control plane, with koord-scheduler itself: what we render
is taken and decodes, windows hold their seats and leave nothing, whatever goes wrong.
"""

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.backends.koordinator.slottypes import why_unread
from berth.core.jsonvalues import instant_text
from berth.core.target import placeholders

from tests.e2e import koordinatorstory, koordscheduler, project
from tests.e2e.cluster import Cluster
from tests.e2e.decoder import GOOD, decoded
from tests.e2e.direct import Direct, RefusedError
from tests.e2e.koordinatorcases import CASES, COUNT, CROWD, EDITED, ENDS, LAB, RAISED, STARTED, Case, case
from tests.e2e.koordinatorstory import PODS, STRANGER, Story, at, left, session, short
from tests.e2e.koordscheduler import NAME as SCHEDULER
from tests.e2e.koordscheduler import RESERVATIONS as SLOTS
from tests.e2e.slotrecord import Look
from tests.e2e.slotspecs import GOOD as GOOD_SPECS
from tests.e2e.slotspecs import POISON
from tests.e2e.waiting import wait_for
from tests.e2e.windows import MINUTE
from tests.generate import project as generated_project
from tests.koordinator.objects import phase_of

LAG = 25  # seconds until what happens shows in the record, also on a busy machine
CUT = 1.2  # seconds before the end of a window that are not looked at
SEED, GENERATED = 20260202, 300
prepare, tell = koordscheduler.start, koordinatorstory.tell


def test_go_refuses_the_specs_that_berth_reports_as_unreadable() -> None:
    """Without a cluster: one object of these, and the scheduler sees no Reservation any more."""
    trees = [{"metadata": {}, "spec": spec} for spec in (*GOOD_SPECS, *POISON)]

    assert [bool(why_unread(tree)) for tree in trees] == [bool(answer.error) for answer in decoded(trees)]


@pytest.fixture(scope="module")
def slots(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All that may become a slot of a project made by chance, as far as `validate` lets it through."""
    folder = tmp_path_factory.mktemp("slots")
    generated_project(folder, SEED, GENERATED)
    for file in {item["file"] for item in project.findings(folder) if item["severity"] == "error"}:
        (folder / file).unlink()
    project.berth(folder, "render")
    return list(_slots(folder / "rendered" / "clusters"))


def _slots(rendered: Path) -> Iterator[dict[str, Any]]:
    kind = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation"}
    life = {"ttl": "3h2m0s", "expires": "2026-12-31T23:00:00Z"}
    for file in sorted(rendered.rglob("reservations/*.yaml")):
        for one in yaml.load_all(file.read_text(), yaml.CSafeLoader):
            if one["kind"] == "Reservation":
                yield one
            for pool in json.loads(one.get("data", {}).get("timetable.json", "{}")).get("pools", {}).values():
                if "slots" in pool:
                    made = pool["slots"]["object"]
                    name = f"{pool['slots']['name']}-0-{pool['slots']['hash']}"
                    yield {
                        **kind,
                        "metadata": {**made["metadata"], "name": name},
                        "spec": {**made["spec"], **life},
                    }


def test_slots_that_validate_accepts_decode_strictly(slots: list[dict[str, Any]]) -> None:
    answers = decoded(slots)

    assert [
        (slot["metadata"]["name"], answer)
        for slot, answer in zip(slots, answers, strict=True)
        if answer != GOOD
    ] == []
    assert sum("expires" in slot["spec"] for slot in slots) > 20


def test_the_api_server_accepts_the_slots_that_validate_accepts(
    cluster: Cluster, story: Story, slots: list[dict[str, Any]]
) -> None:
    """With every field, and as it was written: what it prunes or adds would show."""
    del cluster, story  # with them the kind has come
    direct = Direct()
    changed = []
    for slot in slots:
        try:
            answer = direct.create(f"{SLOTS}?dryRun=All&fieldValidation=Strict", slot)
        except RefusedError as error:
            changed.append(str(error))
            continue
        if not _is_within(slot["spec"], answer["spec"]):
            changed.append(slot["metadata"]["name"])
    direct.close()

    assert changed == []


def _is_within(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            _is_within(value, whole.get(key)) for key, value in part.items()
        )
    return bool(part == whole)


def looks(story: Story, name: str, first: float = 0, last: float = ENDS) -> list[Look]:
    """Between two minutes."""
    return [look for look in story.record.looks[name] if at(story, first) <= look.at < at(story, last)]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_seats_are_never_missing_for_longer_than_the_bound(story: Story, one: Case) -> None:
    assert any(look.at >= at(story, one.ends) for look in story.record.looks[one.name])
    assert short(story, one) <= one.short


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_no_slots_placeholders_or_jobs_are_left_after_the_end(story: Story, one: Case) -> None:
    """No slot, in use, Pending or over; no placeholder; no Job."""
    after = left(story, one)

    assert after is not None
    assert after <= one.clean


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_no_slots_or_placeholders_exist_before_the_window(story: Story, one: Case) -> None:
    early = [look for look in story.record.looks[one.name] if look.at < at(story, one.opens)]

    assert [look for look in early if look.slots or look.placeholders] == []


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_sessions_that_own_a_slot_keep_running_after_the_end(story: Story, one: Case) -> None:
    last = story.record.looks[one.name][-1]
    before = looks(story, one.name)[-1]

    assert last.sessions == before.sessions
    assert last.owning == 0


Counts = tuple[int, int, int]


def settled(story: Story, name: str, wanted: Counts, since: float, until: float | None = None) -> set[Counts]:
    """Free, in use and Pending, from when they are first as wanted; all since then, where that is too late.

    Instants in seconds since the epoch; `until` is the end of the window by default.
    """
    last = at(story, case(name).ends) - CUT if until is None else until
    found = [
        (look.at, (look.free, look.used, look.pending))
        for look in story.record.looks[name]
        if since <= look.at < last
    ]
    reached = next((instant for instant, one in found if one == wanted and instant <= since + LAG), since)
    return {one for instant, one in found if instant >= reached}


def test_with_maintain_sessions_take_and_return_slots_without_new_slots(story: Story) -> None:
    """A session takes a slot and gives it back; there is nothing to make and nothing to remove."""
    came, went = story.happened["sessions"], story.happened["left"]
    made = story.record.made["maintained"]

    assert {look.slots for look in looks(story, "maintained") if look.at >= came} == {COUNT}
    assert settled(story, "maintained", (2, 2, 0), came, went) == {(2, 2, 0)}
    assert settled(story, "maintained", (3, 1, 0), went) == {(3, 1, 0)}
    assert len(made) == COUNT


def test_with_none_the_free_slots_are_topped_up(story: Story) -> None:
    wanted = (COUNT, 2, 0)

    assert settled(story, "topped-up", wanted, story.happened["more sessions"]) == {wanted}


def test_reduce_removes_free_slots_over_time(story: Story) -> None:
    """Never more than the formula asks for, never the one in use."""
    came = story.happened["one session"]
    begun = next(look.at for look in story.record.looks["reduced"] if look.at >= came and look.used)
    after = [look for look in looks(story, "reduced") if look.at >= begun + LAG]
    window = (story.opens, story.opens, story.opens + ENDS * MINUTE)
    for look in after[:-1]:
        fair = {placeholders("reduce", 8, 1, window, int(look.at) - lag) for lag in range(-1, LAG)}
        assert look.free in fair, look.at - story.opens
    assert {look.used for look in after} == {1}
    assert len({look.free for look in after}) > 1


def test_sessions_without_a_slot_count(story: Story) -> None:
    """They ran before there was a slot, so none adopts them; with them the seats are as many as promised."""
    begun = at(story, STARTED / MINUTE)

    assert settled(story, "ran-before", (2, 0, 0), begun) == {(2, 0, 0)}
    assert {(look.sessions, look.owning) for look in looks(story, "ran-before", 0.75)} == {(2, 0)}


def test_slots_without_room_stay_pending(story: Story) -> None:
    """A Pending one never ends by itself. It is removed and made again at the same time."""
    found = settled(story, "nowhere", (0, 0, COUNT), at(story, STARTED / MINUTE))

    assert (0, 0, COUNT) in found
    assert found <= {(0, 0, COUNT + more) for more in (-1, 0, 1)}


def test_two_hundred_slots_are_created_and_removed_within_a_minute(story: Story) -> None:
    """They go while the scheduler writes into each that it has expired, which it does at the same instant."""
    made = [look for look in story.record.looks["crowd"] if look.at >= at(story, 1)]
    first = next(look.at for look in made if look.slots)
    full = next(look.at for look in made if look.slots == CROWD)
    end = [look for look in made if look.at >= at(story, ENDS) - 1]
    begun = next(look.at for look in end if look.slots < CROWD)
    gone = next(look.at for look in end if not look.slots)

    assert full - first <= 45  # seven seconds without other load, and four to go
    assert gone - begun <= 30


def test_slots_expire_with_the_window_and_have_a_matching_ttl(story: Story) -> None:
    (said,) = story.record.ends["maintained"][:1]
    ttl, expires = said

    assert expires == instant_text(story.opens + ENDS * MINUTE)
    assert ttl in {"1h2m0s", "1h3m0s"}
    assert {end for _, end in story.record.ends["crowd"]} == {expires}


def test_a_handover_gives_no_room_to_a_stranger(story: Story) -> None:
    """Placeholders make room, slots take it over, placeholders go, sessions take the slots; a stranger on the
    same node finds nothing.
    """
    record = looks(story, "handed-over")
    begun = [look.placeholders > 0 for look in record].index(True)
    first = next(place for place, look in enumerate(record) if look.beside + look.free + look.handed == COUNT)

    assert begun <= first
    assert len(story.record.handed["handed-over"]) == COUNT
    assert min(look.seats.held for look in record[first:]) == COUNT
    came = story.happened["hand-over sessions"]
    assert settled(story, "handed-over", (2, 2, 0), came) == {(2, 2, 0)}
    assert {(look.placeholders, look.replicas) for look in record if look.at >= came} == {(0, 0)}
    assert "nodeName" not in story.sessions[STRANGER]["spec"]


def test_slots_from_git_are_kept_without_an_end(story: Story) -> None:
    """From before any window until after all sweeps: the same objects, without an end, in use by its lab."""
    before, after = story.stood

    assert {one["metadata"]["uid"] for one in before} == {one["metadata"]["uid"] for one in after}
    assert {one["spec"]["ttl"] for one in after} == {"0s"}
    assert {look.used for look in story.record.looks[LAB][-10:]} == {1}


def test_a_deleted_slot_is_created_again(story: Story) -> None:
    gone = story.happened["slot-deleted"]
    later = [look for look in story.record.looks["slot-deleted"] if look.at >= gone]
    missed = next((look.at for look in later if look.free < COUNT), gone)

    assert settled(story, "slot-deleted", (COUNT, 0, 0), missed) == {(COUNT, 0, 0)}


def test_slots_of_a_deleted_node_are_created_on_other_nodes(story: Story) -> None:
    """Koordinator calls them Failed; such a slot holds nothing and goes."""
    gone = story.happened["node-deleted"]
    record = looks(story, "node-deleted")
    missed = next(look.at for look in record if look.at >= gone and look.free < COUNT)

    assert settled(story, "node-deleted", (COUNT, 0, 0), missed) == {(COUNT, 0, 0)}
    assert {look.dead for look in record if look.at >= missed + LAG} == {0}
    made = story.record.made["node-deleted"].values()
    assert 0 < sum(one >= instant_text(int(gone)) for one in made) < COUNT


@pytest.mark.parametrize("name", ["pod-deleted", "job-deleted", "cronjob-deleted"])
def test_slots_do_not_change_while_no_pod_serves_them(story: Story, name: str) -> None:
    assert settled(story, name, (COUNT, 0, 0), story.happened[name]) == {(COUNT, 0, 0)}
    assert len(story.record.made[name]) == COUNT


@pytest.mark.parametrize("name", ["never-fired", "scaler-cannot-start"])
def test_the_sweep_opens_an_unserved_pool(story: Story, name: str) -> None:
    opened = next(look.at for look in story.record.looks[name] if look.free == COUNT)

    assert opened >= at(story, 0.5)
    assert settled(story, name, (COUNT, 0, 0), opened) == {(COUNT, 0, 0)}


def test_an_edit_acts_within_a_minute(story: Story) -> None:
    edited = story.happened["raised"]
    more = next(look.at for look in story.record.looks["raised"] if look.free == RAISED)

    assert more - edited <= EDITED


def test_a_later_end_is_written_to_the_existing_slots(story: Story) -> None:
    ends = [expires for _, expires in story.record.ends["ends-later"]]

    assert ends == [instant_text(story.opens + minute * MINUTE) for minute in (ENDS, ENDS + 1)]
    assert len(story.record.made["ends-later"]) == COUNT
    assert settled(story, "ends-later", (COUNT, 0, 0), story.happened["ends-later"]) == {(COUNT, 0, 0)}


def test_the_scheduler_ends_slots_by_itself(cluster: Cluster, story: Story) -> None:
    """At their `expires`, whatever happens to all of Berth; and one for a single session as it takes it."""
    del story  # with it the nodes have come
    soon = instant_text(int(time.time()) + 20)
    lives: dict[str, dict[str, Any]] = {
        "expires": {"expires": soon, "allocateOnce": False},
        "serves-once": {"allocateOnce": True},
    }
    with closing(Direct()) as direct, koordscheduler.kept_running(cluster):
        for name, life in lives.items():
            direct.create(SLOTS, koordinatorstory.slot(name, **life))
        _wait_for_phases(direct, dict.fromkeys(lives, "Available"))
        direct.create(PODS, session("serves-once", "serves-once", "wide", SCHEDULER))
        _wait_for_phases(direct, {"expires": "Failed", "serves-once": "Succeeded"})
        for name in lives:
            direct.delete(f"{SLOTS}/{name}")


def _wait_for_phases(direct: Direct, wanted: dict[str, str]) -> None:
    def are_so() -> bool:
        found = {name: phase_of(direct.get(f"{SLOTS}/{name}")) for name in wanted}
        return found == wanted

    wait_for(are_so, 60, f"slots to be {wanted}")
