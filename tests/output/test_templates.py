"""Templates show the shape of objects; values fill it and cannot change it."""

import re
from pathlib import Path

import pytest
from berth.output import templates
from berth.output.templates import built_in_folder, render
from jinja2 import DictLoader, UndefinedError

FOLDER = Path(built_in_folder())
NAMES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.j2"))
DEPLOYMENT = """\
metadata:
  name: {{ name | quote }}
{% if labelled %}
  labels:
    {{ labels | block(4) }}
{% endif %}
spec:
  replicas: {{ pool.replicas | number }}
  files:
{% for file in files %}
    {{ file.name | quote }}: {{ file.text | literal(6) }}
{% endfor %}
"""
VALUES: dict[str, object] = {
    "name": 'a"\nkind: Secret',
    "labelled": True,
    "labels": {"y": "n", "b": "1e3"},
    "pool": {"replicas": 0},
    "files": [{"name": "a.py", "text": "x = 1\n"}, {"name": "b.py", "text": ""}],
}
_value = re.compile(r"\{\{ [\w.]+ \| (quote|number|(block|literal)\(\d+\)) \}\}")


def rendered(monkeypatch: pytest.MonkeyPatch, text: str, values: dict[str, object]) -> str:
    environment = templates._ENVIRONMENT.overlay(loader=DictLoader({"t": text}))
    monkeypatch.setattr(templates, "_ENVIRONMENT", environment)
    return render("t", values)


def test_a_template_is_filled_with_values_by_its_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        rendered(monkeypatch, DEPLOYMENT, VALUES)
        == """\
metadata:
  name: "a\\"\\nkind: Secret"
  labels:
    "y": "n"
    b: "1e3"
spec:
  replicas: 0
  files:
    a.py: |
      x = 1
    b.py: ""
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        "b: {{ name | quote }}\n",
        "b: {{ name | number }}\n",
        "  {{ name | block(2) }}\n",
        "b: {{ name | literal(2) }}\n",
        "b: {{ pool.size | number }}\n",
        "a:\n{% if name %}\nb: 1\n{% endif %}\n",
        "a:\n{% for x in name %}\nb: 1\n{% endfor %}\n",
    ],
)
def test_a_missing_value_raises_an_error(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    with pytest.raises((UndefinedError, TypeError)):
        rendered(monkeypatch, text, {"pool": {}})


def test_there_are_templates() -> None:
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_value_in_a_template_is_quoted_by_a_filter(name: str) -> None:
    """Otherwise a value could change the structure of an object."""
    assert "{{" not in _value.sub("", (FOLDER / name).read_text("utf-8"))
