"""Reservations of Koordinator in memory: the API server's manners, and as much of the scheduler as the
runtime can see. It binds what there is room for, hands placeholders over, counts owners, and lets expire.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs

from gen.runtime.api import JSON, MERGE_PATCH, Answer, Request
from gen.runtime.instant import instant, instant_text
from tests.runtime.fake_cluster import refusal

Tree = dict[str, Any]
PATH = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
SESSIONS = "students"  # the namespace of session pods
MANAGERS = ("berth-occurrence", "berth-sweep")
_GO = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(\d+)s")


def good(status: int, tree: Tree) -> Answer:
    return Answer(status, json.dumps(tree).encode())


def selects(selector: str, labels: Tree) -> bool:
    """`key=value`, `key` and `!key`."""
    for term in selector.split(","):
        key, equal, value = term.partition("=")
        if term.startswith("!"):
            if term[1:] in labels:
                return False
        elif key not in labels or (equal and labels[key] != value):
            return False
    return True


def seconds_of(duration: str) -> int:
    """Of what we write; anything else is poison to the real scheduler."""
    match = _GO.fullmatch(duration)
    assert match, duration
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    assert minutes < 60 > seconds, f"{duration} is not canonical"
    return 3600 * hours + 60 * minutes + seconds


def owner(namespace: str, name: str) -> Tree:
    return {"namespace": namespace, "name": name, "uid": f"uid-{name}"}


class FakeKoordinator:
    """A transport for what concerns Reservations."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.objects: dict[str, Tree] = {}  # by name
        self.room = 1_000_000  # that there is for slots, and for placeholders that come before them
        self.placeholders: list[str] = []  # pods that are there
        self.writes: list[tuple[str, str]] = []  # verb and name
        self.used_deletes: list[tuple[str, str]] = []  # when which slot was removed while a session used it
        self.on_write: Callable[[], object] = lambda: None
        self.page = 1_000_000  # the most objects in one answer, whatever is asked
        self._version = 100

    def put(self, name: str, tree: Tree, **status: Any) -> None:
        """As somebody else would: created now if it is new."""
        known = self.objects.get(name, {}).get("metadata", {})
        self._version += 1
        metadata = {
            "uid": f"uid-{self._version}",
            "creationTimestamp": instant_text(int(self.now())),
            **known,
            **tree["metadata"],
            "name": name,
            "resourceVersion": str(self._version),
        }
        self.objects[name] = {**tree, "metadata": metadata, **({"status": status} if status else {})}

    def set(self, name: str, **status: Any) -> None:
        """Of a slot that is there."""
        tree = self.objects[name]
        self.put(name, tree, **{**tree.get("status", {}), **status})

    def phase(self, name: str) -> str:
        return str(self.objects[name].get("status", {}).get("phase", "Pending"))

    def owners(self, name: str) -> list[str]:
        return [one["name"] for one in self.objects[name].get("status", {}).get("currentOwners", ())]

    def of(self, phase: str) -> list[str]:
        """In the order of their creation."""
        return [name for name in self.objects if self.phase(name) == phase]

    def free(self) -> list[str]:
        return [name for name in self.of("Available") if not self.owners(name)]

    def used(self) -> list[str]:
        return [name for name in self.of("Available") if self.sessions(name)]

    def sessions(self, name: str) -> list[str]:
        return [one for one in self.owners(name) if one not in self.placeholders]

    # What the scheduler does.

    def schedule(self) -> None:
        """Binds the oldest first; one that takes placeholders over needs one that nobody has taken yet."""
        self._expire()
        for name in self.of("Pending"):
            tree = self.objects[name]
            required = "scheduling.koordinator.sh/pre-allocation-required" in tree["metadata"]["labels"]
            if required:
                taken = {one for other in self.objects for one in self.owners(other)}
                donor = next((one for one in self.placeholders if one not in taken), None)
                if donor:
                    self.set(name, phase="Available", currentOwners=[owner("berth", donor)])
            elif len(self.of("Available")) + len(self.placeholders) < self.room:
                self.set(name, phase="Available")

    def scale(self, replicas: int) -> int:
        """The pods of the Deployment follow its replicas as far as there is room. How many are ready."""
        freed = len(
            [name for name in self.of("Available") if not set(self.owners(name)) & set(self.placeholders)]
        )
        most = min(replicas, max(0, self.room - freed))
        while len(self.placeholders) > most:
            self.leave(self.placeholders.pop())
        while len(self.placeholders) < most:
            self._version += 1
            self.placeholders.append(f"course-small-5d5f7-{self._version}")
        return len(self.placeholders)

    def _expire(self) -> None:
        """Only what is bound does."""
        for name in self.of("Available"):
            tree = self.objects[name]
            spec, created = tree["spec"], instant(tree["metadata"]["creationTimestamp"])
            ends = (instant(spec["expires"]), created + seconds_of(spec["ttl"]))
            if min(ends) <= self.now():
                self.set(name, phase="Failed")

    def enter(self, session: str) -> bool:
        """A session's pod is bound: to a slot if one is free, else wherever there is room."""
        for name in self.free():
            once = self.objects[name]["spec"].get("allocateOnce")
            self.set(
                name, phase="Succeeded" if once else "Available", currentOwners=[owner(SESSIONS, session)]
            )
            return True
        return False

    def leave(self, pod: str) -> None:
        for name in list(self.objects):
            if pod in self.owners(name):
                left = [one for one in self.objects[name]["status"]["currentOwners"] if one["name"] != pod]
                self.set(name, currentOwners=left)

    def lose_nodes(self, *names: str) -> None:
        for name in names:
            self.set(name, phase="Failed", currentOwners=[])

    # What the API server does.

    def __call__(self, request: Request) -> Answer:
        path, _, query = request.path.partition("?")
        name = path.removeprefix(PATH).removeprefix("/")
        asked = {key: values[0] for key, values in parse_qs(query).items()}
        body = json.loads(request.body or b"{}")
        if request.method == "GET":
            assert not name, "nobody may get one"
            return self._list(asked)
        assert request.method == "DELETE" or asked == {"fieldManager": asked["fieldManager"]}
        write = {"POST": self._post, "PATCH": self._patch, "DELETE": self._delete}[request.method]
        answer = write(name, body, request)
        if answer.status in (200, 201):
            self.writes.append((request.method, name or body["metadata"]["name"]))
            self.on_write()
        return answer

    def _list(self, asked: Tree) -> Answer:
        found = [
            {key: value for key, value in tree.items() if key not in ("kind", "apiVersion")}
            for _, tree in sorted(self.objects.items())
            if selects(asked["labelSelector"], tree["metadata"].get("labels", {}))
        ]
        begin = int(asked.get("continue", "0"))
        end = begin + min(self.page, int(asked["limit"]))
        metadata = {"resourceVersion": "1"} | ({"continue": str(end)} if end < len(found) else {})
        return good(200, {"kind": "ReservationList", "metadata": metadata, "items": found[begin:end] or None})

    def _post(self, name: str, body: Tree, request: Request) -> Answer:
        assert (name, request.content_type) == ("", JSON)
        made = body["metadata"]["name"]
        if made in self.objects:
            return refusal(409, "AlreadyExists", f'reservations "{made}" already exists')
        assert seconds_of(body["spec"]["ttl"]) > 0
        self.put(made, body)
        return good(201, self.objects[made])

    def _patch(self, name: str, body: Tree, request: Request) -> Answer:
        assert request.content_type == MERGE_PATCH
        tree = self.objects.get(name)
        if tree is None:
            return refusal(404, "NotFound", f'reservations "{name}" not found')
        if body["metadata"]["resourceVersion"] != tree["metadata"]["resourceVersion"]:
            return refusal(409, "Conflict", "the object has been modified")
        seconds_of(body["spec"]["ttl"])
        self.put(name, {**tree, "spec": {**tree["spec"], **body["spec"]}})
        return good(200, self.objects[name])

    def _delete(self, name: str, options: Tree, request: Request) -> Answer:
        assert request.content_type == JSON
        tree = self.objects.get(name)
        if tree is None:
            return refusal(404, "NotFound", f'reservations "{name}" not found')
        for key, value in options["preconditions"].items():
            if tree["metadata"][key] != value:
                return refusal(409, "Conflict", f"the {key} in the precondition does not match")
        if self.phase(name) == "Available" and self.sessions(name):
            self.used_deletes.append((instant_text(int(self.now()))[11:19], name))
        del self.objects[name]
        return good(200, {"kind": "Status", "status": "Success"})


def names(found: Iterator[str] | list[str]) -> list[str]:
    """Without what all slots of the tests begin with."""
    return [name.removeprefix("example-course-small-") for name in found]
