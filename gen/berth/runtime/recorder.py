"""Reports how occurrences go: log lines, Events, and the record, a ConfigMap of the reservation.

Seats do not depend on them: the recorder uses a connection of its own with short timeouts, and pauses after
each attempt.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from berth.core import record
from berth.core.holders import REMEDIES
from berth.core.jsonvalues import Tree, instant_text, part
from berth.core.labels import RECORD, RESERVATION, ROLE, SITE
from berth.core.objects import CONFIG_MAP, EVENT, NORMAL, WARNING, ObjectRef, Said, make_event
from berth.core.target import open_now
from berth.core.timetable import Timetable, TimetableOccurrence, active_occurrences
from berth.runtime.apiclient import Api
from berth.runtime.program import NO_PAUSE, Log, Pause

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
        self._labels: dict[str, str] = {}  # of the ConfigMap
        self._has_resumed = False
        self._written: tuple[list[record.OccurrenceRecord], dict[str, str]] = ([], {})  # as of `_content`
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
        for name in sorted(occurrences.keys() - self._open.keys()):
            self._records[name] = self._records.pop(name, record.OccurrenceRecord(name))
            self._log.info("open", occurrence=name, until=instant_text(occurrences[name].end))
        self._records = dict([*self._records.items()][-max(record.MAX_RECORDS, len(occurrences)) :])
        self._readiness = {key: value for key, value in self._readiness.items() if key[0] in occurrences}
        self._open = occurrences

    @property
    def ended(self) -> Mapping[str, int]:
        """When each rehearsal had all its seats, by id: it is over then."""
        return {}

    def resume(self, timetable: Timetable, now: int) -> None:
        """Learn from the records of earlier pods, before the seats open, which rehearsals are over."""

    def _recorded(self, occurrence: str) -> record.OccurrenceRecord:
        return self._records.get(occurrence) or record.OccurrenceRecord(occurrence)

    def note(self, timetable: Timetable, looks: Sequence[record.PoolObservation], now: float) -> None:
        """Add observations of the pools.

        The record has no owner: it outlives its reservation, until the sweep removes it.
        """
        self._labels = {SITE: timetable.site, RESERVATION: timetable.reservation, ROLE: RECORD}
        self._looks, faults = looks, self._log.faults(FAULT_SECONDS)
        for look in looks:
            self._tell_set_back(look, now)
        for item in self._open.values():
            self._note_occurrence(item, faults, record.readiness_due(item, timetable.settings), now)

    def _note_occurrence(
        self, item: TimetableOccurrence, faults: Sequence[str], due: int, now: float
    ) -> None:
        seen = record.with_observation(self._recorded(item.id), item, self._looks, due, int(now))
        self._records[item.id] = record.with_faults(seen, faults)
        for look in self._looks:
            if look.resource_class in seen.promised:
                self._judge(item, look, due, now)

    def _tell_set_back(self, look: record.PoolObservation, now: float) -> None:
        """Say once who sets back a number."""
        before = self._set_back.get(look.resource_class, "")
        self._set_back[look.resource_class] = look.set_back
        if look.set_back and not before:
            self._add_event(look.subject, (WARNING, "NumberSetBack", look.set_back), now)

    def _judge(self, item: TimetableOccurrence, look: record.PoolObservation, due: int, now: float) -> None:
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
        self._add_event(look.subject, (kind, reason, message), now)

    def _add_event(self, subject: ObjectRef, said: Said, now: float) -> None:
        self._events = [*self._events, make_event(self._namespace, subject, said, now)][-MAX_EVENTS:]

    def send(self, now: float) -> None:
        """Send at most one pending thing, so that this takes a few seconds at most."""
        for subject, action in self._pending():
            if not self._pauses.get(subject, NO_PAUSE).left(now):
                self._try(subject, now, action)
                return

    def send_last(self, now: float) -> None:
        """Send everything pending before the run ends."""
        for subject, action in self._pending():
            self._try(subject, now, action)

    def _pending(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield what is to be sent; no record before the pools have been observed."""
        content = self._content()
        if self._name and content != self._written and any(one.targets or one.faults for one in content[0]):
            yield "record", self._write
        if self._events:
            yield "events", self._post

    def _try(self, subject: str, now: float, action: Callable[[], object]) -> None:
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
        records, labels = self._content()
        data: Tree = {record.RECORD_KEY: record.record_text(records)}
        metadata: Tree = {"name": self._name, "labels": labels}
        self._api.apply(CONFIG_MAP, self._namespace, self._name, {"metadata": metadata, "data": data})
        self._written = records, labels

    def _content(self) -> tuple[list[record.OccurrenceRecord], dict[str, str]]:
        """Return what the ConfigMap is to have: the records, and its labels."""
        return list(self._records.values()), self._labels

    def _resume(self) -> Tree:
        """Merge the records that earlier pods have written, and return their ConfigMap."""
        found = self._api.find(CONFIG_MAP, self._namespace, self._name) or {}
        records = record.parse_records(str(part(found, "data").get(record.RECORD_KEY)))
        for name, ours in self._records.items():
            before = records.pop(name, None)
            records[name] = record.merge_records(before, ours) if before else ours
        self._records, self._has_resumed = records, True
        return found
