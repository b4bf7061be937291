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

    manager = "kustomize-controller"
    advice = "spec.ignore"


def test_pending_placeholders_keep_the_kustomization_ready(story: Story) -> None:
    assert story.seen["pending"] == 2
    assert story.seen["state with pending placeholders"] == {"Ready": "True", "seen by kubectl": ["True"]}
    assert story.seen["state at the end"] == {"Ready": "True", "seen by kubectl": ["True"]}


def test_each_changing_commit_and_a_refused_commit_get_a_message(story: Story) -> None:
    """By the messages of the documentation. Flux does not tell of a commit that changes nothing."""
    told = [
        attachment
        for message in story.seen["messages"]
        for attachment in message["attachments"]
        if attachment["author_name"] == "kustomization/berth-flux.real.flux-system"
    ]
    revisions = [field["value"] for one in told for field in one["fields"] if field["title"] == "revision"]

    assert any("Not-A-Name" in one["text"] and one["color"] == "danger" for one in told)
    changing = [one for one in story.seen["commits"] if one != story.seen["mended"]]
    assert {f"main@sha1:{commit}" for commit in changing} <= set(revisions)


def test_before_flux_2_9_a_new_pool_has_one_seat_until_the_sweep_or_its_window(story: Story) -> None:
    assert story.neighbours.steps("guests-small") in ([1, 3], [1, 0, 3])


def test_a_deleted_kustomization_removes_all_its_objects(story: Story) -> None:
    """The neighbour's went with the one that applied it."""
    assert not story.seen["neighbour is left"]
    assert story.seen["sites left"] == set()
