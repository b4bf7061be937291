"""Which pools a run looks after when its timetable changes."""

from berth.core.holders import SlotSpec
from berth.core.target import pools_to_reconcile
from berth.core.timetable import TimetablePool

PLAIN = TimetablePool("small", "course-small", "maintain")
SLOTS = PLAIN._replace(holder=SlotSpec("x", "a", {}))
BOTH = PLAIN._replace(holder=SlotSpec("x", "b", {}, placeholders=True))
BARE = PLAIN._replace(holder=SlotSpec("x", "b", {}))
OTHER = TimetablePool("huge", "course-huge", "none")


def after(*steps: list[TimetablePool]) -> dict[str, TimetablePool]:
    known: dict[str, TimetablePool] = {}
    for named in steps:
        known = pools_to_reconcile(known, named)
    return known


def test_all_that_were_ever_named_are_followed_as_they_were_last_named() -> None:
    edited = PLAIN._replace(behavior="none")

    assert after([PLAIN, OTHER], [edited]) == {PLAIN.key: edited, OTHER.key: OTHER}


def test_what_another_backend_has_left_is_a_pool_that_nobody_names() -> None:
    assert after([PLAIN], [SLOTS]) == {PLAIN.key: PLAIN, SLOTS.key: SLOTS}
    assert after([SLOTS], [PLAIN]) == {SLOTS.key: SLOTS, PLAIN.key: PLAIN}


def test_a_deployment_has_one_keeper() -> None:
    assert after([PLAIN], [BOTH]) == {SLOTS.key: BOTH}
    assert after([BOTH], [PLAIN]) == {PLAIN.key: PLAIN, SLOTS.key: BARE}
    assert after([BOTH], [SLOTS]) == {PLAIN.key: PLAIN, SLOTS.key: SLOTS}
    assert after([SLOTS], [BOTH]) == {SLOTS.key: BOTH}
    assert after([BOTH], []) == {PLAIN.key: PLAIN, SLOTS.key: BARE}
    assert after([BOTH], [], [BOTH]) == {SLOTS.key: BOTH}
