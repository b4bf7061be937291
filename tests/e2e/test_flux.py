"""Flux applies what we render, and leaves open windows alone, whatever happens to it or in git."""

from concurrent.futures import Future

import pytest

from tests.e2e import enginechecks
from tests.e2e.enginestory import Story


@pytest.fixture(scope="module")
def story(stories: dict[str, Future[Story]]) -> Story:
    return stories["flux"].result()


class TestFlux(enginechecks.EngineChecks):
    """What holds for every engine."""


def test_pending_placeholders_keep_the_kustomization_ready(story: Story) -> None:
    assert story.seen["pending"] == 2
    assert story.seen["state with pending placeholders"] == {"Ready": "True"}
    assert story.seen["state at the end"] == {"Ready": "True"}
