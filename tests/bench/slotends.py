"""`python -m tests.bench.slotends [ROUNDS]`: how often koord-scheduler itself crashes when slots end while
other pods are refused.

Each round lets two hundred slots become Available on one node, and deletes them while pods that fit nowhere
come, five a second. Once all slots are deleted at once, and once eight every half second.
"""

import sys
import threading
import time
from itertools import count

from tests.bench import realkoordinator
from tests.bench.realkoordinator import RealKoordinator

SLOTS = 200
RATE = 5  # pods a second
PACES = {"at once": (SLOTS, 0.0), "eight every half second": (8, 0.5)}


def deleted_slots(real: RealKoordinator, node: str, number: str, step: int, pause: float) -> int:
    """How many were deleted before the scheduler crashed; all of them where it did not."""
    slots = [f"slot-{number}-{n}" for n in range(SLOTS)]
    real.create_slots(node, slots)
    real.wait(lambda: real.available() == SLOTS)
    strangers: list[str] = []
    stop = threading.Event()

    def come() -> None:
        for n in count():
            strangers.append(f"stranger-{number}-{n}")
            real.create_pods(node, "stranger", strangers[-1:], cpu=1000)
            if stop.wait(1 / RATE):
                return

    coming = threading.Thread(target=come)
    coming.start()
    deleted = 0
    try:
        time.sleep(1)
        while deleted < SLOTS and real.scheduler.running:
            real.delete_slots(slots[deleted : deleted + step])
            deleted = min(deleted + step, SLOTS)
            time.sleep(pause)
        time.sleep(1)  # it crashes a little later
    finally:
        stop.set()
        coming.join()
    real.delete_pods(strangers)
    real.delete_slots(slots[deleted:])
    return deleted


def main(rounds: int) -> None:
    with realkoordinator.running() as real:
        node = real.create_node("slotends", SLOTS)
        for number, (name, (step, pause)) in enumerate(PACES.items()):
            deleted = crashes = 0
            for turn in range(rounds):
                deleted += deleted_slots(real, node, f"{number}-{turn}", step, pause)
                if not real.scheduler.running:
                    crashes += 1
                    real.scheduler.start()
            sys.stdout.write(f"slots deleted {name}: {crashes} crashes in {deleted} slots\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
