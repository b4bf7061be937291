"""Nothing is written through a symbolic link: what is behind it may be out of the project."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.edit.trip import FILE
from tests.requesting import form_text

ONCE = ("09:00-10:00", "--dates", "2026-03-03", "--class", "small", "--seats", "3", "--behavior", "none")


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outside")


def refused(berth: Berth, link: str, *words: str) -> None:
    answer = berth(*words)
    assert (answer.code, answer.out) == (2, "")
    assert f"{link} is a symbolic link" in answer.err


def test_new_does_not_write_through_a_dangling_link(berth: Berth, folder: Path, outside: Path) -> None:
    (folder / "reservations/linky.yaml").symlink_to(outside / "linky.yaml")

    refused(berth, "reservations/linky.yaml", "new", "linky", *ONCE)
    assert [*outside.iterdir()] == []


def test_a_request_does_not_write_through_a_dangling_link(berth: Berth, folder: Path, outside: Path) -> None:
    (folder / "reservations/linky.yaml").symlink_to(outside / "linky.yaml")
    request = outside / "request.md"
    request.write_text(form_text(title="Linky"), "utf-8")

    refused(berth, "reservations/linky.yaml", "new", "--from-request", str(request), "--write")
    assert [*outside.iterdir()] == [request]


def test_a_copy_is_not_written_through_a_link(berth: Berth, folder: Path, trip: Path, outside: Path) -> None:
    (folder / "reservations/again.yaml").symlink_to(outside / "again.yaml")

    refused(
        *(berth, "reservations/again.yaml", "copy", trip.stem, "again"),
        *("--from", "2027-02-01", "--until", "2027-05-28"),
    )
    assert [*outside.iterdir()] == []


@pytest.mark.parametrize("words", [("set", "title=Other"), ("delete",)], ids=["set", "delete"])
@pytest.mark.parametrize("is_outside", [True, False], ids=["outside", "inside"])
def test_a_course_behind_a_link_is_not_changed(
    berth: Berth, trip: Path, outside: Path, words: tuple[str, ...], *, is_outside: bool
) -> None:
    real = (outside if is_outside else trip.parents[1]) / "elsewhere.yaml"
    real.write_bytes(trip.read_bytes())
    trip.unlink()
    trip.symlink_to(real)
    before = real.read_bytes()
    answer = berth(words[0], trip.stem, *words[1:])

    assert (answer.code, answer.out) == (1, "")
    assert f"{FILE}:1:1: error[B001] it is a symbolic link." in answer.err
    assert real.read_bytes() == before
    assert trip.is_symlink()


@pytest.mark.parametrize("link", [".github", ".github/workflows", "reservations/site.yaml"])
def test_init_does_not_write_into_a_linked_folder(
    berth: Berth, tmp_path: Path, outside: Path, link: str
) -> None:
    top = tmp_path / "seats"
    (top / link).parent.mkdir(parents=True)
    (top / link).symlink_to(outside / "file" if link.endswith(".yaml") else outside)

    refused(berth, f"seats/{link}", "-C", str(tmp_path), "init", "seats", "--demo")
    assert [*outside.iterdir()] == []
