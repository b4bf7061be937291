"""Placement as in a pod spec: what the API server takes passes unchanged, what it refuses is told here."""

from typing import Any

import pytest
from berth.schema.pod import Placement
from berth.schema.scheduling import Affinity, LabelSelector, PodToleration, TopologySpread

from tests.cases import table
from tests.saying import Value, ask

ZONE = "topology.kubernetes.io/zone"


def expression(operator: str, *values: str) -> Value:
    return {"key": "cpus", "operator": operator, **({"values": list(values)} if values else {})}


def spread(**fields: object) -> Value:
    return {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **fields}


def plain(made: object) -> object:
    """With lists for tuples, as in a file."""
    if isinstance(made, dict):
        return {key: plain(value) for key, value in made.items()}
    return [plain(item) for item in made] if isinstance(made, tuple) else made


SHAPES: dict[str, Any] = {
    shape.__name__: shape for shape in (Affinity, LabelSelector, Placement, PodToleration, TopologySpread)
}


@pytest.mark.parametrize(("written", "problems"), table("pod"))
def test_valid_placement_is_kept_and_invalid_placement_is_reported(
    written: Value, problems: list[str]
) -> None:
    ((shape, value),) = written.items()
    made, told = ask(SHAPES[shape], value)

    assert told == sorted(problems)
    assert problems or plain(made.dump()) == value


def test_a_pod_gets_only_nonempty_placement_fields() -> None:
    value = {
        "nodeSelector": {"b": "1", "a": "2"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {},
        "topologySpreadConstraints": [],
        "schedulerName": "koord-scheduler",
    }

    assert ask(Placement, value)[0].placement == {
        "nodeSelector": {"b": "1", "a": "2"},
        "tolerations": ({"operator": "Exists"},),
        "schedulerName": "koord-scheduler",
    }
    assert ask(Placement, {})[0].placement == {}
