"""The recorder of a reservation that rehearses: when rehearsals are over, how they went, and why."""

from collections.abc import Sequence

from berth.core.jsonvalues import Tree, part
from berth.core.labels import CLASS, REHEARSAL, RESERVATION, SITE
from berth.core.objects import DEPLOYMENT, NORMAL, WARNING
from berth.core.record import OccurrenceRecord, PoolObservation, with_faults
from berth.core.timetable import Timetable, TimetableOccurrence, active_occurrences
from berth.plugins.rehearsals.placeholderobserver import PlaceholderObserver
from berth.plugins.rehearsals.rehearsalrecord import (
    REHEARSAL_OPEN,
    last_failed,
    missing_seats,
    rehearsal_state,
    with_obstacles,
    with_rehearsal,
)
from berth.runtime.apiclient import Api
from berth.runtime.program import NO_PAUSE, Log
from berth.runtime.recorder import Recorder

MISSED_SECONDS = 600  # after the end of a rehearsal, in which its last pod may have been missing


class RehearsalRecorder(Recorder):
    """Records rehearsals, too, and knows which are over before their time."""

    def __init__(self, api: Api, namespace: str, name: str, log: Log) -> None:
        super().__init__(api, namespace, name, log)
        self._coming: set[str] = set()  # ids of occurrences that have not opened
        self._unreported: list[OccurrenceRecord] = []  # rehearsals that ended without a pod
        self._observer = PlaceholderObserver(api, namespace, log)

    @property
    def ended(self) -> dict[str, int]:
        return {
            record.occurrence: record.ready_at
            for record in self._records.values()
            if record.rehearses and record.ready_at is not None
        }

    def resume(self, timetable: Timetable, now: int) -> None:
        """Read the record before a rehearsal opens its seats, unless an attempt failed a moment ago.

        An earlier pod may have ended it. If that pod died, its end may be unknown yet.
        """
        rehearsals = (item for item in active_occurrences(timetable) if item.rehearses)
        is_near = any(item.open <= now < item.end + MISSED_SECONDS for item in rehearsals)
        is_due = self._name and not self._has_resumed and not self._pauses.get("resume", NO_PAUSE).left(now)
        if is_near and is_due:
            self._try("resume", now, self._resume)

    def tell_open(self, timetable: Timetable, now: int) -> None:
        before = self._open
        super().tell_open(timetable, now)
        for name in sorted(before.keys() - self._open.keys()):
            if before[name].rehearses:
                self._tell_rehearsal(self._recorded(name), now)

    def note(self, timetable: Timetable, looks: Sequence[PoolObservation], now: float) -> None:
        self._coming = {item.id for item in active_occurrences(timetable) if item.open > now}
        super().note(timetable, looks, now)
        for rehearsal in self._unreported:
            if rehearsal.rehearses in self._coming:
                self._tell_rehearsal(rehearsal, now)
        self._unreported = []

    def send(self, now: float) -> None:
        with self._log.guard("placeholders"):
            self._look_at_placeholders(now)
        super().send(now)

    def _note_occurrence(
        self, item: TimetableOccurrence, faults: Sequence[str], due: int, now: float
    ) -> None:
        if not item.rehearses:
            super()._note_occurrence(item, faults, due, now)
            return
        seen = with_rehearsal(self._recorded(item.id), item, self._looks, due, int(now))
        self._records[item.id] = with_faults(seen, faults)
        self._note_obstacles(item.id)

    def _note_obstacles(self, rehearsal: str) -> None:
        obstacles = {look.resource_class: self._observer.obstacles(look) for look in self._looks}
        nodes = {look.resource_class: self._observer.nodes(look) for look in self._looks}
        known = self._recorded(rehearsal)
        self._records[rehearsal] = with_obstacles(known, self._looks, obstacles, nodes)

    def _look_at_placeholders(self, now: float) -> None:
        """Find out why seats of rehearsals are missing, and on which nodes they are."""
        rehearsals = [item for item in self._open.values() if item.rehearses]
        promised = {name for item in rehearsals for name in self._recorded(item.id).promised}
        ours = [look for look in self._looks if look.resource_class in promised]
        if not any(look.subject.kind == DEPLOYMENT.name for look in ours):
            self._observer = PlaceholderObserver(self._api, self._namespace, self._log)
            return
        selector = f"{SITE}={self._labels[SITE]},{RESERVATION}={self._labels[RESERVATION]},{CLASS}"
        is_ready = any(self._recorded(item.id).ready_at is not None for item in rehearsals)
        end = min(item.end for item in rehearsals)
        self._observer.look(selector, end, now, is_ready=is_ready)
        for item in rehearsals:
            self._note_obstacles(item.id)

    def _tell_rehearsal(self, rehearsal: OccurrenceRecord, now: float) -> None:
        """Say how a rehearsal went, once it is over, on each of its pools."""
        for look in self._looks:
            name = look.resource_class
            count = rehearsal.promised.get(name, 0)
            missing = missing_seats(rehearsal).get(name, 0)
            seats = f"seats of {name} for {rehearsal.rehearses}"
            if count and rehearsal.ready_at is not None and rehearsal.window:
                minutes = -(-(rehearsal.ready_at - rehearsal.window[0]) // 60)
                kind, reason = NORMAL, "RehearsalSucceeded"
                after = f"{minutes} minute{'s' if minutes != 1 else ''}"
                message = f"All {count} {seats} were ready {after} after they were requested."
            elif missing:
                kind, reason = WARNING, "RehearsalFailed"
                why = f" {'; '.join(rehearsal.faults)}." if rehearsal.faults else ""
                message = f"{missing} of {count} {seats} were not ready within the lead.{why}"
            else:
                continue  # those of another class were not
            self._add_event(look.subject, (kind, reason, message), now)

    def _content(self) -> tuple[list[OccurrenceRecord], dict[str, str]]:
        records, labels = super()._content()
        state = rehearsal_state(records, self._open, self._coming)
        return records, {**labels, **({REHEARSAL: state} if state else {})}

    def _resume(self) -> Tree:
        found = super()._resume()
        if part(found, "metadata", "labels").get(REHEARSAL) == REHEARSAL_OPEN:
            self._unreported = last_failed(self._records.values(), self._open)
        return found
