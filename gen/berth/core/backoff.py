"""Pauses by the wall clock, and their length after consecutive failures.

Setting the clock back ends every pause, so no pause lasts longer than intended.
"""

from typing import NamedTuple

LONGEST = 4.0  # seconds: with the wait for an answer it stays below the ten that a reset pool may stand wrong


class Pause(NamedTuple):
    """A pause that begins at `since` and lasts `seconds`."""

    since: float
    seconds: float

    def left(self, now: float) -> float:
        """Return the seconds that are left, 0 if the pause is over."""
        passed = now - self.since
        return self.seconds - passed if 0 <= passed < self.seconds else 0.0


NO_PAUSE = Pause(0.0, 0.0)


def backoff(failures: int, retry_after: float, jitter: float, longest: float = LONGEST) -> float:
    """Return the seconds to pause after so many failures in a row.

    The pause starts at half a second and doubles each time; `jitter` (0 to 1) shortens it by up to half. It
    is at least what the server asks for, and at most `longest`.
    """
    doubled = min(longest, 0.5 * 2.0 ** min(failures - 1, 10))
    return min(longest, max(retry_after, doubled * (1 - jitter / 2)))
