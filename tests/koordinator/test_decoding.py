"""What Go's types refuse, though the API server stores it; and what such an object does to all the others."""

from typing import Any

import pytest

from tests.koordinator import decoding
from tests.koordinator.deciding import Seen, seen
from tests.koordinator.specs import GOOD, POISON
from tests.koordinator.world import node, reservation


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("-0", 0),
        ("24h", 86_400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("1.s", 1),
        ("-3m", -180),
        ("+3m", 180),
        ("100ms", 0.1),
        ("2562047h", 2_562_047 * 3600),
        ("90m30s", 5430),
        ("30m2h", 9000),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert decoding.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1d",
        "7d",
        "1w",
        "3600",
        "1",
        "-",
        "h",
        "1 h",
        "1h ",
        "1H",
        "1hour",
        "2562048h",
        "1e3s",
        "1,5h",
        ".",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"[dD]uration"):
        decoding.duration(text)


@pytest.mark.parametrize("spec", GOOD)
def test_good(spec: dict[str, Any]) -> None:
    assert decoding.poison({"metadata": {}, "spec": spec}) == ""


@pytest.mark.parametrize("spec", POISON)
def test_poison(spec: dict[str, Any]) -> None:
    assert decoding.poison({"metadata": {}, "spec": spec}) != ""


def test_one_poisoned_object_hides_all_reservations() -> None:
    """Who had a list before goes on with that one, and sees nodes and pods; who had none never begins."""
    before = Seen([node()], [], [reservation("old")])
    poisoned = Seen(
        [node(), node("n2")], [], [reservation("old"), reservation("new"), reservation("bad", ttl="7d")]
    )

    assert seen(before, poisoned) == Seen(poisoned.nodes, [], before.reservations)
    assert seen(None, poisoned) is None
    assert seen(before, before) == before
