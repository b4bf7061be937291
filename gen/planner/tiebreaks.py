"""DOC"""

from collections.abc import Sequence
from random import Random


class TieBreaker:
    """Answers by `tape`, then 0, which is the plainest order; with `dice`, by them."""

    def __init__(self, tape: Sequence[int] = (), dice: Random | None = None) -> None:
        self._tape = tape
        self._dice = dice
        self.asked: list[tuple[int, int]] = []
        """(what was answered, how many answers there were), in order."""

    def pick(self, answers: int) -> int:
        """One of 0 to `answers` - 1. A question with one answer is none."""
        if answers < 2:
            return 0
        if self._dice is not None:
            answer = self._dice.randrange(answers)
        else:
            at = len(self.asked)
            answer = min(self._tape[at], answers - 1) if at < len(self._tape) else 0
        self.asked.append((answer, answers))
        return answer

    def next_tape(self) -> list[int] | None:
        """The tape that tries the next combination of answers; None after the last."""
        answers = list(self.asked)
        while answers and answers[-1][0] + 1 >= answers[-1][1]:
            answers.pop()
        return [*(a for a, _ in answers[:-1]), answers[-1][0] + 1] if answers else None
