"""Reports how occurrences go: log lines, Events, and the record, a ConfigMap of the reservation.

Seats do not depend on them: the recorder uses a connection of its own with short timeouts, and pauses after
each attempt.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from berth.core import record
from berth.core.holders import REMEDIES
from berth.core.jsonvalues import Tree, instant_text, part
from berth.core.labels import CLASS, RECORD, REHEARSAL, RESERVATION, ROLE, SITE
from berth.core.objects import CONFIG_MAP, DEPLOYMENT, EVENT, NORMAL, WARNING, EventSubject, make_event
from berth.core.target import open_now
from berth.core.timetable import Timetable, TimetableOccurrence, active_occurrences
from berth.runtime.apiclient import Api
from berth.runtime.program import NO_PAUSE, Log, Pause

if TYPE_CHECKING:
    from berth.plugins.rehearsals.placeholderobserver import PlaceholderObserver

SEND_INTERVAL = 30.0  # seconds between writes of the record, and between attempts to send Events
RETRY_SECONDS = 10.0  # seconds until a record that could not be written is tried again
MAX_EVENTS = 20  # that wait to be sent
FAULT_SECONDS = 60.0  # from which on what does not work is part of the record


class Recorder:
    """Records the occurrences of a run."""

    def __init__(self, api: Api, namespace: str, name: str, log: Log) -> None:
        """`name` is that of the ConfigMap; if it is empty, no record is written."""
        self._api, self._namespace, self._name, self._log = api, namespace, name, log
        self._records: dict[str, record.OccurrenceRecord] = {}  # in the order of opening
        self._open: dict[str, TimetableOccurrence] = {}
        self._readiness: dict[tuple[str, str], str] = {}  # by occurrence and class
        self._set_back: dict[str, str] = {}  # by class
        self._events: list[dict[str, object]] = []
        self._subjects: dict[str, EventSubject] = {}  # of the last note
        self._labels: dict[str, str] = {}  # of the ConfigMap
        self._coming: set[str] = set()  # ids of occurrences that have not opened
        self._unreported: list[record.OccurrenceRecord] = []  # rehearsals that ended without a pod
        self._has_resumed = False
        self._written: tuple[list[record.OccurrenceRecord], str] = ([], "")  # as of `_content`
        self._observer: PlaceholderObserver | None = None  # while a rehearsal is open
        self._looks: Sequence[record.PoolObservation] = ()  # of the last note
        self._pauses: dict[str, Pause] = {}

    def tell_open(self, timetable: Timetable, now: int) -> None:
        """Log which occurrences have opened and which are over."""
        occurrences: dict[str, TimetableOccurrence] = {}
        for item in open_now(active_occurrences(timetable), now):
            known = occurrences.get(item.id, item._replace(seats=()))
            occurrences[item.id] = item._replace(
                open=min(known.open, item.open), seats=(*known.seats, *item.seats)
            )
        for name in sorted(self._open.keys() - occurrences.keys()):
            self._log.info("over", **record.record_json(self._recorded(name)))
            if self._open[name].rehearses:
                self._tell_rehearsal(self._recorded(name), now)
        for name in sorted(occurrences.keys() - self._open.keys()):
            self._records[name] = self._records.pop(name, record.OccurrenceRecord(name))
            self._log.info("open", occurrence=name, until=instant_text(occurrences[name].end))
        self._records = dict([*self._records.items()][-max(record.MAX_RECORDS, len(occurrences)) :])
        self._readiness = {key: value for key, value in self._readiness.items() if key[0] in occurrences}
        self._open = occurrences

    @property
    def ended(self) -> dict[str, int]:
        """When each rehearsal had all its seats, by id."""
        return record.ended_rehearsals(self._records.values())

    def resume(self, now: float) -> None:
        """Read the records of earlier pods once, unless an attempt failed a moment ago."""
        if self._name and not self._has_resumed and not self._pauses.get("resume", NO_PAUSE).left(now):
            self._try("resume", now, self._resume)

    def _recorded(self, occurrence: str) -> record.OccurrenceRecord:
        return self._records.get(occurrence) or record.OccurrenceRecord(occurrence)

    def note(
        self,
        timetable: Timetable,
        looks: Sequence[record.PoolObservation],
        subjects: dict[str, EventSubject],
        now: float,
    ) -> None:
        """Add observations of the pools. `subjects` are by resource class.

        The record has no owner: it outlives its reservation, until the sweep removes it.
        """
        self._labels = {SITE: timetable.site, RESERVATION: timetable.reservation, ROLE: RECORD}
        self._subjects = subjects
        self._coming = {item.id for item in active_occurrences(timetable) if item.open > now}
        self._looks, faults = looks, self._log.faults(FAULT_SECONDS)
        for rehearsal in self._unreported:
            if rehearsal.rehearses in self._coming:
                self._tell_rehearsal(rehearsal, now)
        self._unreported = []
        for look in looks:
            self._tell_set_back(look, now)
        for item in self._open.values():
            due = record.readiness_due(item, timetable.settings)
            seen = record.with_observation(self._recorded(item.id), item, looks, due, int(now))
            self._records[item.id] = record.with_faults(seen, faults)
            if item.rehearses:
                self._note_obstacles(item)
            for look in looks:
                if look.resource_class in seen.promised and not item.rehearses:
                    self._judge(item, look, subjects[look.resource_class], due, now)

    def _tell_set_back(self, look: record.PoolObservation, now: float) -> None:
        """Say once who sets back a number."""
        before = self._set_back.get(look.resource_class, "")
        self._set_back[look.resource_class] = look.set_back
        if look.set_back and not before:
            self._add_event(self._subjects[look.resource_class], WARNING, "NumberSetBack", look.set_back, now)

    def _note_obstacles(self, rehearsal: TimetableOccurrence) -> None:
        """Add what is known of the placeholders to what the pools say themselves."""
        looks = [self._observer.with_placeholders(look) if self._observer else look for look in self._looks]
        self._records[rehearsal.id] = record.with_obstacles(self._recorded(rehearsal.id), looks)

    def _look_at_placeholders(self, now: float) -> None:
        """Find out why seats of rehearsals are missing, and on which nodes they are."""
        rehearsals = [item for item in self._open.values() if item.rehearses]
        promised = {name for item in rehearsals for name in self._recorded(item.id).promised}
        if not any(self._subjects[name].kind is DEPLOYMENT for name in promised & self._subjects.keys()):
            self._observer = None
            return
        if self._observer is None:
            from berth.plugins.rehearsals.placeholderobserver import PlaceholderObserver  # noqa: PLC0415 - as said

            self._observer = PlaceholderObserver(self._api, self._namespace, self._log)
        selector = f"{SITE}={self._labels[SITE]},{RESERVATION}={self._labels[RESERVATION]},{CLASS}"
        is_ready = any(self._recorded(item.id).ready_at is not None for item in rehearsals)
        end = min(item.end for item in rehearsals)
        self._observer.look(selector, end, now, is_ready=is_ready)
        for item in rehearsals:
            self._note_obstacles(item)

    def _judge(
        self,
        item: TimetableOccurrence,
        look: record.PoolObservation,
        subject: EventSubject,
        due: int,
        now: float,
    ) -> None:
        key = item.id, look.resource_class
        before = self._readiness.get(key, record.UNKNOWN)
        after = record.judge_readiness(before, due, look, now)
        self._readiness[key] = after
        if after == before or (before == record.UNKNOWN and after == record.READY):
            return
        seats = f"{look.wanted} {look.kind} of {look.resource_class}"
        if after == record.LATE:
            start, counts = instant_text(item.start), {"wanted": look.wanted, "ready": look.ready}
            self._log.error("late", occurrence=item.id, pool=look.resource_class, **counts, start=start)
            kind, reason = WARNING, "SeatsNotReady"
            message = f"{look.ready} of {seats} are ready for {item.id}, which starts at {start}. "
            message += REMEDIES.get(look.kind, "Look at that object and its controller.")
        else:
            self._log.info("ready", occurrence=item.id, pool=look.resource_class)
            kind, reason, message = NORMAL, "SeatsReady", f"All {seats} are ready for {item.id}."
        self._add_event(subject, kind, reason, message, now)

    def _tell_rehearsal(self, rehearsal: record.OccurrenceRecord, now: float) -> None:
        """Say how a rehearsal went, once it is over, on each of its pools."""
        for name, count in rehearsal.promised.items():
            if (subject := self._subjects.get(name)) is None:
                continue
            missing, seats = rehearsal.missing.get(name, 0), f"seats of {name} for {rehearsal.rehearses}"
            if rehearsal.ready_at is not None and rehearsal.window:
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
            self._add_event(subject, kind, reason, message, now)

    def _add_event(self, subject: EventSubject, kind: str, reason: str, message: str, now: float) -> None:
        self._events = [*self._events, make_event(subject, kind, reason, message, now)][-MAX_EVENTS:]

    def send(self, now: float) -> None:
        """Look once and send at most one pending thing, so that this takes a few seconds at most."""
        with self._log.guard("placeholders"):
            self._look_at_placeholders(now)
        for subject, action in self._pending():
            if not self._pauses.get(subject, NO_PAUSE).left(now):
                self._try(subject, now, action)
                return

    def send_last(self, now: float) -> None:
        """Send everything pending before the run ends."""
        for subject, action in self._pending():
            self._try(subject, now, action)

    def _pending(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield what is to be sent; no record before the pools have been observed."""
        records, state = self._content()
        is_new = (records, state) != self._written
        if self._name and is_new and any(one.targets or one.faults for one in records):
            yield "record", self._write
        if self._events:
            yield "events", self._post

    def _try(self, subject: str, now: float, action: Callable[[], None]) -> None:
        self._pauses[subject] = Pause(now, SEND_INTERVAL if subject == "events" else RETRY_SECONDS)
        with self._log.guard(subject):
            action()
            self._pauses[subject] = Pause(now, SEND_INTERVAL)

    def _post(self) -> None:
        while self._events:
            self._api.create(EVENT, self._namespace, self._events[0])
            del self._events[0]

    def _write(self) -> None:
        if not self._has_resumed:
            self._resume()
        records, state = self._content()
        data: Tree = {record.RECORD_KEY: record.record_text(records)}
        labels = {**self._labels, **({REHEARSAL: state} if state else {})}
        metadata: Tree = {"name": self._name, "labels": labels}
        self._api.apply(CONFIG_MAP, self._namespace, self._name, {"metadata": metadata, "data": data})
        self._written = records, state

    def _content(self) -> tuple[list[record.OccurrenceRecord], str]:
        """Return what the ConfigMap is to say: the records, and how rehearsals stand."""
        records = list(self._records.values())
        return records, record.rehearsal_state(records, self._open, self._coming)

    def _resume(self) -> None:
        """Merge the records that earlier pods have written."""
        found = self._api.find(CONFIG_MAP, self._namespace, self._name) or {}
        records = record.parse_records(str(part(found, "data").get(record.RECORD_KEY)))
        if part(found, "metadata", "labels").get(REHEARSAL) == record.REHEARSAL_OPEN:
            self._unreported = record.last_failed(records.values(), self._open)
        for name, ours in self._records.items():
            before = records.pop(name, None)
            records[name] = record.merge_records(before, ours) if before else ours
        self._records, self._has_resumed = records, True
