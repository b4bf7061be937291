"""Where the sessions of a resource class are found, and how API objects become sessions and claims.

Pure functions of a `Recognition` and of objects as the API server sends them.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from berth.core.claims import TimetableReading, competing_reservation
from berth.core.instants import parse_instant
from berth.core.jsonvalues import TimetableError, Tree
from berth.core.labels import ROLE, SITE, TIMETABLE
from berth.core.objects import CONFIG_MAP, RUNNING_PODS
from berth.core.sessions import RENKU_PROJECT, Inactive, Match, Recognition, Session
from berth.core.timetable import TIMETABLE_KEY, parse_timetable
from berth.runtime.lists import Collection, invalid_response, object_at, uid_of

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
