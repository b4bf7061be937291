"""`python -m tests.bench.handover [ROUNDS]`: seats that a waiting pod gets from koord-scheduler itself when
placeholders hand over.

Each round fills a node of four seats with placeholders, lets slots take over their room, and deletes the
placeholders while another pod waits for the node; then four sessions come. Once the placeholders are deleted
as they are, and once they leave their slots before, as the scaler does it.
"""

import sys
import time
from functools import partial

from berth.core.slots import ALLOCATED
from berth.runtime.poolwrites import LEAVING_SECONDS

from tests.bench import realkoordinator
from tests.bench.realkoordinator import BACKOFF, PODS, RealKoordinator, owner
from tests.e2e.direct import Object, at_once
from tests.e2e.koordscheduler import RESERVATIONS
from tests.koordinator.objects import REQUIRED

SEATS = 4


def seats_found(real: RealKoordinator, node: str, number: str, *, leaves: bool) -> int:
    """How many of four sessions find a seat."""
    kinds = ("placeholder", "slot", "session")
    places, slots, sessions = ([f"{kind}-{number}-{n}" for n in range(SEATS)] for kind in kinds)
    real.create_pods(node, "placeholder", places, priorityClassName="bench-placeholder")
    real.wait(lambda: real.bound(places) == SEATS)
    owners = [owner("session"), owner("placeholder")]
    real.create_slots(node, slots, labels={REQUIRED: "true"}, owners=owners, preAllocation=True)
    real.wait(lambda: real.owned(slots) == SEATS)
    real.create_pods(node, "stranger", [f"stranger-{number}"])
    time.sleep(BACKOFF)
    closed = {"spec": {"owners": owners[:1]}}
    at_once([partial(real.direct.patch, f"{RESERVATIONS}/{slot}", closed) for slot in slots])
    if leaves:
        note: Object = {"metadata": {"annotations": {ALLOCATED: None}}}
        at_once([partial(real.direct.patch, f"{PODS}/{place}/status", note) for place in places])
        time.sleep(LEAVING_SECONDS)
    real.delete_pods(places)
    time.sleep(BACKOFF)
    real.create_pods(node, "session", sessions)
    time.sleep(2 * BACKOFF)
    found = real.bound(sessions)
    real.delete_pods([f"stranger-{number}", *sessions])
    real.delete_slots(slots)
    time.sleep(BACKOFF)
    return found


def main(rounds: int) -> None:
    with realkoordinator.running() as real:
        node = real.create_node("handover", SEATS)
        for leaves, how in ((False, "deleted as they are"), (True, "leave their slots first")):
            found = [
                seats_found(real, node, f"{leaves:d}-{number}", leaves=leaves) for number in range(rounds)
            ]
            sys.stdout.write(f"placeholders {how}: {sum(found)} of {SEATS * rounds} seats\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
