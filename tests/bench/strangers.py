"""`python -m tests.bench.strangers [TRIES]`: how often a waiting pod gets the room of the slot that a session
leaves, from koord-scheduler itself; and how often the next session gets it back.

Each try lets a session own the only slot of a node, lets another pod wait for the node, and deletes the
session. Where the other pod is bound, the next session comes. Once sessions have the priority of that pod,
and once a higher one.
"""

import sys
import time
from typing import Any, NamedTuple

from tests.bench import realkoordinator
from tests.bench.realkoordinator import BACKOFF, RealKoordinator

BINDING = 0.8  # seconds in which a pod that gets the room is bound
EVICTING = 4.0  # seconds in which a session that evicts it is bound
SLOT = "slot"


class Try(NamedTuple):
    is_lost: bool
    is_back: bool


def session_leaves(real: RealKoordinator, node: str, number: str, **session: Any) -> Try:
    """`session` is more of the spec of sessions."""
    first, stranger, second = (f"{name}-{number}" for name in ("first", "stranger", "second"))
    real.create_pods(node, "session", [first], **session)
    real.wait(lambda: real.owned([SLOT]) == 1)
    real.create_pods(node, "stranger", [stranger])
    time.sleep(BACKOFF)
    real.delete_pods([first])
    time.sleep(BINDING)
    is_lost, is_back = real.bound([stranger]) == 1, False
    if is_lost:
        real.create_pods(node, "session", [second], **session)
        time.sleep(EVICTING)
        is_back = real.bound([second]) == 1
    real.delete_pods([second, stranger])
    real.wait(lambda: real.owned([SLOT]) == 0)
    return Try(is_lost, is_back)


def main(tries: int) -> None:
    higher = {"priorityClassName": "bench-session"}
    with realkoordinator.running() as real:
        node = real.create_node("strangers", 1)
        real.create_slots(node, [SLOT])
        real.wait(lambda: real.available() == 1)
        for name, session in (("the priority of others", {}), ("a higher priority", higher)):
            found = [session_leaves(real, node, f"{len(session)}-{n}", **session) for n in range(tries)]
            lost, back = sum(one.is_lost for one in found), sum(one.is_back for one in found)
            sys.stdout.write(f"sessions of {name}: {lost} of {tries} seats lost, {back} of them taken back\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
