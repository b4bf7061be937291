"""Sessions as people write them: what a text means, and how a slip in it is told."""

import pytest
from berth.core.jsonvalues import instant_text, parse_instant
from berth.dates.moments import named, read
from berth.notation.refusal import CommandError
from berth.sessiontext import SessionScene, example_crowd, parse_changes
from berth.simulation import SessionChange
from hypothesis import given
from hypothesis import strategies as st

ZURICH = named("Europe/Zurich")


def scene(opens: str, end: str, *classes: str, usual: str | None = None) -> SessionScene:
    """Local times of Zurich; one class `small` unless said."""
    first, last = read(opens, ZURICH), read(end, ZURICH)
    assert first is not None
    assert last is not None
    names = classes or ("small",)
    return SessionScene(
        ZURICH, first, last, names, names[0] if usual is None and len(names) == 1 else usual or ""
    )


MORNING = scene("2026-02-02 08:30", "2026-02-02 13:00")
NIGHT = scene("2026-03-28 21:30", "2026-03-29 06:00")
WEEKEND = scene("2026-03-06 16:00", "2026-03-08 12:00")
BOTH = scene("2026-02-02 08:30", "2026-02-02 13:00", "small", "gpu")


def said(text: str, where: SessionScene = MORNING, source: str = "--sessions") -> list[str]:
    """`02T07:55:00Z +10` for each change of the first class."""
    found = parse_changes(text, source, where)[where.classes[0]]
    return [f"{instant_text(change.at)[8:]} {change.number:+}" for change in found]


def refused(text: str, where: SessionScene = MORNING, source: str = "--sessions") -> str:
    with pytest.raises(CommandError) as caught:
        parse_changes(text, source, where)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "08:55+10,09:20+8,11:00-3",
        " 08:55 +10 , 09:20:00+8, 11:00-3 ",
        "08:55+10\n09:20+8\r\n11:00\u22123\n",
        "# a rehearsal\n\n08:55+10, 09:20+8 # late ones\n11:00-3",
        "time,change\n08:55,10\n09:20,+8\n11:00,-3\n",
        'time,change,class\n"08:55","10","small"\n09:20,8,small\n11:00,-3,small',
        "08:55,10\n09:20+8,11:00-3",
        "2026-02-02 08:55+10, 2026-02-02T09:20+8, 2026-02-02T10:00:00Z-3",
        "2026-02-02T08:55+01:00+10, 2026-02-02T12:20+04:00+8, 11:00-3 small",
    ],
    ids=["plain", "spaces", "lines", "comments", "csv", "csv-quoted", "mixed", "dated", "offsets"],
)
def test_all_notations_give_the_same_changes(text: str) -> None:
    assert said(text) == ["02T07:55:00Z +10", "02T08:20:00Z +8", "02T10:00:00Z -3"]


def test_an_empty_text_gives_no_sessions() -> None:
    assert said("") == said("\n# nobody\n") == said("time,change\n") == []


@pytest.mark.parametrize(
    ("text", "where", "expected"),
    [
        ("08:00+5", MORNING, ["02T07:00:00Z +5"]),
        ("08:00:30+5,08:00:30-5", MORNING, ["02T07:00:30Z +5", "02T07:00:30Z -5"]),
        ("2026-02-01 08:31+5", MORNING, ["01T07:31:00Z +5"]),
        ("21:00+5", NIGHT, ["28T20:00:00Z +5"]),
        ("22:00+5,23:00+1,00:30-2", NIGHT, ["28T21:00:00Z +5", "28T22:00:00Z +1", "28T23:30:00Z -2"]),
        ("05:59+5", NIGHT, ["29T03:59:00Z +5"]),
        ("01:59+5,02:30-2,03:30-2", NIGHT, ["29T00:59:00Z +5", "29T01:30:00Z -2", "29T01:30:00Z -2"]),
        (
            "17:00+9,09:00-3,17:00-3,09:00-3",
            WEEKEND,
            ["06T16:00:00Z +9", "07T08:00:00Z -3", "07T16:00:00Z -3", "08T08:00:00Z -3"],
        ),
        ("17:00+9,2026-03-08 11:59:59-9", WEEKEND, ["06T16:00:00Z +9", "08T10:59:59Z -9"]),
        ("2026-03-06 15:00+9", WEEKEND, ["06T14:00:00Z +9"]),
        ("2026-03-07+9", WEEKEND, ["06T23:00:00Z +9"]),
        ("2026-03-28 22:00+5 small,2026-03-28T21:30-02:00-3", NIGHT, ["28T21:00:00Z +5", "28T23:30:00Z -3"]),
    ],
    ids=[
        "before-the-opening",
        "twice-at-once",
        "the-day-before",
        "before-a-night",
        "over-midnight",
        "after-midnight",
        "in-a-gap",
        "day-after-day",
        "dated",
        "before-a-weekend",
        "a-date-alone",
        "dates-and-offsets-with-signs",
    ],
)
def test_a_time_of_day_is_the_first_instant_that_fits(
    text: str, where: SessionScene, expected: list[str]
) -> None:
    assert said(text, where) == expected


