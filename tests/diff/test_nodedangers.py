"""What a change of cloud capacity does to nodes that stand is said before it is merged."""

import pytest

from tests.cli import clouds
from tests.diff.conftest import Pair

BUDGETS = "as many at once as its disruption budgets allow, also while a window is open."
ALL = f"all of its nodes drift: Karpenter replaces them, {BUDGETS}"
SOME = f"nodes that no longer match drift: Karpenter replaces them, {BUDGETS}"


def warnings(pair: Pair) -> list[str]:
    told = pair.diff(at="2026-01-01")
    assert told.code == 0, told
    return [line[2:] for line in told.out.splitlines() if line.startswith("! ")]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("role: KarpenterNodeRole", "role: AnotherRole", [f"EC2NodeClass uni.cloud.general: {ALL}"]),
        ("v20260107", "v20260210", [f"EC2NodeClass uni.cloud.general: {SOME}"]),
        (
            "{karpenter.sh/discovery: uni}}]\n    sec",
            "{Name: a}}]\n    sec",
            [f"EC2NodeClass uni.cloud.general: {SOME}"],
        ),
        ("cr-0123456789abcdef0", "cr-0123456789abcdef1", [f"EC2NodeClass uni.cloud.general: {SOME}"]),
        ("  capacityTypes:", "  labels: {room: a}\n  capacityTypes:", [f"NodePool uni.cloud.general: {ALL}"]),
        ("  capacityTypes:", "  expireAfter: 100h\n  capacityTypes:", [f"NodePool uni.cloud.general: {ALL}"]),
        ("[m5.large, m5.2xlarge]", "[m5.xlarge, m5.2xlarge]", [f"NodePool uni.cloud.general: {SOME}"]),
        ("  capacityTypes:", "  limits: {cpu: 1000}\n  capacityTypes:", []),
        ("  capacityTypes:", "  weight: 3\n  capacityTypes:", []),
        ("hourlyPrice: 0.3", "hourlyPrice: 0.4", []),
    ],
    ids=[
        *("role", "image", "subnets", "reservation", "labels", "expire-after", "requirements"),
        *("limits", "weight", "price"),
    ],
)
def test_what_makes_karpenter_replace_nodes_is_told(
    cloudy: Pair, before: str, after: str, told: list[str]
) -> None:
    cloudy.edit("cloud.yaml", before, after)

    assert warnings(cloudy) == told


def test_windows_change_budgets_and_no_node(cloudy: Pair) -> None:
    cloudy.edit("course.yaml", "  provisioning:", "  suspend: true\n  provisioning:")

    assert warnings(cloudy) == []


def test_the_nodes_of_a_capacity_go_with_it(cloudy: Pair) -> None:
    (cloudy.now / "reservations/cloud.yaml").unlink()
    cloudy.edit("classes.yaml", "  cloudCapacity: [general]\n", "")

    assert warnings(cloudy)[:3] == [
        "EC2NodeClass uni.cloud.general, NodePool uni.cloud.general: removed, which concerns the whole "
        "cluster.",
        "NodePool uni.cloud.general: its nodes go with it, also while a window is open.",
        "Deployment course-small, Deployment night-small: the pods change, so placeholders that stand are "
        "replaced, a quarter at a time.",
    ]


def test_a_capacity_that_comes_replaces_nothing(cloudy: Pair) -> None:
    text = clouds.CLOUD.replace("name: general", "name: more").replace(
        "cr-0123456789abcdef0", "cr-1111111111111111"
    )
    (cloudy.now / "reservations/more.yaml").write_text(text, "utf-8")

    assert warnings(cloudy) == [
        "EC2NodeClass uni.cloud.more, NodePool uni.cloud.more: added, which concerns the whole cluster."
    ]
