"""What the ConfigMaps of timetables say, as far as it can be understood. Pure."""

from functools import lru_cache
from typing import NamedTuple

from gen.live.facts import Facts, Timetable
from gen.runtime.jsonvalue import TimetableError
from gen.runtime.override import Override, parse_overrides, strays
from gen.runtime.timetable import Timetable as Read
from gen.runtime.timetable import parse


class Known(NamedTuple):
    """One reservation in the cluster. `read` None: there is no timetable, or it is `malformed`. What a
    `bad_override` is about does not hold; what is in `overrides` does.
    """

    read: Read | None
    malformed: str
    changed: int
    overrides: dict[str, Override]
    bad_override: str


UNKNOWN = Known(None, "", 0, {}, "")


def readable(facts: Facts) -> tuple[Read, ...]:
    """The timetables that can be understood."""
    return tuple(found.read for found in map(known, facts.timetables) if found.read)


@lru_cache(maxsize=4096)
def known(fact: Timetable) -> Known:
    """Remembered: a look asks twice, and who watches asks for ever."""
    overrides, bad = dict[str, Override](), ""
    try:
        overrides = parse_overrides(fact.override) if fact.override is not None else {}
    except TimetableError as error:
        bad = str(error)
    try:
        read, malformed = parse(fact.text or ""), ""
    except TimetableError as error:
        read, malformed = None, str(error)
    if read is not None and not bad:
        bad = strays(overrides, [pool.resource_class for pool in read.pools])
    return Known(read, malformed, fact.changed, overrides, bad)
