"""Rehearsals as they are declared: those of each occurrence of a line, and those of single occurrences."""

from functools import partial
from typing import Annotated

from berth.schema.basemodel import Model, Use, Whole, field
from berth.schema.counts import Portion
from berth.schema.types import Date, DnsLabelOrNone, SeatPortion, StartTime

TIME = '"HH:MM" in the reservation\'s zone'
ONLY_NAME = 'only the occurrence of this name; "" is the one without a name'
dated = partial(field, use=Use("the occurrences, with their seats, lead and behavior"))
"""Declare a key from which occurrences are made."""

_SEATS = "how many of its seats: all, a percentage of each class such as 50%, or a number"
ALL_SEATS = Portion()


class RehearsalSpec(Model):
    """When the opening of each occurrence is tried beforehand."""

    days_before: Annotated[int, Whole(0, 60)] = dated(meaning="days before the date of the occurrence")
    start_time: StartTime = dated(meaning=f"when seats are requested: {TIME}")
    seats: SeatPortion = dated(ALL_SEATS, _SEATS, "`all`")

    def __str__(self) -> str:
        days = f"{self.days_before} day{'' if self.days_before == 1 else 's'} before"
        return f"{self.seats} seats {days} at {self.start_time // 60:02}:{self.start_time % 60:02}"


class RehearsalTime(Model):
    day: Date = dated(meaning="date of the rehearsal", alias="date")
    start_time: StartTime = dated(meaning=f"when seats are requested: {TIME}")


class DatedRehearsal(Model):
    """A rehearsal of one occurrence, instead of the one that provisioning or its entry gives it."""

    day: Date = dated(meaning="date of the occurrence that is rehearsed", alias="date")
    start_time: StartTime | None = dated(None, "its start", "the date's only occurrence")
    name: DnsLabelOrNone | None = dated(None, ONLY_NAME, "the only occurrence that starts then")
    at: RehearsalTime = field(meaning="when it is rehearsed")
    seats: SeatPortion = dated(ALL_SEATS, _SEATS, "`all`")
