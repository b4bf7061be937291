"""Reports how occurrences go: log lines, Events, and the record on the Job.

Seats do not depend on it: it uses a connection of its own with short timeouts, and pauses after failures.
"""

from collections.abc import Callable, Iterable

from berth.core.backoff import NO_PAUSE, Pause
from berth.core.instants import instant_text
from berth.core.objects import JOB, NORMAL, WARNING, EventSubject, make_event
from berth.core.record import (
    LATE,
    MAX_RECORDS,
    READY,
    RECORD_ANNOTATION,
    UNKNOWN,
    OccurrenceRecord,
    PoolObservation,
    judge_readiness,
    late_message,
    merge_records,
    parse_records,
    readiness_due,
    ready_message,
    record_annotations,
    record_json,
    with_observation,
)
from berth.core.target import open_now
from berth.core.timetable import Timetable, TimetableOccurrence, active_occurrences
from berth.runtime.apiclient import Api, ApiError
from berth.runtime.program import Log

RECORD_INTERVAL = 30.0  # seconds between writes of the record, and after a failure
MAX_EVENTS = 20  # that wait to be sent


class Recorder:
    """Records the occurrences of a run."""

    def __init__(self, api: Api, namespace: str, job: str, log: Log) -> None:
        """With an empty `job`, no record is written."""
        self._api = api
        self._namespace = namespace
        self._job = job
        self._log = log
        self._records: dict[str, OccurrenceRecord] = {}  # in the order of opening
        self._open: dict[str, TimetableOccurrence] = {}
        self._readiness: dict[tuple[str, str], str] = {}  # by occurrence and class
        self._events: list[dict[str, object]] = []
        self._has_resumed = not job
        self._written: dict[str, str] = {}
        self._rest = self._events_rest = NO_PAUSE

    def tell_open(self, timetable: Timetable, now: int) -> None:
        """Log which occurrences have opened and which are over."""
        found = {item.id: item for item in open_now(active_occurrences(timetable), now)}
        for name in sorted(self._open.keys() - found.keys()):
            self._log.info("over", **record_json(self._records.get(name, OccurrenceRecord(name))))
        for name in sorted(found.keys() - self._open.keys()):
            self._records[name] = self._records.pop(name, OccurrenceRecord(name))
            self._log.info("open", occurrence=name, until=instant_text(found[name].end))
        for name in [name for name in self._records if name not in found][
            : max(0, len(self._records) - MAX_RECORDS)
        ]:
            del self._records[name]
        self._readiness = {key: value for key, value in self._readiness.items() if key[0] in found}
        self._open = found

    def note(
        self,
        timetable: Timetable,
        looks: Iterable[PoolObservation],
        subjects: dict[str, EventSubject],
        now: float,
    ) -> None:
        """Add observations of the pools. `subjects` by resource class."""
        looks = tuple(looks)
        for item in self._open.values():
            self._records[item.id] = with_observation(self._records[item.id], item, looks, int(now))
            promised = self._records[item.id].promised
            for look in looks:
                if look.resource_class in promised:
                    self._judge(timetable, item, look, subjects[look.resource_class], now)

    def _judge(
        self,
        timetable: Timetable,
        item: TimetableOccurrence,
        look: PoolObservation,
        subject: EventSubject,
        now: float,
    ) -> None:
        key = item.id, look.resource_class
        before = self._readiness.get(key, UNKNOWN)
        after = judge_readiness(before, readiness_due(item, timetable.settings), look, now)
        self._readiness[key] = after
        if after == before or (before == UNKNOWN and after == READY):
            return
        start = instant_text(item.start)
        if after == LATE:
            counts = {"wanted": look.wanted, "ready": look.ready}
            self._log.error("late", occurrence=item.id, pool=look.resource_class, **counts, start=start)
            self._add(make_event(subject, WARNING, "SeatsNotReady", late_message(item, look, start), now))
        else:
            self._log.info("ready", occurrence=item.id, pool=look.resource_class)
            self._add(make_event(subject, NORMAL, "SeatsReady", ready_message(item, look), now))

    def _add(self, told: dict[str, object]) -> None:
        self._events = [*self._events, told][-MAX_EVENTS:]

    def send(self, now: float) -> None:
        """Send at most one pending thing, so that this takes a few seconds at most."""
        if self._job and not self._rest.left(now) and self._is_news():
            self._try("record", now, self._write)
        elif self._events and not self._events_rest.left(now):
            self._try("events", now, self._post)

    def send_last(self, now: float) -> None:
        """Send everything pending before the run ends."""
        if self._job and self._is_news():
            self._try("record", now, self._write)
        if self._events:
            self._try("events", now, self._post)

    def _try(self, subject: str, now: float, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._log.trouble(subject, error)
            if subject == "events":
                self._events_rest = Pause(now, RECORD_INTERVAL)
        else:
            self._log.works(subject)
        if subject == "record":
            self._rest = Pause(now, RECORD_INTERVAL)

    def _is_news(self) -> bool:
        """Return whether the record has changed; never before the pools have been observed."""
        records = list(self._records.values())
        return any(record.targets for record in records) and record_annotations(records) != self._written

    def _post(self) -> None:
        while self._events:
            self._api.tell(self._namespace, self._events[0])
            del self._events[0]

    def _write(self) -> None:
        if not self._has_resumed:
            self._resume()
        found = record_annotations(list(self._records.values()))
        self._api.annotate(JOB, self._namespace, self._job, found)
        self._written = found

    def _resume(self) -> None:
        """Merge the records that an earlier pod has written."""
        try:
            said = self._api.get_job_annotation(self._namespace, self._job, RECORD_ANNOTATION)
        except ApiError as error:
            if error.status != 403:
                raise
            said = ""
        self._has_resumed = True
        earlier = {record.occurrence: record for record in parse_records(said)}
        ours, self._records = self._records, earlier
        for name, record in ours.items():
            before = earlier.pop(name, None)
            self._records[name] = merge_records(before, record) if before else record
