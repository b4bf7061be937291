"""Where the sessions of a class are found, and what an object there is to us.

Pure functions of a `Recognition` and of objects as the API server tells them.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from gen.runtime.collection import Collection
from gen.runtime.instant import instant
from gen.runtime.labels import SITE
from gen.runtime.objectkind import RUNNING_PODS
from gen.runtime.recognition import Inactive, Recognition
from gen.runtime.session import RENKU_PROJECT, Match, Session
from gen.runtime.watching import Tree, mapping, nonsense

RENKU_CLASS = "renku.io/resource_class_id"
JUPYTERHUB_SERVER = "component=singleuser-server"
_FINISHED = ("Succeeded", "Failed")


class Keys(NamedTuple):
    """Of labels and annotations, those that some `Match` asks for. Nothing else of them is kept."""

    labels: frozenset[str] = frozenset()
    annotations: frozenset[str] = frozenset()


def keys(matches: Iterable[Match]) -> Keys:
    """A template is told by the project, and that is an annotation."""
    labels: set[str] = set()
    annotations: set[str] = set()
    for match in matches:
        labels.update(key for key, _ in match.labels)
        annotations.update(key for key, _ in match.annotations)
        if match.template:
            annotations.add(RENKU_PROJECT)
    return Keys(frozenset(labels), frozenset(annotations))


def collections(recognition: Recognition) -> dict[str, Collection]:
    """What to list and watch for sessions of the class, by namespace."""
    return {name: _collection(recognition, quote(name, safe="")) for name in recognition.namespaces}


def _collection(recognition: Recognition, namespace: str) -> Collection:
    selector = recognition.selector
    if recognition.source == "renku":
        return Collection(f"/apis/amalthea.dev/v1alpha1/namespaces/{namespace}/amaltheasessions", selector)
    if recognition.source == "custom":
        group, version = quote(recognition.group, safe=""), quote(recognition.version, safe="")
        api = f"/apis/{group}/{version}" if group else f"/api/{version}"
        path = f"{api}/namespaces/{namespace}/{quote(recognition.resource, safe='')}"
        return Collection(path, selector, metadata_only=not recognition.inactive)
    hub = JUPYTERHUB_SERVER if recognition.source == "jupyterhub" else ""
    labels = ",".join(part for part in (hub, selector, f"!{SITE}") if part)
    return Collection(f"/api/v1/namespaces/{namespace}/pods", labels, RUNNING_PODS, metadata_only=True)


def is_active(tree: Tree, recognition: Recognition) -> bool:
    """Is this object of the class's collections an active session of the class? Where only metadata is told,
    the selectors of the collection have seen to the rest.
    """
    metadata = mapping(tree, "metadata")
    annotations = mapping(metadata, "annotations")
    # No pod of ours is a session.
    if metadata.get("deletionTimestamp") or SITE in mapping(metadata, "labels"):
        return False
    if any(annotations.get(key) != value for key, value in recognition.annotations):
        return False
    if recognition.source == "renku":
        return (
            recognition.renku_id is not None
            and annotations.get(RENKU_CLASS) == str(recognition.renku_id)
            and mapping(tree, "spec").get("hibernated") is not True
            and mapping(tree, "status").get("state") not in _FINISHED
        )
    return not any(_holds(tree, condition) for condition in recognition.inactive)


def _holds(tree: Tree, condition: Inactive) -> bool:
    """Numbers, booleans and null are compared as JSON writes them."""
    found: object = tree
    for step in condition.path.split("."):
        if not isinstance(found, dict) or step not in found:
            return False
        found = found[step]
    if isinstance(found, dict | list):
        return False
    return (found if isinstance(found, str) else json.dumps(found)) in condition.values


def uid_of(tree: Tree) -> str:
    metadata = mapping(tree, "metadata")
    uid = metadata.get("uid")
    if not isinstance(uid, str) or not uid:
        raise nonsense("an object has no uid", metadata)
    return uid


def session(tree: Tree, namespace: str, kept: Keys) -> Session:
    """`namespace` is that of the collection. ApiError where the API server cannot have said this."""
    metadata = mapping(tree, "metadata")
    created = metadata.get("creationTimestamp")
    try:
        since = instant(created) if isinstance(created, str) else None
    except ValueError:
        since = None
    if since is None:
        raise nonsense("an object has no creationTimestamp", {"creationTimestamp": created})
    return Session(
        uid_of(tree),
        namespace,
        since,
        _kept(mapping(metadata, "labels"), kept.labels),
        _kept(mapping(metadata, "annotations"), kept.annotations),
    )


def _kept(pairs: Tree, wanted: frozenset[str]) -> dict[str, str]:
    found = ((key, pairs.get(key)) for key in wanted)
    return _shared(tuple(sorted((key, value) for key, value in found if isinstance(value, str))))


@lru_cache(maxsize=1024)
def _shared(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """One mapping for all sessions that have the same; nobody changes it."""
    return dict(pairs)
