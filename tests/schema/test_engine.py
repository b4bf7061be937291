"""`engine`: its options, what a cluster overrides, and what is told of options that cannot work."""

from typing import Any

import pytest
from berth.schema.engine import OPTIONS, EngineSpec
from berth.schema.outline import fields
from berth.schema.values import Cluster

from tests.cases import table
from tests.saying import ask, read, said, site, valid
from tests.schema.engines import EVERY

HOME: dict[str, Any] = {"url": "https://git.example.org/capacity.git", "revision": "main"}


def clusters(*of: dict[str, Any], **spec: Any) -> list[Cluster]:
    declared = valid(site(*of, **{"repository": HOME, **spec}))
    assert declared.site is not None
    return list(declared.site.clusters)


def said_of(cluster: Cluster) -> dict[str, Any]:
    """The options of its engine that are said."""
    options = cluster.engine_options.dump()
    return {key: value for key, value in options.items() if key != "type" and value not in ({}, ())}


def options(engine: Any, **spec: Any) -> tuple[str, dict[str, Any], bool]:
    (found,) = clusters({"name": "prod"}, engine=engine, **spec)
    return found.engine, said_of(found), found.replicas_in_git


@pytest.mark.parametrize(
    ("engine", "replicas"),
    [("argocd", True), ("flux", True), ("none", False)],
    ids=["argocd", "flux", "none"],
)
def test_an_engine_name_alone_has_no_options(engine: str, replicas: bool) -> None:
    assert options(engine) == options({"type": engine}) == (engine, {}, replicas)


def test_empty_options_are_omitted() -> None:
    """So that each engine has its defaults in one place."""
    said_nothing: dict[str, Any] = {"labels": {}, "syncOptions": [], "prune": None}

    assert options({"type": "argocd", **said_nothing, "retries": 0, "cascade": False}) == (
        "argocd",
        {"retries": 0, "cascade": False},
        True,
    )


@pytest.mark.parametrize("engine", EVERY)
def test_every_option_can_be_written(engine: str) -> None:
    """But for those that would leave others without effect."""
    kind, found, _ = options({"type": engine, **EVERY[engine]})
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}
    plain.update({key: dict(value) for key, value in found.items() if key in ("labels", "annotations")})

    assert (kind, plain) == (engine, EVERY[engine])
    untried = {"argocd": {"project"}, "flux": {"sourceName", "sourceKind", "kubeConfigMap"}}[engine]
    assert set(fields(OPTIONS[engine].model)) == {"type", *EVERY[engine], *untried}


def test_flux_before_2_9_does_not_ignore_replicas() -> None:
    assert options({"type": "flux", "version": "2.8"}) == ("flux", {"version": "2.8"}, False)
    assert options({"type": "flux", "version": "2.9"}) == ("flux", {"version": "2.9"}, True)


def test_a_cluster_overrides_options_of_the_site_for_the_same_engine() -> None:
    same, none, other = clusters(
        {"name": "same", "engine": {"type": "flux", "prune": True, "interval": "1m"}},
        {"name": "none"},
        {"name": "other", "engine": {"type": "argocd", "prune": False}},
        engine={"type": "flux", "prune": False, "suspend": True},
    )

    assert (same.engine, said_of(same)) == ("flux", {"prune": True, "suspend": True, "interval": "1m"})
    assert (none.engine, said_of(none)) == ("flux", {"prune": False, "suspend": True})
    assert (other.engine, said_of(other)) == ("argocd", {"prune": False})


def test_an_engine_name_in_a_cluster_keeps_the_options_of_the_site() -> None:
    (found,) = clusters({"name": "a", "engine": "flux"}, engine={"type": "flux", "suspend": True})

    assert said_of(found) == {"suspend": True}


def test_the_repository_is_read_with_its_defaults() -> None:
    declared = read(
        site(engine="argocd", repository={"url": "git@git.example.org:a/b.git", "path": "./a//b/"})
    )

    assert declared.site is not None
    assert dict(declared.site.repository or ()) == {
        "url": "git@git.example.org:a/b.git",
        "revision": "HEAD",
        "path": "a/b",
    }


@pytest.mark.parametrize(("engine", "problems"), table("options of an engine"))
def test_faulty_options_are_reported(engine: dict[str, Any], problems: list[str]) -> None:
    assert said(EngineSpec, engine) == sorted(problems)


def test_an_engine_is_a_name_or_a_mapping() -> None:
    assert ask(EngineSpec, "flux") == ("flux", [])
    assert said(EngineSpec, 5) == ["B013"]
