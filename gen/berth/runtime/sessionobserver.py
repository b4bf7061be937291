"""Observes sessions, and how many count for each open occurrence of the reservation.

Watches run in threads; their messages are applied in the thread that asks, so nothing here needs a lock.
"""

import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from berth.core.claims import (
    HORIZON_REFRESH,
    ClaimTracker,
    TimetableReading,
    competing_reservation,
    count_sessions,
)
from berth.core.jsonvalues import TimetableError, Tree, parse_instant, part
from berth.core.labels import RESERVATION, ROLE, SITE, TIMETABLE
from berth.core.objectnames import is_timetable
from berth.core.objects import CONFIG_MAP, RUNNING_PODS
from berth.core.sessions import (
    NO_TEMPLATE,
    RENKU_PROJECT,
    UNKNOWN_TEMPLATE,
    Contest,
    Inactive,
    Match,
    Pairs,
    Recognition,
    Session,
    may_overlap,
    project_of,
)
from berth.core.timetable import TIMETABLE_KEY, Timetable, parse_timetable
from berth.runtime.apiclient import Connection, invalid_response
from berth.runtime.program import RuntimeContext
from berth.runtime.watch import Collection, News, Reader, Watches, uid_of

if TYPE_CHECKING:
    from berth.plugins.renku.projecttemplates import ProjectTemplates

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
    """Return the collections to list and watch for sessions of the class, by namespace.

    An empty namespace is the whole cluster: no query can ask for the labels of namespaces.
    """
    names = ("",) if recognition.namespace_labels else recognition.namespaces
    return {name: _collection(recognition, name) for name in names}


def namespace_collection(labels: Pairs) -> Collection:
    """Return the collection of the namespaces with these labels."""
    return Collection("/api/v1/namespaces", ",".join(map("=".join, labels)), metadata_only=True)


def _collection(recognition: Recognition, namespace: str) -> Collection:
    home = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    selector = ",".join(required_label.query for required_label in recognition.required_labels)
    if recognition.source == "renku":
        return Collection(f"/apis/amalthea.dev/v1alpha1{home}/amaltheasessions", selector)
    if recognition.source == "custom":
        group, version = quote(recognition.group, safe=""), quote(recognition.version, safe="")
        api = f"/apis/{group}/{version}" if group else f"/api/{version}"
        path = f"{api}{home}/{quote(recognition.resource, safe='')}"
        return Collection(path, selector, metadata_only=not recognition.inactive)
    labels = f"{selector},!{SITE}" if selector else f"!{SITE}"
    return Collection(f"/api/v1{home}/pods", labels, RUNNING_PODS, metadata_only=True)


def is_active(tree: Tree, recognition: Recognition) -> bool:
    """Return whether an object of the class's collections is an active session of the class.

    If only metadata is read, the field selector of the collection has checked the rest.
    """
    metadata = part(tree, "metadata")
    annotations, labels = part(metadata, "annotations"), part(metadata, "labels")
    # No pod of ours is a session.
    if metadata.get("deletionTimestamp") or SITE in labels:
        return False
    if any(annotations.get(key) != value for key, value in recognition.required_annotations):
        return False
    if not all(required_label.holds(labels) for required_label in recognition.required_labels):
        return False
    if recognition.source == "renku":
        return (
            recognition.renku_id is not None
            and part(tree, "spec").get("hibernated") is not True
            and part(tree, "status").get("state") not in _FINISHED
        )
    return not any(_holds(tree, condition) for condition in recognition.inactive)


def _holds(tree: Tree, condition: Inactive) -> bool:
    """Return whether the condition is true. Values are compared as JSON text."""
    value: object = tree
    for step in condition.path.split("."):
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    if isinstance(value, dict | list):
        return False
    return (value if isinstance(value, str) else json.dumps(value)) in condition.values


def recognizing_classes(tree: Tree, recognitions: Iterable[tuple[str, Recognition]]) -> tuple[str, ...]:
    """Return the classes of which an object is an active session."""
    return tuple(name for name, recognition in recognitions if is_active(tree, recognition))


