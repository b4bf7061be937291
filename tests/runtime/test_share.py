"""What the two programs tell each other is read as written, or not believed at all."""

from pathlib import Path

import pytest
from berth.runtime.reports import SharedState, file_reader, file_writer, fresh, parse_shared, shared_text

SHARED = SharedState(
    1770019200.25, "0b08c79e-00000000", {"small": {"course/1": 7, "course/2": 0}, "huge": None}
)


def test_what_is_written_is_read() -> None:
    assert parse_shared(shared_text(SHARED)) == SHARED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        "null",
        "[]",
        "{}",
        '{"classes": {}}',
        '{"at": 5}',
        '{"at": "5", "classes": {}}',
        '{"at": true, "classes": {}}',
        '{"at": 5, "classes": []}',
        '{"at": 5, "timetable": 7, "classes": {}}',
        '{"at": 5, "classes": {"small": 3}}',
        '{"at": 5, "classes": {"small": {"course/1": "3"}}}',
        '{"at": 5, "classes": {"small": {"course/1": -3}}}',
        '{"at": 5, "classes": {"small": {"course/1": 2.5}}}',
        '{"at": 5, "classes": {"small": {"course/1": true}}}',
    ],
)
def test_what_is_malformed_anywhere_says_nothing(text: str) -> None:
    assert parse_shared(text) is None


def test_a_scaler_of_before_says_no_timetable() -> None:
    assert parse_shared('{"at": 5, "classes": {"huge": null}}') == SharedState(5.0, "", {"huge": None})


@pytest.mark.parametrize(
    ("since", "expected"), [(0, True), (60, True), (60.01, False), (-60, True), (-60.01, False)]
)
def test_it_is_believed_for_a_minute_before_and_after(since: float, expected: bool) -> None:
    assert fresh(SHARED, SHARED.at + since) == (SHARED if expected else None)


def test_nothing_is_not_believed() -> None:
    assert fresh(None, 0.0) is None


def test_a_file_is_replaced_as_a_whole_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = str(tmp_path / "attributed.json")
    file_writer(path)("old")
    with (tmp_path / "attributed.json").open(encoding="utf-8") as old:
        file_writer(path)("new")

        assert (old.read(), file_reader(path)()) == ("old", "new")
    assert list(tmp_path.iterdir()) == [tmp_path / "attributed.json"]


def test_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")

    assert [file_reader(str(tmp_path / name))() for name in ("nothing", "bytes", ".")] == ["", "", ""]


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file or directory"):
        file_writer(str(tmp_path / "nowhere" / "attributed.json"))("new")
