"""Brings the slots of one pool to what is wished, and the placeholders that come before them.

As a keeper of placeholders it is level-triggered: it lists the slots, asks what is wished, and does what is
missing between the two. What takes longer than a few seconds is gone on with at the next look.
"""

from gen.runtime.api import Deployment
from gen.runtime.keeper import Decide, Hands, Keeper, Trier
from gen.runtime.plan import Aim, change
from gen.runtime.slotdemand import Demand, Settling, demand, told_of
from gen.runtime.slothands import Done, carry_out, listed
from gen.runtime.slotplan import Census, Home, Plan, census, placeholders, plan
from gen.runtime.timetable import Pool, Slots

MOST = 250  # writes at a look
SPELL = 4.0  # seconds of writes at a look: a probe, other pools and an end wait meanwhile


class SlotKeeper(Trier):
    """`replicas` are all slots that stand, whatever they are good for, and the placeholders."""

    def __init__(self, hands: Hands, pool: Pool, slots: Slots) -> None:
        super().__init__(hands, f"slots of {pool.deployment}")
        self._pool = pool.resource_class
        self._slots = slots
        self._home = Home(hands.namespace, pool.deployment)
        self._placeholders = Keeper(hands, pool.deployment)
        self._settling = Settling()
        self._settled: Aim | None = None
        self._left: int | None = None  # slots that stood after the last look; None: it failed
        self._taken: set[str] = set()  # names of slots that are not among those of the pool

    @property
    def replicas(self) -> int | None:
        """As of the last attempt; None: that failed."""
        beside = self._placeholders.replicas if self._slots.placeholders else 0
        return None if self._left is None or beside is None else self._left + beside

    @property
    def is_left_alone(self) -> bool:
        """It stands, and nobody knows yet what is wished."""
        return self.aim is None and self._left is not None

    def _forget(self) -> None:
        self._left = None

    def _bring(self, decide: Decide, quick: bool) -> None:  # noqa: ARG002
        """Always looks: slots change without us."""
        hands, left = self._hands, self._left
        found = census(listed(hands.api, self._slots), self._home)
        self._left = len(found.standing)
        self._taken -= found.names
        found = found._replace(taken=frozenset(self._taken))
        todo = self._todo(found, decide, False)
        if todo.writes and self._left != (left or 0):
            # Somebody else has made or removed some, and may know a newer timetable.
            todo = self._todo(found, decide, True)
        began = hands.now()
        done = carry_out(
            hands.api,
            self._slots,
            todo,
            hands.now,
            lambda tried: tried < MOST and 0 <= hands.now() - began < SPELL,
        )
        self._left += len(done.made) - len(done.removed)
        self._taken.update(done.taken)
        self.is_busy = done.is_cut or bool(done.changed) or self._is_handing_over(found)
        self._tell(found, done)
        if self.aim and found.spare == self.aim.wish.replicas:
            self._settled = self.aim

    def _todo(self, found: Census, decide: Decide, is_contested: bool) -> Plan:
        """Of the slots, after the placeholders were given what they need."""
        aim = decide(is_contested)
        self.aim = aim
        if aim is None:
            self.seen = self._seen(found)
            return Plan()
        self._slots = aim.wish.pool.slots or self._slots
        wanted = self._demand(found, aim)
        self.aim = aim._replace(wish=wanted.wish)
        if self._slots.placeholders:
            self._keep_placeholders(found, aim, decide)
        self.seen = self._seen(found)
        return plan(found, self._slots, wanted, aim.now, self._ready)

    def _demand(self, found: Census, aim: Aim) -> Demand:
        seconds, sessions = aim.timetable.settings.stabilization_seconds, sum(told_of(aim).values())
        settled = self._settling.look(self._hands.now(), sessions, found.owners, seconds)
        return demand(aim, sum(found.owners.values()), settled)

    def _keep_placeholders(self, found: Census, aim: Aim, decide: Decide) -> None:
        def decided(is_contested: bool) -> Aim | None:
            chosen = decide(True) if is_contested else aim
            return self._beside(found, chosen) if chosen else None

        self._placeholders.keep(decided)

    def _beside(self, found: Census, aim: Aim) -> Aim:
        """What the placeholders should be, now that they have been looked at."""
        wanted, seen = self._demand(found, aim), self._placeholders.seen
        number, why = 0, "closed"
        if wanted.expires is not None:
            replicas = seen.replicas if seen else 0
            number = placeholders(found, self._slots, wanted.wanted, replicas, aim.now)
            why = f"{number} seats wait for slots" if number else "no seat waits for a slot"
        return aim._replace(wish=wanted.wish._replace(replicas=number), why=why)

    @property
    def _ready(self) -> int:
        """Placeholders that are there."""
        seen = self._placeholders.seen if self._placeholders.replicas is not None else None
        return seen.ready if seen and self._slots.placeholders else 0

    def _seen(self, found: Census) -> Deployment:
        """Ready is every seat that somebody can take."""
        ready = len(found.free) + max(len(found.handed), self._ready)
        beside = self._placeholders.seen
        return Deployment(len(found.standing), "", ready, beside.uid if beside else "")

    def _is_handing_over(self, found: Census) -> bool:
        return self._slots.placeholders and bool(found.pending or found.handed or self._ready)

    def _tell(self, found: Census, done: Done) -> None:
        aim = self.aim
        if aim is None or not (done.made or done.renewed or done.removed):
            return
        facts = {
            "who": self._hands.who,
            "pool": self._pool,
            "slots": self._slots.name,
            "occurrences": aim.wish.occurrences,
            "made": len(done.made),
            "renewed": len(done.renewed),
            "removed": len(done.removed),
            "free": aim.wish.replicas,
            "used": len(found.used),
            "reason": self._reason(found, done, aim),
        }
        self._hands.log.info("slots", **facts)

    def _reason(self, found: Census, done: Done, aim: Aim) -> str:
        if not aim.wish.occurrences and aim.wish.override is None:
            return "closed"
        if found.dead and done.removed:
            return f"{len(found.dead)} were over, or had lost their node"
        todo = change(found.spare, aim, self._settled)
        if todo:
            return todo.reason
        if done.made or done.removed:
            return "another shape"
        handed = any(slot.is_to_close for slot in found.living if slot.name in done.renewed)
        return "placeholders have handed over" if handed else "the end has moved"
