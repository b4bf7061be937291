"""`berth override`: other targets for a while, in an emergency.

They are an annotation on the timetable in the cluster, never in git. The reservation's pods follow it, or
the sweep if none runs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import click

from berth.checks.project import Part
from berth.cli.command import Settings, command
from berth.cli.completion import complete_classes, complete_reservations
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.reaching import ClusterChoice, cluster_options
from berth.cli.selection import Clock, opened
from berth.core.jsonvalues import instant_text
from berth.core.labels import RESERVATION, SITE
from berth.core.timetable import MAX_TARGET, Override
from berth.dates.moments import local_text, named
from berth.diff.wording import number_of
from berth.edit.seatcounts import next_class, seat_count
from berth.findings import LiveFinding
from berth.live import overriding
from berth.live.access import ClusterAccess
from berth.live.client import ClusterClient
from berth.live.clusterfacts import ClusterFacts, ClusterLocation
from berth.live.gather import session_counts
from berth.live.overriding import Overrides
from berth.notation.instants import is_span, next_time
from berth.notation.refusal import CommandError, read_all, read_at
from berth.output.findinglist import live_line
from berth.schema.documentproblems import nearest
from berth.schema.seatholders import Unit
from berth.schema.values import Site

_LONGEST = 7 * 86_400  # seconds: what lasts longer belongs in git


@command(
    examples=(
        "berth override my-course --placeholders small=60 --end +2h",
        "berth override my-course --clear",
    ),
)
@click.argument("name", shell_complete=complete_reservations)
@click.argument("targets", metavar="[CLASS]...", nargs=-1, shell_complete=complete_classes)
@click.option(
    "--placeholders", metavar="COUNT", help="How many, besides the sessions: NUMBER or CLASS=NUMBER,..."
)
@click.option("--end", metavar="INSTANT", help="When it ends: an INSTANT such as +2h, or the next 14:30.")
@click.option("--clear", is_flag=True, help="End it now, for the CLASSes or for all.")
@cluster_options
def override(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str,
    targets: tuple[str, ...],
    placeholders: str | None,
    end: str | None,
    clear: bool,
    choice: ClusterChoice,
) -> int:
    """Set the placeholders of pools for a while, in an emergency.

    Sessions do not reduce them: 60 placeholders and 20 sessions hold 80 seats. They are kept in the cluster,
    not in git, for at most 7 days.
    """
    pipeline, clock = opened(settings, [name], cluster=choice.cluster)
    items = [one for one in pipeline.items() if one.reservation.name == name]
    site = settings.valid_site(pipeline)
    parts = [part for part in items[0].parts if choice.cluster in (None, part.placed.cluster.name)]
    classes = tuple(
        dict.fromkeys(resource_class.name for part in parts for resource_class in part.placed.classes)
    )
    pairs = _targets(name, targets, placeholders, classes)
    if clear:
        if end is not None or any(equals for _, equals, _ in pairs):
            raise CommandError("--clear ends an override: leave out --end and targets.")
        wanted: dict[str, Override | None] = dict.fromkeys([pair[0] for pair in pairs] or classes)
    elif pairs:
        wanted = _overrides(pairs, end, clock)
    else:
        raise CommandError("--placeholders is missing, such as --placeholders small=60; or say --clear.")
    concerned = {
        part.placed.cluster.name: part
        for part in parts
        if any(resource_class.name in wanted for resource_class in part.placed.classes)
    }
    access = choice.access(settings, site, concerned)
    return _carry_out(settings, access, site, name, concerned, wanted, clock.now)


def _targets(
    name: str, targets: Sequence[str], placeholders: str | None, classes: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Split `CLASS` and `CLASS=NUMBER`. Raise CommandError for a class that the reservation does not have.

    In `placeholders`, a number alone is that of the only class.
    """
    words = next_class.split(placeholders) if placeholders else []
    words = [word if "=" in word or len(classes) != 1 else f"{classes[0]}={word}" for word in words]
    pairs = [word.partition("=") for word in (*targets, *words)]
    for resource_class, _, _ in pairs:
        if resource_class not in classes:
            hint = nearest(resource_class, classes) if classes else "It has none there."
            raise CommandError(f'{name} has no class "{resource_class}". {hint}')
    return pairs


def _overrides(
    pairs: Sequence[tuple[str, str, str]], end: str | None, clock: Clock
) -> dict[str, Override | None]:
    """Read CLASS=NUMBER and --end."""
    twice = [name for name, count in Counter(name for name, _, _ in pairs).items() if count > 1]
    if twice:
        raise CommandError(f"--placeholders: {twice[0]} has two numbers.")
    *numbers, until = read_all(
        *(partial(override_target, name, text) for name, _, text in pairs),
        lambda: override_end(end, clock),
    )
    return {name: Override(number, until) for (name, _, _), number in zip(pairs, numbers, strict=True)}


