"""Which reservations, occurrences, classes, clusters and instants does a command line mean?

A name that is not declared is a slip of the command line. But in input with errors it may stand in what
cannot be read, so there the errors are told instead.
"""

from gen.command.asked import Asked, UsageError
from gen.dates.moment import local_day, named, read
from gen.dates.occurrence import Occurrence
from gen.dates.zone import date_text
from gen.pipeline import Item, Pipeline
from gen.schema.suggest import nearest


def reservations(asked: Asked, pipeline: Pipeline) -> frozenset[str]:
    known = tuple(one.name for one in pipeline.declared.reservations)
    for name in asked.words:
        _must_exist("reservation", name, known, pipeline)
    return frozenset(asked.words)


def resource_class(asked: Asked, pipeline: Pipeline) -> str | None:
    name = asked.value("--class")
    if name is not None:
        _must_exist("class", name, tuple(sorted(pipeline.declared.classes)), pipeline)
    return name


def cluster(asked: Asked, pipeline: Pipeline) -> str | None:
    name = asked.value("--cluster")
    if name is not None:
        site = pipeline.site
        _must_exist("cluster", name, tuple(one.name for one in site.clusters) if site else (), pipeline)
    return name


def instant(flag: str, asked: Asked, pipeline: Pipeline | None) -> int | None:
    """What was said without an offset is in the site's zone."""
    text = asked.value(flag)
    if text is None:
        return None
    site = pipeline.site if pipeline else None
    found = read(text, named(site.zone if site else "UTC"))
    if found is None:
        raise UsageError(f'{flag}: "{text}" is no instant. Write 2026-02-02T08:00:00Z, or 2026-02-02 09:00.')
    return found


def _must_exist(what: str, name: str, known: tuple[str, ...], pipeline: Pipeline) -> None:
    if name not in known and not pipeline.has_errors():
        hint = nearest(name, known, "There are") if known else f"There is no {what}."
        raise UsageError(f'No {what} is named "{name}". {hint}')


def occurrence(item: Item, said: str | None, resource_class: str | None, now: int) -> Occurrence:
    """The one of an id or a date; unsaid, the next to open from `now` on, or else the first. With a class,
    one that has seats of it.
    """
    name = item.reservation.name
    known = [
        one
        for one in item.expansion.occurrences
        if resource_class in (None, *(seat for seat, _ in one.seats))
    ]
    if not known:
        of_class = f" with seats of class {resource_class}" if resource_class else ""
        raise UsageError(f"{name} has no occurrence{of_class}.")
    if said is None:
        coming = (one for one in known if one.open >= now)
        return min(coming, key=lambda one: (one.open, one.id), default=known[0])
    found = [one for one in known if said in (one.id, one.id.partition("/")[2])]
    found = found or [one for one in known if said in (one.date, _local_date(one))]
    if len(found) == 1:
        return found[0]
    for one in item.expansion.occurrences:
        if not found and said in (one.id, one.id.partition("/")[2]):
            raise UsageError(f"{one.id} has no seats of class {resource_class}; it has {_classes(one)}.")
    if found:
        ids = ", ".join(one.id for one in found)
        raise UsageError(f"{name} has {len(found)} occurrences on {said}: {ids}. Name one by its id.")
    raise UsageError(f'{name} has no occurrence "{said}"{_instead(item, said, known)}')


def _classes(one: Occurrence) -> str:
    return ", ".join(name for name, _ in one.seats)


def _local_date(one: Occurrence) -> str:
    return date_text(local_day(one.start, named(one.zone)))


def _instead(item: Item, said: str, known: list[Occurrence]) -> str:
    """Why there is none, and which there is: the next by name, which is by date."""
    day = said.rpartition("/")[2]
    reasons = (one.reason for one in item.expansion.skipped if day in (one.date, one.id.partition("/")[2]))
    because = next((f" (skipped: {reason})" for reason in reasons), "")
    after = [one for one in known if one.id.partition("/")[2] > day] if day[:1].isdigit() else []
    near = f"The next is {after[0].id}" if after else f"The first is {known[0].id}"
    return f"{because}. {near}."