def parse_session(tree: Tree, namespace: str, kept: MetadataKeys) -> Session:
    """Parse a session of the collection's namespace. Raises ApiError if the object is malformed."""
    metadata = part(tree, "metadata")
    created = metadata.get("creationTimestamp")
    try:
        since = parse_instant(created) if isinstance(created, str) else None
    except ValueError:
        since = None
    if since is None:
        raise invalid_response("an object has no creationTimestamp", {"creationTimestamp": created})
    return Session(
        uid_of(tree),
        namespace or str(metadata.get("namespace", "")),
        since,
        _select(part(metadata, "labels"), kept.labels),
        _select(part(metadata, "annotations"), kept.annotations),
    )


def _select(pairs: Tree, wanted: frozenset[str]) -> dict[str, str]:
    values = ((key, pairs.get(key)) for key in wanted)
    return _interned(tuple(sorted((key, value) for key, value in values if isinstance(value, str))))


@lru_cache(maxsize=1024)
def _interned(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return one shared mapping for equal pairs; it must not be modified."""
    return dict(pairs)


def timetable_collection(namespace: str, site: str) -> Collection:
    """Return the collection of all timetables of the site."""
    return Collection(CONFIG_MAP.path(namespace), f"{SITE}={site},{ROLE}={TIMETABLE}")


class SessionReader(NamedTuple):
    """Reads the sessions of `classes` in a namespace, or (empty) in the whole cluster.

    `recognitions` also has those of other classes that may recognize the same sessions.
    """

    namespace: str
    classes: frozenset[str]
    recognitions: tuple[tuple[str, Recognition], ...]
    keys: MetadataKeys

    def read(self, tree: Tree) -> Session | None:
        """Return the session, with all classes that recognize it."""
        classes = recognizing_classes(tree, self.recognitions)
        if self.classes.isdisjoint(classes):
            return None
        return parse_session(tree, self.namespace, self.keys)._replace(classes=classes)


class NamespaceReader(NamedTuple):
    """Reads the names of the namespaces that have these labels."""

    labels: Pairs

    def read(self, tree: Tree) -> str | None:
        metadata = part(tree, "metadata")
        labels = part(metadata, "labels")
        has_all = all(labels.get(key) == value for key, value in self.labels)
        return str(metadata.get("name")) if has_all else None


class TimetableReader(NamedTuple):
    """Reads timetables of the site."""

    counted: tuple[tuple[str, Recognition], ...]
    now: int  # when this reading of the timetables began

    def read(self, tree: Tree) -> TimetableReading | None:
        """Return what the timetable claims; None for a ConfigMap that only has the labels of one."""
        name, reservation = (
            str(part(tree, "metadata").get("name")),
            str(part(tree, "metadata", "labels").get(RESERVATION)),
        )
        if not is_timetable(name, reservation):
            return None
        text = part(tree, "data").get(TIMETABLE_KEY)
        try:
            if not isinstance(text, str):
                raise TimetableError(f"{TIMETABLE_KEY}: is missing")
            timetable = parse_timetable(text)
            if timetable.reservation != reservation:
                raise TimetableError(f"reservation: {timetable.reservation!r} is not {reservation!r}")
            competitor = competing_reservation(timetable, dict(self.counted), self.now)
            return TimetableReading(name, competitor)
        except TimetableError as error:
            return TimetableReading(name, str(error))


STALE_SECONDS = 600.0  # seconds for which the last counts hold when sessions cannot be read any more
_TEMPLATE_RETRY = 1.0  # seconds between looks at templates that are not known


class ObservedSessions(NamedTuple):
    """Sessions by the id of every occurrence of the own reservation that is open or hands over."""

    counts: dict[str, int] | None
    """Sessions that count for each. None: they cannot be read, because they have never been listed
    completely, or have not been readable for longer than STALE_SECONDS.
    """
    pending: bool  # the first complete list is not there yet


class _WatchedClass:
    """The state of one counted class."""

    def __init__(self, recognition: Recognition) -> None:
        self.recognition = recognition
        self.sessions: dict[str, list[Session]] = {}  # by namespace: those that have been listed
        self.counts: dict[str, int] | None = None  # by claim; None: something has changed
        self.holds_back = False  # a session whose template is being looked up
        self.collections = session_collections(recognition)  # by namespace
        self.labels = recognition.namespace_labels
        self.needed = [*self.collections.values()]
        if self.labels:
            self.needed.append(namespace_collection(self.labels))
        self.is_pending = True
        self.has_templates = False  # some match asks for one


class SessionObserver:
    """Observes sessions. Not thread-safe. Watches start with the first `update`."""

    def __init__(
        self, context: RuntimeContext, connect: Callable[[], Connection], renku_token_file: str = ""
    ) -> None:
        """`connect` makes a connection for each watch. Without a token file, Renku is asked without one."""
        self._context, self._renku_token_file = context, renku_token_file
        self._watches = Watches(context, connect)
        self._timetable: Timetable | None = None
        self._tracker = ClaimTracker()
        self._knows_competitors = False
        self._read_at = 0  # when the timetables were last read up to their horizon
        self._classes: dict[str, _WatchedClass] = {}
        self._labeled: dict[Pairs, frozenset[str] | None] = {}  # namespaces; None: not listed yet
        self._keys = MetadataKeys()
        self._templates: ProjectTemplates | None = None
        self._contests: dict[str, Contest] = {}  # by class
        self._looked_at = 0.0  # at templates that were not known
        self._is_arranged = True
        self._is_unseen = False  # something has changed since the look began

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
                name, recognition = pool.resource_class, known.get(pool.resource_class)
                if recognition is None or recognition.recognition != pool.sessions:
                    recognition = _WatchedClass(pool.sessions)
                self._classes[name] = recognition
        self._reread(self._context.now())

    def wait(self, seconds: float) -> None:
        """Return at the first change, or after so many seconds.

        Returns at once if something has changed since `next_change` or `wait` was last called. Changes within
        a millisecond are handled together.
        """
        is_unseen, self._is_unseen = self._is_unseen, False
        if not is_unseen:
            self._watches.wait(seconds)

    def seen(self, resource_class: str, now: float) -> ObservedSessions:
        """Return the sessions of a class. Those of a class that is not watched are unknown."""
        self._catch_up(now)
        watched = self._classes.get(resource_class)
        if watched is None:
            return ObservedSessions(None, self._timetable is None)
        blind = max(
            (self._watches.failing_for(collection, now) for collection in watched.needed), default=0.0
        )
        if watched.is_pending or blind > STALE_SECONDS:
            return ObservedSessions(None, watched.is_pending)
        counts = self._count(resource_class, watched, now)
        return ObservedSessions({name: counts.get(name, 0) for name in self._tracker.own}, False)

    def _count(self, name: str, watched: _WatchedClass, now: float) -> dict[str, int]:
        """Return the sessions of a class by claim, counted anew if anything has changed."""
        if watched.counts is None:
            sessions = [session for some in watched.sessions.values() for session in some]
            if watched.has_templates:
                templates = {
                    project: self._template_of(project, now) for project in map(project_of, sessions)
                }
                found = [(session, templates[project_of(session)]) for session in sessions]
                watched.holds_back = any(template is None for _, template in found)
                sessions = [session._replace(template=known) for session, known in found if known is not None]
            watched.counts = count_sessions(
                sessions, self._tracker.claims.get(name, ()), self._contests[name]
            )
        return watched.counts

    def next_change(self, now: float) -> float | None:
        """Begin a look: return when the counts change next without a change of sessions, later than `now`.

        A lookup of a template ends, or an occurrence of any reservation opens, ends or has handed over.
        """
        self._catch_up(now)
        self._is_unseen = False
        moments = [self._tracker.until, self._templates.next_change(now) if self._templates else None]
        return min((at for at in moments if at is not None and now < at < float("inf")), default=None)

    def _counted(self) -> dict[str, Recognition]:
        return {name: watched.recognition for name, watched in self._classes.items()}

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
                wanted.update(self._namespace_readers())
                wanted.update(self._session_readers())
        self._watches.arrange(wanted)
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
        for watched in self._classes.values():
            if not watched.has_templates and any(
                may_overlap(watched.recognition, recognition) for recognition in by_template
            ):
                watched.has_templates, watched.counts = True, None

    def _namespace_readers(self) -> dict[Collection, Reader]:
        """Return the readers of namespaces for all classes that one of ours by labels may compete with."""
        labels: set[Pairs] = set()
        if any(watched.labels for watched in self._classes.values()):
            labels = {recognition.namespace_labels for recognition in self._tracker.recognitions().values()}
        self._labeled = {pairs: self._labeled.get(pairs) for pairs in labels if pairs}
        return {namespace_collection(pairs): NamespaceReader(pairs) for pairs in self._labeled}

    def _session_readers(self) -> dict[Collection, Reader]:
        """Return the readers of sessions; classes with a common collection share its watch."""
        places: dict[tuple[Collection, str], dict[str, Recognition]] = {}
        for name, watched in self._classes.items():
            for namespace, collection in watched.collections.items():
                places.setdefault((collection, namespace), {})[name] = watched.recognition
        readers: dict[Collection, Reader] = {}
        for (collection, namespace), own in places.items():
            recognitions = tuple(
                (name, recognition)
                for name, recognition in sorted(self._tracker.recognitions().items())
                if (not namespace or namespace in recognition.namespaces)
                and any(may_overlap(recognition, other) for other in own.values())
            )
            readers[collection] = SessionReader(namespace, frozenset(own), recognitions, self._keys)
        return readers

    def _catch_up(self, now: float) -> None:
        if not 0 <= now - self._read_at < HORIZON_REFRESH:
            self._reread(now)
        self._settle_claims(now)
        for news in self._watches.news():
            self._is_unseen = True
            if isinstance(news.reader, SessionReader):
                self._take_sessions(news.reader, news)
            elif isinstance(news.reader, NamespaceReader):
                self._labeled[news.reader.labels] = frozenset(map(str, news.items.values()))
                self._set_claims()
            else:
                self._take_timetables(news)
        if not self._is_arranged:
            self._arrange()
        self._settle_claims(now)
        self._settle_templates(now)
        for name, watched in self._classes.items():
            is_located = not watched.labels or self._labeled.get(watched.labels) is not None
            if watched.is_pending and is_located and watched.sessions.keys() == watched.collections.keys():
                self._count(name, watched, now)
                watched.is_pending = watched.holds_back

    def _take_sessions(self, reader: SessionReader, news: News) -> None:
        for name in reader.classes:
            self._classes[name].counts = None
            self._classes[name].sessions[reader.namespace] = [
                item for item in news.items.values() if isinstance(item, Session) and name in item.classes
            ]

    def _take_timetables(self, news: News) -> None:
        self._knows_competitors = True
        readings = {uid: item for uid, item in news.items.items() if isinstance(item, TimetableReading)}
        for reading in readings.values():
            subject = f"timetable {reading.name}"
            if isinstance(reading.found, str):
                self._context.log.trouble(subject, TimetableError(reading.found))
            else:
                self._context.log.works(subject)
        self._tracker.take(readings)
        self._is_arranged = False

    def _settle_claims(self, now: float) -> None:
        if self._tracker.refresh(now):
            self._set_claims()
            self._is_unseen = True

    def _set_claims(self) -> None:
        claims, recognitions = self._tracker.claims, self._tracker.recognitions()
        labeled = {labels: names or frozenset() for labels, names in self._labeled.items()}
        for name, watched in self._classes.items():
            self._contests[name], watched.counts = Contest(name, recognitions, claims, labeled), None

    def _settle_templates(self, now: float) -> None:
        templates = self._templates
        if templates is None:
            return
        news = templates.news(now)
        # Who asks again starts what is looked up after a pause.
        is_due = templates.is_uncertain and not 0 <= now - self._looked_at < _TEMPLATE_RETRY
        for watched in self._classes.values():
            if watched.has_templates and (is_due or news):
                watched.counts = None
        self._is_unseen = self._is_unseen or bool(news)
        self._looked_at = now if is_due else self._looked_at

    def _template_of(self, project: str, now: float) -> str | None:
        """Return the template of a project; None while it is being looked up."""
        if self._templates:
            return self._templates.of(project, now)
        return UNKNOWN_TEMPLATE if project else NO_TEMPLATE

    def _has_template(self) -> bool:
        """Return whether the own reservation names a template; else only its rivals do."""
        return any(pool.match.template for pool in self._timetable.pools) if self._timetable else False

    def _ask_renku_at(self, url: str) -> None:
        if self._templates:
            self._templates.close()
        if not url or "renku" not in self._context.plugins:
            self._templates = None
            return
        from berth.plugins.renku.projecttemplates import ProjectTemplates, RenkuClient  # noqa: PLC0415 - as said

        self._templates = ProjectTemplates(
            lambda: RenkuClient(url, self._renku_token_file),
            self._watches.wake,
            self._context.log,
            self._context.jitter,
            self._has_template,
        )
        for watched in self._classes.values():
            watched.counts = None
