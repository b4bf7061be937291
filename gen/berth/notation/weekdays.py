"""Weekdays and week numbers as people write them: `mon`, `mon-fri`, `monday, wednesday`, `odd`, `6-8,10`."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from berth.notation.refusal import Refusal, close, reads, shown

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)
_NEGATIVE = re.compile(r"-[0-9]{1,9}", re.ASCII)
LAST_WEEK = 53  # of an ISO year that has so many
WEEKS = {"odd": tuple(range(1, LAST_WEEK + 1, 2)), "even": tuple(range(2, LAST_WEEK + 1, 2))}

# Short forms besides the first three letters. A single T or S would be either of two.
_SHORT = ("m mo", "tu tues", "w we weds", "th thur thurs", "f fr", "sa", "su")
_WORDS = {
    **{word: (day,) for day, words in enumerate(_SHORT, 1) for word in words.split()},
    **{f"{name}{end}": (day,) for day, name in enumerate(DAY_NAMES, 1) for end in ("", "s")},
    **{f"{name}{end}": (day,) for day, name in enumerate(WEEKDAYS, 1) for end in ("", "s")},
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays"), (1, 2, 3, 4, 5)),
    **dict.fromkeys(("weekend", "weekends"), (6, 7)),
}
_LETTERS = re.compile("(m)?(tu?)?(w)?(th|r)?(f)?(sa)?(su)?")  # MWF, TTh, TuTh, MTWRF
# Words that change nothing. `other` is none of them: every other week is not every week.
_FILLERS = re.compile(r"\b(?:every|each|on|the|and)\b")
_RANGE = re.compile(r"\s*(?:\.\.|-|\bto\b)\s*")
_RANGE_WORD = re.compile(r"\b(?:through|thru|until|till)\b")
_SEPARATOR = re.compile(r"\s*[,;/&+]\s*|\s+(?:and\s+)?")


@lru_cache(maxsize=256)
def weekday(text: str) -> int:
    """Return 1 (Monday) to 7 of an English name, its first three letters, or the number itself."""
    word = text.lower()
    for names in (WEEKDAYS, DAY_NAMES):
        if word in names:
            return names.index(word) + 1
    if _DIGITS.fullmatch(word):
        if not 1 <= int(word) <= len(WEEKDAYS):
            raise out_of_range(int(word))
        if len(word) == 1:
            return int(word)
    known = WEEKDAYS if len(word) <= len(WEEKDAYS[0]) else DAY_NAMES
    near = close(word, known)
    listed = f"Write a number from 1 (Monday) to 7, or one of {', '.join(known)}."
    fix = f"Did you mean {' or '.join(near)}?" if near else listed
    raise Refusal(f"{shown(text)} is not a weekday.", fix, "B014")


def out_of_range(number: int) -> Refusal:
    """Refuse a number that is no weekday."""
    side = "below 1" if number < 1 else "above 7"
    return Refusal(
        f"{number} is {side}.", "Write a number from 1 (Monday) to 7, or a name such as mon.", "B012"
    )


def weekdays_text(days: tuple[int, ...]) -> str:
    """Return weekdays in the words of Berth: `mon,wed`, `mon-fri`."""
    if len(days) > 2 and days == tuple(range(days[0], days[-1] + 1)):
        return f"{WEEKDAYS[days[0] - 1]}-{WEEKDAYS[days[-1] - 1]}"
    return ",".join(WEEKDAYS[day - 1] for day in days)


def _written(text: str) -> Iterator[str]:
    """Yield the weekdays of `every Monday and Wednesday` or `MWF`."""
    plain = _RANGE_WORD.sub("-", _FILLERS.sub(" ", text.lower())).strip(" ,.")
    if re.search(r"\bt(?:u[a-z]*)?\b.*\bt\b", plain):  # M T W T F, or Tu, T: one of them is Thursday
        return
    yield weekdays_text(_listed(plain, _days_of_word))


def _days_of_word(word: str) -> tuple[int, ...]:
    if word in _WORDS:
        return _WORDS[word]
    if re.fullmatch("0+[1-7]", word):
        return (int(word),)
    letters = _LETTERS.fullmatch(word)
    if not letters or not word:
        return (weekday(word),)
    return tuple(day for day, letter in enumerate(letters.groups(), 1) if letter)


@lru_cache(maxsize=256)
@reads("a list of weekdays", _written)
def weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays of a list with ranges, each once and ascending: `fri-mon` is 1, 5, 6, 7.

    Items are separated by a comma, a semicolon, a slash or spaces; a range has `-`, `..` or `to`.
    """
    return _listed(text.strip().lower(), lambda word: (weekday(word),))


def _listed(text: str, days_of: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
    days: set[int] = set()
    for part in _SEPARATOR.split(_RANGE.sub("-", text)):
        if _NEGATIVE.fullmatch(part):
            raise out_of_range(int(part))
        if not all(part.split("-")):
            raise Refusal(f"{shown(text)} has an empty place.", "Write weekdays such as mon,wed.", "B014")
        ends = [days_of(end) for end in part.split("-")]
        if len(ends) > 2 or (len(ends) == 2 and any(len(end) > 1 for end in ends)):
            message = f"{shown(part)} is not a range of weekdays."
            raise Refusal(message, "Write two weekdays, such as mon-fri.", "B014")
        first, last = ends[0][0], ends[-1][-1]
        steps = range((last - first) % 7 + 1)
        days.update(ends[0] if len(ends) == 1 else ((first + step - 1) % 7 + 1 for step in steps))
    return tuple(sorted(days))


@reads("a list of weeks", lambda _: ())
def weeks(text: str) -> tuple[int, ...]:
    """Return the ISO week numbers of `odd`, `even` or `6-8,10`, each once and ascending."""
    word = text.strip().lower()
    if word in WEEKS:
        return WEEKS[word]
    numbers: set[int] = set()
    for part in _SEPARATOR.split(_RANGE.sub("-", word)):
        ends = part.split("-")
        if _NEGATIVE.fullmatch(part):
            ends = [part]
        elif len(ends) > 2 or not all(map(_DIGITS.fullmatch, ends)):
            fix = f"Write {', '.join(WEEKS)}, or numbers such as 6-8,10."
            raise Refusal(f"{shown(text)} does not name weeks.", fix, "B014")
        first, last = int(ends[0]), int(ends[-1])
        if not (1 <= first <= LAST_WEEK and 1 <= last <= LAST_WEEK):
            message = f"{part} is not within the weeks 1 to {LAST_WEEK}."
            raise Refusal(message, "Write the number of an ISO week, or a range of them.", "B012")
        if last < first:
            over = ",".join(_range_text(*ends) for ends in ((first, LAST_WEEK), (1, last)))
            fix = f"Write {last}-{first}; over the turn of the year, write {over}."
            raise Refusal(f"the range {part} ends before it begins.", fix, "B012")
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


def _range_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
