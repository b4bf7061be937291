"""The template of a pool in the cluster is that of git, or told by path."""

import json
from typing import Any

import pytest
from berth.live.expected import template_difference

LESS = 'requests.cpu is "1", git has "8"'


def unlike(git: Any, cluster: Any) -> str:
    return template_difference(json.dumps(git), json.dumps(cluster))


@pytest.mark.parametrize(
    ("git", "cluster"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": {}, "b": False, "c": 0, "d": "", "e": [], "f": None}, {"g": 1}),
        ({"requests": {"cpu": "1.5", "memory": "1.5Gi"}}, {"requests": {"cpu": "1500m", "memory": "1536Mi"}}),
        ({"limits": {"cpu": 2}}, {"limits": {"cpu": "2"}}),
        ({"a": [{"b": 1}, {"c": 2}]}, {"a": [{"b": 1, "x": 0}, {"c": 2, "y": 0}]}),
        ({"a": 1}, {"a": 1, "nodeSelector": {}, "tolerations": [], "affinity": None}),
    ],
    ids=["defaults", "zeros", "amounts", "numbers", "elements", "empty"],
)
def test_what_the_server_makes_of_it_is_no_difference(git: Any, cluster: Any) -> None:
    assert unlike(git, cluster) == ""


@pytest.mark.parametrize(
    ("git", "cluster", "said"),
    [
        ({"requests": {"cpu": "8"}}, {"requests": {"cpu": "1"}}, LESS),
        ({"version": "1.0"}, {"version": "1"}, 'version is "1", git has "1.0"'),
        ({"a": {"b": 1}}, {}, 'a is missing, git has {"b": 1}'),
        ({"a": {"b": 1}}, {"a": 5}, 'a is 5, git has {"b": 1}'),
        ({"a": [1, 2]}, {"a": [1]}, "a[1] is missing, git has 2"),
        ({"a": [1]}, {"a": [1, 2]}, "a[1] is 2, git has none"),
        ({"a": [1, 2]}, {"a": [2, 1]}, "a[0] is 2, git has 1; a[1] is 1, git has 2"),
        (
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"a": "1", "b.c/d": "2"}},
            'nodeSelector["b.c/d"] is "2", git has none',
        ),
        ({"x": {}}, {"x": {"limits": {"cpu": "1"}}}, 'x.limits is {"cpu": "1"}, git has none'),
        ({"affinity": {"a": {}}}, {"affinity": {"a": {"b": 1}}}, "affinity.a.b is 1, git has none"),
        (
            dict.fromkeys("abcde", 1),
            {},
            "a is missing, git has 1; b is missing, git has 1; c is missing, git has 1; and 2 more",
        ),
        ({"a": "x" * 99}, {}, f'a is missing, git has "{"x" * 79}...'),
    ],
    ids=[
        *("amount", "no-amount", "missing", "other-kind", "element-missing", "element-more", "order"),
        *("selector-more", "limits-more", "affinity-more", "many", "long"),
    ],
)
def test_what_differs_is_told_by_path_with_both_values(git: Any, cluster: Any, said: str) -> None:
    assert unlike(git, cluster) == said


def test_what_is_not_known_does_not_differ() -> None:
    assert (template_difference("", '{"a": 1}'), template_difference('{"a": 1}', "")) == ("", "")
