"""What is told of a cluster in which Koordinator holds the seats; `expected_slots.txt` has it by name."""

import json
from random import Random

import pytest
from berth.cli.status import as_answer, as_text
from berth.core.jsonvalues import parse_instant
from berth.core.target import desired_state
from berth.core.timetable import parse_timetable
from berth.dates.moments import named
from berth.findings import LiveFinding
from berth.live.poolstate import status_from_git
from berth.output.answers import serialize
from berth.plugins.slots.slots import (
    PlaceholderOwner,
    SlotPlan,
    count_slots,
    parse_slot,
    plan_slots,
    slot_demand,
)

from tests.live.happenings import NOW, Case
from tests.live.judged import expectations, looked_before, status, told
from tests.live.slotproject import CASES, FULL, LAB, in_order, lose, make, slots
from tests.live.slotturns import TURNS, UNTIL, Turn
from tests.live.world import World

TOLD = expectations("expected_slots.txt")
STATES = (("Available", ""), ("Pending", ""), ("Failed", ""), ("Available", "hub/jupyter-{}"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_status_reports_the_expected_lines_for_each_case(case: Case) -> None:
    git = slots(lab=LAB)
    world = in_order(git, case.now)
    case.happen(world)

    assert told(status(world, git, case.now, looked_before(case, world, git))) == TOLD[case.name]


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.name)
def test_status_reports_how_git_and_the_cluster_differ(turn: Turn) -> None:
    assert told(status(turn.world(), turn.git, turn.now)) == TOLD[turn.name]


def test_the_file_of_expected_lines_has_exactly_the_cases_and_turns() -> None:
    assert list(TOLD) == [*(case.name for case in CASES), *(turn.name for turn in TURNS)]


WIDE = """\
RESERVATION  CLASS  CLUSTER  STATE   OPEN                        WANTED  READY  PENDING  SESSIONS  REPLICAS  OPENS (UTC)       ENDS (UTC)        GIT     SLOTS                         NOTE
course       small  prod     active  08:30-13:00                 20      18     2        5         25        2026-02-02 07:30  2026-02-02 12:00  synced  18 free, 5 in use, 2 pending
lab          brief  prod     active  until Sun 2026-03-01 01:00  3       3      0        0         3                           2026-03-01 00:00  synced  3 free
"""  # noqa: E501 - as it is


def test_the_wide_table_counts_slots() -> None:
    git = slots(lab=UNTIL)
    world = in_order(git)
    lose(world, 0, 1)
    make(world, 0, 2, "Pending", created="2026-02-02T08:59:59Z")
    found = status(world, git)

    zone = named("Europe/Zurich")
    assert as_text([found], lambda _: zone, parse_instant(NOW), wide=True, color=False) == WIDE
    narrow = as_text([found], lambda _: zone, parse_instant(NOW), wide=False, color=False).splitlines()
    assert narrow[2].split("  ")[-1] == "0"
    fitted = as_text([found], lambda _: zone, parse_instant(NOW), wide=False, color=False, columns=60)
    assert max(map(len, narrow)) > 60 >= max(map(len, fitted.splitlines()))


def test_json_output_counts_the_slots_of_each_item() -> None:
    git = slots(lab=LAB)
    items = json.loads(serialize(as_answer([status(in_order(git), git)]), "json"))["items"]

    assert items[0]["slots"] == {"free": 20, "inUse": 5, "handed": 0, "pending": 0, "over": 0}
    assert (items[1]["open"], items[1]["end"], items[1]["slots"]["free"]) == (None, None, 3)


def test_standing_slots_show_their_end_date_if_the_cluster_is_unreachable() -> None:
    git, finding = slots(lab=UNTIL), LiveFinding("S001", "prod", "", "no answer.", "Wait.")
    for now in ("2026-02-28T23:59:59Z", "2026-03-01T00:00:00Z"):
        found = status_from_git(git.expected["prod"], None, finding, parse_instant(now))
        assert told(found).splitlines()[1] == ("lab/brief unknown ? 2026-03-01T00:00:00Z ? ? ? ?")


def test_koordinator_reservations_are_listed_once_without_a_selector() -> None:
    """Without a selector: what stops Koordinator may be anybody's."""
    path = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
    git = slots()
    world = in_order(git)
    world.page = 7
    status(world, git)

    assert world.asked.count(path) == 4  # pages of 25
    assert [asked for asked in world.asked if asked.startswith(f"{path}?")] == []


def test_slots_of_another_site_are_ignored() -> None:
    git = slots()
    world = in_order(git)
    before = told(status(world, git))
    for object_ in list(world.objects):
        if object_["kind"] == "Reservation":
            metadata = object_["metadata"]
            name, labels = metadata["name"].replace("uni-", "school-"), metadata["labels"]
            theirs = {**metadata, "name": name, "labels": {**labels, "berth.dev/site": "school"}}
            world.apply_rendered({**object_, "metadata": theirs})

    assert told(status(world, git)) == before


def test_seats_are_missing_exactly_when_the_scaler_would_create_slots() -> None:
    """By what the pod itself would do about the same slots and sessions."""
    random, git = Random(60), slots()
    made = 0
    for _ in range(150):
        world = in_order(git)
        lose(world, 0, 24)
        counts = [random.randrange(14) for _ in range(4)]
        first = 0
        for number, (phase, owner) in zip(counts, STATES, strict=True):
            make(world, first, number, phase, owner=owner, condition=FULL if phase == "Pending" else None)
            first += number
        for n in range(random.randrange(12)):
            world.session(f"late-{n}")
        found = planned(world)
        told_codes = {finding.code for pool in status(world, git).pools for finding in pool.findings}

        tried_again = sum(slot.phase == "Pending" for slot in found.remove)
        assert bool(told_codes & {"S030", "S032", "S034"}) == (len(found.make) > tried_again)
        made += bool(found.make)

    assert 20 < made < 130


def planned(world: World) -> SlotPlan:
    timetable = parse_timetable(world.get("ConfigMap", "course")["data"]["timetable.json"])
    (pool,) = timetable.pools
    assert pool.holder.slots is not None
    ours = [object_ for object_ in world.objects if object_["kind"] == "Reservation"]
    slot_counts = count_slots(map(parse_slot, ours), PlaceholderOwner("berth", pool.name))
    sessions = sum(object_["metadata"]["name"].startswith(("jupyter-", "late-")) for object_ in world.objects)
    desired = desired_state(timetable, pool, parse_instant(NOW), {timetable.occurrences[0].id: sessions})
    return plan_slots(
        slot_counts,
        pool.holder.slots,
        slot_demand(desired, sum(slot_counts.owners.values()), 0),
        parse_instant(NOW),
    )
