"""Time zones as people write them: a name of the tz database, or what leads to one.

Abbreviations, offsets and Windows' names are refused, because they do not say when clocks change. The advice
is a place, never one with another offset than the text has.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from berth.dates.zone import known
from berth.notation.refusal import Refusal, close, shown

ZONE = "B021"
EXAMPLE = "Write a name such as Europe/Zurich or UTC."

# The places that an abbreviation may mean, the usual one first.
_ABBREVIATIONS = {
    "PST PDT PT PACIFIC": ("America/Los_Angeles",),
    "MST MDT MT MOUNTAIN": ("America/Denver",),
    "CST CDT CT CENTRAL": ("America/Chicago", "Asia/Shanghai"),
    "EST EDT ET EASTERN": ("America/New_York",),
    "AKST AKDT": ("America/Anchorage",),
    "AST ADT": ("America/Halifax",),
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
_PLACES = {word: places for words, places in _ABBREVIATIONS.items() for word in words.split()}
# Cities that have no zone of their own, with the zone of their country.
_CITIES = {
    "Asia/Shanghai": "beijing shenzhen guangzhou hangzhou nanjing",
    "Asia/Kolkata": "mumbai delhi new_delhi bangalore bengaluru chennai hyderabad",
    "Europe/Zurich": "bern berne geneva geneve basel lausanne lugano",
    "Europe/Berlin": "munich muenchen hamburg frankfurt cologne koeln stuttgart heidelberg",
    "Europe/Paris": "lyon marseille toulouse strasbourg grenoble",
    "Europe/Rome": "milan milano turin bologna naples",
    "Europe/Madrid": "barcelona valencia seville",
    "Europe/London": "oxford cambridge manchester edinburgh glasgow",
    "Europe/Amsterdam": "rotterdam utrecht delft leiden",
    "America/New_York": "boston washington philadelphia atlanta miami pittsburgh",
    "America/Los_Angeles": "san_francisco berkeley seattle san_diego portland las_vegas stanford",
    "America/Chicago": "houston dallas austin minneapolis st_louis",
    "America/Toronto": "ottawa montreal quebec waterloo",
    "Asia/Jerusalem": "tel_aviv haifa",
    "Asia/Tokyo": "osaka kyoto",
    "Asia/Ho_Chi_Minh": "hanoi",
    "Australia/Sydney": "canberra",
    "America/Sao_Paulo": "rio_de_janeiro brasilia",
    "Africa/Johannesburg": "cape_town pretoria",
}
_ZONE_OF_CITY = {city: zone for zone, cities in _CITIES.items() for city in cities.split()}
_OFFSET = re.compile(r"(?:GMT|UTC|Z)?\s*([+-])\s*([0-9]{1,2})(?::?([0-9]{2}))?", re.ASCII | re.IGNORECASE)
# Zones that have one offset all year, with a place of that offset whose clocks change.
FIXED = {
    "EST": "America/New_York",
    "MST": "America/Denver",
    **dict.fromkeys(("GMT", "GMT0", "GMT+0", "GMT-0", "Greenwich", "Etc/Greenwich"), "Europe/London"),
    **dict.fromkeys(("Etc/GMT", "Etc/GMT0", "Etc/GMT+0", "Etc/GMT-0"), "Europe/London"),
    "Etc/GMT-1": "Europe/Paris",
    "Etc/GMT-2": "Europe/Athens",
    "Etc/GMT-10": "Australia/Sydney",
    "Etc/GMT-12": "Pacific/Auckland",
    "Etc/GMT+3": "America/Miquelon",
    "Etc/GMT+4": "America/Halifax",
    "Etc/GMT+5": "America/New_York",
    "Etc/GMT+6": "America/Chicago",
    "Etc/GMT+7": "America/Denver",
    "Etc/GMT+8": "America/Los_Angeles",
    "Etc/GMT+9": "America/Anchorage",
    "Etc/GMT+10": "America/Adak",
}


@lru_cache(maxsize=256)
def zone(text: str) -> str:
    """Return the name of a zone, spelled exactly as the tz database has it."""
    if text in known():
        return text
    raise Refusal(f"{shown(text)} is not a time zone of the tz database.", _advice(text.strip()), ZONE)


def _advice(text: str) -> str:
    lowered = {name.lower(): name for name in known()}
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = "_".join(plain.lower().split())
    if words in lowered:
        return f"Write {lowered[words]}."
    if text.upper() in _PLACES:
        places = _PLACES[text.upper()]
        also = f" (or {' or '.join(places[1:])})" if len(places) > 1 else ""
        return f"Write the place, such as {places[0]}{also}."
    offset = _OFFSET.fullmatch(text)
    if offset:
        return _place_of_offset(offset[1], int(offset[2]), int(offset[3] or 0))
    city = words.rpartition("/")[2]
    if city in _ZONE_OF_CITY:
        return f"Write {_ZONE_OF_CITY[city]}."
    at_end = sorted(name for lower, name in lowered.items() if lower.rpartition("/")[2] == city)
    if at_end:
        return f"Write {at_end[0]}."
    if words in windows_places():
        return f"Write {windows_places()[words]}."
    if (
        len(text) <= 5 and text.isalpha()
    ):  # an abbreviation that nobody knows: what looks like it is elsewhere
        return EXAMPLE
    near = close(text, known(), 0.75)
    return f"Did you mean {' or '.join(near)}?" if near else EXAMPLE


def _place_of_offset(sign: str, hours: int, minutes: int) -> str:
    """Advise on `GMT+2`: POSIX's names have the opposite sign, so that `Etc/GMT+2` is four hours off."""
    if not hours and not minutes:
        return "Write UTC, or the place."
    name = f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"
    if minutes or name not in known():
        return "Write the name of the place."
    place = f", such as {FIXED[name]}" if name in FIXED else ""
    return f"Write the name of the place{place}; {name} is UTC{sign}{hours}, all year."


@cache
def windows_places() -> Mapping[str, str]:
    """Return the zone of each name of Windows; the keys are as `w._europe_standard_time`."""
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON  # noqa: PLC0415 - slow

    return {"_".join(name.lower().split()): place for name, place in WINDOWS_TO_OLSON.items()}
