"""What the last render came to spares --check a whole run, and changes nothing that anybody is told."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from gen import remembered
from gen.finding import WARNING, Finding
from gen.input.source import Source
from gen.pipeline import Pipeline
from tests.command import project
from tests.command.conftest import Answer, Berth
from tests.outputfolder import content

UP_TO_DATE = Answer(0, "rendered/ is up to date.\n", "")
WARNED = project.REST.replace("schedule: [", 'schedule: [{startTime: "10:05", endTime: "10:10"}, ')
COURSE = "rendered/clusters/prod/reservations/course.yaml"
SOURCES = (Source("reservations/a.yaml", b"a: 1\n"), Source("reservations/b.yaml", b""))
FINDING = Finding("reservations/a.yaml", 1, 2, "B031", WARNING, "spec", "Zürich\n\ud800", "Mend it.")
KNOWN = remembered.Remembered("f" * 64, (FINDING, FINDING._replace(line=2)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own, which is not there yet."""
    folder = tmp_path / "cache" / "berth"
    monkeypatch.setenv("BERTH_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def no_whole_run(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, nothing can be read and checked as a whole."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a whole run")

    return lambda: monkeypatch.setattr(Pipeline, "__init__", refuse)


def test_an_unchanged_tree_needs_no_whole_run(berth: Berth, no_whole_run: Callable[[], None]) -> None:
    berth("render")
    no_whole_run()

    assert berth("render", "--check") == UP_TO_DATE


@pytest.mark.parametrize("arguments", [(), ("-o", "json"), ("-o", "github"), ("--strict",)], ids=" ".join)
def test_findings_are_told_again(
    arguments: tuple[str, ...],
    berth: Berth,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_whole_run: Callable[[], None],
) -> None:
    project.write(folder, rest=WARNED)
    berth("render")
    monkeypatch.setenv("BERTH_CACHE_DIR", "")
    whole = berth("render", "--check", *arguments)
    monkeypatch.undo()
    monkeypatch.setenv("BERTH_CACHE_DIR", str(folder / "cache/berth"))
    no_whole_run()

    assert "B031" in whole.err
    assert berth("render", "--check", *arguments) == whole


def test_neither_a_check_nor_a_render_that_fails_remembers_anything(
    berth: Berth, folder: Path, cache: Path
) -> None:
    berth("render", "--check")
    project.write(folder, rest=WARNED)
    assert berth("render", "--strict").code == 1
    assert not cache.exists()

    berth("render")
    before = content(folder)
    berth("render", "--check")
    (folder / COURSE).write_text("# Rendered by berth, and edited\n")
    (folder / "reservations/course.yaml").write_text(project.COURSE.replace("-3", "4"))
    edited = content(folder)
    berth("render", "--check")

    assert before.keys() == edited.keys() == content(folder).keys()
    assert content(folder) == edited


def edit(path: str) -> Callable[[Path], object]:
    return lambda folder: (folder / path).write_text((folder / path).read_text("utf-8") + "# x\n", "utf-8")


CHANGES: dict[str, Callable[[Path], object]] = {
    "input": edit("reservations/rest.yaml"),
    "input-renamed": lambda f: (f / "reservations/rest.yaml").rename(f / "reservations/r.yaml"),
    "input-gone": lambda f: (f / "reservations/rest.yaml").unlink(),
    "input-more": lambda f: (f / "reservations/more.yaml").write_text("x: 1\n"),
    "input-unreadable": lambda f: (f / "reservations/more.yaml").symlink_to("nowhere"),
    "output": edit(COURSE),
    "output-gone": lambda f: (f / COURSE).unlink(),
    "output-more": lambda f: (f / COURSE).with_name("more.yaml").write_text("x: 1\n"),
    "output-link": lambda f: (f / COURSE).with_name("more.yaml").symlink_to("course.yaml"),
    "output-swapped": lambda f: (f / COURSE).replace((f / COURSE).with_name("night.yaml")),
    "template": edit("templates/base/namespace.yaml.j2"),
    "template-more": lambda f: (f / "templates/none.yaml.j2").write_text("x: 1\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_changed_is_told_as_without_a_memory(
    change: Callable[[Path], object], berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = folder / "templates/base/namespace.yaml.j2"
    own.parent.mkdir(parents=True)
    own.write_text("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ name | quote }}\n")
    arguments = ("render", "--check", "--templates", "templates")
    berth("render", "--templates", "templates")
    assert berth(*arguments) == UP_TO_DATE
    change(folder)
    whole_runs: list[bool] = []
    begin = Pipeline.__init__

    def counted(*given: str, **named: str) -> None:
        whole_runs.append(True)
        begin(*given, **named)  # type: ignore[arg-type] # a pipeline and its folder

    monkeypatch.setattr(Pipeline, "__init__", counted)
    found = berth(*arguments)
    monkeypatch.setenv("BERTH_CACHE_DIR", "")

    assert whole_runs
    assert found == berth(*arguments)


def test_a_long_story_of_edits_is_told_as_without_a_memory(
    berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    random = Random(7)
    commands = [("render",), ("render", "--check"), ("render", "--check"), ("render", "--check", "--strict")]
    inputs = [{}, {"rest": WARNED}, {"rest": None}, {"course": project.COURSE.replace("25", "26")}]
    codes = set()
    for _ in range(60):
        project.write(folder, **random.choice(inputs))  # type: ignore[arg-type] # mypy joins them to objects
        if random.random() < 0.2 and (folder / COURSE).exists():
            edit(COURSE)(folder)
        command = random.choice(commands)
        if "--check" in command:
            monkeypatch.setenv("BERTH_CACHE_DIR", "")
            whole = berth(*command)
            monkeypatch.setenv("BERTH_CACHE_DIR", str(cache))
            assert berth(*command) == whole
            codes.add(whole.code)
        else:
            assert berth(*command).code == 0

    assert codes == {0, 1, 4}


def test_another_program_is_another_question(monkeypatch: pytest.MonkeyPatch) -> None:
    first = remembered.program("rendered", None)
    monkeypatch.setattr("sys.version", "4.0")

    assert first != remembered.program("rendered", None)
    assert first != remembered.program("elsewhere", None)


def test_code_that_was_written_to_is_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "gen"
    (package / "kind").mkdir(parents=True)
    code = package / "kind" / "site.py"
    code.write_text("A = 1\n")
    os.utime(code, (1, 1))
    monkeypatch.setattr(remembered, "__file__", str(package / "remembered.py"))
    first = remembered.program("rendered", None)
    assert first == remembered.program("rendered", None)
    code.write_text("A = 2\n")
    os.utime(code, (1, 1))

    assert first != remembered.program("rendered", None)


def test_what_is_kept_is_recalled_for_the_very_same_question(cache: Path) -> None:
    remembered.keep("out", "program", SOURCES, KNOWN)

    assert remembered.recall("out", "program", SOURCES) == KNOWN
    assert remembered.recall("other", "program", SOURCES) is None
    assert remembered.recall("out", "other", SOURCES) is None
    assert remembered.recall("out", "program", SOURCES[:1]) is None
    assert remembered.recall("out", "program", [SOURCES[0], Source("reservations/c.yaml", b"")]) is None
    assert len(list(cache.iterdir())) == 1


def test_a_memory_that_is_damaged_is_none(cache: Path) -> None:
    remembered.keep("out", "program", SOURCES, KNOWN)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    for at in range(len(whole)):
        for damaged in (
            whole[:at],
            whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :],
            whole[at:] + whole[:at] if at else b"\xff",
        ):
            file.write_bytes(damaged)
            assert remembered.recall("out", "program", SOURCES) is None


@pytest.mark.parametrize(
    "where", ["", "relative", "/dev/null/x", None], ids=["off", "relative", "file", "none"]
)
def test_where_nothing_can_be_kept_all_works_without(
    where: str | None, berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where is None:
        for name in ("BERTH_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
            monkeypatch.delenv(name, raising=False)
    else:
        monkeypatch.setenv("BERTH_CACHE_DIR", where)
    before = {file.name for file in folder.iterdir()}

    assert berth("render").code == 0
    assert berth("render", "--check") == UP_TO_DATE
    assert {file.name for file in folder.iterdir()} == {*before, "rendered"}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"HOME": "home"}, "home/.cache/berth"),
        ({"HOME": "home", "XDG_CACHE_HOME": "xdg"}, "xdg/berth"),
        ({"HOME": "home", "XDG_CACHE_HOME": "xdg", "BERTH_CACHE_DIR": "own"}, "own"),
    ],
    ids=["home", "xdg", "own"],
)
def test_it_lies_where_caches_lie(
    variables: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BERTH_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, folder in variables.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    remembered.keep("out", "program", SOURCES, KNOWN)

    assert len(list((tmp_path / expected).iterdir())) == 1
    assert remembered.recall("out", "program", SOURCES) == KNOWN
