"""The types of single values: each a grammar with its description and its part of the JSON Schema."""

from datetime import date
from decimal import Decimal
from math import isfinite
from typing import Annotated, Any, Literal

from berth.notation import days, times, weekdays, zones
from berth.reading.scalar import ZeroPrefixedNumber
from berth.schema import grammar
from berth.schema.basemodel import Length, Parsed, Text, Whole, wrong_type
from berth.schema.counts import MOST_SEATS, SEAT_WORDS
from berth.schema.documentproblems import Refusal, shown

INT32, INT64 = 2**31 - 1, 2**63 - 1
_MOST_MONEY = 10**12
_DAY = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]"


def _nth_week(value: int) -> int:
    """Read 1 to 5, or -1 for the last."""
    if value not in _NTH_WEEKS:
        raise Refusal(f"{shown(value)} is not a {_NTH_WEEK}.", "Write 1 to 5, or -1.", "B012")
    return value


def _amount(value: Any) -> str:
    """Read a quantity; a plain number is one too, as in Kubernetes."""
    if type(value) is int:
        value = str(value)
    elif type(value) is float and abs(value) < 2**53:
        value = f"{value:.9f}".rstrip("0").rstrip(".")
    amount: str = _QUANTITY.read(value)
    return amount


def _price(value: Any) -> Decimal:
    """Read a number from 0 up, exactly as it is written; text with its digits is one too."""
    text = repr(value) if type(value) is float else str(value)
    if not text.isascii() or not text.replace(".", "", 1).isdigit() or len(text) > 30:
        raise wrong_type(value, _PRICE)
    price = Decimal(text)
    if price > _MOST_MONEY:
        raise Refusal(f"{shown(value)} is above {_MOST_MONEY}.", "Write what it costs.", "B012")
    return price


class _TimeOfDay(Text):
    """A time of day. Without quotes and with a period, YAML reads one as a number: `9.30` is 9.3."""

    def _not_text(self, value: Any) -> Refusal:
        if not isinstance(value, float) or not isfinite(value):
            return super()._not_text(value)
        meant = [*times.written(f"{value:.2f}")] if round(value, 2) == value else []
        if meant and value % 1 in (0.25, 0.5, 0.75):  # or a number of hours
            meant.append(f"{int(value):02}:{int(value % 1 * 60)}")
        fix = f"Write {' or '.join(meant)}." if meant else "Write HH:MM, for instance 09:00."
        return Refusal(f"{value} is not a time of day.", fix, "B018", readings=dict.fromkeys(meant))


def _any_case(name: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" for letter in name)


_WEEKDAY = "weekday: 1 (Monday) to 7, or a text such as mon or mon-fri"
_WEEK = f"week number from 1 to {weekdays.LAST_WEEK}"
_WEEKS = "week number, or a text such as odd or 6-8,10"
_ANY_DAY = f"([1-7]|{'|'.join(map(_any_case, (*weekdays.WEEKDAYS, *weekdays.DAY_NAMES)))})"
_ANY_DAYS = f" *{_ANY_DAY}([-,;/&+. a-zA-Z]+{_ANY_DAY})* *"
_NTH_WEEK = "number from 1 (the first) to 5, or -1 (the last)"
_NTH_WEEKS = (1, 2, 3, 4, 5, -1)
_PRICE = "price: a number from 0 up"
_NUMBERS = (int, str, ZeroPrefixedNumber)  # one, or a text that means several, such as mon-fri or 6-8,10
_QUANTITY = Text("quantity", grammar.quantity)
_WEEKDAY_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": 7},
        {"enum": list(weekdays.WEEKDAYS)},
        {"type": "string", "pattern": f"^{_ANY_DAYS}$"},
    ]
}
_WEEKS_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": weekdays.LAST_WEEK},
        {"enum": list(weekdays.WEEKS)},
        {"type": "string", "pattern": "^[0-9oOeE][-0-9a-zA-Z,;/&+. ]*$"},
    ]
}

Date = Annotated[date, Text("date", days.day, format="date", pattern=f"^{_DAY}$")]
DateSpan = Annotated[
    days.DateSpan,
    Text("date or range of dates", days.span, pattern=f"^ *{_DAY}(( *[.][.] *| +to +){_DAY})? *$"),
]
Weekdays = Annotated[
    tuple[int, ...], Parsed(_WEEKDAY, lambda value: weekdays.weekdays(str(value)), _WEEKDAY_SCHEMA, *_NUMBERS)
]
Weeks = Annotated[
    tuple[int, ...], Parsed(_WEEKS, lambda value: weekdays.weeks(str(value)), _WEEKS_SCHEMA, *_NUMBERS)
]
NthWeek = Annotated[int, Parsed(_NTH_WEEK, _nth_week, {"enum": list(_NTH_WEEKS)}, int)]
StartTime = Annotated[int, _TimeOfDay("time of day", times.start_time, pattern=f"^{_TIME}$")]
EndTime = Annotated[int, _TimeOfDay("time of day", times.end_time, pattern=f"^({_TIME}|24:00)$")]
TimeZone = Annotated[str, Text("time zone", zones.zone)]
Duration = Annotated[str, Text("duration such as 10m", grammar.duration)]

EngineWord = Literal["argocd", "flux", "none"]

AnyText = Annotated[str, Text()]
Title = Annotated[str, Text("title", grammar.title)]
Line = Annotated[str, Text("single line of text", grammar.line)]
Contact = Annotated[str, Text("e-mail address, @user or @organization/team", grammar.contact)]
Notice = Annotated[int, Text("time such as 48h or 7d", grammar.notice, pattern="^[0-9]{1,4}[hd]$")]
DnsLabel = Annotated[str, Text("DNS label", grammar.dns_label)]
DnsLabelOrNone = Annotated[str, Text("DNS label or empty", lambda text: text and grammar.dns_label(text))]
DnsName = Annotated[str, Text("DNS name", grammar.dns_name)]
NodeName = Annotated[str, Text("node name", grammar.dns_name)]
LabelKey = Annotated[str, Text("label key", grammar.label_key)]
LabelValue = Annotated[str, Text("label value", grammar.label_value)]
Ulid = Annotated[str, Text("ULID", grammar.ulid)]
ResourceName = Annotated[str, Text("resource", grammar.resource_name)]
Amount = Annotated[str, Parsed("quantity", _amount, {"type": ["string", "number"]})]
Price = Annotated[Decimal, Parsed(_PRICE, _price, {"type": ["string", "number"]}, int, float, str)]

Folder = Annotated[str, Text("folder", grammar.folder)]
File = Annotated[str, Text("file", grammar.file)]

Labels = dict[LabelKey, LabelValue]
Annotations = dict[LabelKey, AnyText]
Resources = dict[ResourceName, Amount]
Taken = Annotated[dict[ResourceName, Amount], Length(1)]

SeatCount = Annotated[int, Whole(1, MOST_SEATS, SEAT_WORDS)]
NodeCount = Annotated[int, Whole(1, 100_000)]
LeadMinutes = Annotated[int, Whole(0, 1440)]
HandoverMinutes = Annotated[int, Whole(0, 240)]
ImageName = Annotated[str, Text("container image", grammar.image)]
WarmUp = Literal["volume", "background", "initContainer", "none"]
KubernetesVersion = Annotated[
    tuple[int, int],
    Text("version of Kubernetes", grammar.kubernetes_version, pattern="^1\\.[1-9][0-9]?$"),
]
Behavior = Literal["maintain", "reduce", "none", "buffer"]
BufferPercent = Annotated[int, Whole(0, 1000)]
BufferMinimum = Annotated[int, Whole(0, MOST_SEATS)]
