"""How sessions are listed, and which of the objects in the answer are active sessions. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gen.live.objects import Object, is_leaving, time_of
from gen.manifest import labels
from gen.runtime.recognition import Recognition
from gen.runtime.session import NO_TEMPLATE, UNKNOWN_TEMPLATE, Session

RENKU_CLASS = "renku.io/resource_class_id"
RENKU_PROJECT = "renku.io/project_id"
_JUPYTERHUB = "component=singleuser-server"
_LIVING = "status.phase!=Succeeded,status.phase!=Failed"


class Question(NamedTuple):
    """One list. `whole`: metadata alone does not say what is active."""

    path: str
    selector: str
    fields: str
    whole: bool


def questions(recognition: Recognition) -> list[Question]:
    """One for each namespace."""
    return [_question(recognition, namespace) for namespace in recognition.namespaces]


def _question(recognition: Recognition, namespace: str) -> Question:
    source, selector = recognition.source, recognition.selector
    if source == "renku":
        path = f"/apis/amalthea.dev/v1alpha1/namespaces/{namespace}/amaltheasessions"
        return Question(path, selector, "", whole=True)
    if source == "custom":
        group = f"/apis/{recognition.group}" if recognition.group else "/api"
        path = f"{group}/{recognition.version}/namespaces/{namespace}/{recognition.resource}"
        return Question(path, selector, "", whole=bool(recognition.inactive))
    if source == "jupyterhub":
        selector = ",".join(filter(None, (_JUPYTERHUB, selector)))
    return Question(f"/api/v1/namespaces/{namespace}/pods", selector, _LIVING, whole=False)


def sessions(recognition: Recognition, items: Iterable[Object]) -> list[Session]:
    """What is active among the objects that were answered. Our own pods are no sessions."""
    return [
        _session(recognition, item)
        for item in items
        if not is_leaving(item) and labels.SITE not in _labels(item) and _counts(recognition, item)
    ]


def _counts(recognition: Recognition, item: Object) -> bool:
    notes = _notes(item)
    if recognition.source == "renku":
        state = _text(item, "status.state")
        return (
            notes.get(RENKU_CLASS) == str(recognition.renku_id)
            and _text(item, "spec.hibernated") != "true"
            and state not in ("Succeeded", "Failed")
        )
    return all(notes.get(key) == value for key, value in recognition.annotations) and not any(
        _text(item, rule.path) in rule.values for rule in recognition.inactive
    )


def _session(recognition: Recognition, item: Object) -> Session:
    metadata = item["metadata"]
    template = NO_TEMPLATE
    if recognition.source == "renku" and RENKU_PROJECT in _notes(item):
        template = UNKNOWN_TEMPLATE
    created = time_of(metadata.get("creationTimestamp"))
    return Session(
        str(metadata["uid"]),
        str(metadata.get("namespace", "")),
        created,
        _labels(item),
        _notes(item),
        template,
    )


def _labels(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("labels") or {}


def _notes(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("annotations") or {}


def _text(item: Object, path: str) -> str:
    """The value at the path as text, as YAML would write it; empty where there is none."""
    value: Any = item
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
