"""What a change of rehearsals means: lines of their own, and room, money and policies as for dates."""

import json
from typing import Any

import pytest

from tests.diff.conftest import Pair, results, ruled

AT = "2026-01-01"
ENTRY = '{date: 2026-02-02, at: {date: 2026-01-26, startTime: "06:00"}}'
LINE = "rehearsal, 25 small: Mon 2026-01-26 06:00-06:30 (05:00-05:30 UTC)"


def rehearse(pair: Pair, entry: str = ENTRY) -> None:
    pair.edit("course.yaml", "  provisioning:", f"    rehearsals: [{entry}]\n  provisioning:")


def as_it_is(pair: Pair) -> None:
    """Let the base have what the working tree has."""
    text = (pair.now / "reservations/course.yaml").read_text("utf-8")
    (pair.was / "reservations/course.yaml").write_text(text, "utf-8")


def change(pair: Pair, at: str = AT) -> Any:
    return json.loads(pair.diff("-o", "json", at=at).out)


def test_a_rehearsal_that_comes_has_its_own_line(pair: Pair) -> None:
    rehearse(pair)
    out = pair.diff(at=AT).out

    assert f"\n+   {LINE}\n" in out
    assert "Peaks" not in out  # it holds no more than the class does
    found = change(pair)
    (one,) = found["rehearsals"]["added"]
    assert (one["rehearses"], one["marks"]) == ("course/2026-02-02T09:00", ["rehearsal"])
    assert found["occurrences"] == {"added": [], "removed": [], "changed": []}
    (course,) = found["reservations"]
    assert (course["fields"], course["occurrences"]["kept"]) == ([], 2)
    assert course["seatHours"]["before"] == course["seatHours"]["after"]


def test_one_that_goes_and_one_that_changes(pair: Pair) -> None:
    rehearse(pair)
    as_it_is(pair)
    pair.edit("course.yaml", 'startTime: "06:00"}}', 'startTime: "07:00"}, seats: 40%}')
    assert (
        "\n~   rehearsal, 06:00-06:30 -> 07:00-07:30, 25 small -> 10 small: Mon 2026-01-26\n"
        in pair.diff(at=AT).out
    )
    pair.edit("course.yaml", "    rehearsals: ", "    # rehearsals: ")
    assert f"\n-   {LINE}\n" in pair.diff(at=AT).out


def test_one_at_another_time_says_its_seats(pair: Pair) -> None:
    rehearse(pair)
    as_it_is(pair)
    pair.edit("course.yaml", 'startTime: "06:00"}}', 'startTime: "07:00"}}')

    line = "\n~   rehearsal, 25 small: 06:00-06:30 -> 07:00-07:30: Mon 2026-01-26\n"
    assert line in pair.diff(at=AT).out


@pytest.mark.parametrize(("last", "lines"), [("2026-03-01", 2), ("2026-05-29", 1)], ids=["few", "many"])
def test_another_rule_is_one_line_for_many(pair: Pair, last: str, lines: int) -> None:
    """As a new one is."""
    pair.edit("course.yaml", "endDate: 2026-03-01", f"endDate: {last}")
    pair.edit(
        "course.yaml",
        "{placeholderCount",
        '{rehearsal: {daysBefore: 7, startTime: "06:00"}, placeholderCount',
    )
    as_it_is(pair)
    pair.edit("course.yaml", "daysBefore: 7", "daysBefore: 5")
    told = [
        line for line in pair.diff(at=AT).out.splitlines() if line.startswith("~   rehearsal, 25 small: ")
    ]

    assert len(told) == lines
    assert ("06:00-06:30, 2 days later: " in told[0]) == (lines == 1)


def test_a_rule_is_what_it_makes(pair: Pair) -> None:
    pair.edit(
        "course.yaml",
        "{placeholderCount",
        '{rehearsal: {daysBefore: 7, startTime: "06:00"}, placeholderCount',
    )
    found = change(pair)

    assert len(found["rehearsals"]["added"]) == 2
    assert found["reservations"][0]["fields"] == []


