"""The files of a site: all or none, only those of Berth, and no leftovers."""

from pathlib import Path

import pytest
from berth.findings import FindingsError
from berth.output.pages import write_site

from tests.outputfolder import files_in

MARK = b"<!-- ours -->"
FILES = {"index.html": MARK + b"page", "feeds/a.ics": MARK + b"a", "feeds/b.ics": MARK + b"b"}


def write(folder: str, files: dict[str, bytes]) -> tuple[int, list[str]]:
    return write_site(folder, files, (MARK,), "feeds")


def test_files_are_written_and_left_alone_when_they_are_the_same(tmp_path: Path) -> None:
    folder = str(tmp_path / "new/site")

    assert write(folder, FILES) == (3, [])
    assert write(folder, FILES) == (0, [])
    assert write(folder, {**FILES, "index.html": MARK + b"other"}) == (1, [])


def test_the_feed_of_a_reservation_that_is_gone_is_removed(tmp_path: Path) -> None:
    write(str(tmp_path), FILES)
    (tmp_path / "feeds/theirs.ics").write_bytes(b"BEGIN:VCALENDAR")
    (tmp_path / "CNAME").write_bytes(b"seats.example.org")

    assert write(str(tmp_path), {"index.html": FILES["index.html"]}) == (
        0,
        ["feeds/a.ics", "feeds/b.ics"],
    )
    assert {*files_in(tmp_path)} == {"index.html", "feeds/theirs.ics", "CNAME"}


@pytest.mark.parametrize("obstacle", ["file", "folder", "link"])
def test_what_others_wrote_is_not_replaced_and_nothing_is_written(tmp_path: Path, obstacle: str) -> None:
    path = tmp_path / "feeds/b.ics"
    path.parent.mkdir()
    if obstacle == "file":
        path.write_bytes(b"theirs")
    elif obstacle == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/null")

    with pytest.raises(FindingsError) as caught:
        write(str(tmp_path), FILES)

    assert [(finding.code, finding.file) for finding in caught.value.findings] == [
        ("B090", f"{tmp_path}/feeds/b.ics")
    ]
    assert not (tmp_path / "index.html").exists()


def test_nothing_is_written_into_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "site/feeds").symlink_to("../outside")

    with pytest.raises(FindingsError) as caught:
        write(str(tmp_path / "site"), FILES)

    assert {finding.code for finding in caught.value.findings} == {"B090"}
    assert files_in(tmp_path / "outside") == {}


def test_a_folder_that_cannot_be_written_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "site").write_bytes(b"a file")

    with pytest.raises(FindingsError) as caught:
        write(str(tmp_path / "site"), FILES)

    assert [finding.code for finding in caught.value.findings] == ["B092"]
