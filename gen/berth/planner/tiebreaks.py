"""Break ties where Karpenter's order is open, and record how they were broken.

Karpenter leaves some orders to chance: unstable sorts, iteration over hash maps, random suffixes of names.
A run asks the `TieBreaker` at each of them; another run may get different answers.
"""

from collections.abc import Sequence
from random import Random


class TieBreaker:
    """Answer from `tape`, then 0, which is the default order; with `dice`, at random."""

    def __init__(self, tape: Sequence[int] = (), dice: Random | None = None) -> None:
        self._tape = tape
        self._dice = dice
        self.asked: list[tuple[int, int]] = []
        """(what was answered, how many answers there were), in order."""

    def pick(self, answers: int) -> int:
        """Return one of 0 to `answers` - 1. A question with one answer is not recorded."""
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
        """Return the tape with the next combination of answers, or None after the last."""
        answers = list(self.asked)
        while answers and answers[-1][0] + 1 >= answers[-1][1]:
            answers.pop()
        return [*(a for a, _ in answers[:-1]), answers[-1][0] + 1] if answers else None