def test_it_is_counted_in_machines_and_money(cloudy: Pair) -> None:
    rehearse(cloudy)
    (month,) = change(cloudy)["plan"]["months"]

    assert month["month"] == "2026-01"
    assert float(month["machineHours"]["before"]) == 0 < float(month["machineHours"]["after"])


def test_it_counts_beside_other_windows(pair: Pair) -> None:
    rehearse(pair, '{date: 2026-02-23, at: {date: 2026-02-02, startTime: "09:30"}}')
    peaks = {one["what"]: (one["before"], one["after"]) for one in change(pair)["peaks"]}

    assert peaks["seats of small"] == ("25", "50")


@pytest.mark.parametrize(
    "policy",
    [
        "when: {seatsAbove: 20}, require: refuse",
        "when: {noticeBelow: 60d}, require: refuse",
        "when: {noticeBelow: 60d, seatsAbove: 20}, require: refuse",
        "require: refuse",
        "when: {costAbove: 1}, require: refuse",
        "when: {costAbove: 1, noticeBelow: 60d}, require: refuse",
    ],
    ids=["seats", "notice", "seats-at-short-notice", "always", "cost", "cost-at-short-notice"],
)
def test_policies_look_at_it_as_at_a_date(cloudy: Pair, policy: str) -> None:
    text = (cloudy.now / "reservations/site.yaml").read_text("utf-8")
    ruled(cloudy, policy, text=text)
    rehearse(cloudy)

    assert results(cloudy.diff("-o", "json", at=AT)) == [["p0", "course", "refuse"]]


def test_a_rehearsal_opens_at_its_start_so_it_has_no_lead(pair: Pair) -> None:
    ruled(pair, "when: {leadAbove: 20}, require: refuse")
    rehearse(pair)

    assert results(pair.diff("-o", "json", at=AT)) == []


def test_rehearsals_at_the_same_time_avoid_no_policy(pair: Pair) -> None:
    """Those that the base has do not hide more of them."""
    ruled(pair, "when: {seatsAbove: 30}, require: refuse", "when: {noticeBelow: 48h}, require: refuse")
    same = '{date: %s, at: {date: 2026-01-26, startTime: "06:00"}}'
    rehearse(pair, same % "2026-02-02")
    as_it_is(pair)
    assert results(pair.diff("-o", "json", at="2026-01-26T04:00:00Z")) == []
    both = ", ".join(same % day for day in ("2026-02-02", "2026-02-23"))
    pair.edit("course.yaml", same % "2026-02-02", both)
    code, out, _ = pair.diff("-o", "json", at="2026-01-26T04:00:00Z")

    assert code == 1
    assert [one["policy"] for one in json.loads(out)["policies"]] == ["p0", "p1"]


def test_a_rehearsal_at_short_notice_and_in_a_clock_change_is_told(pair: Pair) -> None:
    rehearse(pair)
    assert "soon" in _warning_codes(pair, "2026-01-26T04:00:00Z")
    assert "past" not in _warning_codes(pair, "2026-02-01T04:00:00Z")  # B131 says so
    as_it_is(pair)
    pair.edit("course.yaml", f"[{ENTRY}]", "[]")
    assert "soon" in _warning_codes(pair, "2026-01-26T04:00:00Z")


def _warning_codes(pair: Pair, at: str) -> set[str]:
    return {one["code"] for one in change(pair, at=at)["warnings"]}


def test_seats_that_open_at_once_are_told(pair: Pair) -> None:
    rehearse(pair)
    found = change(pair, at="2026-01-26T05:10:00Z")

    assert "open-now" in [one["code"] for one in found["warnings"]]
    assert "B131" in pair.diff("-o", "github", at="2026-01-26T05:10:00Z").out
    assert "in the past" not in pair.diff("-o", "github", at="2026-01-26T05:10:00Z").out


def test_a_renamed_reservation_keeps_its_rehearsals(pair: Pair) -> None:
    rehearse(pair)
    as_it_is(pair)
    pair.edit("course.yaml", "name: course", "name: kurs")
    found = change(pair)

    assert [(one["name"], one["change"]) for one in found["reservations"]] == [("kurs", "renamed")]
    assert found["rehearsals"] == {"added": [], "removed": [], "changed": []}
