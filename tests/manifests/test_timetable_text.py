"""The timetable as text: what the cluster reads is what was declared, and what a reviewer sees."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from berth.checks.project import Part
from berth.core.sessions import Recognition
from berth.core.timetable import Timetable, parse_timetable
from berth.dates.recurrence import expand
from berth.manifests.timetabletext import LARGEST, timetable_text, timetable_that_fits
from berth.schema.resourceclass import ClassSessions
from berth.schema.values import Site

from tests.awkward import AWKWARD
from tests.built import class_sessions, with_match
from tests.cli import project
from tests.manifests.parts import small
from tests.saying import finding, line

BY_LABEL = class_sessions("pods", {"matchLabels": {"home": "yes"}})
RENKU = class_sessions("renku", ("renku",), {"matchLabels": {"a": "b"}}, {})


class World(NamedTuple):
    site: Site
    parts: dict[str, Part]

    def text(self, name: str) -> str:
        part = self.parts[name]
        return timetable_text(self.site, part.placed, part.occurrences)

    def read(self, name: str) -> Timetable:
        return parse_timetable(self.text(name))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(*small(tmp_path))


def with_sessions(
    world: World, found: ClassSessions | None, renku_id: int | None = None, **match: Any
) -> Any:
    """What the timetable of night in the lab says of the sessions of its only pool."""
    part = world.parts["night/lab"]
    (only,) = part.placed.classes
    changed = part.placed._replace(
        classes=(only.model_copy(update={"sessions": found, "renku_id": renku_id}),),
        reservation=with_match(part.placed.reservation, **match),
    )
    return json.loads(timetable_text(world.site, changed, part.occurrences))["pools"][only.name]["sessions"]


def test_occurrences_without_seats_in_the_cluster_are_left_out(tmp_path: Path) -> None:
    """Even where they are given: the other cluster's timetable has them."""
    night = project.NIGHT.replace(
        'schedule: [{startTime: "22:00", endTime: "06:00"}]',
        """schedule:
      - {startTime: "22:00", endTime: "06:00"}
      - {startTime: "08:00", endTime: "09:00", seats: [{resourceClass: bench, placeholderCount: 7}]}""",
    )
    world = World(*small(tmp_path, night=night))
    both = expand(world.parts["night/lab"].placed.reservation, {}).occurrences

    assert [item.id for item in both] == ["night/2026-02-07T08:00", "night/2026-02-07T22:00"]
    assert [item.seats for item in world.read("night/lab").occurrences] == [(("bench", 7),), (("bench", 3),)]
    prod = timetable_text(world.site, world.parts["night/prod"].placed, both)
    assert [item.id for item in parse_timetable(prod).occurrences] == ["night/2026-02-07T22:00"]


def test_a_timetable_may_recognize_namespaces_by_label(world: World) -> None:
    (only,) = world.parts["night/lab"].placed.classes
    part = world.parts["night/lab"]
    changed = part.placed._replace(classes=(only.model_copy(update={"sessions": BY_LABEL}),))
    text = timetable_text(world.site, changed, part.occurrences)
    (pool,) = parse_timetable(text).pools

    assert json.loads(text)["pools"]["bench"]["sessions"]["namespaces"] == {"matchLabels": {"home": "yes"}}
    assert pool.sessions == Recognition("pods", (), namespace_labels=(("home", "yes"),))


def test_sessions_of_a_kind_of_its_own_and_those_that_carry_over(world: World) -> None:
    custom = class_sessions(
        "custom", ("a", "b"), {}, {"group": "g", "inactive": [{"path": "p", "values": ["v"]}]}
    )

    assert with_sessions(world, custom) == {
        "source": "custom",
        "group": "g",
        "inactive": [{"path": "p", "values": ["v"]}],
        "namespaces": ["a", "b"],
        "selector": {},
        "course": {},
        "earlier": "count",
        "handoverSeconds": 900,
    }
    stays = with_sessions(world, RENKU, 5, handover_minutes=0, carry_over=True)
    assert (stays["handoverSeconds"], stays["carryOver"]) == (0, True)
    assert with_sessions(world, None, namespaces=("one",)) is None


def test_every_text_is_read_back_from_ascii(world: World) -> None:
    pairs = tuple((f"example.org/n{i}", text) for i, text in enumerate(AWKWARD))
    placed = world.parts["night/lab"].placed
    (only,) = placed.classes
    changed = placed._replace(
        classes=(only.model_copy(update={"sessions": RENKU}),),
        reservation=with_match(placed.reservation, match_annotations=dict(pairs)),
    )
    text = timetable_text(world.site, changed, world.parts["night/lab"].occurrences)

    assert text.isascii()
    assert text.isprintable() or set(text) - {"\n"} == {c for c in text if c.isprintable()}
    assert json.loads(text)["pools"]["bench"]["sessions"]["course"]["matchAnnotations"] == dict(pairs)


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)], ids=["largest", "one-byte-more"])
def test_a_timetable_is_at_most_200_kib(world: World, more: int, fits: bool) -> None:
    site, part = world.site, world.parts["night/lab"]
    (only,) = part.placed.classes

    def padded(length: int) -> Any:
        long = class_sessions("pods", ("a",), {"matchLabels": {"a": "b" * length}}, {})
        return part.placed._replace(classes=(only.model_copy(update={"sessions": long}),))

    room = LARGEST - len(timetable_text(site, padded(0), part.occurrences))
    found = timetable_that_fits(site, padded(room + more), part.occurrences)

    if fits:
        assert isinstance(found, str)
        assert len(found) == LARGEST == 200 * 1024
    else:
        assert not isinstance(found, str)
        assert line(found, file=True) == finding(
            "reservations/night.yaml B073 spec.recurrence", "1 occurrence", "201 KiB", "200"
        )
