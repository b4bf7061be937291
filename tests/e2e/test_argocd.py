"""Argo CD applies what we render, and leaves open windows alone, whatever happens to it or in git."""

from concurrent.futures import Future

import pytest

from tests.e2e import enginechecks
from tests.e2e.enginestory import Story


@pytest.fixture(scope="module")
def story(stories: dict[str, Future[Story]]) -> Story:
    return stories["argocd"].result()


class TestArgoCD(enginechecks.EngineChecks):
    """What holds for every engine."""


def test_pending_placeholders_make_the_application_neither_degraded_nor_stuck(story: Story) -> None:
    assert story.seen["pending"] == 2
    assert story.seen["state with pending placeholders"] == {
        "health": "Healthy",
        "sync": "Synced",
        "operation": "Succeeded",
        "conditions": [],
    }


def test_an_application_without_reservations_is_not_refused_as_empty(story: Story) -> None:
    assert story.seen["state at the end"] == {
        "health": "Healthy",
        "sync": "Synced",
        "operation": "Succeeded",
        "conditions": [],
    }
