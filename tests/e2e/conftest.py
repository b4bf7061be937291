"""Fixtures of the end-to-end tests: one cluster for the session, fresh namespaces for the tests."""

import itertools
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import argocd, binaries, flux
from tests.e2e.afar import ByArgoCDFromAfar, ByFluxFromAfar
from tests.e2e.appliers import Applier, ByArgoCD, ByFlux
from tests.e2e.cluster import Cluster
from tests.e2e.enginestory import Story, Telling
from tests.e2e.errors import E2EError
from tests.e2e.neighbour import Neighbour
from tests.e2e.owners import Owner, OwnerByArgoCD, OwnerByFlux
from tests.e2e.sidebyside import Stories

HERE = Path(__file__).parent
ENGINES = ("test_argocd", "test_flux")
STORY = os.environ.get("BERTH_E2E_ENGINES", "")  # of the engines: whole, short, or none
# The stories begin after what disturbs the whole cluster. What needs no cluster fills the minutes in which
# the faults have taken its API server away.
FIRST = ("test_binaries", "test_seats", "test_podchanges", "test_sidebyside", "test_cluster")
THEN = (
    "test_windows",
    "test_sweep",
    "test_takeover",
    "test_status",
    "test_images",
    "test_devices",
    "test_preflight",
    "test_rehearsals",
    "test_sessions",
    "test_quickstart",
    "test_flow",
    "test_forge",
    "test_provisioner",
    "test_koordinator_outage",
    "test_held_faults",
    "test_alerts",
    "test_faults",
    "test_karpenter",
    "test_koordinator",
    "test_held_numbers",
    "test_slot_flood",  # alone: it keeps the API server busy
)
ORDER = {name: place for place, name in enumerate((*FIRST, *THEN))}
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A real Kubernetes; the first use may build it, which takes minutes and shows its progress."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    made = Cluster()
    try:
        with capture.global_and_fixture_disabled():
            made.up()
    except E2EError as error:
        # Once, in its own words, and not as an error of every test.
        pytest.exit(f"no cluster: {error}", returncode=1)
    try:
        yield made
    finally:
        made.down()


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A fresh namespace; deleted afterwards without waiting for it."""
    name = f"test-{next(_numbers)}"
    cluster.create_namespace(name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests, and leave out those of engines, which take minutes, unless they are asked for."""
    ours = [item for item in items if item.path.parent == HERE]
    places = [place for place, item in enumerate(items) if item.path.parent == HERE]
    ours.sort(key=lambda item: ORDER.get(item.path.stem, len(ORDER)))
    for place, item in zip(places, ours, strict=True):
        items[place] = item
    if STORY == "whole":
        return
    for item in ours:
        is_told = STORY == "short" and item.get_closest_marker("short_story")
        if item.path.stem in ENGINES and not is_told:
            item.add_marker(pytest.mark.skip(reason="`make engines` asks the real engines"))


@pytest.fixture(scope="session")
def side_by_side(
    cluster: Cluster, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Stories:
    """The stories of all modules that tests of this run ask for; they begin with the first that is asked.

    What disturbs the whole cluster, such as many definitions, is in a module's `prepare`, before any begins.
    """
    modules = {item.module for item in request.session.items if isinstance(item, pytest.Function)}
    for prepare in {module.prepare for module in modules if hasattr(module, "prepare")}:
        prepare(cluster)
    return Stories(
        cluster, [module for module in modules if hasattr(module, "tell")], tmp_path_factory.mktemp
    )


@pytest.fixture(scope="module")
def story(side_by_side: Stories, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return what the story of the module has told, once it has."""
    with side_by_side.judged(request.module.__name__) as told:
        yield told


@pytest.fixture(scope="session")
def stories(
    cluster: Cluster, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Story]]]:
    """The story of each engine that tests of this run ask for, all of them at the same time."""
    asked = {
        item.path.stem.removeprefix("test_") for item in request.session.items if item.path.parent == HERE
    }
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        binaries.build([one.name for one in binaries.ENGINES if one.engine in asked])
    argo, served = argocd.ArgoCD(cluster), flux.Flux(cluster, tmp_path_factory.mktemp("served"))
    appliers: list[tuple[Applier, Applier, Owner]] = [
        (ByArgoCD(cluster, argo), ByArgoCDFromAfar(cluster, argo), OwnerByArgoCD(cluster, argo)),
        (ByFlux(cluster, served), ByFluxFromAfar(cluster, served), OwnerByFlux(cluster, served)),
    ]
    tellings = [
        Telling(
            cluster,
            one,
            Neighbour(cluster, other, tmp_path_factory.mktemp(other.name)),
            owner,
            tmp_path_factory.mktemp(one.name),
            is_short=STORY == "short",
        )
        for one, other, owner in appliers
        if one.name in asked
    ]
    nodes = cluster.kwok.create_nodes(3, "term", capacity={"pods": "300", "cpu": "200", "memory": "400Gi"})
    with ThreadPoolExecutor(max_workers=len(tellings)) as threads:
        yield {one.name: threads.submit(one.tell) for one in tellings}
    for telling in tellings:
        spaces = (telling.namespace, f"{telling.namespace}-afar", telling.owner.namespace)
        cluster.kubectl("delete", "namespace", *spaces, "--ignore-not-found", "--wait=false")
    cluster.kwok.delete_nodes(nodes)
