"""Karpenter's own provisioner judges the estimate by random questions, also where reservations are full.

Karpenter leaves the order of equal pods to chance, so a few answers differ. No cluster is needed: the
provisioner runs with a client that holds the objects of the question.
"""

from collections import Counter

import pytest
from berth.machines.estimate import Question, first_round
from berth.machines.nodelabels import DOES_NOT_EXIST, NODEPOOL

from tests.e2e import provisioner
from tests.e2e.provisioner import Answer
from tests.machines.chance import full_question, question

QUESTIONS = 600
ALIKE = 0.95  # of the answers have as many machines of each pool, and as many seats left


@pytest.fixture(scope="module", params=[question, full_question], ids=["", "full"])
def asked(request: pytest.FixtureRequest) -> list[Question]:
    return [_meant(request.param(seed)) for seed in range(QUESTIONS)]


def _meant(asked: Question) -> Question:
    """Without pods that Karpenter leaves alone."""
    kept = [
        seats
        for seats in asked.seats
        if not any(
            one.key == NODEPOOL and one.operator == DOES_NOT_EXIST for t in seats.required for one in t
        )
    ]
    return asked._replace(seats=tuple(kept))


@pytest.fixture(scope="module")
def karpenter(asked: list[Question]) -> list[Answer]:
    return provisioner.solve(asked)


def summary(answer: Answer) -> tuple[Counter[str], int]:
    """How many machines of each pool are bought or used, and how many seats are left."""
    taken, left = answer
    return Counter(name for name, _ in taken.elements()), sum(left.values())


def test_the_estimate_mostly_agrees_with_karpenter(asked: list[Question], karpenter: list[Answer]) -> None:
    pairs = [(summary(first_round(one)), summary(real)) for one, real in zip(asked, karpenter, strict=True)]

    assert sum(own == real for own, real in pairs) >= ALIKE * QUESTIONS
    assert sum(own[1] < real[1] for own, real in pairs) <= (1 - ALIKE) * QUESTIONS / 2


def test_the_questions_are_about_more_than_one_node(karpenter: list[Answer]) -> None:
    several = [nodes for nodes, _ in karpenter if nodes.total() > 2]
    short = [left for _, left in karpenter if left]

    assert min(len(several), len(short)) > QUESTIONS / 10
