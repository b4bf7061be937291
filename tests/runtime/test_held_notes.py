"""The note about a number of somebody else: of which object it is, and to which reservation that belongs."""

import json
from typing import Any

import pytest
from berth.core.actions import PoolFound, ScalePool, decide_pool, release
from berth.core.holders import HeldNumber, parse_number
from berth.core.jsonvalues import part
from berth.core.objects import CONFIG_MAP
from berth.core.slots import SlotCounts
from berth.core.state import (
    HELD_KEY,
    HeldValue,
    ObjectRef,
    PoolObject,
    SiteState,
    parse_held,
    read_pool,
)
from berth.core.target import DesiredState, PoolTarget
from berth.core.timetable import Timetable, TimetablePool, note_name

NUMBER: HeldNumber = parse_number(
    {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "plural": "horizontalpodautoscalers",
        "namespace": "web",
        "name": "shop",
        "path": ["spec", "minReplicas"],
        "scale": False,
        "unit": "replicas",
    },
    "number",
)
POOL = TimetablePool("seat", "course-seat", "none", holder=NUMBER)
NOTE = ObjectRef(CONFIG_MAP.name, note_name(POOL), "uid-note", "course", 0)


def shop(minimum: int, uid: str = "uid-shop") -> PoolObject:
    metadata = {"name": "shop", "namespace": "web", "uid": uid, "resourceVersion": "7"}
    return read_pool(NUMBER, {"metadata": metadata, "spec": {"minReplicas": minimum}})


def noted(before: int, uid: str = "uid-shop") -> HeldValue:
    return HeldValue(NOTE, "5", before, uid, 0)


def opened(stands: PoolObject) -> ScalePool:
    desired = DesiredState(PoolTarget(POOL, 40, ("course/1",)), Timetable("course", False, (POOL,), ()), 0)
    (action,) = decide_pool(NOTE, PoolFound(stands, SlotCounts(), None), desired).actions
    assert isinstance(action, ScalePool)
    return action


def data(action: ScalePool) -> dict[str, Any]:
    assert action.note is not None
    written: dict[str, Any] = json.loads(str(part(action.note, "data")[HELD_KEY]))
    return written


@pytest.mark.parametrize(
    ("held", "before"),
    [
        pytest.param(None, 3, id="what-stands-there"),
        pytest.param(noted(2), 2, id="what-was-noted-first"),
        pytest.param(noted(2, "uid-of-an-older-one"), 3, id="not-what-another-object-had"),
    ],
)
def test_a_note_says_what_the_object_had(held: HeldValue | None, before: int) -> None:
    action = opened(shop(3)._replace(held=held))

    assert (data(action)["before"], data(action)["uid"]) == (before, "uid-shop")


def test_a_note_is_read_as_it_is_written() -> None:
    note = opened(shop(3)).note
    assert note is not None
    metadata = {**part(note, "metadata"), "resourceVersion": "5"}

    assert parse_held(NOTE, {**note, "metadata": metadata}) == noted(3)


def test_a_number_goes_back_to_what_it_was() -> None:
    (action,) = release(shop(40)._replace(held=noted(3)), "closed", 10**9)

    assert (action.value, action.closes, action.is_needed) == (3, True, True)


def test_the_number_of_an_object_that_was_made_since_stays_and_its_note_goes() -> None:
    (action,) = release(shop(5)._replace(held=noted(3, "uid-of-an-older-one")), "closed", 10**9)

    assert (action.value, action.closes, action.is_needed) == (5, True, False)


def test_what_is_done_to_a_number_is_done_for_the_reservation_that_holds_it() -> None:
    site = SiteState("uni", numbers={POOL.key: shop(40)._replace(held=noted(3))})

    stands = site.number_of("course", POOL)

    assert stands is not None
    assert stands.ref.reservation == "course"
    assert stands.held == noted(3)
