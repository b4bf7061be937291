"""A project's template is looked up once, holds its sessions back for a moment only, and is asked for again
where nobody could tell.
"""

import json
import threading
from collections.abc import Callable

import pytest
from berth.core.sessions import (
    NO_TEMPLATE,
    UNKNOWN_TEMPLATE,
)
from berth.plugins.renku.projecttemplates import MAX_THREADS, ProjectTemplates, RenkuClient
from berth.runtime.apiclient import ApiError
from berth.runtime.program import Log

LONG_ENOUGH = 10.0


class Office(RenkuClient):
    """Looks projects up: at once, or when it is told to."""

    def __init__(self) -> None:
        self.answers: dict[str, str | Exception] = {}
        self.asked: list[str] = []
        self.at_once = threading.Event()
        self.at_once.set()
        self.closed = 0
        self._news = threading.Condition()
        self.lines: list[str] = []
        self.templates = ProjectTemplates(lambda: self, self._wake, self._log(), lambda: 0.0)

    def template_of(self, project: str) -> str:
        with self._news:
            self.asked.append(project)
            self._news.notify_all()
        assert self.at_once.wait(LONG_ENOUGH)
        answer = self.answers[project]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        with self._news:
            self.closed += 1
            self._news.notify_all()

    def until(self, reached: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(reached, LONG_ENOUGH)

    def answer(self, now: float, number: int = 1) -> None:
        """Waits for so many answers, and takes them."""
        self.until(lambda: len(self.templates._answers) >= number)
        assert self.templates.news(now)
        assert not self.templates.news(now)

    def _wake(self) -> None:
        with self._news:
            self._news.notify_all()

    def _log(self) -> Log:
        def write(line: str) -> None:
            self.lines.append(json.loads(line)["event"])

        return Log(write, lambda: 0.0, "course")


@pytest.fixture
def office() -> Office:
    return Office()


def test_each_project_is_looked_up_once(office: Office) -> None:
    office.answers = {"p": "T1", "q": NO_TEMPLATE}
    templates = office.templates

    assert [templates.of(name, 0) for name in ("p", "p", "q", "")] == [None, None, None, NO_TEMPLATE]
    office.answer(1, 2)
    assert [templates.of(name, 1) for name in ("p", "q", "p")] == ["T1", NO_TEMPLATE, "T1"]
    assert (sorted(office.asked), templates.is_uncertain, office.lines) == (["p", "q"], False, [])


def test_a_session_is_held_back_for_three_seconds_at_most(office: Office) -> None:
    office.answers = {"p": "T1"}
    office.at_once.clear()
    templates = office.templates

    assert [templates.of("p", 10), templates.of("p", 12.9)] == [None, None]
    assert (templates.next_change(10), templates.is_uncertain) == (13, True)
    assert [templates.of("p", 13), templates.next_change(13)] == [UNKNOWN_TEMPLATE, None]
    office.at_once.set()
    office.answer(20)
    assert templates.of("p", 20) == "T1"


def test_a_clock_that_is_set_back_holds_nobody_back_for_longer(office: Office) -> None:
    office.at_once.clear()

    assert [office.templates.of("p", 10), office.templates.of("p", 5)] == [None, UNKNOWN_TEMPLATE]
    office.answers["p"] = "T"
    office.at_once.set()


def test_where_nobody_can_tell_it_is_said_once_and_asked_for_again_after_a_pause(office: Office) -> None:
    office.answers = {"p": ApiError(401, "Unauthorized", "no"), "q": ApiError(401, "Unauthorized", "no")}
    templates = office.templates
    for name in ("p", "q"):
        templates.of(name, 0)
    office.answer(0, 2)

    assert [templates.of(name, 0.4) for name in ("p", "q")] == [UNKNOWN_TEMPLATE] * 2
    assert (len(office.asked), office.lines, templates.next_change(0.4)) == (2, ["failed"], None)
    office.answers = {"p": "T1", "q": "T2"}
    assert templates.of("p", 0.5) == UNKNOWN_TEMPLATE
    office.answer(1)
    assert [templates.of("p", 1), office.lines] == ["T1", ["failed"]]
    templates.of("q", 1)
    office.answer(2)
    assert [templates.of("q", 2), office.lines] == ["T2", ["failed", "recovered"]]


def test_the_pause_grows_to_five_minutes(office: Office) -> None:
    office.answers = {"p": ApiError(500, "InternalError", "no")}
    office.templates.of("p", 0)
    now = 0.0
    for number, pause in enumerate([0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300], 1):
        office.answer(now)
        office.templates.of("p", now + pause - 0.1)
        assert len(office.asked) == number
        now += pause
        office.templates.of("p", now)
        office.until(lambda: len(office.asked) == number + 1)  # noqa: B023 (called before the next turn)

    office.answer(now)


def test_a_burst_is_shared_by_a_few_threads_that_end_when_nothing_is_left(office: Office) -> None:
    office.answers = {f"p{n}": f"T{n}" for n in range(50)}
    office.at_once.clear()
    for name in office.answers:
        office.templates.of(name, 0)
    office.until(lambda: len(office.asked) == MAX_THREADS)

    office.at_once.set()
    office.answer(0, 50)
    office.until(lambda: office.closed == MAX_THREADS)
    assert [office.templates.of(f"p{n}", 0) for n in range(50)] == [f"T{n}" for n in range(50)]


def test_a_bug_is_trouble_and_no_end(office: Office) -> None:
    office.templates.of("unheard-of", 0)
    office.answer(0)

    assert office.templates.of("unheard-of", 0) == UNKNOWN_TEMPLATE
    assert office.lines == ["failed"]


def test_of_very_many_the_oldest_are_forgotten_once_they_were_told(office: Office) -> None:
    office.answers = {f"p{n}": "T" for n in range(4097)}
    for name in office.answers:
        office.templates.of(name, 0)
    office.until(lambda: len(office.templates._answers) == 4097)

    first, rest = office.templates.news(0), office.answers.keys()
    assert len(first) == 4096
    assert {office.templates.of(name, 9) for name in first} == {"T"}
    assert office.templates.news(0) == rest - first
    known = [office.templates.of(name, 9) for name in office.answers]
    assert (known.count("T"), known.count(None)) == (4096, 1)


def test_an_answer_and_the_end_of_a_wait_are_news_of_their_projects(office: Office) -> None:
    office.answers = {"p": "T", "q": "T"}
    office.at_once.clear()
    for project_id, now in (("p", 0), ("q", 1)):
        office.templates.of(project_id, now)

    assert [office.templates.news(now) for now in (2, 3, 3.5, 4, 5)] == [set(), {"p"}, set(), {"q"}, set()]
    office.at_once.set()
    office.until(lambda: len(office.templates._answers) == 2)
    assert office.templates.news(5) == {"p", "q"}


def test_who_is_closed_asks_for_nothing_more(office: Office) -> None:
    office.answers = dict.fromkeys("pqrstuv", "T")
    office.at_once.clear()
    for name in office.answers:
        office.templates.of(name, 0)
    office.until(lambda: len(office.asked) == MAX_THREADS)
    office.templates.close()
    office.at_once.set()
    office.until(lambda: office.closed == MAX_THREADS)

    assert len(office.asked) == MAX_THREADS
