"""Pauses double with failures, listen to the server, and never last longer than four seconds."""

import pytest
from berth.runtime.program import NO_PAUSE, Pause, backoff


def test_a_pause_runs_from_its_beginning_to_before_its_end() -> None:
    pause = Pause(100.0, 4.0)

    assert [pause.left(now) for now in (100.0, 103.0, 104.0, 1e9)] == [4.0, 1.0, 0.0, 0.0]


def test_a_clock_set_back_ends_a_pause() -> None:
    assert Pause(100.0, 4.0).left(99.0) == 0.0


def test_no_pause_is_over() -> None:
    assert [NO_PAUSE.left(now) for now in (0.0, 1e9)] == [0.0, 0.0]


def test_pauses_double_up_to_the_longest() -> None:
    assert [backoff(n, 0.0, 0.0) for n in (1, 2, 3, 4, 100_000)] == [0.5, 1.0, 2.0, 4.0, 4.0]


def test_jitter_takes_away_up_to_a_half() -> None:
    assert [backoff(9, 0.0, jitter) for jitter in (0.5, 1.0)] == [3.0, 2.0]


@pytest.mark.parametrize(("asked", "expected"), [(0.1, 0.5), (3.0, 3.0), (60.0, 30.0)])
def test_the_server_may_ask_for_longer_within_the_limit(asked: float, expected: float) -> None:
    assert expected == backoff(1, asked, 0.0)
