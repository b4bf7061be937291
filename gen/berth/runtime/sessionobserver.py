"""Observes sessions, how many count for each open occurrence of the reservation, and its Deployments.

Watches run in threads; their messages are applied in the thread that asks, so nothing here needs a lock.
"""

import json
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import NamedTuple
from urllib.parse import quote

from berth.core.claims import (
    HORIZON_REFRESH,
    ClaimTracker,
    SessionCounter,
    TimetableReading,
    competing_reservation,
)
from berth.core.instants import parse_instant
from berth.core.jsonvalues import TimetableError, Tree
from berth.core.labels import ROLE, SITE, TIMETABLE
from berth.core.objects import CONFIG_MAP, DEPLOYMENT, RUNNING_PODS
from berth.core.sessions import (
    NO_TEMPLATE,
    RENKU_PROJECT,
    Contest,
    Inactive,
    Match,
    Recognition,
    Session,
    may_overlap,
    project_of,
)
from berth.core.state import PoolObject, read_pool
from berth.core.timetable import TIMETABLE_KEY, Timetable, parse_timetable
from berth.runtime.projecttemplates import ProjectTemplates, RenkuClient
from berth.runtime.watch import (
    Changed,
    Collection,
    Listed,
    Reader,
    WatchContext,
    WatchManager,
    invalid_response,
    object_at,
    uid_of,
)

_TIMETABLE_PAGE = 8  # timetables may be large
_FINISHED = ("Succeeded", "Failed")


class MetadataKeys(NamedTuple):
    """The labels and annotations that a `Match` uses. All others are dropped."""

    labels: frozenset[str] = frozenset()
    annotations: frozenset[str] = frozenset()


def metadata_keys(matches: Iterable[Match]) -> MetadataKeys:
    """Return the keys that matches use. The template depends on the project, which is an annotation."""
    labels: set[str] = set()
    annotations: set[str] = set()
    for match in matches:
        labels.update(key for key, _ in match.labels)
        annotations.update(key for key, _ in match.annotations)
        if match.template:
            annotations.add(RENKU_PROJECT)
    return MetadataKeys(frozenset(labels), frozenset(annotations))


def session_collections(recognition: Recognition) -> dict[str, Collection]:
    """Return the collections to list and watch for sessions of the class, by namespace."""
    return {name: _collection(recognition, quote(name, safe="")) for name in recognition.namespaces}


def _collection(recognition: Recognition, namespace: str) -> Collection:
    selector = ",".join(one.query for one in recognition.required_labels)
    if recognition.source == "renku":
        return Collection(f"/apis/amalthea.dev/v1alpha1/namespaces/{namespace}/amaltheasessions", selector)
    if recognition.source == "custom":
        group, version = quote(recognition.group, safe=""), quote(recognition.version, safe="")
        api = f"/apis/{group}/{version}" if group else f"/api/{version}"
        path = f"{api}/namespaces/{namespace}/{quote(recognition.resource, safe='')}"
        return Collection(path, selector, metadata_only=not recognition.inactive)
    labels = f"{selector},!{SITE}" if selector else f"!{SITE}"
    return Collection(f"/api/v1/namespaces/{namespace}/pods", labels, RUNNING_PODS, metadata_only=True)


def is_active(tree: Tree, recognition: Recognition) -> bool:
    """Return whether an object of the class's collections is an active session of the class.

    If only metadata is read, the field selector of the collection has checked the rest.
    """
    metadata = object_at(tree, "metadata")
    annotations, labels = object_at(metadata, "annotations"), object_at(metadata, "labels")
    # No pod of ours is a session.
    if metadata.get("deletionTimestamp") or SITE in labels:
        return False
    if any(annotations.get(key) != value for key, value in recognition.required_annotations):
        return False
    if not all(one.holds(labels) for one in recognition.required_labels):
        return False
    if recognition.source == "renku":
        return (
            recognition.renku_id is not None
            and object_at(tree, "spec").get("hibernated") is not True
            and object_at(tree, "status").get("state") not in _FINISHED
        )
    return not any(_holds(tree, condition) for condition in recognition.inactive)


def _holds(tree: Tree, condition: Inactive) -> bool:
    """Return whether the condition is true. Values are compared as JSON text."""
    found: object = tree
    for step in condition.path.split("."):
        if not isinstance(found, dict) or step not in found:
            return False
        found = found[step]
    if isinstance(found, dict | list):
        return False
    return (found if isinstance(found, str) else json.dumps(found)) in condition.values


def recognizing_classes(tree: Tree, recognitions: Iterable[tuple[str, Recognition]]) -> tuple[str, ...]:
    """Return the classes of which an object is an active session."""
    return tuple(name for name, recognition in recognitions if is_active(tree, recognition))


