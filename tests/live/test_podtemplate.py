"""The template of a pool in the cluster is that of git, or told by path."""

import json
from typing import Any

from berth.live.expected import template_difference

from tests.cases import tabled


def unlike(git: Any, cluster: Any) -> str:
    return template_difference(json.dumps(git), json.dumps(cluster))


@tabled("live")
def test_defaults_of_the_server_are_no_difference(git: Any, cluster: Any) -> None:
    assert unlike(git, cluster) == ""


@tabled("live")
def test_a_difference_is_reported_by_path_with_both_values(git: Any, cluster: Any, said: str) -> None:
    assert unlike(git, cluster) == said


def test_an_unknown_template_does_not_differ() -> None:
    assert (template_difference("", '{"a": 1}'), template_difference('{"a": 1}', "")) == ("", "")
