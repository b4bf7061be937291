"""`berth override NAME CLASS=TARGET... --until INSTANT`: other targets for a while.

An annotation on the timetable, never in git. The reservation's pods follow it, or the sweep if none runs.
"""

import re
import time
from collections.abc import Sequence
from typing import NamedTuple

from gen.command import selection
from gen.command.answer import tell
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD
from gen.command.reaching import reach
from gen.command.say import say
from gen.command.statustext import finding_line
from gen.dates.moment import local_text, named
from gen.live import order
from gen.live.client import Remote
from gen.live.facts import Place
from gen.live.order import Orders
from gen.live.rules import Live
from gen.model import Site
from gen.pipeline import Part, Pipeline
from gen.runtime.instant import instant_text
from gen.runtime.labels import RESERVATION, SITE
from gen.runtime.override import MOST, Override
from gen.schema.suggest import nearest

LONGEST = 7 * 86_400  # seconds: what is to last belongs into git
_SPAN = re.compile(r"\+([1-9]\d{0,4})([mhd])", re.ASCII)
_SECONDS = {"m": 60, "h": 3600, "d": 86_400}
_NUMBER = re.compile(r"0|[1-9]\d{0,5}", re.ASCII)


class _Wanted(NamedTuple):
    """Targets by class, or the classes to clear (empty: all)."""

    targets: dict[str, int]
    cleared: tuple[str, ...]
    until: int | None

    def changes(self, classes: Sequence[str]) -> dict[str, Override | None]:
        """For one cluster, of what it has."""
        if self.until is None:
            return {name: None for name in classes if name in self.cleared or not self.cleared}
        return {name: Override(self.targets[name], self.until) for name in classes if name in self.targets}


def run(asked: Asked) -> int:
    pipeline = Pipeline()
    if not asked.words:
        raise _refusal("it takes a reservation, and CLASS=TARGET or --clear.")
    selection.reservations(asked._replace(words=asked.words[:1]), pipeline)
    cluster, now = selection.cluster(asked, pipeline), selection.instant("--now", asked, pipeline)
    now = int(time.time()) if now is None else now
    items = [one for one in pipeline.items() if one.reservation.name == asked.words[0]]
    code = tell(pipeline.findings(), asked)
    site = pipeline.site
    if code != GOOD or site is None:
        return code
    parts = [part for part in items[0].parts if cluster in (None, part.placed.cluster.name)]
    classes = tuple(one.name for part in parts for one in part.placed.classes)
    return _carry_out(asked, site, parts, _wanted(asked, classes, pipeline, now), now)


def _wanted(asked: Asked, classes: tuple[str, ...], pipeline: Pipeline, now: int) -> _Wanted:
    pairs = [word.partition("=") for word in asked.words[1:]]
    for name, _, _ in pairs:
        if name not in classes:
            hint = nearest(name, classes, "There are") if classes else "It has none there."
            raise _refusal(f'{asked.words[0]} has no class "{name}". {hint}')
    if asked.has("--clear"):
        if asked.has("--until") or any(equals for _, equals, _ in pairs):
            raise _refusal("--clear ends an override; name at most classes.")
        return _Wanted({}, tuple(name for name, _, _ in pairs), None)
    if not pairs:
        raise _refusal(f"say CLASS=TARGET, such as {classes[0] if classes else 'small'}=60, or --clear.")
    targets = {}
    for name, _, number in pairs:
        if not _NUMBER.fullmatch(number) or int(number) > MOST:
            raise _refusal(
                f'"{name}={number}" is no CLASS=TARGET. Write {name}=60: a number from 0 to {MOST}.'
            )
        targets[name] = int(number)
    return _Wanted(targets, (), _until(asked, pipeline, now))


def _until(asked: Asked, pipeline: Pipeline, now: int) -> int:
    text = asked.value("--until")
    if text is None:
        raise _refusal("say when it ends: --until +2h, or an INSTANT.")
    match = _SPAN.fullmatch(text)
    until = (
        now + int(match[1]) * _SECONDS[match[2]] if match else selection.instant("--until", asked, pipeline)
    )
    assert until is not None
    if until <= now:
        raise _refusal(f"--until {text} is over.")
    if until > now + LONGEST:
        raise _refusal(f"--until {text} is more than 7 days away. What is to last so long belongs into git.")
    return until


def _carry_out(asked: Asked, site: Site, parts: Sequence[Part], wanted: _Wanted, now: int) -> int:
    concerned = {part.placed.cluster.name: part for part in parts}
    concerned = {
        name: part
        for name, part in concerned.items()
        if wanted.changes([one.name for one in part.placed.classes])
    }
    clusters = [part.placed.cluster for part in concerned.values()]
    means = reach(asked, clusters)
    ours = {SITE: site.name, RESERVATION: asked.words[0]}

    def write(remote: Remote, at: Place) -> tuple[Orders, Orders] | None:
        classes = [one.name for one in concerned[at.cluster].placed.classes]
        return order.place(remote, at.namespace, ours, wanted.changes(classes), now)

    places = means.places(site, clusters)
    answers = means.at_each([one for one in places.values() if isinstance(one, Place)], write)
    code = GOOD
    for name, found in places.items():
        answer = found if isinstance(found, Live) else answers[name]
        if answer is None:
            say(f"{name}: there is no timetable of {asked.words[0]}: nothing to override.\n", aside=True)
        elif isinstance(answer, Live):
            say(f"{finding_line(answer, colour=False)}\n", aside=True)
        else:
            say(_confirmed(site, concerned[name], *answer))
            continue
        code = BAD_INPUT
    return code


def _confirmed(site: Site, part: Part, before: Orders, after: Orders) -> str:
    name, cluster = part.placed.reservation.name, part.placed.cluster.name
    zone = named(part.placed.reservation.recurrence.zone or site.zone)
    lines = []
    for one in sorted({*before, *after}):
        order_now, old = after.get(one), before.get(one)
        if order_now is None:
            lines.append(f"{name}/{one} follows its timetable again.")
        elif order_now != old:
            until = f"{local_text(order_now.until, zone)} ({instant_text(order_now.until)})"
            instead = f", instead of {old.target}" if old and old.target != order_now.target else ""
            lines.append(f"{name}/{one} gets {order_now.target} placeholders until {until}{instead}.")
    if not lines:
        return f"{cluster}: {name} has it so already.\n"
    how = "Its pod follows within a minute; where none runs, the sweep within 6."
    return "".join(f"{cluster}: {line}\n" for line in [*lines, how])


def _refusal(message: str) -> UsageError:
    return UsageError(f"override: {message}\nTry: berth override --help")
