"""Reading a folder: every file is read, told of, or not ours; nothing is waited for."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from berth.findings import Problem
from berth.reading.source import LIMIT, Source, read

from tests.cases import tabled


def told(problems: list[Problem]) -> list[tuple[str, str]]:
    """Code and file of each, sorted. Each says what is wrong and what to do."""
    assert all(problem.message and problem.fix and not problem.path for problem in problems)
    return sorted((problem.code, problem.file) for problem in problems)


def messages(problems: list[Problem]) -> str:
    return "".join(f"{problem.file}: {problem.message}\n" for problem in sorted(problems))


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())


def test_files_are_read_at_any_depth_in_the_order_of_their_paths(tmp_path: Path) -> None:
    write(tmp_path, "b.yaml", "a/z.yml", "a/b/c/d.json", "a-b.yaml", "B.yaml", "é ü.yaml", "LOUD.YAML")

    sources, problems = read(str(tmp_path), "reservations")

    names = ["B.yaml", "LOUD.YAML", "a-b.yaml", "a/b/c/d.json", "a/z.yml", "b.yaml", "é ü.yaml"]
    assert [Source(f"reservations/{name}", name.encode()) for name in names] == sources
    assert problems == []


def test_the_root_itself_adds_nothing_to_the_shown_path(tmp_path: Path) -> None:
    write(tmp_path, "a/b.yaml")

    assert read(str(tmp_path), ".") == ([Source("a/b.yaml", b"a/b.yaml")], [])


def test_other_files_are_ignored_without_a_finding(tmp_path: Path) -> None:
    write(
        tmp_path,
        "README.md",
        "a.jsonnet",
        "term.ics",
        "yaml",
        ".gitkeep",
        ".gitignore",
        ".schema.json",
        ".yamllint",
        ".c.yaml.swp",
        ".#c.yaml",
        ".git/b.yaml",
        ".old/README.md",
        "c.yaml",
    )
    os.mkfifo(tmp_path / "pipe")

    assert read(str(tmp_path), "r") == ([Source("r/c.yaml", b"c.yaml")], [])


@tabled("reading")
def test_a_file_that_looks_like_a_declaration_and_is_not_read_is_reported(
    name: str, reason: str, tmp_path: Path
) -> None:
    write(tmp_path, name, "c.yaml")

    sources, problems = read(str(tmp_path), "r")

    assert sources == [Source("r/c.yaml", b"c.yaml")]
    assert told(problems) == [("B007", f"r/{name}")]
    assert f"is not read: {reason}." in messages(problems)


def test_a_folder_with_nothing_but_overlooked_files_is_reported_as_empty(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml.txt")

    assert told(read(str(tmp_path), "r")[1]) == [("B007", "r/a.yaml.txt"), ("B008", "r")]


def test_a_missing_folder_and_a_file_in_its_place_get_the_finding_b001(tmp_path: Path) -> None:
    write(tmp_path, "file")

    missing, missing_problems = read(f"{tmp_path}/no", "reservations")
    file, file_problems = read(f"{tmp_path}/file", ".")

    assert (missing, file) == ([], [])
    assert told(missing_problems) == [("B001", "reservations")]
    assert told(file_problems) == [("B001", ".")]
    assert "No such file or directory" in messages(missing_problems)
    assert "Not a directory" in messages(file_problems)


@pytest.mark.parametrize("target", ["nowhere", "link", "../real/a.yaml", "../real", ".", "/dev/zero"])
@pytest.mark.parametrize("name", ["link", "link.yaml", "link.txt"])
def test_a_link_is_not_followed_and_gets_the_finding_b001(tmp_path: Path, target: str, name: str) -> None:
    write(tmp_path, "real/a.yaml", "reservations/b.yaml")
    (tmp_path / "reservations" / name).symlink_to(target)

    sources, problems = read(str(tmp_path / "reservations"), "r")

    assert sources == [Source("r/b.yaml", b"reservations/b.yaml")]
    assert told(problems) == [("B001", f"r/{name}")]


def test_a_reservations_folder_that_is_a_link_gets_the_finding_b001(tmp_path: Path) -> None:
    write(tmp_path, "real/a.yaml")
    (tmp_path / "reservations").symlink_to("real")

    sources, problems = read(str(tmp_path / "reservations"), "reservations")

    assert (sources, told(problems)) == ([], [("B001", "reservations")])


@pytest.mark.parametrize("is_file", [True, False], ids=["submodule", "repository"])
def test_a_submodule_or_a_nested_repository_gets_the_finding_b001(tmp_path: Path, is_file: bool) -> None:
    write(
        tmp_path,
        ".git/HEAD",
        "r/a.yaml",
        "r/other/b.yaml",
        "r/other/.git" if is_file else "r/other/.git/HEAD",
    )

    assert told(read(str(tmp_path / "r"), "r")[1]) == [("B001", "r/other")]


def test_a_folder_pipe_or_socket_named_like_a_file_gets_the_finding_b001(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{tmp_path}/socket.yml")
        sources, problems = read(str(tmp_path), "r")

    assert sources == []
    assert told(problems) == [
        ("B001", "r/folder.yaml"),
        ("B001", "r/pipe.yaml"),
        ("B001", "r/socket.yml"),
    ]
    assert "r/folder.yaml: it is a folder," in messages(problems)


@contextlib.contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Within the folder, and as somebody whom its permissions concern: they do not concern root."""
    was_root = os.geteuid() == 0
    with contextlib.chdir(folder):
        if was_root:
            os.seteuid(65534)
        try:
            yield
        finally:
            if was_root:
                os.seteuid(0)


