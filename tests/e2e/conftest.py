"""Fixtures of the end-to-end tests: one cluster for the session, fresh namespaces for the tests."""

import itertools
from collections.abc import Iterator

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.errors import E2EError

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
    yield from _fresh(cluster, {})


@pytest.fixture
def restricted_namespace(cluster: Cluster) -> Iterator[str]:
    """A fresh namespace that enforces the Pod Security level `restricted`."""
    yield from _fresh(cluster, {"pod-security.kubernetes.io/enforce": "restricted"})


def _fresh(cluster: Cluster, labels: dict[str, str]) -> Iterator[str]:
    name = f"test-{next(_numbers)}"
    cluster.create_namespace(name, labels)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")