def test_changes_are_grouped_by_class_and_may_use_a_default_class() -> None:
    at = [parse_instant(f"2026-02-02T{hour:02}:00:00Z") for hour in (8, 9, 10)]

    assert parse_changes("09:00+3 gpu, 10:00+4 small, 11:00-1 gpu", "x", BOTH) == {
        "small": [SessionChange(at[1], 4)],
        "gpu": [SessionChange(at[0], 3), SessionChange(at[2], -1)],
    }
    assert parse_changes("09:00,3,gpu\n10:00,4\n", "x", BOTH._replace(usual="small")) == {
        "small": [SessionChange(at[1], 4)],
        "gpu": [SessionChange(at[0], 3)],
    }


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("8:55+10", ('"8:55+10"', '"8:55"')),
        ("08:55", ('"08:55"',)),
        ("08:55+10,,09:00+1", ('""',)),
        ("08:55+0", ('"08:55+0"',)),
        ("2026-02-30 08:55+1", ('"2026-02-30 08:55+1"', '"2026-02-30 08:55"')),
        ("09:00+3,08:55+1", ('"08:55+1"',)),
        ("13:00+3", ('"13:00+3"', "Mon 2026-02-02 13:00")),
        ("2026-02-01 08:29+5", ('"2026-02-01 08:29+5"', "Mon 2026-02-02 08:30", "08:30+5")),
        ("09:00+3,10:00-4", ('"10:00-4"', " 4 ", " 3 ")),
        ("09:00+9999,09:01+2", ('"09:01+2"', "10000")),
        ("09:00+3 gpu", ('"09:00+3 gpu"', '"gpu"', "small")),
    ],
    ids=[
        "time",
        "no-change",
        "empty",
        "nobody",
        "no-such-date",
        "order",
        "after-the-end",
        "long-before",
        "below-zero",
        "too-many",
        "class",
    ],
)
def test_a_mistake_is_reported_with_the_text_that_has_it(text: str, named: tuple[str, ...]) -> None:
    told(refused(text), "--sessions", *named)


def told(message: str, source: str, first: str, *others: str) -> None:
    """A message names the change first."""
    assert message.startswith(f"{source}: {first}")
    assert [other for other in others if other not in message] == []


def test_a_change_must_name_its_class_if_there_are_several() -> None:
    told(refused("09:00+3", BOTH), "--sessions", '"09:00+3"', "small, gpu", "--class")


def test_sessions_of_one_class_do_not_leave_for_another() -> None:
    told(refused("09:00+3 gpu,10:00-1 small", BOTH), "--sessions", '"10:00-1 small"', " 1 ", " 0 ")


def test_times_that_are_out_of_order_over_midnight_are_reported() -> None:
    told(refused("23:00+5,22:30+2", NIGHT), "--sessions", '"22:30+2"')
    told(refused("01:00+5,07:00-2", NIGHT), "--sessions", '"07:00-2"', "Sun 2026-03-29 06:00")


def test_a_mistake_in_a_file_is_reported_with_its_line() -> None:
    text = "time,change\n08:55,10\n\n# late\n09:20,8\n11:00,-30\n"

    told(refused(text, source="arrivals.csv"), "arrivals.csv:6", '"11:00,-30"', "30", "18")
    told(refused("time,change\ntime,change\n", source="a.csv"), "a.csv:2", '"time"')


@given(st.text(st.sampled_from('0123456789:+-, \n#TZ"abn.\u2212\x00'), max_size=40) | st.text(max_size=40))
def test_any_text_is_understood_or_refused_in_one_line(text: str) -> None:
    try:
        found, message = parse_changes(text, "--sessions", MORNING)["small"], ""
    except CommandError as error:
        found, message = [], str(error)

    assert not message or message.startswith("--sessions: ")
    assert "\n" not in message
    assert [one.at for one in found] == sorted(one.at for one in found)
    assert all(one.number and one.at < MORNING.end for one in found)


ZONES = st.sampled_from(["Europe/Zurich", "UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])
SEATS = st.dictionaries(st.sampled_from(["small", "gpu", "large"]), st.integers(1, 600), min_size=1)
MINUTES = st.integers(1, 3 * 1440)


@given(ZONES, SEATS, st.integers(0, 366 * 1440), st.integers(0, 1440), MINUTES)
def test_an_example_crowd_is_valid_and_comes_within_the_open_window(
    zone: str, seats: dict[str, int], minute: int, lead: int, length: int
) -> None:
    start = 1_767_225_600 + 60 * minute  # in 2026, at clock changes too
    names = tuple(seats)
    usual = names[0] if len(names) == 1 else ""
    window = SessionScene(named(zone), start - 60 * lead, start + 60 * length, names, usual)
    found = parse_changes(example_crowd(window, start, seats), "--sessions", window)

    for name, changes in found.items():
        come = sum(change.number for change in changes if change.number > 0)
        assert 0 < come <= seats[name]
        assert all(window.open <= change.at < window.end for change in changes)