def test_an_unreadable_file_or_folder_does_not_hide_the_other_files(tmp_path: Path) -> None:
    write(tmp_path, "r/a.yaml", "r/b.yaml", "r/c/d.yaml")
    tmp_path.chmod(0o755)
    (tmp_path / "r/a.yaml").chmod(0)
    (tmp_path / "r/c").chmod(0)

    with without_rights(tmp_path):
        sources, problems = read("r", "r")

    (tmp_path / "r/c").chmod(0o755)
    assert sources == [Source("r/b.yaml", b"r/b.yaml")]
    assert told(problems) == [("B001", "r/a.yaml"), ("B001", "r/c")]
    assert messages(problems).count("Permission denied") == 2


def test_invisible_file_names_are_reported_escaped(tmp_path: Path) -> None:
    for name in (b"a\nb.yaml", b"\xff.yaml", "\u202egnp.yaml".encode(), b"\x1b[2J/c.yaml"):
        path = tmp_path / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.touch()

    sources, problems = read(str(tmp_path), "r")

    assert sources == []
    assert told(problems) == [
        ("B001", r"r/\u202egnp.yaml"),
        ("B001", r"r/\x1b[2J/c.yaml"),
        ("B001", r"r/\xff.yaml"),
        ("B001", r"r/a\nb.yaml"),
    ]


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 131072, LIMIT])
def test_a_file_is_read_whole_up_to_the_limit(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.yaml").write_bytes(b"x" * size)

    sources, problems = read(str(tmp_path), "r")

    assert sources == [Source("r/a.yaml", b"x" * size)]
    assert problems == []


@pytest.mark.parametrize("size", [LIMIT + 1, 10 * LIMIT])
def test_a_file_larger_than_the_limit_gets_the_finding_b006(tmp_path: Path, size: int) -> None:
    write(tmp_path, "b.yaml")
    (tmp_path / "a.yaml").write_bytes(b"x" * size)

    sources, problems = read(str(tmp_path), "r")

    assert sources == [Source("r/b.yaml", b"b.yaml")]
    assert told(problems) == [("B006", "r/a.yaml")]


@pytest.mark.parametrize("name", ["Reservations", "RESERVATIONS"])
def test_a_folder_with_a_name_that_differs_only_in_case_gets_the_finding_b001(
    tmp_path: Path, name: str
) -> None:
    """On some file systems they are one folder, and a checkout puts the files of both into it."""
    write(tmp_path / "reservations", "a.yaml")
    (tmp_path / name).mkdir()

    assert told(read(str(tmp_path / "reservations"), "reservations")[1]) == [("B001", name)]
