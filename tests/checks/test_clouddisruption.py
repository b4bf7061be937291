"""When Karpenter may take nodes of a cloud capacity away, by what the capacity itself says."""

import pytest

from tests.checks.clouds import RESERVED, of_cloud
from tests.saying import Value

ALWAYS = "Remove it: windows hold their nodes by budgets of their own."
STAY = "this budget holds always: nodes stay and are paid for when they are empty."
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
    "all-of-the-day": (
        {"budgets": [{"nodes": "00%", "schedule": "@daily", "duration": "24h"}]},
        [f"B183 spec.disruption.budgets.0: {STAY} {ALWAYS}"],
    ),
    "longer-than-a-day": (
        {"budgets": [{"nodes": "0", "schedule": "@daily", "duration": "48h"}]},
        [f"B183 spec.disruption.budgets.0: {STAY} {ALWAYS}"],
    ),
    "never": (
        {"consolidateAfter": "Never"},
        [
            "B183 spec.disruption.consolidateAfter: nodes never go because they are empty: after a window "
            "they stay and are paid for. Write how long after the last pod, such as 1m; windows hold their "
            "nodes by budgets."
        ],
    ),
    "always-held": (
        {"budgets": [{"nodes": "10%"}, {"nodes": "0"}]},
        [f"B183 spec.disruption.budgets.1: {STAY} {ALWAYS}"],
    ),
    "only-when-empty": (
        {"consolidationPolicy": "WhenEmpty"},
        [
            "B182 spec.disruption.consolidationPolicy: with WhenEmpty nothing that was bought comes back to "
            "a reserved machine that becomes free. Write WhenEmptyOrUnderutilized, unless sessions must not "
            "move."
        ],
    ),
}


@pytest.mark.parametrize(("said", "problems"), DISRUPTION.values(), ids=DISRUPTION)
def test_what_is_told_of_disruption(said: Value, problems: list[str]) -> None:
    assert of_cloud(reservations=[RESERVED], disruption=said) == problems


def test_sessions_have_time_to_end() -> None:
    assert of_cloud(terminationGracePeriod="1m") == []
    assert of_cloud(terminationGracePeriod="59s") == [
        "B173 spec.terminationGracePeriod: sessions have 59s to end when a node goes, whatever their "
        "disruption budgets and do-not-disrupt say. Write as long as a session may take, or leave it out."
    ]
