"""How a pod proves that it does its work: what it writes beside the record, and what that is worth.

A pod whose account lost its permissions still runs. So a scaler writes every half minute which pools it could
read and scale; the sweep takes over those for which nothing new comes. Pods that write nothing lack an
annotation.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from berth.core.jsonvalues import (
    TimetableError,
    field,
    instant_of,
    instant_text,
    mapping,
    parse_mapping,
    sequence,
    text,
)

PROVES = "berth.dev/proves"  # an annotation of pods that write proofs; its value is the key below
PROOF_KEY = "serving.json"  # in the ConfigMap of the record
PROOF_INTERVAL = 30.0  # seconds between two proofs
PROOF_AGE = 40  # seconds since it was written for which a proof holds: its interval and a look
PROOF_LAG = 30  # seconds for which a pool may fail before its proof stops
PROOF_WAIT = 20  # seconds in which a pod that works renews its proof: after an outage all are old
MAX_TROUBLES, MAX_TROUBLE_TEXT = 5, 200


class ServingProof(NamedTuple):
    """What a scaler has written: when, and when it last brought each pool to its desired state, by its clock.

    `troubles` are what does not work, with the reasons.
    """

    at: int
    pools: Mapping[str, int]  # by resource class
    troubles: tuple[str, ...] = ()

    def covers(self, resource_class: str = "") -> bool:
        """Return whether the pool of a class worked, or without one any pool."""
        proved = [at for name, at in self.pools.items() if resource_class in ("", name)]
        return any(self.at - at <= PROOF_LAG for at in proved)


def serving_proof(pools: Mapping[str, float], troubles: Sequence[str], now: float) -> ServingProof:
    """Return a proof of limited size."""
    texts = tuple(trouble[:MAX_TROUBLE_TEXT] for trouble in troubles[:MAX_TROUBLES])
    return ServingProof(int(now), {name: int(at) for name, at in pools.items()}, texts)


def proof_text(proof: ServingProof) -> str:
    pools = {name: instant_text(at) for name, at in proof.pools.items()}
    return json.dumps({"at": instant_text(proof.at), "pools": pools, "troubles": list(proof.troubles)})


def parse_proof(value: object) -> ServingProof | None:
    """Parse a proof; None if it is missing or malformed, which proves nothing."""
    try:
        tree = parse_mapping(str(value), PROOF_KEY)
        pools = field(tree, "pools", mapping)
        troubles = sequence(tree.get("troubles", []), "troubles")
        return ServingProof(
            field(tree, "at", instant_of),
            {name: instant_of(at, f"pools.{name}") for name, at in pools.items()},
            tuple(text(trouble, "troubles") for trouble in troubles),
        )
    except TimetableError:
        return None


def is_fresh(changed: int, now: int) -> bool:
    """Return whether a proof that was written at `changed` holds, both by the clock of the API server."""
    return abs(now - changed) <= PROOF_AGE  # what is said to come from the future is no proof
