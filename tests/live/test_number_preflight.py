"""`berth preflight` about a window on a number of somebody else."""

import re
from pathlib import Path
from typing import Any

import pytest
from berth.cli import preflightreport as command
from berth.live.preflight import PreflightClock

from tests.answer import Berth
from tests.live import project
from tests.live.api_server import ApiServer
from tests.live.conftest import Live
from tests.live.judged import wordless
from tests.live.numberproject import FILES, autoscaler, held_world, sale

IN_ORDER = """\
CLUSTER  RESERVATION  CHECK        OBJECT                            RESULT
prod                  sweep        berth-sweep                       ok
prod                  permissions  berth-sweep                       ok
prod     sale         number       HorizontalPodAutoscaler shop/web  ok
prod     sale         Job          sale                              ok
prod     sale         permissions  sale                              ok
prod     sale         test Job     sale-preflight                    ok after 0 s
"""
FORBIDDEN = (
    'horizontalpodautoscalers.autoscaling "web" is forbidden: User "me" cannot patch resource '
    '"horizontalpodautoscalers" in API group "autoscaling" in the namespace "shop"'
)
SERVED = {"name": "horizontalpodautoscalers", "kind": "HorizontalPodAutoscaler", "namespaced": True}


@pytest.fixture(autouse=True)
def cluster(berth: Berth, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """The sale is applied, and its object is there."""
    monkeypatch.setattr(command, "CLOCK", PreflightClock(lambda: 0.0, lambda _: None))
    server.world = held_world(sale())
    project.write(tmp_path, FILES)


def preflight(live: Live) -> list[str]:
    """The findings about the number, as `error[S039]`."""
    out = live("preflight").out
    return [found for line in wordless(out).splitlines() for found in re.findall(r"\w+\[S\d{3}\]", line)]


def test_preflight_tries_the_number_and_writes_nothing(live: Live) -> None:
    assert live("preflight") == (0, IN_ORDER, "")
    assert live.world.edits == [
        (
            "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web",
            [{"op": "add", "path": "/spec/minReplicas", "value": 25}],
        )
    ]


def test_preflight_checks_the_number_before_the_manifests_are_applied(live: Live) -> None:
    live.world.objects = []

    assert preflight(live) == ["error[S020]", "error[S039]", "error[S020]"]


@pytest.mark.parametrize(
    "served",
    [
        [],
        [{**SERVED, "kind": "Other"}],
        [{**SERVED, "name": "hpas"}],
        [{**SERVED, "namespaced": False}],
    ],
    ids=["none", "other-kind", "other-plural", "of-the-cluster"],
)
def test_a_kind_that_the_api_serves_differently_gets_s039(live: Live, served: list[dict[str, Any]]) -> None:
    live.world.discovery["/apis/autoscaling/v2"] = served

    assert preflight(live) == ["error[S039]"]
    assert live.world.edits == []


def test_a_missing_api_group_gets_s039(live: Live) -> None:
    live.world.discovery = {}

    assert preflight(live) == ["error[S039]"]


@pytest.mark.parametrize(
    ("refused", "code"), [("spec.minReplicas: Invalid value: 25", "S039"), (FORBIDDEN, "S001")]
)
def test_a_refused_value_gets_s039_and_a_forbidden_attempt_gets_s001(
    live: Live, refused: str, code: str
) -> None:
    live.world.not_admitted["horizontalpodautoscalers"] = refused

    assert preflight(live) == [f"error[{code}]"]


def test_an_object_without_a_number_gets_s039(live: Live) -> None:
    autoscaler(live.world, None, minReplicas="many")

    assert preflight(live) == ["error[S039]"]


def test_permissions_in_the_namespace_of_the_object_are_checked(live: Live) -> None:
    live.world.not_allowed = {"patch horizontalpodautoscalers"}

    assert preflight(live) == ["error[S073]"] * 2  # of the sweep and of the sale