def override_target(name: str, text: str) -> int:
    """Return the placeholders of a class: none, or a count as in a file."""
    place = f'"{name}={text}"'
    target = 0 if text.strip() == "0" else read_at(place, lambda: seat_count(text))
    if target > MAX_TARGET:
        fix = f"Write a whole number from 0 to {MAX_TARGET}."
        raise CommandError(f"{place}: {target} is above {MAX_TARGET}. {fix}", "B012")
    return target


def override_end(text: str | None, clock: Clock) -> int:
    """Return the instant at which an override ends. Raise CommandError for one that it cannot end at."""
    if text is None:
        raise CommandError("--end is missing: --end +2h, --end 14:30, or an INSTANT.")
    at_time = None
    if is_span(f"+{text}"):
        override_end(f"+{text}", clock)  # what the refusal advises may be too far away as well
    else:
        at_time = read_at("--end", lambda: next_time(text, clock.zone, clock.now))
    until = at_time or clock.instant("--end", text)
    assert until is not None
    if until <= clock.now:
        raise CommandError(f"--end {text} is in the past.")
    if until > clock.now + _LONGEST:
        raise CommandError(
            f"--end {text} is more than 7 days away. Write at most +7d, or change the reservation."
        )
    return until


def _carry_out(  # noqa: PLR0913, PLR0917
    settings: Settings,
    access: ClusterAccess,
    site: Site,
    name: str,
    parts: dict[str, Part],
    wanted: dict[str, Override | None],
    now: int,
) -> int:
    """Write overrides to every cluster, by whose names the parts are."""
    labels = {SITE: site.name, RESERVATION: name}

    def write(remote: ClusterClient, at: ClusterLocation) -> tuple[Overrides, Overrides] | None:
        classes = [resource_class.name for resource_class in parts[at.cluster].placed.classes]
        changes = {own: wanted[own] for own in classes if own in wanted}
        return overriding.write_overrides(remote, at.namespace, labels, changes, now)

    places = access.places()
    answers = access.at_each(places, write)
    facts = access.facts(places, now) if any(wanted.values()) else {}
    code = EXIT_OK
    for cluster, answer in answers.items():
        if answer is None:
            stderr(f"{cluster}: there is no timetable of {name}: nothing to override.\n")
        elif isinstance(answer, LiveFinding):
            stderr(f"{live_line(answer, color=False)}\n")
        else:
            sessions = _sessions(facts.get(cluster), name, now)
            stdout(settings.wrapped(_confirmed(site, parts[cluster], *answer, sessions)))
            continue
        code = EXIT_BAD_INPUT
    return code


def _sessions(seen: ClusterFacts | LiveFinding | None, name: str, now: int) -> dict[str, int]:
    """Return how many sessions of a reservation there are now, by class; without those that are unknown."""
    if not isinstance(seen, ClusterFacts):
        return {}
    timetables = seen.readable
    counts = session_counts(timetables, seen.sessions, now)
    pools = [pool for timetable in timetables if timetable.reservation == name for pool in timetable.pools]
    found = {pool.resource_class: counts(pool) for pool in pools}
    return {
        resource_class: sum(count for one, count in by_id.items() if one.startswith(f"{name}/"))
        for resource_class, by_id in found.items()
        if by_id is not None
    }


def _confirmed(
    site: Site, part: Part, before: Overrides, after: Overrides, sessions: Mapping[str, int]
) -> str:
    name, cluster = part.placed.reservation.name, part.placed.cluster.name
    zone = named(part.placed.reservation.recurrence.zone or site.zone)
    unit = part.placed.reservation.holder.unit
    has_seats = unit is Unit.SEAT
    what = "seats, besides its sessions," if has_seats else unit.plural
    lines = []
    for one in sorted({*before, *after}):
        order_now, old = after.get(one), before.get(one)
        if order_now is None:
            lines.append(f"{name}/{one} follows its timetable again.")
        elif order_now != old:
            until = f"{local_text(order_now.until, zone)} ({instant_text(order_now.until)})"
            instead = f", instead of {old.target}" if old and old.target != order_now.target else ""
            lines.append(f"{name}/{one} gets {order_now.target} {what} until {until}{instead}.")
            if has_seats and sessions.get(one):
                total = order_now.target + sessions[one]
                lines[-1] += f" With {number_of(sessions[one], 'session')} now, {total} seats are held."
    if not lines:
        return f"{cluster}: {name} is unchanged.\n"
    if after and (back := part.placed.reservation.holder.going_back):
        lines.append(back)
    how = "Its pod follows within a minute; if none runs, the sweep follows within 6 minutes."
    return "".join(f"{cluster}: {line}\n" for line in [*lines, how])
