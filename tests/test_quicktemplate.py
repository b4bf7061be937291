"""Plain templates rendered without jinja2 give what jinja2 gives; all of ours are plain."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from gen.declared import Declared
from gen.output.quicktemplate import quick
from gen.output.renderer import Renderer
from gen.output.template import JinjaRenderer, environment
from gen.output.templatefiles import built_in_folder
from gen.pipeline import Pipeline
from gen.render import base_text, inventory_text, kustomization_text, reservation_text
from tests import generate
from tests.awkward import AWKWARD
from tests.command import project

ROOT = Path(__file__).parents[1]
FOLDER = Path(built_in_folder())
OURS = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.j2"))
PLAIN = """\
name: {{ name | quote }}
{% if closed %}
seats: {{ count | number }}
{% else %}
labels:
  {{ labels | block(2) }}
{% endif %}
flow: [{{ name | quote }}, {{ count | number }}]
files:
{% for file in files %}
  {{ file.name | quote }}: {{ file.text | literal(4) }}
  {% if closed %}
  closed: true
  {% endif %}
{% endfor %}
last: {{ name | quote }}"""
VALUES = {
    "name": 'a"\n{{ b }}',
    "closed": False,
    "count": 7,
    "labels": {"y": "n", "b": {"c": ["1e3", 2]}},
    "files": [{"name": "a.py", "text": "x = 1\n"}, {"name": "b.py", "text": ""}],
}


class Compared(Renderer):
    """Fails where jinja2 would render otherwise, or a template is not plain."""

    def __init__(self) -> None:
        super().__init__()
        self.defined = JinjaRenderer(None, str(FOLDER))
        self.compared = 0

    def render(self, name: str, values: Mapping[str, object], subject: str = "") -> str:
        text = super().render(name, values, subject)
        plain = quick((FOLDER / name).read_text("utf-8"))
        assert plain is not None
        assert text == plain(values) == self.defined.render(name, values, subject)
        self.compared += 1
        return text


def by_jinja(source: str, values: Mapping[str, object]) -> str | None:
    """What jinja2 makes of it without our rules for templates, which are jinja2's half of the bargain."""
    try:
        return environment().from_string(source).render(dict(values))
    except Exception:  # whatever jinja2 has against it
        return None


@pytest.mark.parametrize("name", OURS)
def test_our_templates_are_plain(name: str) -> None:
    assert quick((FOLDER / name).read_text("utf-8")) is not None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_generated_projects_are_rendered_as_jinja2_would(seed: int, tmp_path: Path) -> None:
    generate.project(tmp_path, seed, 60)
    pipeline = Pipeline(str(tmp_path))
    parts = [part for item in pipeline.items() for part in item.parts]
    declared: Declared = pipeline.declared
    assert declared.site is not None
    renderer = Compared()
    for part in parts:
        reservation_text(renderer, declared.site, part)
    for cluster in declared.site.clusters:
        base_text(renderer, declared.site, cluster, declared.classes.values())
        inventory_text(renderer, declared.site, cluster, ["clusters/prod/base.yaml"])
        kustomization_text(renderer, declared.site, cluster, ["clusters/prod/base.yaml"])

    assert renderer.compared > 200


@pytest.mark.parametrize("closed", [True, False])
def test_every_construct_means_what_it_means_to_jinja2(closed: bool) -> None:
    plain = quick(PLAIN)
    values = {**VALUES, "closed": closed}

    assert plain is not None
    assert plain(values) == by_jinja(PLAIN, values)


def test_whatever_is_read_here_means_what_it_means_to_jinja2() -> None:
    """Plain templates with a piece lost, doubled or put elsewhere: read here as by jinja2, or not at all."""
    random = Random(4)
    odd = ["{", "}", "{{", "}}", "{%", "%}", "{#", "#}", "-", "+", " ", "\n", "\t", "|", ".", "name", "file"]
    odd += ["{{ name | quote }}", "{% if closed %}\n", "{% else %}\n", "{% endif %}", "{% elif count %}\n"]
    odd += ["{% for name in files %}\n", "{% endfor %}\n", "{# x #}\n", "{{ name }}", "not ", "true", "loop"]
    rendered = 0
    for _ in range(6000):
        source = PLAIN
        for _ in range(random.randint(1, 3)):
            at, until = sorted(random.choices(range(len(source) + 1), k=2))
            change = random.choice([source[at:until], random.choice(odd), random.choice(odd), ""])
            cut = min(until, at + random.choice([0, 0, 1, 3, 20]))
            source = source[:at] + change + source[cut:]
        plain = quick(source)
        values = {**VALUES, "closed": random.random() < 0.5, "name": random.choice(AWKWARD)}
        if plain is not None:
            try:
                text = plain(values)
            except (KeyError, TypeError, ValueError):
                continue  # jinja2 is asked
            assert text == by_jinja(source, values), source
            rendered += 1

    assert rendered > 500


@pytest.mark.parametrize(
    "source",
    [
        "a: {{ name }}\n",
        "a: {{- name | quote }}\n",
        "a: {{ name | upper | quote }}\n",
        "a: {{ labels.items | quote }}\n",
        "a: {{{ name | quote }}\n",
        "a: {{ labels | block }}\n",
        "a: {{ name | quote(2) }}\n",
        "{% if not closed %}\n{% endif %}\n",
        "{% if closed %}\n{% elif count %}\n{% endif %}\n",
        "{% if closed %} b\n{% endif %}\n",
        "{% if closed -%}\n{% endif %}\n",
        "{% for file in files %}\n{% else %}\n{% endfor %}\n",
        "{% if closed %}\n",
        "{% endif %}\n",
        "{# a comment #}\n",
        "{% set a = 1 %}\n",
    ],
    ids=lambda source: source.strip().replace("\n", " "),
)
def test_what_is_not_plain_is_left_to_jinja2(source: str) -> None:
    assert quick(source) is None


def test_a_users_plain_template_is_rendered_quickly_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base/namespace.yaml.j2").write_text("mine: {{ name | quote }}\n", "utf-8")
    renderer = Renderer(str(tmp_path))
    monkeypatch.delattr(JinjaRenderer, "render")

    assert renderer.render("base/namespace.yaml.j2", {"name": "a"}) == 'mine: "a"\n'


def test_a_good_render_loads_no_big_library(tmp_path: Path) -> None:
    project.write(tmp_path)
    code = (
        f"import sys; from gen.cli import run; run(['-C', {str(tmp_path)!r}, 'render']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.startswith("rendered/: ")
    assert not {"jinja2", "yaml"} & set(done.stdout.split())
