"""Looks at a cluster: one list for each kind, in pages, and sessions where something is open.

Placeholders that stand are not listed (their Deployment counts them), nor pods of ours that are done.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gen.live import objects, sessions
from gen.live.facts import Facts
from gen.live.judge import readable
from gen.manifest import labels, naming
from gen.runtime.recognition import Recognition
from gen.runtime.session import Session
from gen.runtime.target import open_now
from gen.runtime.timetable import in_force

PAGE = "500"
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_JSON = "application/json"

Ask = Callable[[str, Mapping[str, str], str], Any]
"""GET of a path with a query, accepting a media type: the object that is answered."""


def gathered(ask: Ask, namespace: str, site: str, now: int, refused: type[Exception]) -> Facts:
    """Raises what `ask` raises; but where it raises `refused` for a list of sessions, that is a fact."""
    ours = f"{labels.SITE}={site}"

    def listed(path: str, selector: str = ours, fields: str = "") -> list[objects.Object]:
        return _pages(ask, path.format(namespace), selector, fields, _JSON)

    maps = listed("/api/v1/namespaces/{}/configmaps")
    code = next((one for one in maps if one["metadata"]["name"] == naming.RUNTIME), None)
    pods = "/api/v1/namespaces/{}/pods"
    waiting = listed(pods, f"{ours},{labels.CLASS}", "status.phase=Pending")
    own = listed(pods, f"{ours},!{labels.CLASS}", "status.phase!=Succeeded")
    facts = Facts(
        tuple(objects.timetable(one) for one in maps if _is_timetable(one)),
        tuple(objects.deployment(one) for one in listed("/apis/apps/v1/namespaces/{}/deployments")),
        tuple(objects.cronjob(one) for one in listed("/apis/batch/v1/namespaces/{}/cronjobs")),
        tuple(objects.job(one) for one in listed("/apis/batch/v1/namespaces/{}/jobs")),
        tuple(objects.pod(one) for one in own if not objects.is_leaving(one)),
        tuple(objects.waiting(one) for one in waiting if not objects.is_leaving(one)),
        None if code is None else dict(code.get("data") or {}),
        {},
    )
    return facts._replace(sessions=_sessions(ask, _asked_for(facts, now), refused))


def _is_timetable(item: objects.Object) -> bool:
    """The code and the inventory are of no reservation."""
    return bool(objects.label(item, labels.RESERVATION))


def _asked_for(facts: Facts, now: int) -> dict[Recognition, None]:
    """How sessions are recognised of the classes that have something open."""
    found: dict[Recognition, None] = {}
    for timetable in readable(facts):
        seats = {name for one in open_now(in_force(timetable), now) for name, count in one.seats if count}
        for pool in timetable.pools:
            if pool.resource_class in seats and pool.sessions:
                found[pool.sessions] = None
    return found


def _sessions(
    ask: Ask, asked_for: Mapping[Recognition, None], refused: type[Exception]
) -> dict[Recognition, tuple[Session, ...] | str]:
    """Several classes may be asked for by the same question."""
    answers: dict[sessions.Question, list[objects.Object] | str] = {}
    found: dict[Recognition, tuple[Session, ...] | str] = {}
    for recognition in asked_for:
        items: list[objects.Object] = []
        for question in sessions.questions(recognition):
            if question not in answers:
                try:
                    accept = _JSON if question.whole else _METADATA
                    answers[question] = _pages(ask, question.path, question.selector, question.fields, accept)
                except refused as error:
                    answers[question] = str(error)
            answer = answers[question]
            if isinstance(answer, str):
                found[recognition] = answer
                break
            items += answer
        else:
            found[recognition] = tuple(sessions.sessions(recognition, items))
    return found


def _pages(ask: Ask, path: str, selector: str, fields: str, accept: str) -> list[objects.Object]:
    """An empty list is answered as none at all."""
    query = {"limit": PAGE}
    query |= {"labelSelector": selector} if selector else {}
    query |= {"fieldSelector": fields} if fields else {}
    items: list[objects.Object] = []
    while True:
        answer = ask(path, query, accept)
        items += answer.get("items") or ()
        token = (answer.get("metadata") or {}).get("continue")
        if not token:
            return items
        query = {**query, "continue": token}
