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


@pytest.mark.parametrize("obstacle", ["file", "folder", "link"])
def test_a_foreign_file_gets_the_finding_b090_and_nothing_is_written(tmp_path: Path, obstacle: str) -> None:
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


def test_an_unusable_folder_gets_the_finding_b092(tmp_path: Path) -> None:
    (tmp_path / "site").write_bytes(b"a file")

    with pytest.raises(FindingsError) as caught:
        write(str(tmp_path / "site"), FILES)

    assert [finding.code for finding in caught.value.findings] == ["B092"]
