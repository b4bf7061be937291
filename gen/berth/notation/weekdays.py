"""Weekdays and week numbers as people write them: `mon`, `mon-fri`, `monday, wednesday`, `odd`, `6-8,10`."""

import re
from functools import lru_cache

from berth.notation.refusal import CHOICE, RANGE, Refusal, close, reads_lookalikes, shown

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = ("1", "2", "3", "4", "5", "6", "7")
_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)
_NEGATIVE = re.compile(r"-[0-9]{1,9}", re.ASCII)
LAST_WEEK = 53  # of an ISO year that has so many
WEEKS = {"odd": tuple(range(1, LAST_WEEK + 1, 2)), "even": tuple(range(2, LAST_WEEK + 1, 2))}

# What people write instead, with the weekday that it stands for. Only advice is made of it.
_ELSEWHERE = (
    ("montag", "lundi", "lunedi", "lunedì", "lunes", "maandag", "segunda"),
    ("dienstag", "mardi", "martedi", "martedì", "martes", "dinsdag", "terça"),
    ("mittwoch", "mercredi", "mercoledi", "mercoledì", "miercoles", "miércoles", "woensdag", "quarta"),
    ("donnerstag", "jeudi", "giovedi", "giovedì", "jueves", "donderdag", "quinta"),
    ("freitag", "vendredi", "venerdi", "venerdì", "viernes", "vrijdag", "sexta"),
    ("samstag", "sonnabend", "samedi", "sabato", "sabado", "sábado", "zaterdag"),
    ("sonntag", "dimanche", "domenica", "domingo", "zondag"),
)
_OF_SEVERAL = {
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays"), "mon-fri"),
    **dict.fromkeys(("weekend", "weekends"), "sat,sun"),
}
# Words that change nothing. `other` is none of them: every other week is not every week.
_FILLERS = ("every", "each", "on", "the", "and", "jeden", "am", "und", "chaque", "le", "et")
_RANGE = re.compile(r"\s*(?:\.\.|-|\bto\b)\s*")
_SEPARATOR = re.compile(r"\s*[,;/&+]\s*|\s+(?:and\s+)?")


@lru_cache(maxsize=256)
def weekday(text: str) -> int:
    """Return 1 (Monday) to 7 of an English name, its first three letters, or the number itself."""
    word = text.lower()
    for names in (WEEKDAYS, DAY_NAMES, _NUMBERS):
        if word in names:
            return names.index(word) + 1
    if _DIGITS.fullmatch(word):
        if 1 <= int(word) <= len(_NUMBERS):
            raise Refusal(f"{shown(text)} is not a weekday.", f"Write {int(word)}.", CHOICE)
        raise out_of_range(int(word))
    raise Refusal(f"{shown(text)} is not a weekday.", _advice(word), CHOICE)


def out_of_range(number: int) -> Refusal:
    """Refuse a number that is no weekday."""
    side = "below 1" if number < 1 else "above 7"
    return Refusal(
        f"{number} is {side}.", "Write a number from 1 (Monday) to 7, or a name such as mon.", RANGE
    )


def _advice(word: str) -> str:
    meant = _meant_by_word(word)
    if meant:
        return f"Write {meant}."
    known = WEEKDAYS if len(word) <= len(WEEKDAYS[0]) else DAY_NAMES
    names = close(word, known)
    if names:
        return f"Did you mean {' or '.join(names)}?"
    return f"Write a number from 1 (Monday) to 7, or one of {', '.join(known)}."


def _meant_by_word(word: str) -> str:
    """Return the weekdays that a word stands for: `mondays`, `montag`, `weekend`; empty for none."""
    if word in _OF_SEVERAL:
        return _OF_SEVERAL[word]
    for name, day_name, others in zip(WEEKDAYS, DAY_NAMES, _ELSEWHERE, strict=True):
        if word.removesuffix("s") in (name, day_name) or word in others:
            return name
    return ""


def _meant_by_phrase(text: str) -> str:
    """Return the weekdays that `every monday` or `montag und mittwoch` stands for; empty if not clear."""
    meant = []
    for part in _SEPARATOR.split(_RANGE.sub("-", text)):
        if part not in _FILLERS:
            days = [_meant_by_word(end) for end in part.split("-")]
            if not all(days) or (len(days) > 1 and not {*days} <= {*WEEKDAYS}) or len(days) > 2:
                return ""
            meant.append("-".join(days))
    return ",".join(meant)


@lru_cache(maxsize=256)
def weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays of a list with ranges, each once and ascending: `fri-mon` is 1, 5, 6, 7.

    Items are separated by a comma, a semicolon, a slash or spaces; a range has `-`, `..` or `to`.
    """
    phrase = text.strip().lower()
    try:
        return _weekdays(phrase)
    except Refusal as refusal:
        meant = _meant_by_phrase(phrase)
        if not meant or refusal.message.startswith(shown(phrase)):  # the advice is about all of it already
            raise
        raise Refusal(f"{shown(phrase)} does not name weekdays.", f"Write {meant}.", CHOICE) from None


@reads_lookalikes
def _weekdays(text: str) -> tuple[int, ...]:
    days: set[int] = set()
    for part in _SEPARATOR.split(_RANGE.sub("-", text)):
        if _NEGATIVE.fullmatch(part):
            raise out_of_range(int(part))
        if not all(part.split("-")):
            raise Refusal(f"{shown(text)} has an empty place.", "Write weekdays such as mon,wed.", CHOICE)
        ends = [weekday(end) for end in part.split("-")]
        if len(ends) > 2:
            message = f"{shown(part)} is not a range of weekdays."
            raise Refusal(message, "Write two weekdays, such as mon-fri.", CHOICE)
        first, last = ends[0], ends[-1]
        days.update((first + step - 1) % 7 + 1 for step in range((last - first) % 7 + 1))
    return tuple(sorted(days))


@reads_lookalikes
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
            raise Refusal(f"{shown(text)} does not name weeks.", fix, CHOICE)
        first, last = int(ends[0]), int(ends[-1])
        if not (1 <= first <= LAST_WEEK and 1 <= last <= LAST_WEEK):
            message = f"{part} is not within the weeks 1 to {LAST_WEEK}."
            raise Refusal(message, "Write the number of an ISO week, or a range of them.", RANGE)
        if last < first:
            over = ",".join(_range_text(*ends) for ends in ((first, LAST_WEEK), (1, last)))
            fix = f"Write {last}-{first}; over the turn of the year, write {over}."
            raise Refusal(f"the range {part} ends before it begins.", fix, RANGE)
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


def _range_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
