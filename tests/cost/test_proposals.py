"""What past dates propose: tests/cases/proposals.yaml, and what holds for all dates."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.cost.pastdates import PastDate
from berth.cost.proposals import MAX_LEAD, Asked, Proposal, opening_proposals, seat_proposals
from berth.schema.seatholders import Unit
from hypothesis import given
from hypothesis import strategies as st

from tests.console import ROOT

CASES: list[dict[str, Any]] = yaml.load(
    (Path(ROOT) / "tests/cases/proposals.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
HOUR = 3600
WEEK = 168 * HOUR


def date_of(number: int, said: dict[str, Any]) -> PastDate:
    start = number * WEEK
    lead = 60 * said.get("lead", 30)
    took = said.get("took")
    return PastDate(
        f"course/{number}",
        "small",
        start - lead,
        start,
        start + 2 * HOUR,
        said.get("seats", 300),
        max(start - 300, start - lead + 60),
        None,
        None if took is None else start - lead + 60 * took,
        said.get("peak"),
        None,
        said.get("missing", {}),
        tuple(said.get("faults", ())),
    )


def dates_of(lines: list[dict[str, Any]]) -> tuple[PastDate, ...]:
    said = [line for line in lines for _ in range(line.get("times", 1))]
    return tuple(date_of(number, line) for number, line in enumerate(said, 1))


def proposals(dates: tuple[PastDate, ...], now: Asked) -> list[Proposal]:
    return [*seat_proposals(dates, now), *opening_proposals(dates, now)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_past_dates_give_the_expected_proposals(case: dict[str, Any]) -> None:
    said = case.get("asked", {})
    now = Asked(
        300,
        said.get("lead", 30),
        5,
        said.get("listed", False),
        Unit.NODE if said.get("unit") == "node" else Unit.SEAT,
    )
    found = proposals(dates_of(case["dates"]), now)

    assert [
        f"{proposal.code} {proposal.before} -> {proposal.after}: {proposal.why}" for proposal in found
    ] == case["proposals"]


DATES = st.lists(
    st.fixed_dictionaries(
        {"peak": st.integers(0, 400)},
        optional={
            "took": st.integers(0, 90),
            "seats": st.sampled_from((200, 300)),
            "missing": st.dictionaries(
                st.sampled_from(("lost", "notReady", "openedLate")), st.integers(1, 300)
            ),
            "faults": st.just(["no answer"]),
        },
    ),
    max_size=14,
).map(dates_of)


@given(DATES, st.booleans())
def test_a_proposal_would_have_been_enough_on_every_date_without_faults(
    dates: tuple[PastDate, ...], is_listed: bool
) -> None:
    now = Asked(300, 30, 5, is_listed=is_listed)
    for proposal in proposals(dates, now):
        known = [date for date in dates if date.promised == 300 and not date.faults]
        if proposal.code in ("B210", "B211"):
            served = [date for date in known if proposal.code == "B211" or date.peak + date.missing <= 300]  # type: ignore[operator]
            assert all(date.peak <= proposal.after for date in served if date.peak is not None)
            assert proposal.after % 5 == 0
            assert (proposal.after < proposal.before) is (proposal.code == "B210")
            assert proposal.code == "B211" or len(served) >= (8 if is_listed else 4)
        if proposal.is_lead:
            assert 0 < proposal.after <= MAX_LEAD
            assert proposal.code != "B213" or not any(date.late for date in known)


@given(DATES)
def test_dates_with_faults_do_not_change_the_proposals(dates: tuple[PastDate, ...]) -> None:
    now = Asked(300, 30, 5)
    clean = tuple(date for date in dates if not date.faults)

    assert proposals(dates, now) == proposals(clean, now)
