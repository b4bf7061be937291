"""Karpenter's own provisioner and the planner give the same answers to the same random questions, also where
reservations are full, and offered all the same.

Where Karpenter leaves an order to chance, its answer is one of those that the planner gives for some order.
No cluster is needed: the provisioner runs with a client that holds the objects of the question.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from berth.planner.inputs import SchedulingInput
from berth.planner.podqueue import ignored_reason
from berth.planner.tiebreaks import TieBreaker

from tests.e2e import provisioner
from tests.e2e.provisioner import Answer
from tests.planner import grouped
from tests.planner.chance import full_question, question

QUESTIONS = 600
ORDERS = 400  # of a question that are tried at most, half of them by chance
UNDECIDED = 0.01  # of the questions: those with more orders than are tried


@pytest.fixture(scope="module", params=[question, full_question], ids=["", "full"])
def asked(request: pytest.FixtureRequest) -> list[SchedulingInput]:
    return [request.param(seed) for seed in range(QUESTIONS)]


@pytest.fixture(scope="module")
def karpenter(asked: list[SchedulingInput]) -> list[Answer]:
    return provisioner.solve(asked)


def orders(asked: SchedulingInput) -> Iterator[Answer]:
    """The planner's answers: for one order after the other until there are no more, or half are tried; then
    by chance.
    """
    tape: list[int] | None = []
    for _ in range(ORDERS // 2):
        if tape is None:
            return
        ties = TieBreaker(tape)
        yield planned(asked, ties)
        tape = ties.next_tape()
    for seed in range(ORDERS // 2):
        yield planned(asked, TieBreaker(dice=Random(seed)))


def planned(asked: SchedulingInput, ties: TieBreaker) -> Answer:
    told, left = grouped.tell(asked, ties)
    known = asked.settings.well_known
    ignored = {pod.name: pod.count for pod in asked.pods if ignored_reason(pod, known) is not None}
    return Counter(told), {**left, **ignored}


def compare(asked: SchedulingInput, real: Answer) -> str:
    number = 0
    for answer in orders(asked):
        number += 1
        if answer == real:
            return "same"
    return "undecided" if number == ORDERS else "different"


def test_the_planner_answers_as_karpenter(asked: list[SchedulingInput], karpenter: list[Answer]) -> None:
    found = {seed: compare(*both) for seed, both in enumerate(zip(asked, karpenter, strict=True))}

    assert [seed for seed, judged in found.items() if judged == "different"] == []
    assert Counter(found.values())["undecided"] <= UNDECIDED * QUESTIONS


def test_the_questions_are_about_more_than_one_node(karpenter: list[Answer]) -> None:
    several = [nodes for nodes, _ in karpenter if nodes.total() > 2]
    booked = [nodes for nodes, _ in karpenter if any(held for *_, held in nodes)]
    short = [left for _, left in karpenter if left]

    assert min(len(several), len(booked), len(short)) > QUESTIONS / 10
