"""`berth render` in other folders: where output goes, and templates of one's own."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import project
from tests.cli.conftest import ROOT
from tests.manifests.parts import objects, of_kind
from tests.outputfolder import content, files_in, write


@pytest.mark.parametrize(
    "given", ["out", "out/", "./out/deep", "{folder}/out"], ids=["plain", "slash", "deep", "absolute"]
)
def test_output_goes_where_it_is_asked_for(berth: Berth, folder: Path, given: str) -> None:
    given = given.format(folder=folder)
    shown = given.rstrip("/")

    assert berth("render", "--output-dir", given) == (
        0,
        f"{shown}/: 9 written, 0 removed, 0 unchanged.\n",
        "",
    )
    assert sorted(files_in(folder / given)) == project.RENDERED
    assert not (folder / "rendered").exists()
    assert berth("render", "--check", "--output-dir", given) == (0, f"{shown}/ is up to date.\n", "")


@pytest.mark.parametrize(
    "given",
    ["reservations", "reservations/out", "x/../reservations/", ""],
    ids=["same", "below", "dots", "empty"],
)
def test_output_among_the_input_is_a_slip(berth: Berth, folder: Path, given: str) -> None:
    """The next run would take manifests for declarations."""
    told = f'berth: --output-dir "{given}": name a folder outside of reservations/.\n'

    assert berth("render", f"--output-dir={given}") == (2, "", told)
    assert sorted(files_in(folder)) == sorted(f"reservations/{name}" for name in project.FILES)


def test_an_output_folder_that_is_a_file_is_told(berth: Berth, folder: Path) -> None:
    write(folder / "out", "mine\n")

    code, out, err = berth("render", "--output-dir", "out")

    assert (code, out) == (1, "")
    assert err.startswith("out:1:1: error[B092] It cannot be read or written: ")


def test_a_template_of_your_own_replaces_the_one_of_its_name(berth: Berth, folder: Path) -> None:
    berth("render")
    before = files_in(folder / "rendered")
    ours = (ROOT / "templates/base/namespace.yaml.j2").read_text()
    write(folder / "own/base/namespace.yaml.j2", ours + "  annotations: {mine: kept}\n")

    assert berth("render", "--templates", "own") == (0, "rendered/: 2 written, 0 removed, 7 unchanged.\n", "")

    after = files_in(folder / "rendered")
    assert [path for path in after if after[path] != before[path]] == [
        "clusters/lab/base.yaml",
        "clusters/prod/base.yaml",
    ]
    found = of_kind("Namespace", objects(after["clusters/prod/base.yaml"]))
    assert [one["metadata"]["annotations"] for one in found] == [{"mine": "kept"}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "kind: {{ kind }}\n",
            "own/base/namespace.yaml.j2:1:1: error[B096] A value has none of the filters of Berth, "
            "so it could change the structure. "
            "End it with exactly one of quote, number, block, literal.\n1 error.\n",
        ),
        (
            "a: 1\nname: {{ nome | quote }}\n",
            "own/base/namespace.yaml.j2:2:1: error[B097] prod: The values do not fit the template: "
            "'nome' is undefined. "
            "Use one of the values: labels, name.\n1 error.\n",
        ),
        ("{% if %}", "own/base/namespace.yaml.j2:1:1: error[B096] The template is not valid: "),
    ],
    ids=["bare", "unknown-value", "broken"],
)
def test_a_template_that_cannot_be_used_is_a_finding(
    berth: Berth, folder: Path, text: str, told: str
) -> None:
    berth("render")
    before = content(folder / "rendered")
    write(folder / "own/base/namespace.yaml.j2", text)

    code, out, err = berth("render", "--templates", "own")

    assert (code, out) == (1, "")
    assert err.startswith(told)
    assert content(folder / "rendered") == before


def test_a_folder_of_templates_that_is_none_is_a_finding(berth: Berth, folder: Path) -> None:
    code, out, err = berth("render", "--templates", "nowhere")

    assert (code, out) == (1, "")
    assert err.startswith("nowhere:1:1: error[B095] ")
    assert not (folder / "rendered").exists()
