"""Pauses by the wall clock, and their length after consecutive failures.

Setting the clock back ends every pause, so no pause lasts longer than intended.
"""

from typing import NamedTuple

LONGEST = 4.0  # seconds: with the wait for an answer it stays below the ten that a reset pool may stand wrong


class Pause(NamedTuple):
    since: float
    seconds: float

    def left(self, now: float) -> float:
        passed = now - self.since
        return self.seconds - passed if 0 <= passed < self.seconds else 0.0


NO_PAUSE = Pause(0.0, 0.0)


def backoff(failures: int, retry_after: float, jitter: float, longest: float = LONGEST) -> float:
    """Seconds to pause: doubled each time from half a second on, less up to half of it by `jitter` (from 0 to
    1), and not less than the server asks for, but never longer than `longest`.
    """
    doubled = min(longest, 0.5 * 2.0 ** min(failures - 1, 10))
    return min(longest, max(retry_after, doubled * (1 - jitter / 2)))
