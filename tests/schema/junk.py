"""Put junk at any place of a document, and find what is wrong with the result."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from berth.backends.backendinterface import CheckedReservation, backend_of
from berth.checks import autoscalers, cloudchecks, references
from berth.checks.ceilings import Ceilings, ClassSteps, PoolLoads
from berth.checks.collisions import check_rendered_names
from berth.dates.recurrence import expand
from berth.findings import ERROR, Path, Problem, severity
from berth.manifests.placed import Placed, placed
from berth.reading.scalar import ZeroPrefixedNumber

from tests.saying import read

# fmt: off
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**299, float("nan"), "", "x", "A b", "a\n\x1b" * 9999,
    ZeroPrefixedNumber("0" * 9999),
    [], ["x"], {}, {"x": "y"}, {"a\n" * 999: "y"}, [[None]],
)
# fmt: on


def everything(documents: list[Any]) -> list[Problem]:
    """What is told of documents from reading to ceilings, as the whole line goes."""
    known = read(*documents)
    items = list(known.problems)
    if known.site is None:
        return items
    limited = cloudchecks.limited(known)
    placings: list[tuple[Placed, ClassSteps]] = []
    ceilings = Ceilings(known.site, known.classes, also=limited)
    items += autoscalers.check_autoscalers(known, known.site)
    items += autoscalers.check_pods_for_autoscaler(known, known.site)
    items += cloudchecks.check_clouds(known, known.site)
    items += references.check_names_in_classes(known, known.site)
    items += references.check_renku_ids(known)
    items += references.check_names_in_ceilings(known, known.site)
    for reservation in known.reservations:
        items += references.check_names_in_reservation(reservation, known)
        expansion = expand(reservation, known.calendars)
        items += expansion.problems
        items += cloudchecks.check_reserved_clouds(
            reservation, known, expansion.occurrences, cloudchecks.class_fits(known)
        )
        items += backend_of(reservation.holder).problems(
            CheckedReservation(reservation, known, known.site, expansion.occurrences)
        )
        for part in placed(reservation, known, known.site):
            placings.append((part, ceilings.loads(part, expansion.occurrences)))
    items += check_rendered_names(known.site, known.classes.values(), ((part, 1) for part, _ in placings))
    loads = PoolLoads(placings)
    items += cloudchecks.cloud_windows(known, known.site, loads.pools)[1]
    return [*items, *ceilings.problems(loads, {one.name: one for one in known.reservations})]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    pairs: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in pairs:
        yield from places(inner, (*path, key))


def changed(value: Any, path: Path, junk: Any) -> Any:
    if not path:
        return junk
    made = deepcopy(value)
    holder = made
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = junk
    return made


def misspelt(value: Any, path: Path) -> Any:
    """The last key of the path with a letter too much."""
    made = deepcopy(value)
    holder = made
    for part in path[:-1]:
        holder = holder[part]
    holder[f"{path[-1]}s"] = holder.pop(path[-1])
    return made


def judge(file: int, documents: list[Any]) -> None:
    """Problems are sentences; and a document with an error in it makes no error in others."""
    problems = everything(documents)
    errors = [problem for problem in problems if severity(problem.code) == ERROR]
    for problem in problems:
        assert problem.message.endswith("."), problem
        assert problem.fix.endswith((".", "?", '"')), problem
        assert "object at 0x" not in problem.message + problem.fix, problem
        assert (problem.message + problem.fix).isprintable(), problem
        assert len(problem.message + problem.fix) < 500, problem
    name = f"{chr(97 + file)}.yaml"
    if any(error.file == name for error in errors):
        assert {error.file for error in errors} == {name}, documents[file]
