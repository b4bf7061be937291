"""Looks at the placeholders of a rehearsal and at the Events of autoscalers about them, while it is open.

Seats do not depend on it. A look is one request for each step of the scaler, on the recorder's connection.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from berth.core.jsonvalues import Tree
from berth.core.objects import EVENT, POD
from berth.core.record import PoolObservation
from berth.plugins.rehearsals.obstacles import (
    CLUSTER_AUTOSCALER_EVENTS,
    KARPENTER_EVENTS,
    NO_ROOM,
    Obstacle,
    Placeholder,
    ScaleUpRefusal,
    merge_obstacles,
    nodes_by_class,
    parse_placeholder,
    parse_scale_up_refusal,
    pod_obstacles,
    pool_obstacles,
)
from berth.runtime.apiclient import Api
from berth.runtime.program import NO_PAUSE, Log, Pause
from berth.runtime.watch import Collection, parse_page

T = TypeVar("T")
LOOK_INTERVAL = 30.0  # seconds between looks
LAST_LOOK = 20.0  # seconds before the end at which there is another
PAGE = 32  # objects: an answer is parsed as a whole, and memory is scarce
MAX_OBJECTS = 500  # pods, and Events of each kind
BUDGET_SECONDS = 1.5  # after which no further page is asked for


class PlaceholderObserver:
    """Knows the nodes and the obstacles of placeholders, by class, as of the last look."""

    def __init__(self, api: Api, namespace: str, log: Log) -> None:
        self._api, self._namespace, self._log = api, namespace, log
        self._began = NO_PAUSE
        self._steps: list[Callable[[], None]] = []  # of the look that has begun
        self._pods: list[Placeholder] = []
        self._refusals: dict[str, list[ScaleUpRefusal]] = {}  # by selector
        self._obstacles: dict[str, tuple[Obstacle, ...]] = {}
        self._nodes: dict[str, Mapping[str, int]] = {}

    def obstacles(self, look: PoolObservation) -> tuple[Obstacle, ...]:
        """Return what is known of the placeholders of a pool, and what the pool says itself."""
        of_pool = pool_obstacles(look.found) if look.found else ()
        return merge_obstacles((*of_pool, *self._obstacles.get(look.resource_class, ())))

    def nodes(self, look: PoolObservation) -> dict[str, int]:
        """Return how many seats of a pool each node has."""
        slots = look.found.slots.living if look.found and look.found.slots else ()
        held = Counter(slot.node for slot in slots if slot.node)
        # A placeholder that hands over to a slot is on its node.
        return dict(held | Counter(self._nodes.get(look.resource_class, {})))

    def look(self, labels: str, end: float, now: float, *, is_ready: bool) -> None:
        """Do the next step of a look, if there is one.

        `labels` selects the placeholders; `end` is that of the next rehearsal to end. If it `is_ready`, this
        is the last moment at which its placeholders are there.
        """
        last = end - LAST_LOOK
        if is_ready or not self._began.left(now) or self._began.since < last <= now:
            self._began = Pause(now, LOOK_INTERVAL)
            self._steps = [partial(self._look_at_pods, labels)]
        if self._steps:
            self._steps.pop(0)()
            refusals = [refusal for some in self._refusals.values() for refusal in some]
            self._obstacles = pod_obstacles(self._pods, refusals)
            self._nodes = nodes_by_class(self._pods)

    def _look_at_pods(self, labels: str) -> None:
        with self._log.guard("list placeholders"):
            pods: list[Placeholder] = []
            self._read(Collection(POD.path(self._namespace), labels, page=PAGE), parse_placeholder, pods)
            self._pods = pods
        if any(pod.cause == NO_ROOM for pod in self._pods):
            selectors = (KARPENTER_EVENTS, CLUSTER_AUTOSCALER_EVENTS)
            self._steps = [partial(self._look_at_events, selector) for selector in selectors]

    def _look_at_events(self, fields: str) -> None:
        with self._log.guard("list events"):
            refusals: list[ScaleUpRefusal] = []
            collection = Collection(EVENT.path(self._namespace), "", fields, page=PAGE)
            self._read(collection, parse_scale_up_refusal, refusals)
            self._refusals[fields] = refusals

    def _read(self, collection: Collection, parse: Callable[[Tree], T | None], into: list[T]) -> None:
        """Read pages while there is time, and append what `parse` makes of their objects."""
        began, token, count = self._log.now(), "", 0
        while True:
            items, _, token = parse_page(self._api.read(collection.list_request(collection.page, token)))
            count += len(items)
            into.extend(parsed for parsed in map(parse, items) if parsed is not None)
            is_late = not 0 <= self._log.now() - began < BUDGET_SECONDS
            if not token or count >= MAX_OBJECTS or is_late:
                return
