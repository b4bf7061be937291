"""The timetable of a reservation as text, which `berth.core.timetable` reads in the cluster.

It has one occurrence a line, in ASCII and in a fixed order, so that reviewers see dates and diffs show single
changes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from berth.backends.backendinterface import backend_of
from berth.core.jsonvalues import instant_text
from berth.core.sessions import Recognition, parse_recognition
from berth.core.timetable import API_VERSION, KIND, VERSION
from berth.dates.expansion import Occurrence
from berth.dates.zone import DAY, load, number, resolve
from berth.findings import Problem
from berth.manifests.naming import pool
from berth.manifests.placed import Placed, pool_behaviors
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import EVERY_SESSION, SessionMatch
from berth.schema.resourceclass import ClassSessions
from berth.schema.values import ResourceClass, Scaling, Seats, Site

LARGEST = 200 * 1024  # bytes; client-side apply refuses ConfigMaps above 262,144


def timetable_that_fits(site: Site, placed: Placed, occurrences: Sequence[Occurrence]) -> str | Problem:
    """Return the timetable, or the problem that it is too large for a ConfigMap."""
    text = timetable_text(site, placed, occurrences)
    if len(text) <= LARGEST:
        return text
    reservation, number = placed.reservation, len(occurrences)
    message = (
        f"the timetable of its {number} occurrence{'s' if number > 1 else ''} "
        f"has {-(-len(text) // 1024)} KiB; Berth allows {LARGEST // 1024} in a ConfigMap."
    )
    fix = "Split it, for example into a reservation for each year."
    return reservation.problem("B073", ("spec", "recurrence"), message, fix)


def timetable_text(site: Site, placed: Placed, occurrences: Sequence[Occurrence]) -> str:
    """Return the timetable with the pools of this cluster; occurrences without seats here are left out."""
    reservation = placed.reservation
    behaviors = pool_behaviors(reservation)
    here = {resource_class.name: behaviors[resource_class.name] for resource_class in placed.classes}
    pools = ",\n  ".join(
        [_pool(site, placed, resource_class, here[resource_class.name]) for resource_class in placed.classes]
    )
    lines = ",\n  ".join([*_lines(reservation, occurrences, here), *_rehearsed_line(reservation)])
    suspend = "true" if reservation.suspend else "false"
    url = site.renku.url if site.renku else None
    return (
        f'{{"apiVersion": "{API_VERSION}", "kind": "{KIND}", "version": {VERSION},\n'
        f' "site": "{site.name}", "reservation": "{reservation.name}", "suspend": {suspend},\n'
        f' "settings": {_settings(site.scaler.stabilization_seconds, site.scaler.ready_minutes, url)},\n'
        f' "pools": {{\n  {pools}}},\n'
        f' "occurrences": [\n  {lines}\n ]}}\n'
    )


def recognition_of(found: ResourceClass) -> Recognition | None:
    """Return how the cluster recognizes sessions of the class; None if nobody can."""
    said = _sessions(found.renku_id, found.sessions, EVERY_SESSION)
    return None if said is None else parse_recognition(json.loads(json.dumps(said)), "sessions")[0]


def _pool(site: Site, placed: Placed, found: ResourceClass, behavior: str) -> str:
    """Return a pool in one line. Objects of the backend are on lines of their own: a diff shows which field
    changes.
    """
    reservation = placed.reservation
    said: dict[str, Any] = {
        "deployment": pool(reservation.name, found.name),
        "behaviour": behavior,
        **({} if reservation.overlap == "sum" else {"overlap": reservation.overlap}),
        **({} if reservation.buffer is None else {"buffer": reservation.buffer._asdict()}),
        "sessions": _sessions(found.renku_id, found.sessions, reservation.sessions),
    }
    objects = ""
    for key, value in backend_of(reservation.holder).timetable_pool(site, placed, found).items():
        if isinstance(value, dict):
            text = json.dumps(value, indent=1).replace("\n", "\n   ")
            objects += f',\n   "{key}": {text}'
        else:
            said[key] = value
    return f'"{found.name}": {json.dumps(said)[:-1]}{objects}}}'


@lru_cache(maxsize=1)
def _settings(stabilization_seconds: int, ready_minutes: int, url: str | None) -> str:
    """Return the settings; cached, because a run has one site."""
    settings = {"stabilizationSeconds": stabilization_seconds, "readyMinutes": ready_minutes}
    return json.dumps(settings if url is None else {**settings, "renkuUrl": url})


def _lines(
    reservation: Reservation, occurrences: Sequence[Occurrence], behaviors: Mapping[str, str]
) -> list[str]:
    """Return the rows of the occurrences. `behaviors`: those of the pools here, by class."""
    texts: dict[tuple[Seats, tuple[Scaling, ...], bool], list[tuple[int, str]]] = {}
    lines = []
    for occurrence in occurrences:
        _, id_, opens, start, end, held, _, _, _, scaling, _, rehearses = occurrence
        key = held, scaling, bool(rehearses)
        rows = texts.get(key)
        if rows is None:
            texts[key] = rows = _rows(held, reservation.scaling_of(occurrence), behaviors)
        for ahead, text in rows:
            opens = start - ahead if scaling else opens
            what = f', "rehearses": "{rehearses}"' if rehearses else ""
            lines.append(f'{{"id": "{id_}", {_instants(opens, start, end)}, {text}{what}}}')
    return lines


def _rehearsed_line(reservation: Reservation) -> Iterator[str]:
    """Yield a row without seats for the date that is rehearsed: until its day is over, a failure counts."""
    rehearses, zone = reservation.spec.rehearses, load(reservation.recurrence.zone)
    if rehearses and zone:
        over = resolve(zone, (number(rehearses.day) + 1) * DAY)
        yield f'{{"id": "{rehearses}", {_instants(over, over, over + 1)}, "seats": {{}}}}'


def _rows(held: Seats, scaling: Sequence[Scaling], behaviors: Mapping[str, str]) -> list[tuple[int, str]]:
    """Return the lead in seconds and the seats of each row of an occurrence, the longest lead first.

    Classes with another lead, or with a behavior that is not the pool's, have rows of their own.
    """
    rows: dict[tuple[int, str], dict[str, int]] = {}
    for (name, count), one in zip(held, scaling, strict=True):
        if name in behaviors:
            behavior = "" if one.behavior == behaviors[name] else f', "behaviour": "{one.behavior}"'
            rows.setdefault((60 * one.lead, behavior), {})[name] = count
    in_order = sorted(rows.items(), key=lambda row: -row[0][0])
    return [(ahead, f'"seats": {json.dumps(seats)}{behavior}') for (ahead, behavior), seats in in_order]


@lru_cache(maxsize=4096)
def _instants(opens: int, start: int, end: int) -> str:
    """Return the instants of an occurrence; cached, because courses share their hours."""
    return f'"open": "{instant_text(opens)}", "start": "{instant_text(start)}", "end": "{instant_text(end)}"'


def _sessions(
    renku_id: int | None, found: ClassSessions | None, match: SessionMatch
) -> dict[str, object] | None:
    """Return how sessions of the class are recognized, and what narrows them to this reservation."""
    if found is None:
        return None
    course = {
        "namespaces": match.namespaces,
        "matchLabels": match.match_labels,
        "matchAnnotations": match.match_annotations,
        "projectTemplate": match.project_template,
    }
    own = {"renkuId": renku_id} if found.source == "renku" else found.custom
    return {
        "source": found.source,
        **own,
        "namespaces": found.namespace_names or {"matchLabels": found.namespace_labels},
        "selector": {} if found.selector is None else found.selector.dump(),
        "course": {key: value for key, value in course.items() if value},
        "earlier": match.earlier,
        "handoverSeconds": match.handover,
        **({"carryOver": True} if match.carry_over else {}),
    }
