"""Work that is shared with a second process gives the answers that one process gives."""

import os
from pathlib import Path

import pytest

from gen.forked import Work, answers
from gen.pipeline import Item, Part, Pipeline, TextOf, pack, unpacked
from tests import generate

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # of pytest's own threads
]
HERE = os.getpid()


def squares(value: int) -> tuple[int, int]:
    return value * value, os.getpid()


def same(work: object) -> object:
    return work


SQUARES: Work[int, tuple[int, int]] = Work(squares, same, lambda _value, packed: packed)


def test_answers_come_in_order_whoever_gives_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its first answer each waits for the other."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    (told_here, tell_here), (told_there, tell_there) = os.pipe(), os.pipe()
    met: list[bool] = []  # of each process its own, after the fork

    def do(value: int) -> tuple[int, int]:
        if not met:
            met.append(True)
            told, tell = (told_here, tell_there) if os.getpid() == HERE else (told_there, tell_here)
            os.write(tell, b".")
            os.read(told, 1)
        return squares(value)

    work: Work[int, tuple[int, int]] = Work(do, same, lambda _value, packed: packed)
    found = list(answers(work, range(100), least=1))

    assert [answer for answer, _ in found] == [i * i for i in range(100)]
    assert len({process for _, process in found}) == 2


def test_one_core_needs_no_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)

    assert {process for _, process in answers(SQUARES, range(100), least=1)} == {HERE}


def test_a_pipe_has_room_for_the_turns_of_very_many_values() -> None:
    assert sum(1 for _ in answers(SQUARES, range(200_000))) == 200_000


def test_few_values_need_no_second_process() -> None:
    assert {process for _, process in answers(SQUARES, range(100), least=101)} == {HERE}


def test_a_second_process_that_dies_costs_nothing_but_time() -> None:
    def dies_elsewhere(value: int) -> tuple[int, int]:
        if os.getpid() != HERE and value > 50:
            raise MemoryError
        return squares(value)

    work: Work[int, tuple[int, int]] = Work(dies_elsewhere, same, lambda _value, packed: packed)

    assert [answer for answer, _ in answers(work, range(100), least=1)] == [i * i for i in range(100)]


def test_what_fails_everywhere_fails_here() -> None:
    def fails(value: int) -> tuple[int, int]:
        return squares(value // 0 if value == 50 else value)

    work: Work[int, tuple[int, int]] = Work(fails, same, lambda _value, packed: packed)

    with pytest.raises(ZeroDivisionError):
        list(answers(work, range(100), least=1))


def test_nothing_is_left_when_nobody_asks_on() -> None:
    asked = answers(SQUARES, range(100_000), least=1)
    next(asked)
    asked.close()

    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def text_of(part: Part) -> str:
    return f"{part.placed.cluster.name} {part.schedules}"


@pytest.mark.parametrize("asked", [text_of, None], ids=["with-texts", "with-dates"])
@pytest.mark.parametrize("seed", [1, 2])
def test_an_item_comes_back_from_its_packing_as_it_was(
    seed: int, asked: TextOf | None, tmp_path: Path
) -> None:
    generate.project(tmp_path, seed, 60)
    items: list[Item] = list(Pipeline(str(tmp_path)).items(asked))

    assert len(items) > 40
    for item in items:
        assert not (item.expansion.occurrences and item.texts)
        places = [part.placed for part in item.parts]
        assert unpacked(item.reservation, places, pack(item)) == item
