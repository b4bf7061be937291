"""Which pods may own a Reservation."""

from tests.koordinator import selecting
from tests.koordinator.amounts import Tree
from tests.koordinator.objects import labels_of, metadata


def owns(owner: Tree, pod: Tree) -> bool:
    """One entry of owners: its parts are ANDed, and what is empty in them may be anything."""
    selector = owner.get("labelSelector")
    return (
        _is_object(owner.get("object"), pod)
        and _is_controlled(owner.get("controller"), pod)
        and (selector is None or selecting.selects(selector, labels_of(pod)))
    )


def _is_object(wanted: Tree | None, pod: Tree) -> bool:
    """Pods come from the server's lists without apiVersion: to ask for one is to ask for nothing."""
    if wanted is None:
        return True
    meta = metadata(pod)
    found = {"uid": meta["uid"], "name": meta["name"], "namespace": meta.get("namespace"), "apiVersion": ""}
    return all(not wanted.get(key) or wanted[key] == value for key, value in found.items())


def _is_controlled(wanted: Tree | None, pod: Tree) -> bool:
    if wanted is None:
        return True
    if wanted.get("namespace") and wanted["namespace"] != metadata(pod).get("namespace"):
        return False
    return any(_is_reference(wanted, one) for one in metadata(pod).get("ownerReferences") or [])


def _is_reference(wanted: Tree, found: Tree) -> bool:
    flag = wanted.get("controller")
    if flag is not None and found.get("controller") != flag:
        return False
    parts: tuple[str, ...] = ("uid", "name", "kind", "apiVersion")
    return all(not wanted.get(part) or wanted[part] == found.get(part) for part in parts)
