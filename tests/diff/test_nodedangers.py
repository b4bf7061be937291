"""What a change of cloud capacity does to nodes that stand is said before it is merged."""

import pytest

from tests.cli import clouds
from tests.diff.conftest import Pair, warns

ALL, SOME = "all of its nodes", "nodes that no longer match"
NODE_CLASS, NODE_POOL = "EC2NodeClass uni.cloud.general: ", "NodePool uni.cloud.general: "


def warnings(pair: Pair) -> list[str]:
    told = pair.diff(at="2026-01-01")
    assert told.code == 0, told
    return [line[2:] for line in told.out.splitlines() if line.startswith("! ")]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("role: KarpenterNodeRole", "role: AnotherRole", [(NODE_CLASS, ALL)]),
        ("v20260107", "v20260210", [(NODE_CLASS, SOME)]),
        ("{karpenter.sh/discovery: uni}}]\n    sec", "{Name: a}}]\n    sec", [(NODE_CLASS, SOME)]),
        ("cr-0123456789abcdef0", "cr-0123456789abcdef1", [(NODE_CLASS, SOME)]),
        ("  capacityTypes:", "  labels: {room: a}\n  capacityTypes:", [(NODE_POOL, ALL)]),
        ("  capacityTypes:", "  expireAfter: 100h\n  capacityTypes:", [(NODE_POOL, ALL)]),
        ("[m5.large, m5.2xlarge]", "[m5.xlarge, m5.2xlarge]", [(NODE_POOL, SOME)]),
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
    cloudy: Pair, before: str, after: str, told: list[tuple[str, str]]
) -> None:
    cloudy.edit("cloud.yaml", before, after)

    found = warnings(cloudy)
    assert len(found) == len(told)
    assert all(warns(line, *one) for line, one in zip(found, told, strict=True))


def test_windows_change_budgets_and_no_node(cloudy: Pair) -> None:
    cloudy.edit("course.yaml", "  provisioning:", "  suspend: true\n  provisioning:")

    assert warnings(cloudy) == []


def test_the_nodes_of_a_capacity_go_with_it(cloudy: Pair) -> None:
    (cloudy.now / "reservations/cloud.yaml").unlink()
    cloudy.edit("classes.yaml", "  cloudCapacity: [general]\n", "")

    pods, nodes, objects = warnings(cloudy)[:3]
    assert warns(objects, "EC2NodeClass uni.cloud.general, NodePool uni.cloud.general: removed")
    assert warns(nodes, "NodePool uni.cloud.general: ", "nodes")
    assert warns(pods, "Deployment course-small, Deployment night-small: ", "replaced")


def test_a_capacity_that_comes_replaces_nothing(cloudy: Pair) -> None:
    text = clouds.CLOUD.replace("name: general", "name: more").replace(
        "cr-0123456789abcdef0", "cr-1111111111111111"
    )
    (cloudy.now / "reservations/more.yaml").write_text(text, "utf-8")

    (told,) = warnings(cloudy)
    assert warns(told, "EC2NodeClass uni.cloud.more, NodePool uni.cloud.more: added")
