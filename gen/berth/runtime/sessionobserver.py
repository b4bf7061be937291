"""The observer of sessions: how many sessions count for each open occurrence of the reservation.

Watches run in threads; their messages are applied in the thread that asks, so nothing here needs a lock.
"""

from functools import partial
from typing import NamedTuple

from berth.core.claims import HORIZON_REFRESH, ClaimTracker, SessionCounter, TimetableReading
from berth.core.jsonvalues import TimetableError
from berth.core.sessions import NO_TEMPLATE, Contest, Recognition, Session, may_overlap, project_of
from berth.core.timetable import Timetable
from berth.runtime.lists import Collection
from berth.runtime.projecttemplates import ProjectTemplates, RenkuClient
from berth.runtime.sessionobjects import (
    MetadataKeys,
    SeenSession,
    SessionReader,
    TimetableReader,
    metadata_keys,
    session_collections,
    timetable_collection,
)
from berth.runtime.watch import Changed, Listed, Reader, WatchContext, WatchManager

STALE_SECONDS = 600.0  # seconds for which the last counts hold when sessions cannot be read any more
_TEMPLATE_RETRY = 1.0  # seconds between looks at templates that are not known


class ObservedSessions(NamedTuple):
    """Sessions by the id of every open occurrence of the own reservation."""

    counts: dict[str, int] | None
    """Sessions that count for each, those that left a moment ago included. None: they cannot be read, because
    they have never been listed completely, or have not been readable for longer than STALE_SECONDS.
    """
    active: dict[str, int]  # only those that are there now; empty where `counts` is None
    pending: bool  # the first complete list is not there yet


class _WatchedClass:
    """The state of one counted class."""

    def __init__(self, recognition: Recognition, counter: SessionCounter) -> None:
        self.recognition = recognition
        self.counter = counter
        self.collections = session_collections(recognition)  # by namespace
        self.unlisted = set(self.collections)
        self.is_pending = True
        self.has_templates = False  # some match asks for one
        self.is_unseen = False  # something has changed that was not asked for yet

    def settle(self) -> None:
        if not self.unlisted and not self.counter.holds_back:
            self.is_pending = False


