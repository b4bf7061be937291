"""When Karpenter may take nodes of a cloud capacity away, by what the capacity itself says."""

import pytest

from tests.checks.clouds import RESERVED, of_cloud
from tests.saying import Value, finding

DISRUPTION: dict[str, tuple[Value, list[str]]] = {
    "good": ({"consolidateAfter": "5m", "budgets": [{"nodes": "10%"}]}, []),
    "never-drifted": ({"budgets": [{"nodes": "0", "reasons": ["Drifted"]}]}, []),
    "at-times": ({"budgets": [{"nodes": "0", "schedule": "@daily", "duration": "8h"}]}, []),
    "nearly-always": ({"budgets": [{"nodes": "0", "schedule": "@daily", "duration": "23h59m"}]}, []),
    "some-always": ({"budgets": [{"nodes": "1%", "schedule": "@daily", "duration": "24h"}]}, []),
    "drift-always": (
        {"budgets": [{"nodes": "0", "schedule": "@daily", "duration": "24h", "reasons": ["Drifted"]}]},
        [],
    ),
    "never": ({"consolidateAfter": "Never"}, [finding("B183 spec.disruption.consolidateAfter", "1m")]),
    "always-held": ({"budgets": [{"nodes": "10%"}, {"nodes": "0"}]}, ["B183 spec.disruption.budgets.1"]),
    "only-when-empty": ({"consolidationPolicy": "WhenEmpty"}, []),
}


@pytest.mark.parametrize(("said", "problems"), DISRUPTION.values(), ids=DISRUPTION)
def test_what_is_told_of_disruption(said: Value, problems: list[str]) -> None:
    assert of_cloud(reservations=[RESERVED], disruption=said) == problems
