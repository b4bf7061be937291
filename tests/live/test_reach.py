"""Several clusters at once: who hangs holds nobody up, and who was reached is asked again the same way."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from berth.core.jsonvalues import parse_instant
from berth.findings import LiveFinding
from berth.live.access import ANSWER_SECONDS, ClusterAccess, run_concurrently
from berth.live.clusterfacts import ClusterFacts, ClusterLocation

from tests.cases import tabled
from tests.live import project
from tests.live.api_server import ApiServer, kubeconfig
from tests.live.happenings import NOW, in_order

GIT = project.project()
(PROD,) = GIT.site.clusters
SITE = GIT.site.model_copy(update={"clusters": (PROD, PROD.model_copy(update={"name": "lab"}))})
PLACES = {name: ClusterLocation(name, "berth", name) for name in ("prod", "lab")}


def test_each_task_returns_its_own_result_error_or_timeout() -> None:
    never = Event()
    found = run_concurrently({"a": lambda: 1, "b": lambda: 1 // 0, "c": lambda: never.wait(60)}, 1.0)
    never.set()

    assert list(found) == ["a", "b", "c"]
    assert found["a"] == 1
    assert [repr(found[name]) for name in "bc"] == [
        "ZeroDivisionError('integer division or modulo by zero')",
        "TimeoutError('no answer within 1 s')",
    ]


def looked_at(
    tmp_path: Path, change: Callable[[ApiServer], object], patience: float = ANSWER_SECONDS
) -> dict[str, ClusterFacts | LiveFinding]:
    """Return what is found of both clusters, after a change of how `lab` answers."""
    with ApiServer(in_order(GIT)) as prod, ApiServer(in_order(GIT)) as lab:
        change(lab)
        file = kubeconfig(tmp_path / "kubeconfig", {"prod": prod.url, "lab": lab.url})
        reach = ClusterAccess(SITE, SITE.clusters, str(file), {}, patience=patience)
        return reach.facts(PLACES, parse_instant(NOW))


def test_a_cluster_that_hangs_is_given_up_while_the_other_answers(tmp_path: Path) -> None:
    found = looked_at(tmp_path, lambda lab: setattr(lab, "hangs", True), 3.0)

    assert isinstance(found["prod"], ClusterFacts)
    assert not isinstance(found["lab"], ClusterFacts)
    assert found["lab"].code == "S001"
    assert found["lab"].fix == "Try: kubectl --context=lab --namespace=berth get deployments"


def test_a_second_look_reuses_clients_and_reaches_a_recovered_cluster(tmp_path: Path) -> None:
    """Whoever fails is looked up anew: a login may have run out, or a cluster moved."""
    with ApiServer(in_order(GIT)) as prod, ApiServer(in_order(GIT)) as lab:
        file = kubeconfig(tmp_path / "kubeconfig", {"prod": prod.url, "lab": "http://127.0.0.1:9"})
        reach = ClusterAccess(SITE, SITE.clusters, str(file), {})
        first = reach.facts(PLACES, parse_instant(NOW))
        kubeconfig(file, {"lab": lab.url})
        second = reach.facts(PLACES, parse_instant(NOW))

    assert [isinstance(first[name], ClusterFacts) for name in ("prod", "lab")] == [True, False]
    assert [isinstance(second[name], ClusterFacts) for name in ("prod", "lab")] == [True, True]


DEEP = b'{"a[": [' * 1500 + b'"\\"]"' + b"]}" * 1500


def test_a_deeply_nested_record_hides_nothing_else(tmp_path: Path) -> None:
    """A pod that was taken over may write such a record."""
    found = looked_at(tmp_path, lambda lab: setattr(lab, "deep", DEEP), 120.0)

    assert isinstance(found["lab"], ClusterFacts)
    assert isinstance(found["prod"], ClusterFacts)
    assert found["lab"].timetables == found["prod"].timetables


@tabled("live")
def test_an_answer_that_is_no_list_is_s001_of_its_cluster_only(
    answer: dict[str, Any], tmp_path: Path
) -> None:
    found = looked_at(tmp_path, lambda lab: setattr(lab, "says", answer))

    assert isinstance(found["prod"], ClusterFacts)
    assert isinstance(found["lab"], LiveFinding)
    assert found["lab"][:3] == ("S001", "lab", "")
    assert "/api/v1/namespaces/berth/configmaps" in found["lab"].message