class SessionObserver:
    """Observes sessions. Not thread-safe. Watches start with the first `update`."""

    def __init__(self, watch_context: WatchContext, patience: float = STALE_SECONDS) -> None:
        self._context = watch_context
        self._patience = patience
        self._manager = WatchManager(watch_context)
        self._timetable: Timetable | None = None
        self._tracker = ClaimTracker()
        self._knows_competitors = False
        self._read_at = 0  # when the timetables were last read up to their horizon
        self._classes: dict[str, _WatchedClass] = {}
        self._keys = MetadataKeys()
        self._templates: ProjectTemplates | None = None
        self._looked_at, self._must_look = 0.0, False  # at templates that were not known
        self._is_arranged = True

    def update(self, timetable: Timetable) -> None:
        """Set the timetable of the own reservation; the known one changes nothing.

        Classes with behavior `none` are not watched.
        """
        before = self._timetable
        if timetable == before:
            return
        settings = timetable.settings
        if before is None or settings.renku_url != before.settings.renku_url:
            self._ask_renku_at(settings.renku_url)
        self._timetable, known, self._classes = timetable, self._classes, {}
        for pool in timetable.pools:
            if pool.behavior != "none" and pool.sessions is not None:
                name, found = pool.resource_class, known.get(pool.resource_class)
                if found is None or found.recognition != pool.sessions:
                    found = _WatchedClass(pool.sessions, SessionCounter(0, partial(self._template, name)))
                is_stabilized = pool.holder.is_stabilized
                found.counter.set_seconds(settings.stabilization_seconds if is_stabilized else 0)
                self._classes[name] = found
        self._reread(self._context.now())

    def wait(self, seconds: float) -> None:
        """Return at the first change, or after so many seconds.

        Returns at once if `seen` has not shown a change yet. Changes within a millisecond are handled
        together.
        """
        unseen = [found for found in self._classes.values() if found.is_unseen]
        for found in unseen:
            found.is_unseen = False  # once only, whatever the caller makes of it
        if not unseen:
            self._manager.wait(seconds)

    def seen(self, resource_class: str, now: float) -> ObservedSessions:
        """Return the sessions of a class. Those of a class that is not watched are unknown."""
        self._catch_up(now)
        found = self._classes.get(resource_class)
        if found is None:
            return ObservedSessions(None, {}, self._timetable is None)
        found.is_unseen = False
        blind = max((self._manager.failing_for(one, now) for one in found.collections.values()), default=0.0)
        if found.is_pending or blind > self._patience:
            return ObservedSessions(None, {}, found.is_pending)
        counts = found.counter.counts(now)
        return ObservedSessions(
            {name: counts.counted.get(name, 0) for name in self._tracker.open},
            {name: counts.here.get(name, 0) for name in self._tracker.open},
            False,
        )

    def next_change(self, now: float) -> float | None:
        """Return when the counts change next without a change of sessions, later than `now`.

        A grace period or a lookup of a template ends, or an occurrence of any reservation opens or ends.
        """
        self._catch_up(now)
        moments = [found.counter.next_change(now) for found in self._classes.values()]
        moments.append(self._tracker.until)
        moments.append(self._templates.next_change(now) if self._templates else None)
        return min((at for at in moments if at is not None and now < at < float("inf")), default=None)

    def close(self) -> None:
        """Stop all watches."""
        self._manager.close()
        if self._templates:
            self._templates.close()

    def _counted(self) -> dict[str, Recognition]:
        return {name: found.recognition for name, found in self._classes.items()}

    def _reread(self, now: float) -> None:
        """Read all timetables again, up to a new horizon."""
        self._read_at = int(now)
        if self._timetable is not None:
            self._tracker.set_own(self._timetable, self._counted(), self._read_at)
        self._arrange()

    def _arrange(self) -> None:
        """Start and stop watches.

        Sessions are watched only once all competing reservations are known, and with them the relevant
        labels.
        """
        self._is_arranged = False
        wanted: dict[Collection, Reader] = {}
        if self._timetable is not None and self._classes:
            ours = timetable_collection(self._context.namespace, self._timetable.site)
            wanted[ours] = TimetableReader(tuple(self._counted().items()), self._read_at)
            if self._knows_competitors:
                self._learn_what_matters()
                wanted.update(self._session_readers())
        self._manager.arrange(wanted)
        self._is_arranged = True

    def _learn_what_matters(self) -> None:
        """Collect the relevant labels and annotations; none is ever dropped again."""
        matches = list(self._tracker.matches())
        asked = metadata_keys(match for _, match in matches)
        self._keys = MetadataKeys(
            self._keys.labels | asked.labels, self._keys.annotations | asked.annotations
        )
        known = self._tracker.recognitions()
        by_template = [known[name] for name, match in matches if match.template]
        for found in self._classes.values():
            if not found.has_templates and any(may_overlap(found.recognition, one) for one in by_template):
                found.has_templates = self._must_look = True

    def _session_readers(self) -> dict[Collection, Reader]:
        """Return the readers of sessions; classes with a common collection share its watch."""
        places: dict[tuple[Collection, str], dict[str, Recognition]] = {}
        for name, found in self._classes.items():
            for namespace, collection in found.collections.items():
                places.setdefault((collection, namespace), {})[name] = found.recognition
        readers: dict[Collection, Reader] = {}
        for (collection, namespace), own in places.items():
            recognitions = tuple(
                (name, one)
                for name, one in sorted(self._tracker.recognitions().items())
                if namespace in one.namespaces and any(may_overlap(one, other) for other in own.values())
            )
            readers[collection] = SessionReader(namespace, frozenset(own), recognitions, self._keys)
        return readers

    def _catch_up(self, now: float) -> None:
        if not self._is_arranged:
            self._arrange()
        if not 0 <= now - self._read_at < HORIZON_REFRESH:
            self._reread(now)
        self._settle_claims(now)
        for reader, message in self._manager.news(now):
            if isinstance(reader, SessionReader):
                self._take_sessions(reader, message, now)
            else:
                self._take_timetables(message)
        self._settle_claims(now)
        self._settle_templates(now)
        for found in self._classes.values():
            found.settle()

    def _settle_claims(self, now: float) -> None:
        if self._tracker.refresh(now):
            claims, recognitions = self._tracker.claims, self._tracker.recognitions()
            for name, found in self._classes.items():
                found.counter.set_claims(claims.get(name, ()), Contest(name, recognitions, claims))
                found.is_unseen = True

    def _settle_templates(self, now: float) -> None:
        templates = self._templates
        if templates is None:
            return
        news = templates.news(now)
        # Who asks again starts what is looked up after a pause.
        due = templates.is_uncertain and not 0 <= now - self._looked_at < _TEMPLATE_RETRY
        for found in [one for one in self._classes.values() if one.has_templates]:
            if self._must_look:
                found.counter.look_at_all(now)
            elif due or news:
                found.counter.look_again(now, None if due else news)
            found.is_unseen = found.is_unseen or bool(news)
        if due or self._must_look:
            self._looked_at, self._must_look = now, False

    def _template(self, name: str, session: Session, now: float) -> str | None:
        if self._templates is None or not self._classes[name].has_templates:
            return NO_TEMPLATE
        return self._templates.of(project_of(session), now)

    def _ask_renku_at(self, url: str) -> None:
        if self._templates:
            self._templates.close()
        context = self._context
        self._templates = ProjectTemplates(
            lambda: RenkuClient(url, context.renku_token_file),
            self._manager.wake,
            context.log,
            context.jitter,
        )
        self._must_look = True

    def _take_sessions(
        self, reader: SessionReader, message: Listed[object] | Changed[object], now: float
    ) -> None:
        for name in reader.classes:
            found = self._classes[name]
            found.is_unseen = True
            if isinstance(message, Listed):
                here = {
                    uid: item.session
                    for uid, item in message.items.items()
                    if isinstance(item, SeenSession) and name in item.classes
                }
                found.counter.replace(reader.namespace, here, now)
                found.unlisted.discard(reader.namespace)
            elif isinstance(message.item, SeenSession) and name in message.item.classes:
                found.counter.arrive(message.item.session, now)
            else:
                found.counter.leave(message.uid, now)

    def _take_timetables(self, message: Listed[object] | Changed[object]) -> None:
        if isinstance(message, Listed):
            found, gone = message.items, self._tracker.known - message.items.keys()
            self._knows_competitors = True
        elif message.item is None:
            found, gone = {}, {message.uid}
        else:
            found, gone = {message.uid: message.item}, set()
        readings = {uid: item for uid, item in found.items() if isinstance(item, TimetableReading)}
        for reading in readings.values():
            subject = f"timetable {reading.name}"
            if isinstance(reading.found, str):
                self._context.log.trouble(subject, TimetableError(reading.found))
            else:
                self._context.log.works(subject)
        self._tracker.take(readings, gone)
        self._arrange()
