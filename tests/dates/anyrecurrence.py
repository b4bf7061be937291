"""Recurrences of every kind, in every zone, for properties."""

from datetime import date, timedelta
from typing import Any

from berth.dates.zone import known
from berth.notation.weekdays import WEEKS
from berth.schema.seatholders import BEHAVIORS
from berth.schema.values import Entry, EntryDates, Recurrence, Scaling
from hypothesis import settings
from hypothesis import strategies as st

from tests.cases import recurrence

EXAMPLES = settings(max_examples=150)
DAY = 1440


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Any that has a length; of one or two classes."""
    start, end = draw(st.integers(0, 287)) * 5, draw(st.integers(0, 288)) * 5
    end_day = draw(st.sampled_from([None, None, None, 0, 1, 2]))
    if end == start or (end_day == 0 and end < start):
        end_day = 1
    days = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True))
    seats = draw(st.sampled_from([(("small", 25),), (("small", 2), ("huge", 1)), (("huge", 3),)]))
    one = st.builds(Scaling, st.integers(0, 1440), st.sampled_from(BEHAVIORS))
    scaling = draw(st.one_of(st.just(()), st.tuples(*[one for _ in seats])))
    return Entry(tuple(sorted(days)), start, end, end_day, seats, scaling)


@st.composite
def entry_dates(draw: st.DrawFn, kind: str, first: date, last: date) -> EntryDates:
    """Which dates an entry has: within those of the recurrence, or of an item of `dates`."""
    some = draw(st.sampled_from(["all", "all", "span", "weeks", "nth"]))
    if some == "all" or (some != "span" and kind == "daily"):
        return EntryDates()
    if some == "span":
        begin = draw(st.none() | st.dates(first, last))
        return EntryDates(begin, draw(st.none() | st.dates(begin or first, last)))
    if kind == "dates":
        return EntryDates(listed=1)
    if some == "nth":
        return EntryDates(nth=draw(st.sampled_from([1, 2, 3, 4, 5, -1])))
    listed = st.sets(st.integers(1, 53), min_size=1).map(lambda weeks: tuple(sorted(weeks)))
    return EntryDates(weeks=draw(st.sampled_from(list(WEEKS.values())) | listed))


@st.composite
def recurrences(draw: st.DrawFn) -> Recurrence:
    kind = draw(st.sampled_from(["daily", "weekly", "dates"]))
    first = date(2024, 1, 1) + timedelta(days=draw(st.integers(0, 1460)))
    last = first + timedelta(days=draw(st.integers(0, 60)))
    schedule = draw(st.lists(entries(), min_size=1, max_size=4))
    name = draw(st.sampled_from(known()))
    made = recurrence(kind, name, *schedule, days=f"{first}/{last},{last}/{last + timedelta(days=2)}")
    if kind != "dates" and draw(st.booleans()):
        made = made._replace(**draw(terms(first)))
    made = made._replace(interval=draw(st.integers(1, 4)) if kind == "weekly" else 1)
    names = st.sampled_from(["", "", "extra-time", "2"])
    limited = [one._replace(name=draw(names), dates=draw(entry_dates(kind, first, last))) for one in schedule]
    return made._replace(schedule=tuple(limited))


@st.composite
def terms(draw: st.DrawFn, first: date) -> dict[str, Any]:
    """One to three terms, which may overlap, from a date on."""
    spans = [
        (first + timedelta(days=begin), first + timedelta(days=begin + days))
        for begin, days in draw(
            st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=3)
        )
    ]
    names = tuple(f"term-{number}" for number in range(len(spans)))
    begin, end = min(one for one, _ in spans), max(one for _, one in spans)
    return {"within": names, "terms": tuple(sorted(spans)), "first": begin, "last": end}
