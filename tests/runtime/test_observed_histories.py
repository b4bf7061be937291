"""Whatever happened on the way, what is seen at last is what is there: arrivals, changes, departures, watches
that end, break off or expire, a server that fails, edits of rivals, and restarts.
"""

from random import Random
from typing import Any

import pytest
from berth.core.claims import competing_reservation, open_claims
from berth.core.sessions import ranked
from berth.core.timetable import Timetable, parse_timetable
from berth.runtime.sessionobserver import is_active, metadata_keys
from berth.runtime.sessionobserver import parse_session as session_of

from tests.runtime.claiming import one_by_one
from tests.runtime.stub_server import Received, Reply
from tests.runtime.timetabletexts import text
from tests.runtime.watched_cluster import WatchedCluster, chunk, refused
from tests.runtime.watching import DS, SESSIONS, TIMETABLES, put_rival, session, timetable, watching
from tests.runtime.world import Row, at
from tests.seeds import seeds

COURSES: tuple[dict[str, Any], ...] = (
    {},
    {"matchLabels": {"course": "x"}},
    {"matchAnnotations": {"renku.io/launcher_id": "l"}},
)


class History:
    """What a cluster goes through, by chance, and what is to be seen of it in the end."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.cluster = WatchedCluster()
        self.own = timetable(DS, course=self.chance.choice(COURSES))
        self.competitors: dict[str, Timetable] = {}
        self.here: dict[str, dict[str, Any]] = {}
        for _ in range(self.chance.randrange(12)):
            self.step(is_watched=False)

    def step(self, *, is_watched: bool = True) -> None:
        steps = [self._come, self._come, self._change, self._leave, self._compete]
        troubles = [self._fail, self._expire, self.cluster.end_watches, self._cut, self.cluster.bookmark]
        self.chance.choice([*steps, *troubles] if is_watched else steps)()

    def expected(self) -> dict[str, int]:
        recognition = self.own.pools[0].sessions
        assert recognition
        everybody = [
            competing_reservation(competitor, {"small": recognition}, at("08:00"))
            for competitor in (self.own, *self.competitors.values())
        ]
        order = ranked(open_claims(everybody, "small", at("08:00")).values())
        kept = metadata_keys(claim.match for claim in order)
        sessions = [
            session_of(tree, "renku", kept) for tree in self.here.values() if is_active(tree, recognition)
        ]
        return {"ds/1": one_by_one(sessions, order)["ds/1"]}

    def _come(self) -> None:
        self._put(f"s{self.chance.randrange(30)}")

    def _change(self) -> None:
        if self.here:
            self._put(self.chance.choice([*self.here]))

    def _put(self, name: str) -> None:
        labels = self.chance.choice(({}, {"course": "x"}, {"course": "y"}))
        tree = session(name, labels, launcher_id=self.chance.choice("lm"))
        tree["spec"] = {"hibernated": self.chance.random() < 0.2}
        self.here[name] = tree
        self.cluster.put(SESSIONS, tree)

    def _leave(self) -> None:
        if self.here:
            gone = self.chance.choice([*self.here])
            del self.here[gone]
            self.cluster.withdraw(SESSIONS, gone)

    def _compete(self) -> None:
        name = self.chance.choice(("ml", "ai"))
        if name in self.competitors and self.chance.random() < 0.3:
            del self.competitors[name]
            self.cluster.withdraw(TIMETABLES, f"uid-{name}")
            return
        row: Row = (f"{name}/1", "07:30", "08:00", self.chance.choice(("09:00", "11:00")), {"small": 4})
        said = text(name, row, course=self.chance.choice(COURSES), suspend=self.chance.random() < 0.2)
        self.competitors[name] = parse_timetable(said)
        put_rival(self.cluster, said, name)

    def _fail(self) -> None:
        left = [self.chance.randrange(3)]

        def fail(_received: Received) -> Reply | None:
            left[0] -= 1
            return refused(500, "InternalError") if left[0] >= 0 else None

        self.cluster.interferences[:] = [fail]

    def _expire(self) -> None:
        self.cluster.expire()
        self.cluster.end_watches()

    def _cut(self) -> None:
        self.cluster.end_watches(chunk(b'{"type": "ADDED", "obj'))


@pytest.mark.parametrize("seed", seeds(3, 12))
def test_every_history_ends_in_what_is_there_and_a_restart_sees_the_same(seed: int) -> None:
    history = History(seed)
    for _ in range(2):
        with watching(history.cluster, history.own) as scene:
            for _ in range(25):
                history.step()
                scene.observed.wait(history.chance.choice((0, 0, 0.01)))
                scene.seen()
            scene.until(lambda seen: seen.counts == history.expected())
            scene.now += 31
            scene.until(lambda seen: seen.counts == history.expected())
