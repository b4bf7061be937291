"""What to do so that the number of somebody else is as desired, and goes back to what it was. Pure."""

import json

from berth.core.jsonvalues import Tree, instant_text
from berth.core.labels import BERTH_FIELD_MANAGERS, CLASS, HELD, RESERVATION, ROLE, SITE
from berth.core.pooldecision import PoolHistory, ScalePool, scale_pool
from berth.core.poolobjects import HELD_KEY, PoolObject
from berth.core.target import DesiredState
from berth.core.timetable import note_name
from berth.plugins.numbers.fieldpatches import field_manager
from berth.plugins.numbers.foreignnumbers import field_value

NOTE_GRACE = 60  # seconds that somebody has to write a number after the note about it
YIELD_SECONDS, LONGEST_YIELD = 60, 960  # to whoever sets back a number of theirs


class NumberHistory(PoolHistory):
    """Remembers a number that was written, and yields to who sets it back."""

    def __init__(self) -> None:
        super().__init__()
        self._written: object = None  # what the number was set to
        self._wrote_at = 0
        self._yields = 0  # in a row
        self._is_reset = False  # since it was written
        self.resets = 0  # how often they have

    def note_written(self, action: ScalePool, now: int) -> None:
        if action.closes:
            self.set_back = ""
        if action.closes or action.value != self._written:
            self._yields = 0
        self._written, self._wrote_at, self._is_reset = action.value, now, False

    def must_yield(self, action: ScalePool, now: int) -> bool:
        """Return whether to wait before writing a number again that they have set back.

        It is written again a minute after the last time at the earliest, and each time after twice as long.
        """
        if action.closes or action.value != self._written:
            return False
        if not self._is_reset:
            self._is_reset = True
            self._yields += 1
            self.resets += 1
            self.set_back = describe_reset(action)
        pause = min(YIELD_SECONDS << (self._yields - 1), LONGEST_YIELD)
        return 0 <= now - self._wrote_at < pause

    def forgive(self, now: int) -> None:
        """Note that nobody sets the number back any more."""
        if not self._is_reset and now - self._wrote_at > LONGEST_YIELD:
            self.set_back = ""


def decide_number(
    stands: PoolObject | None, desired: DesiredState, why: str, history: PoolHistory | None = None
) -> tuple[ScalePool, ...]:
    """Decide as `decide_pool`. A number that others still ask for is not given back, but set for them."""
    target, number = desired.target, stands and stands.number.foreign
    if stands is None or number is None or not (target.is_open or target.is_shared):
        actions = release(stands, why, desired.now)
    else:
        value, note = number.value(target.replicas), _note(desired, stands)
        scaling = scale_pool(stands, target.replicas, why)
        actions = tuple(action._replace(value=value, note=note) for action in scaling)
    if isinstance(history, NumberHistory):
        actions = tuple(action for action in actions if not history.must_yield(action, desired.now))
        history.forgive(desired.now)
    return actions


def is_needed(action: ScalePool) -> bool:
    """Return whether the object has another number."""
    number, before = action.pool.number, field_value(action.pool.tree, action.pool.number.path)
    return number.units(before) != number.units(action.value) or (before is None) != (action.value is None)


def _note(desired: DesiredState, stands: PoolObject) -> Tree:
    """Return the ConfigMap that says what a number was before it is held. Each one differs from the last."""
    pool, before = desired.target.pool, field_value(stands.tree, stands.number.path)
    if stands.held and stands.is_noted:
        before = stands.held.before
    after = stands.held.version if stands.held else ""
    note = {"before": before, "uid": stands.ref.uid, "since": instant_text(desired.now), "after": after}
    return {
        "metadata": {
            "name": note_name(pool),
            "labels": {
                SITE: desired.timetable.site,
                RESERVATION: desired.timetable.reservation,
                CLASS: pool.resource_class,
                ROLE: HELD,
            },
        },
        "data": {HELD_KEY: json.dumps(note)},
    }


def release(stands: PoolObject | None, why: str, now: int) -> tuple[ScalePool, ...]:
    """Return how the number of somebody else goes back to what it was, if it is held.

    It stays where that is not known, as in an object that was made since. A new note about a number that is
    as it should be is left alone: somebody may be about to write the number.
    """
    number, held = stands and stands.number.foreign, stands and stands.held
    if stands is None or number is None or held is None:
        return ()
    present = field_value(stands.tree, number.path)
    is_known = stands.is_noted and (held.before is None or number.is_amount(held.before))
    is_lost = number.otherwise is None and not is_known
    value = present if is_lost else held.before if number.otherwise is None else number.otherwise
    to = number.units(value) or 0
    action = ScalePool(stands, to, why, value=value, closes=True, is_lost=is_lost)
    return (action,) if is_needed(action) or not 0 <= now - held.since < NOTE_GRACE else ()


_ADVICE = (
    ("argocd", "Add the field to ignoreDifferences of its Application, with RespectIgnoreDifferences=true."),
    ("kustomize-controller", "Add the field to spec.ignore of its Kustomization, or leave it out of git."),
    ("helm", "Leave the field out of the values of its release."),
    ("", "Let it leave this field alone."),
)
"""What to write so that a manager, by the beginning of its name, leaves a field to Berth."""


def describe_reset(action: ScalePool) -> str:
    """Return who has set back a number of theirs, and what to do."""
    pool, number = action.pool, action.pool.number.foreign
    assert number is not None
    manager = field_manager(pool.tree or {}, number.path, BERTH_FIELD_MANAGERS)
    advice = next(text for begin, text in _ADVICE if manager.startswith(begin))
    who = manager or "somebody"
    return f"{who} has set {number.text} to {pool.replicas}, and Berth holds {action.to} there. {advice}"
