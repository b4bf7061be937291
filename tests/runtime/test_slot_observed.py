"""What the scaler sees of sessions where slots hold the seats."""

import pytest
from berth.core.holders import REPLICAS, SlotSpec

from tests.runtime.slotworld import DIGEST
from tests.runtime.timetabletexts import config_map, text
from tests.runtime.watched_cluster import WatchedCluster
from tests.runtime.watching import DS, SESSIONS, TIMETABLES, session, timetable, watching, with_created


@pytest.mark.parametrize("has_slots", [True, False])
def test_a_session_that_leaves_counts_no_longer_where_its_slot_comes_back_by_itself(has_slots: bool) -> None:
    cluster = WatchedCluster()
    cluster.put(TIMETABLES, with_created(config_map("ds", text("ds", DS))))
    for name in "ab":
        cluster.put(SESSIONS, session(name))
    small, huge = timetable(DS).pools
    holder = SlotSpec("example-ds-small", DIGEST, {}) if has_slots else REPLICAS
    own = timetable(DS)._replace(pools=(small._replace(holder=holder), huge))
    with watching(cluster, own) as scene:
        scene.until_counts(ds=2)
        cluster.withdraw(SESSIONS, "a")
        seen = scene.until(lambda _: scene.present() == {"ds/1": 1})

    assert seen.counts == {"ds/1": 1 if has_slots else 2}
