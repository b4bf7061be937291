"""The objects of a site at an API server in memory, as the sweep meets them. Slots are Koordinator's.

It refuses what the sweep's Role does not grant.
"""

from collections.abc import Callable

from berth.backends.capacitybuffer.capacitybufferbackend import BACKEND as BUFFERS
from berth.backends.koordinator.slotpermissions import of_slots
from berth.backends.nodepool.nodepermissions import of_all_nodes
from berth.core.jsonvalues import instant_text
from berth.manifests import naming
from berth.manifests.rbac import of_sweep
from berth.runtime.apiclient import APPLY, Request, Response

from tests.objectstore import LISTS, ObjectStore, Target, Tree, good, refusal, target
from tests.runtime.fake_koordinator import PATH as SLOTS
from tests.runtime.fake_koordinator import FakeKoordinator

Interference = Callable[[str], Response | None]
NAMESPACE = "berth"
VERBS = {"LIST": "list", "GET": "get", "PATCH": "patch", "POST": "create", "DELETE": "delete"}
NUMBERS: list[Tree] = [  # of somebody else, and notes about them
    {"resources": ["configmaps"], "verbs": ["get", "create", "patch"]},
    {"resources": ["horizontalpodautoscalers", "clusterqueues"], "verbs": ["get", "patch"]},
    {"resources": ["statefulsets"], "verbs": ["get"]},
    {"resources": ["statefulsets/scale"], "verbs": ["patch"]},
]
COLLECTIONS = {path.rpartition("/")[2]: path.format(NAMESPACE) for path in LISTS}


NOW = "now"  # for the time of a renewal: when it is looked at


def micro_time(instant: int) -> str:
    return f"{instant_text(instant)[:-1]}.000000Z"


def renewed_now(tree: Tree, now: int) -> Tree:
    """Return the object, its Lease renewed now if it is to be."""
    if tree.get("spec", {}).get("renewTime") != NOW:
        return tree
    return {**tree, "spec": {**tree["spec"], "renewTime": micro_time(now)}}


class FakeObjects(ObjectStore):
    """A transport of `berth.runtime.apiclient.Api`."""

    def __init__(self, now: int, *trees: Tree, prunes: bool = False, page: int = 1_000_000) -> None:
        """At most `page` objects are in an answer, whatever is asked for."""
        self.now = now
        super().__init__(lambda: float(self.now))
        self.page = page
        self.koordinator = FakeKoordinator(self.clock)
        self.requests: list[str] = []  # all, as "VERB plural name"
        self.writes: list[str] = []  # those that changed something
        self.interfere: Interference = lambda _: None
        nodes = {"resources": ["nodepools/scale"], "verbs": ["get", "patch"]}  # by name, for each reservation
        rules = [
            *of_sweep(BUFFERS.sweep_rules(), prunes=prunes),
            *of_slots()[naming.SWEEP],
            *NUMBERS,
            nodes,
            of_all_nodes(),
        ]
        self._granted: dict[str, list[str]] = {}
        for rule in rules:
            for resource in rule["resources"]:
                self._granted.setdefault(resource, []).extend(rule["verbs"])
        for tree in trees:
            self.add(renewed_now(tree, now))

    def of(self, plural: str) -> dict[str, Tree]:
        """Return the objects of a kind by name."""
        return self.all_in(COLLECTIONS[plural])

    def replicas(self) -> dict[str, int]:
        return {name: tree["spec"]["replicas"] for name, tree in self.of("deployments").items()}

    def events(self) -> list[tuple[str, str, str]]:
        """Of which Deployment, with which reason and message."""
        found = self.of("events").values()
        return [(one["involvedObject"]["name"], one["reason"], one["message"]) for one in found]

    def __call__(self, request: Request) -> Response:
        if request.path == "/version":
            return good({})
        wanted = target(request.path)
        verb = "LIST" if request.method == "GET" and not wanted.name else request.method
        said = " ".join(word for word in (verb, wanted.plural, wanted.name, wanted.part) if word)
        self.requests.append(said)
        if (answer := self.interfere(said)) is not None:
            return answer
        resource = f"{wanted.plural}/{wanted.part}" if wanted.part else wanted.plural
        needed = {VERBS[verb], "create"} if request.content_type == APPLY else {VERBS[verb]}
        if not needed <= set(self._granted.get(resource, ())):
            return refusal(403, "Forbidden", f"cannot {verb} {resource}")
        if request.method == "PATCH":
            forced = {"force": "true"} if request.content_type == APPLY else {}
            assert wanted.asked == {"fieldManager": "berth-sweep"} | forced
        if wanted.collection == SLOTS:
            answer = self.koordinator(request)
        else:
            assert wanted.collection == COLLECTIONS[wanted.plural]
            answer = self.respond(request)
        if verb not in ("LIST", "GET") and answer.status in (200, 201):
            self.writes.append(said)
        return answer

    def list(self, wanted: Target) -> Response:
        assert wanted.asked["labelSelector"], "it would read what belongs to others"
        assert wanted.asked["limit"]
        assert wanted.plural == "pods" or "fieldSelector" not in wanted.asked
        return super().list(wanted)

    def delete(self, wanted: Target, tree: Tree, options: Tree) -> Response:
        assert options["propagationPolicy"] == "Background"
        assert options["preconditions"]["uid"]
        return super().delete(wanted, tree, options)
