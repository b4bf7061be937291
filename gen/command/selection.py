"""Which reservations, classes, clusters and instants does a command line mean?

A name that is not declared is a slip of the command line. But in input with errors it may stand in what
cannot be read, so there the errors are told instead.
"""

from gen.command.asked import Asked, UsageError
from gen.dates.moment import named, read
from gen.kind.shape import nearest
from gen.pipeline import Pipeline


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


def instant(flag: str, asked: Asked, pipeline: Pipeline) -> int | None:
    """What was said without an offset is in the site's zone."""
    text = asked.value(flag)
    if text is None:
        return None
    found = read(text, named(pipeline.site.zone if pipeline.site else "UTC"))
    if found is None:
        raise UsageError(f'{flag}: "{text}" is no instant. Write 2026-02-02T08:00:00Z, or 2026-02-02 09:00.')
    return found


def _must_exist(what: str, name: str, known: tuple[str, ...], pipeline: Pipeline) -> None:
    if name not in known and not pipeline.has_errors():
        hint = nearest(name, known, "There are") if known else f"There is no {what}."
        raise UsageError(f'No {what} is named "{name}". {hint}')
