"""What imports of a feed share: options, which events they take, files, and what earlier ones recorded."""

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from fnmatch import fnmatchcase
from typing import NamedTuple

from berth.dates.zone import DAY, number
from berth.edit.feed import Event
from berth.notation.days import LAST_YEAR
from berth.notation.refusal import CommandError

_TEXTS: dict[str, Callable[[Event], Iterable[str]]] = {
    "title": lambda event: (event.title,),
    "category": lambda event: event.categories,
    "description": lambda event: (event.description.strip(),),
}
_WORDS: dict[str, Callable[[Event], bool]] = {
    "free": lambda event: event.is_free,
    "busy": lambda event: not event.is_free,
}


class EventPattern(NamedTuple):
    """A value of `--only` or `--skip`: free, busy, or a field and a pattern of its text."""

    option: str
    field: str
    glob: str = ""

    @classmethod
    def read(cls, option: str, text: str) -> "EventPattern":
        field, colon, glob = (part.strip() for part in text.partition(":"))
        if field.lower() in (_TEXTS if colon and glob else () if colon else _WORDS):
            return cls(option, field.lower(), glob)
        examples = "'title:Lab*', category:Exam, 'description:Observance*', free or busy"
        raise CommandError(f'{option} "{text}": write {examples}')

    def __str__(self) -> str:
        return f"{self.option} {self.field}" + (f":{self.glob}" if self.glob else "")

    def matches(self, event: Event) -> bool:
        """Tell whether it selects an event. Upper and lower case are the same; `*` is any text."""
        if self.field in _WORDS:
            return _WORDS[self.field](event)
        return any(fnmatchcase(text.lower(), self.glob.lower()) for text in _TEXTS[self.field](event))


class EventFilter(NamedTuple):
    """Which events are imported: those that one of `only` selects, if there is any, and none of `skip`."""

    only: tuple[EventPattern, ...] = ()
    skip: tuple[EventPattern, ...] = ()

    def refusal(self, event: Event) -> str:
        """Return why an event is left out, or nothing."""
        skipped = next((str(pattern) for pattern in self.skip if pattern.matches(event)), "")
        if skipped or not self.only or any(pattern.matches(event) for pattern in self.only):
            return skipped
        return " and ".join(map(str, self.only))

    def selects_by_name(self, event: Event) -> bool:
        """Tell whether `--only` names this event by one of its texts."""
        return any(pattern.field in _TEXTS and pattern.matches(event) for pattern in self.only)

    @property
    def decides_free(self) -> bool:
        """Tell whether an option says what becomes of free events."""
        return any(pattern.field in _WORDS for pattern in (*self.only, *self.skip))


class ImportOptions(NamedTuple):
    """What the command line says. `zone`: of times without one; `group`: empty by default."""

    resource_class: str
    seats: int | None
    zone: str | None
    first: date | None
    last: date | None
    now: int
    today: date
    feed: str  # the name by which the calendar is recognized
    is_feed_given: bool
    events: EventFilter
    group: str

    @property
    def last_day(self) -> date:
        """Return the last day that is imported: two years on by default."""
        return self.last or min(self.today + timedelta(days=730), date(LAST_YEAR, 12, 31))

    def left_out(self, spans: Iterable[tuple[int, int]]) -> tuple[str, str]:
        """Return the result and the reason of an event without a date from the first day to the last."""
        if all(end <= number(self.today) * DAY for _, end in spans):
            return "over", "it has no date to come"
        return "left out", "outside of --from and --until"


class ImportedFile(NamedTuple):
    """A file to write, and the event that it is of; `before` is None for a new one."""

    file: str
    text: str
    before: bytes | None
    event: str
