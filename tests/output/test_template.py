"""Templates render finished values; what is wrong with one is a finding at its line, never a traceback."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from berth.findings import ERROR, Finding
from berth.output.templates import Renderer, TemplateError, built_in_folder

ANY_FILTER = "Give quote and literal a text, number a number, block a mapping or a list."
THERE_ARE = "Use one of the values: name, pool."
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


@pytest.fixture
def built_in(tmp_path: Path) -> Path:
    folder = tmp_path / "built-in"
    write(folder / "placeholder/deployment.yaml.j2", DEPLOYMENT)
    write(folder / "base/namespace.yaml.j2", "name: {{ name | quote }}\n")
    return folder


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(built_in: Path, text: str, values: Mapping[str, object]) -> Finding:
    """The one finding of a template with this text."""
    write(built_in / "t.j2", text)
    with pytest.raises(TemplateError) as caught:
        Renderer(built_in=str(built_in)).render("t.j2", values, "prod/ds-101")
    (finding,) = caught.value.findings
    return finding


def refused_overrides(folder: Path, built_in: Path) -> tuple[Finding, ...]:
    with pytest.raises(TemplateError) as caught:
        Renderer(str(folder), str(built_in))
    return caught.value.findings


def test_a_template_shows_the_shape_and_values_fill_it(built_in: Path) -> None:
    text = Renderer(built_in=str(built_in)).render("placeholder/deployment.yaml.j2", VALUES)

    assert (
        text
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


def test_windows_line_ends_and_a_byte_order_mark_leave_no_trace(built_in: Path) -> None:
    write(built_in / "t.j2", b"\xef\xbb\xbfa: 1\r\nb: {{ b | number }}\r\n")

    assert Renderer(built_in=str(built_in)).render("t.j2", {"b": 2}) == "a: 1\nb: 2\n"


def test_our_own_templates_are_found() -> None:
    assert (Path(built_in_folder()) / "base").is_dir()


@pytest.mark.parametrize("name", ["../t.j2", "a/../../t.j2", "/etc/passwd"])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a template"):
        Renderer().render(name, {})


@pytest.mark.parametrize(
    ("text", "line", "message", "fix"),
    [
        ("a: 1\nb: {{ nmae | quote }}\n", 2, "'nmae' is undefined", THERE_ARE),
        ("b: {{ nmae | number }}\n", 1, "'nmae' is undefined", THERE_ARE),
        ("  {{ nmae | block(2) }}\n", 1, "'nmae' is undefined", THERE_ARE),
        ("b: {{ nmae | literal(2) }}\n", 1, "'nmae' is undefined", THERE_ARE),
        (
            "b: {{ pool.size | number }}\n",
            1,
            "'dict object' has no attribute 'size'",
            THERE_ARE,
        ),
        ("a:\n{% if nmae %}\nb: 1\n{% endif %}\n", 2, "'nmae' is undefined", THERE_ARE),
        ("a:\n{% for x in nmae %}\nb: 1\n{% endfor %}\n", 2, "'nmae' is undefined", THERE_ARE),
        ("a: 1\n\nb: {{ name | number }}\n", 3, "'x' is not a number", ANY_FILTER),
        ("b: {{ pool | quote }}\n", 1, "unhashable type: 'dict'", ANY_FILTER),
        ("b: {{ pool.n | quote }}\n", 1, "5 is not text", ANY_FILTER),
        ("{% for x in pool.n %}\nb: 1\n{% endfor %}\n", 1, "'int' object is not iterable", ANY_FILTER),
        (
            "b: {{ name.__class__ | quote }}\n",
            1,
            "access to attribute '__class__' of 'str' object is unsafe",
            ANY_FILTER,
        ),
    ],
    ids=[
        *("quote", "number", "block", "literal", "attribute", "if", "for"),
        *("no-number", "no-text", "number-as-text"),
        *("no-list", "unsafe"),
    ],
)
def test_values_that_do_not_fit_are_told_at_their_line(
    built_in: Path, text: str, line: int, message: str, fix: str
) -> None:
    finding = refused(built_in, text, {"name": "x", "pool": {"n": 5}})

    assert finding == Finding(
        *("templates/t.j2", line, 1, "B097", ERROR, "prod/ds-101"),
        f"The values do not fit the template: {message}.",
        fix,
    )


@pytest.mark.parametrize(
    ("text", "line", "message", "fix"),
    [
        (
            "a: 1\n{% if a %}\n",
            2,
            "The template is not valid: Unexpected end of template. "
            "Jinja was looking for the following tags: "
            "'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'.",
            "Correct the line.",
        ),
        (
            "a: 1\n{{ b\n",
            2,
            "The template is not valid: unexpected end of template, expected 'end of print statement'.",
            "Correct the line.",
        ),
        ("{{ " + "(" * 5000, 1, "Its parts are nested too deeply.", "Make it simpler."),
        (
            "{% if a %}\n" * 150 + "{% endif %}\n" * 150,
            1,
            "Its parts are nested too deeply.",
            "Make it simpler.",
        ),
    ],
    ids=["unclosed-tag", "unclosed-hole", "parentheses", "tags"],
)
def test_what_is_no_template_of_ours_is_told_at_its_line(
    built_in: Path, text: str, line: int, message: str, fix: str
) -> None:
    finding = refused(built_in, text, {})

    assert finding == Finding("templates/t.j2", line, 1, "B096", ERROR, "", message, fix)


def test_a_template_that_does_not_exist_is_told(built_in: Path) -> None:
    with pytest.raises(TemplateError) as caught:
        Renderer(built_in=str(built_in)).render("none.j2", {})

    assert caught.value.findings == (
        Finding(
            *("templates/none.j2", 1, 1, "B095", ERROR, ""),
            "It cannot be read: No such file or directory.",
            "Make it a readable file.",
        ),
    )


def test_an_override_replaces_one_template_and_no_other(built_in: Path, tmp_path: Path) -> None:
    overrides = tmp_path / "mine"
    write(overrides / "base/namespace.yaml.j2", "mine: {{ name | quote }}\n")
    write(overrides / "README.md", "notes")
    write(overrides / ".git/x.j2", "{{")
    write(overrides / ".draft.j2", "{{")
    renderer = Renderer(str(overrides), str(built_in))

    assert renderer.render("base/namespace.yaml.j2", {"name": "berth"}) == "mine: berth\n"
    assert renderer.render("placeholder/deployment.yaml.j2", VALUES).startswith("metadata:\n")


def test_every_wrong_override_is_told_before_anything_is_rendered(built_in: Path, tmp_path: Path) -> None:
    overrides = tmp_path / "mine"
    write(tmp_path / "outside.j2", "a: 1\n")
    write(overrides / "base/namespace.yaml.j2", "name: {{ name | upper }}\nx: {{ a }}\n")
    write(overrides / "base/namespace.yml.j2", "name: {{ name | quote }}\n")
    (overrides / "placeholder").mkdir()
    (overrides / "placeholder/deployment.yaml.j2").symlink_to(tmp_path / "outside.j2")
    without = (
        "B096",
        ERROR,
        "",
        "A value has none of the filters of Berth, so it could change the structure.",
    )
    one = "End it with exactly one of quote, number, block, literal."

    assert refused_overrides(overrides, built_in) == (
        Finding(
            *(f"{overrides}/base/namespace.yml.j2", 1, 1, "B098", ERROR, ""),
            "There is no template base/namespace.yml.j2 to override.",
            "Name it as one of base/namespace.yaml.j2, placeholder/deployment.yaml.j2.",
        ),
        Finding(
            *(f"{overrides}/placeholder/deployment.yaml.j2", 1, 1, "B095", ERROR, ""),
            f"{overrides}/placeholder/deployment.yaml.j2 leads out of {overrides}.",
            "Copy the file into the folder.",
        ),
        Finding(f"{overrides}/base/namespace.yaml.j2", 1, 1, *without, one),
        Finding(f"{overrides}/base/namespace.yaml.j2", 2, 1, *without, one),
    )


def test_an_override_may_be_a_link_within_its_folder(built_in: Path, tmp_path: Path) -> None:
    overrides = tmp_path / "mine"
    write(overrides / ".data/namespace", "linked: {{ name | quote }}\n")
    (overrides / "base").mkdir()
    (overrides / "base/namespace.yaml.j2").symlink_to("../.data/namespace")

    assert (
        Renderer(str(overrides), str(built_in)).render("base/namespace.yaml.j2", {"name": "a"})
        == "linked: a\n"
    )


@pytest.mark.parametrize("content", [b"a: \xff\n", None], ids=["not-utf-8", "broken-link"])
def test_an_override_that_cannot_be_read_is_told(
    built_in: Path, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "mine/base/namespace.yaml.j2"
    if content is None:
        path.parent.mkdir(parents=True)
        path.symlink_to("nowhere")
    else:
        write(path, content)

    assert refused_overrides(tmp_path / "mine", built_in) == (
        Finding(str(path), 1, 1, "B095", ERROR, "", "Byte 3 is not UTF-8.", "Save the file as UTF-8.")
        if content
        else Finding(
            *(str(path), 1, 1, "B095", ERROR, ""),
            "It cannot be read: No such file or directory.",
            "Make it a readable file.",
        ),
    )


def test_a_folder_of_overrides_that_does_not_exist_is_told(built_in: Path, tmp_path: Path) -> None:
    assert refused_overrides(tmp_path / "none", built_in) == (
        Finding(
            *(f"{tmp_path}/none", 1, 1, "B095", ERROR, ""),
            f"{tmp_path}/none cannot be read: No such file or directory.",
            "Name a folder of templates that you may read after --templates.",
        ),
    )