def parse_session(tree: Tree, namespace: str, kept: MetadataKeys) -> Session:
    """Parse a session of the collection's namespace. Raises ApiError if the object is malformed."""
    metadata = object_at(tree, "metadata")
    created = metadata.get("creationTimestamp")
    try:
        since = parse_instant(created) if isinstance(created, str) else None
    except ValueError:
        since = None
    if since is None:
        raise invalid_response("an object has no creationTimestamp", {"creationTimestamp": created})
    return Session(
        uid_of(tree),
        namespace,
        since,
        _select(object_at(metadata, "labels"), kept.labels),
        _select(object_at(metadata, "annotations"), kept.annotations),
    )


def _select(pairs: Tree, wanted: frozenset[str]) -> dict[str, str]:
    found = ((key, pairs.get(key)) for key in wanted)
    return _interned(tuple(sorted((key, value) for key, value in found if isinstance(value, str))))


@lru_cache(maxsize=1024)
def _interned(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return one shared mapping for equal pairs; it must not be modified."""
    return dict(pairs)


def pool_collection(namespace: str, name: str) -> Collection:
    """Return the collection of one Deployment: an account may watch those that a Role names."""
    return Collection(DEPLOYMENT.path(namespace), fields=f"metadata.name={name}")


def timetable_collection(namespace: str, site: str) -> Collection:
    """Return the collection of all timetables of the site."""
    return Collection(CONFIG_MAP.path(namespace), f"{SITE}={site},{ROLE}={TIMETABLE}", page=_TIMETABLE_PAGE)


class SeenSession(NamedTuple):
    """An active session, and which of the counted classes recognize it (usually one)."""

    session: Session
    classes: tuple[str, ...]


class SessionReader(NamedTuple):
    """Reads the sessions of `classes` in a namespace.

    `recognitions` also has those of other classes that may recognize the same sessions.
    """

    namespace: str
    classes: frozenset[str]
    recognitions: tuple[tuple[str, Recognition], ...]
    keys: MetadataKeys

    def read(self, tree: Tree) -> SeenSession | None:
        found = recognizing_classes(tree, self.recognitions)
        classes = tuple(name for name in found if name in self.classes)
        if not classes:
            return None
        session = parse_session(tree, self.namespace, self.keys)
        return SeenSession(session._replace(classes=found) if len(found) > 1 else session, classes)


class TimetableReader(NamedTuple):
    """Reads timetables of the site."""

    counted: tuple[tuple[str, Recognition], ...]
    now: int  # when this reading of the timetables began

    def read(self, tree: Tree) -> TimetableReading:
        name = str(object_at(tree, "metadata").get("name"))
        text = object_at(tree, "data").get(TIMETABLE_KEY)
        try:
            if not isinstance(text, str):
                raise TimetableError(f"{TIMETABLE_KEY}: is missing")
            found = competing_reservation(parse_timetable(text), dict(self.counted), self.now)
            return TimetableReading(name, found)
        except TimetableError as error:
            return TimetableReading(name, str(error))


STALE_SECONDS = 600.0  # seconds for which the last counts hold when sessions cannot be read any more
_TEMPLATE_RETRY = 1.0  # seconds between looks at templates that are not known


class PoolReader(NamedTuple):
    """Reads a Deployment of the reservation."""

    name: str

    def read(self, tree: Tree) -> PoolObject:
        return read_pool(DEPLOYMENT, tree)


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
        self._pools: dict[str, PoolObject] = {}  # Deployments as last seen, by name
        self._has_unseen_pool = False

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
        is_unseen, self._has_unseen_pool = bool(unseen) or self._has_unseen_pool, False
        for found in unseen:
            found.is_unseen = False  # once only, whatever the caller makes of it
        if not is_unseen:
            self._manager.wait(seconds)

    def pool(self, name: str) -> PoolObject | None:
        """Return a Deployment as last seen; None if it has not been seen.

        It may be older than what the caller knows.
        """
        self._has_unseen_pool = False
        return self._pools.get(name)

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
        for pool in self._timetable.pools if self._timetable is not None else ():
            if pool.holder.is_scaled_by_sessions:
                wanted[pool_collection(self._context.namespace, pool.scaled)] = PoolReader(pool.scaled)
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
            elif isinstance(reader, PoolReader):
                self._take_pool(reader.name, message)
            else:
                self._take_timetables(message)
        self._settle_claims(now)
        self._settle_templates(now)
        for found in self._classes.values():
            found.settle()

    def _take_pool(self, name: str, message: Listed[object] | Changed[object]) -> None:
        self._has_unseen_pool = True
        self._pools.pop(name, None)
        for found in message.items.values() if isinstance(message, Listed) else (message.item,):
            if isinstance(found, PoolObject):
                self._pools[name] = found

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
