"""Time zones as people write them: the one table of names, for files, commands, forms and calendars.

A file has a name of the tz database. Another name that means one place leads to it. Abbreviations and offsets
do not say when clocks change, so they only lead to advice, never to a zone with another offset.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from berth.dates.zone import known, load
from berth.notation.refusal import Refusal, close, reads, shown

EXAMPLE = "Write a name such as Europe/Zurich or UTC."

# Usual names, without "Standard Time" and the like, and large cities that have no zone of their own.
_USUAL = {
    "America/Los_Angeles": "pacific berkeley las_vegas san_diego san_francisco seattle stanford",
    "America/Denver": "mountain",
    "America/Phoenix": "arizona",
    "America/Chicago": "central austin dallas houston minneapolis st_louis",
    "America/New_York": "eastern atlanta boston miami philadelphia pittsburgh washington",
    "America/Toronto": "montreal ottawa quebec",
    "America/Halifax": "atlantic",
    "America/St_Johns": "newfoundland",
    "America/Anchorage": "alaska",
    "Pacific/Honolulu": "hawaii hawaii-aleutian",
    "America/Sao_Paulo": "brasilia rio_de_janeiro",
    "America/Argentina/Buenos_Aires": "argentina",
    "Europe/London": "british edinburgh glasgow manchester oxford uk",
    "Europe/Dublin": "irish",
    "Europe/Lisbon": "wet western_european",
    "Europe/Berlin": (
        "central_european cet cologne frankfurt hamburg heidelberg koeln met muenchen munich stuttgart"
    ),
    "Europe/Zurich": "basel bern berne geneva geneve lausanne lugano zuerich",
    "Europe/Athens": "eastern_european eet",
    "Europe/Paris": "grenoble lyon marseille strasbourg toulouse",
    "Europe/Rome": "bologna milan milano naples turin",
    "Europe/Madrid": "barcelona seville valencia",
    "Europe/Amsterdam": "delft leiden rotterdam utrecht",
    "Asia/Jerusalem": "haifa israel tel_aviv",
    "Asia/Kolkata": "bangalore bengaluru chennai delhi hyderabad india mumbai new_delhi",
    "Asia/Shanghai": "beijing china guangzhou hangzhou nanjing shenzhen",
    "Asia/Tokyo": "japan kyoto osaka",
    "Asia/Seoul": "korea",
    "Asia/Ho_Chi_Minh": "hanoi",
    "Africa/Johannesburg": "cape_town pretoria south_africa",
    "Africa/Lagos": "west_africa",
    "Africa/Maputo": "central_africa",
    "Africa/Nairobi": "east_africa",
    "Australia/Perth": "australian_western",
    "Australia/Adelaide": "australian_central",
    "Australia/Sydney": "australian_eastern canberra",
    "Pacific/Auckland": "new_zealand",
}
# The places that an abbreviation may mean, the usual one first.
_ABBREVIATIONS = {
    "PST PDT PT": ("America/Los_Angeles",),
    "MDT MT": ("America/Denver",),
    "CST": ("America/Chicago", "Asia/Shanghai"),
    "CDT CT": ("America/Chicago",),
    "EDT ET": ("America/New_York",),
    "AKST AKDT": ("America/Anchorage",),
    "AST": ("America/Halifax", "Asia/Riyadh"),
    "ADT": ("America/Halifax",),
    "NST NDT": ("America/St_Johns",),
    "BRT": ("America/Sao_Paulo",),
    "ART": ("America/Argentina/Buenos_Aires",),
    "BST": ("Europe/London",),
    "IST": ("Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"),
    "WEST": ("Europe/Lisbon",),
    "CEST MEZ MESZ": ("Europe/Berlin", "Europe/Zurich"),
    "EEST": ("Europe/Athens", "Europe/Helsinki"),
    "MSK": ("Europe/Moscow",),
    "TRT": ("Europe/Istanbul",),
    "SAST": ("Africa/Johannesburg",),
    "EAT": ("Africa/Nairobi",),
    "WAT": ("Africa/Lagos",),
    "CAT": ("Africa/Maputo",),
    "GST": ("Asia/Dubai",),
    "PKT": ("Asia/Karachi",),
    "ICT": ("Asia/Bangkok",),
    "SGT": ("Asia/Singapore",),
    "HKT": ("Asia/Hong_Kong",),
    "JST": ("Asia/Tokyo",),
    "KST": ("Asia/Seoul",),
    "AWST": ("Australia/Perth",),
    "ACST ACDT": ("Australia/Adelaide",),
    "AEST AEDT": ("Australia/Sydney",),
    "NZST NZDT": ("Pacific/Auckland",),
}
_PLACE = {name: place for place, names in _USUAL.items() for name in names.split()}
_PLACES = {word: places for words, places in _ABBREVIATIONS.items() for word in words.split()}
_OFFSET = re.compile(r"(?:GMT|UTC|Z)?\s*([+-])\s*([0-9]{1,2})(?::?([0-9]{2}))?", re.ASCII | re.IGNORECASE)
_OFFSET_OR_COUNTRY = re.compile(r"\((?:gmt|utc|us_)[^)]*\)")  # Pacific Time (US & Canada)
_NOT_OF_THE_NAME = re.compile(r"^(us_)?|(_(standard|daylight|summer|winter))?(_time)?$")
_ALIKE = 0.9
_UTC = frozenset({"UTC", "UCT", "Universal", "Zulu"})
_GMT = ("GMT", "GMT0", "GMT+0", "GMT-0", "Greenwich")
# Zones with one offset all year that are not places, with a place that is probably meant, if there is one.
FIXED = {
    "EST": "America/New_York",
    "MST": "America/Denver",
    "HST": "Pacific/Honolulu",
    **{f"{prefix}{name}": "Europe/London" for name in _GMT for prefix in ("", "Etc/")},
    "Etc/GMT-1": "Europe/Paris",
    "Etc/GMT-2": "Europe/Athens",
    "Etc/GMT-3": "Europe/Istanbul",
    "Etc/GMT-4": "Asia/Dubai",
    "Etc/GMT-5": "Asia/Karachi",
    "Etc/GMT-6": "Asia/Dhaka",
    "Etc/GMT-7": "Asia/Bangkok",
    "Etc/GMT-8": "Asia/Singapore",
    "Etc/GMT-9": "Asia/Tokyo",
    "Etc/GMT-10": "Australia/Sydney",
    "Etc/GMT-11": "Pacific/Noumea",
    "Etc/GMT-12": "Pacific/Auckland",
    "Etc/GMT-13": "Pacific/Tongatapu",
    "Etc/GMT-14": "Pacific/Kiritimati",
    "Etc/GMT+1": "Atlantic/Azores",
    "Etc/GMT+2": "America/Noronha",
    "Etc/GMT+3": "America/Sao_Paulo",
    "Etc/GMT+4": "America/Halifax",
    "Etc/GMT+5": "America/New_York",
    "Etc/GMT+6": "America/Chicago",
    "Etc/GMT+7": "America/Denver",
    "Etc/GMT+8": "America/Los_Angeles",
    "Etc/GMT+9": "America/Anchorage",
    "Etc/GMT+10": "Pacific/Honolulu",
    "Etc/GMT+11": "Pacific/Pago_Pago",
    "Etc/GMT+12": "",
}


@lru_cache(maxsize=256)
@reads("a time zone of the tz database", lambda _: ())
def zone(text: str) -> str:
    """Return the name of a zone, spelled exactly as the tz database has it."""
    if text in known():
        return text
    raise Refusal(f"{shown(text)} is not a time zone of the tz database.", zone_advice(text), "B021")


class ZoneText(NamedTuple):
    """A place that a text means; `setting`: what its clocks show if the text is right, such as EST."""

    place: str
    setting: str


def zone_text(text: str) -> ZoneText:
    """Return what a text of a command or form says of a zone. Raise Refusal if it may be of several places.

    EST is a name of the tz database, too, but for clocks that no place with summer time has.
    """
    words, text = _words(text), in_any_case(text) or text
    if text in FIXED and "/" not in text:
        places: tuple[str, ...] = (FIXED[text],)
    elif text in known():
        places = (_PLACE.get(words.removeprefix("us/"), text),)  # US/Pacific
    else:
        places = () if _OFFSET.fullmatch(text.strip()) else meant(text)
    if len(places) != 1:
        return ZoneText(zone(text), "")
    both = [_clocks(places[0], datetime(2027, month, 15, tzinfo=UTC)) for month in (1, 7)]
    setting = _OFFSET_OR_COUNTRY.sub("", words).strip("_").upper()
    if "daylight" in words or "summer" in words:
        setting = max(both, key=lambda clocks: clocks.dst() or timedelta()).tzname() or ""
    names = {clocks.tzname() for clocks in both}
    return ZoneText(places[0], setting if setting in names and len(names) > 1 else "")


def zone_at(text: str, starts: Iterable[int] | None = None) -> str:
    """Return the zone that a text of a command or form means at these instants; by default all year.

    Raise Refusal for EST unless the clocks of its place show it at each of them: the place may be meant, or
    the offset.
    """
    place, setting = zone_text(text)
    year = [datetime(2027, month, 15, tzinfo=UTC) for month in (1, 7)]
    moments = year if starts is None else [datetime.fromtimestamp(start, UTC) for start in starts]
    for clocks in (_clocks(place, moment) for moment in moments if setting):
        if clocks.tzname() != setting:
            meant_by = next(
                one for one in (_clocks(place, moment) for moment in year) if one.tzname() == setting
            )
            ahead = round((meant_by.utcoffset() or timedelta()) / timedelta(hours=1))
            fixed = f"Etc/GMT{-ahead:+}" if ahead else "UTC"
            message = f"clocks in {place} show {clocks.tzname()} on {clocks:%Y-%m-%d}, not {setting}."
            raise Refusal(message, f"Write {place}, or {fixed} for {setting} all year.", "B021")
    return place


def _clocks(place: str, moment: datetime) -> datetime:
    """Return what clocks of a place show."""
    found = load(place)
    return moment.astimezone(found.offsets.info if found else UTC)


def is_utc(name: str) -> bool:
    return name.removeprefix("Etc/") in _UTC


def in_any_case(text: str) -> str:
    """Return the name of the tz database that a text spells in any case; empty if there is none."""
    return _lowered().get(_words(text), "")


def by_name(text: str) -> str:
    """Return the zone that a name means: of the tz database in any case, of Windows, or a usual one.

    Return an empty text for any other, also for an abbreviation.
    """
    words = _words(text)
    return in_any_case(text) or windows_places().get(words) or _PLACE.get(_usual_name(words), "")


def meant(text: str) -> tuple[str, ...]:
    """Return the zones that a name or an abbreviation may mean, the usual one first; none if unknown."""
    if name := by_name(text):
        return (name,)
    words = _words(text)
    if places := _PLACES.get(_OFFSET_OR_COUNTRY.sub("", words).strip("_").upper()):
        return places
    region, _, city = _usual_name(words).rpartition("/")
    if region:
        place = _PLACE.get(city, "")
        return (place,) if place.lower().startswith(f"{region}/") else ()
    return tuple(sorted(name for lower, name in _lowered().items() if lower.rpartition("/")[2] == city))


@lru_cache(maxsize=256)
def zone_advice(text: str) -> str:
    """Return what to write instead of a text that is not the name of a zone."""
    if offset := _OFFSET.fullmatch(text.strip()):
        return _place_of_offset(offset[1], int(offset[2]), int(offset[3] or 0))
    places = meant(text)
    if len(places) > 1:
        return f"Write the place, such as {places[0]} (or {' or '.join(places[1:])})."
    if places:
        return f"Write {places[0]}."
    near = close(text[:60], [name for name in known() if name not in FIXED], _ALIKE)
    return f"Did you mean {' or '.join(near)}?" if near else EXAMPLE


def _words(text: str) -> str:
    """Return a name as keys of tables have it: `w._europe_standard_time`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "_".join(plain.lower().split())


def _usual_name(words: str) -> str:
    """Return a name without what many have: `pacific` of `us_pacific_standard_time`."""
    return _NOT_OF_THE_NAME.sub("", _OFFSET_OR_COUNTRY.sub("", words).strip("_"))


def _place_of_offset(sign: str, hours: int, minutes: int) -> str:
    """Advise on `GMT+2`: POSIX's names have the opposite sign, so that `Etc/GMT+2` is four hours off."""
    if not hours and not minutes:
        return "Write UTC, or the place."
    name = f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"
    if minutes or name not in known():
        return "Write the name of the place."
    place = f", such as {FIXED[name]}" if FIXED[name] else ""
    return f"Write the name of the place{place}; {name} is UTC{sign}{hours}, all year."


@cache
def _lowered() -> Mapping[str, str]:
    return {name.lower(): name for name in known()}


@cache
def windows_places() -> Mapping[str, str]:
    """Return the zone of each name of Windows; the keys are as `w._europe_standard_time`."""
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON  # noqa: PLC0415 - slow

    return {_words(name): place for name, place in WINDOWS_TO_OLSON.items()}
