"""Select events with `--only` and `--skip`: by title, by category, or by whether they are free or busy."""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from berth.edit.calendarfeed import Event
from berth.notation.refusal import CommandError
from berth.schema.documentproblems import nearest

_TEXTS: dict[str, Callable[[Event], Iterable[str]]] = {
    "title": lambda event: (event.title,),
    "category": lambda event: event.categories,
}
_WORDS: dict[str, Callable[[Event], bool]] = {
    "free": lambda event: event.is_free,
    "busy": lambda event: not event.is_free,
}
EXAMPLES = "'title:Lab*', category:Exam, free or busy"


class EventPattern(NamedTuple):
    """A value of `--only` or `--skip`. `field`: title, category, free or busy; `glob`: of the first two."""

    option: str
    field: str
    glob: str = ""

    @property
    def text(self) -> str:
        return f"{self.option} {self.field}" + (f":{self.glob}" if self.glob else "")

    @property
    def names_events(self) -> bool:
        return self.field in _TEXTS

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
        skipped = next((pattern.text for pattern in self.skip if pattern.matches(event)), "")
        if skipped or not self.only or any(pattern.matches(event) for pattern in self.only):
            return skipped
        return " and ".join(pattern.text for pattern in self.only)

    def selects_by_name(self, event: Event) -> bool:
        """Tell whether `--only` names this event by its title or category."""
        return any(pattern.names_events and pattern.matches(event) for pattern in self.only)

    @property
    def decides_free(self) -> bool:
        """Tell whether an option says what becomes of free events."""
        return any(pattern.field in _WORDS for pattern in (*self.only, *self.skip))

    def idle(self, events: Sequence[Event]) -> list[EventPattern]:
        """Return the patterns that select none of the events."""
        return [
            pattern
            for pattern in (*self.only, *self.skip)
            if not any(pattern.matches(event) for event in events)
        ]


def event_filter(only: Iterable[str], skip: Iterable[str]) -> EventFilter:
    """Parse the values of both options. Raise CommandError for one that cannot be parsed."""
    return EventFilter(
        tuple(_pattern("--only", text) for text in only), tuple(_pattern("--skip", text) for text in skip)
    )


def _pattern(option: str, text: str) -> EventPattern:
    field, colon, glob = text.strip().partition(":")
    field, glob = field.strip().lower(), glob.strip()
    if field in (_TEXTS if colon and glob else _WORDS if not colon else ()):
        return EventPattern(option, field, glob)
    if field in _TEXTS:
        advice = f"write {field}: and a pattern after it, such as {field}:Lab*"
    elif field in _WORDS:
        advice = f"write {field} alone"
    elif colon:
        advice = nearest(field, (*_TEXTS, *_WORDS)).rstrip(".?")
    else:
        advice = f"for a title, write 'title:{text.strip()}'"
    raise CommandError(f'{option} "{text}" is not {EXAMPLES}; {advice}')
