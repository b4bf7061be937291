"""What people lose is never only behind a fold or in `and 12 more`, whatever harmless change is around."""

import re
from random import Random

import pytest
from berth.dates.expansion import Occurrence
from berth.diff.change import Change, FieldChange, OccurrenceChanges, ReservationChange, SideSummary
from berth.diff.difftext import TextStyle, as_text
from berth.diff.markdown import LIMIT, as_markdown

from tests.diff.conftest import Pair
from tests.seeds import seeds

_FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)


def _date(name: str, seats: int) -> Occurrence:
    at = 1770000000
    return Occurrence(name, f"{name}/a", at, at + 60, at + 600, (("a", seats),), "UTC", (), "2026-02-02")


def _change(random: Random) -> tuple[Change, set[str]]:
    """Return new titles and courses with losses anywhere between, and the names of the losses."""
    kinds = ["title"] * random.choice((10, 120, 1000)) + ["added"] * random.choice((0, 10, 60))
    kinds += ["removed", "dates", "seats", "shorter", "standing"] * random.choice((1, 3, 20))
    random.shuffle(kinds)
    items, lost = [], set()
    for number, kind in enumerate(kinds):
        name = f"r{number:04}"
        date = _date(name, 5)
        dates = {
            "title": OccurrenceChanges((), (), (), 3),
            "added": OccurrenceChanges((date,), (), (), 0),
            "removed": OccurrenceChanges((), (date,), (), 0),
            "dates": OccurrenceChanges((), (date,), (), 3),
            "seats": OccurrenceChanges((), (), ((date, _date(name, 4)),), 3),
            "shorter": OccurrenceChanges((), (), ((date, date._replace(end=date.end - 60)),), 3),
            "standing": OccurrenceChanges((), (), (), 0),
        }[kind]
        hours = (2, 1) if kind == "shorter" else (0, 0)
        standing = ("5 gpu, always", "4 gpu, always") if kind == "standing" else ("", "")
        fields = () if kind in ("added", "removed") else (FieldChange("title", "<" * 190, "`" * 190),)
        what = kind if kind in ("added", "removed") else "changed"
        item = ReservationChange(
            name, name, what, "<" * 190, "UTC", ("prod",), fields, dates, hours, standing
        )
        items.append(item)
        lost |= set() if kind in ("title", "added") else {name}
    sides = SideSummary("main", (), True), SideSummary("working tree", (), True)
    return Change(*sides, tuple(items), (), (), ()), lost


@pytest.mark.parametrize("seed", seeds(12, 60))
@pytest.mark.parametrize("limit", [4000, LIMIT])
def test_every_reservation_that_loses_seats_or_dates_is_visible_outside_of_folds(
    seed: int, limit: int
) -> None:
    change, lost = _change(Random(seed))
    comment = as_markdown(change, "UTC", limit)
    visible = _FOLD.sub("", comment)

    assert len(comment) <= limit
    assert lost <= {*re.findall(r"r\d{4}", visible)}
    assert lost <= {*re.findall(r"r\d{4}", as_text(change, "UTC", TextStyle(False, None), wide=False))}


def test_a_comment_too_short_for_the_losses_starts_with_incomplete() -> None:
    change, _ = _change(Random(1))
    comment = as_markdown(change, "UTC", 300)

    assert len(comment) <= 300
    assert comment.startswith("### INCOMPLETE")


def test_a_removed_reservation_is_a_github_warning_at_the_site(pair: Pair) -> None:
    (pair.now / "reservations/course.yaml").unlink()
    warnings = [line for line in pair.diff("-o", "github").out.splitlines() if "::course: " in line]

    assert warnings[0].startswith("::warning file=")
    assert "site.yaml" in warnings[0]
