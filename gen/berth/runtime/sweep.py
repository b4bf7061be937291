"""The sweep, a periodic program: reads all objects of a site, decides what is wrong, and corrects it.

It keeps no state: what one run does not finish, the next run does. Exit code 0 means that everything was
read and done, 1 that something failed; the log says what.
"""

import os
import signal
import sys
import time
from calendar import timegm
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from types import FrameType
from typing import NamedTuple

from berth.core import labels
from berth.core.decide import decide, number_uses, numbers_to_read, placeholder_pull_failures, unready_pools
from berth.core.jsonvalues import Tree, part
from berth.core.objectnames import is_held, is_written_by_pods
from berth.core.objectreading import parse_object
from berth.core.objects import (
    CAPACITY_BUFFER,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    NODE_POOL,
    POD,
    RIGHTS,
    RUNNING_PODS,
    SLOT,
    ObjectKind,
)
from berth.core.poolobjects import PoolObject, unreadable_note
from berth.core.serving import PROOF_WAIT
from berth.core.state import PodObject, SiteState, StateObject, site_state
from berth.runtime.actionrunner import ActionRunner
from berth.runtime.apiclient import ACCOUNT, SWEEP_FIELD_MANAGER, Api, ApiError, in_cluster
from berth.runtime.program import RuntimeContext, backoff, jitter, log_of
from berth.runtime.watch import Collection, list_objects, parse_page

NO_ENGINE = "none"
_WRITTEN_BY_PODS = (POD, SLOT, CAPACITY_BUFFER)  # some accounts of reservations may change any field of these
PAGE = 500  # objects: this pod is short-lived, and a request costs more than memory that is released soon
LIST_SECONDS = 30.0  # seconds from the start in which a list that failed is asked for again
ATTEMPTS = 6  # at each list, with twelve seconds of pauses
MAX_SECONDS = 140  # seconds: long before the next run, so that the log says why this one ended


class SweepSettings(NamedTuple):
    """The settings of the sweep, from its environment."""

    name: str
    prunes: bool  # the engine does not
    inventory: str  # the name of a ConfigMap; empty: none
    koordinator: bool = False  # the cluster has it
    node_pools: bool = False  # there may be such as are of a fixed number of nodes
    buffers: bool = False  # there may be CapacityBuffers


class Sweep:
    """One run of the sweep."""

    def __init__(self, context: RuntimeContext, site: SweepSettings) -> None:
        self._context, self._site = context, site
        self._api, self._log = context.api, context.log
        self._began = context.now()
        self._failed = 0

    def run(self) -> int:
        known = self._look()
        runner = ActionRunner(self._context, known, self._began)
        judged = decide(known, int(self._context.now()))
        runner.act(judged.actions)
        runner.warn(judged.warnings)
        self._look_at_images(known, runner)
        done, failed = runner.done, runner.failed
        if judged.doubted:
            second = self._look_again(judged.doubted)
            done, failed = done + second.done, failed + second.failed
        failed += self._failed
        self._log.info(
            "swept",
            **known.counts(),
            done=dict(sorted(done.items())),
            failed=failed,
            seconds=round(self._elapsed(), 2),
        )
        return 1 if failed else 0

    def _look_again(self, doubted: Mapping[str, int]) -> ActionRunner:
        """Decide about reservations whose pods had not proved that they work, after time to do so."""
        self._context.wait(PROOF_WAIT)
        known = self._look()._replace(doubted=doubted)
        runner = ActionRunner(self._context, known, self._began + PROOF_WAIT)
        runner.act(decide(known, int(self._context.now())).actions)
        return runner

    def _look(self) -> SiteState:
        """Read the state of the site.

        Timetables are read last, so that objects of a timetable created meanwhile do not look like leftovers.
        """
        site = self._site
        kinds = [DEPLOYMENT, POD, JOB, CRON_JOB, *(RIGHTS if site.prunes else ())]
        kinds += [*((SLOT,) if site.koordinator else ()), *((NODE_POOL,) if site.node_pools else ())]
        kinds += [CAPACITY_BUFFER] if site.buffers else []
        found = {kind: self._list(kind) for kind in (*kinds, CONFIG_MAP)}
        state = site_state(site.name, found, site.prunes, site.inventory, self._context.namespace)
        state = self._with_numbers(state)
        return state._replace(server_time=seconds_of_date(self._api.date))

    def _with_numbers(self, state: SiteState) -> SiteState:
        """Read the numbers of somebody else that are held or should be."""
        found: dict[str, PoolObject] = {}
        unread: set[str] = set()
        state = state._replace(uses=number_uses(state, int(self._context.now())))
        for key, number in numbers_to_read(state).items():
            try:
                found[key] = self._api.get_pool(self._context.namespace, number.name, number)
            except ApiError as error:
                if not error.is_gone():
                    self._log.trouble(f"get {number.object_kind.plural} {number.name}", error)
                    self._failed += 1
                    unread.add(key)
        return state._replace(numbers=found, unread_numbers=frozenset(unread))

    def _collection(self, kind: ObjectKind, selector: str, fields: str = "") -> Collection:
        labelled = f"{labels.SITE}={self._site.name}{selector}"
        return Collection(kind.path(self._context.namespace), labelled, fields, page=PAGE)

    def _list(self, kind: ObjectKind) -> list[StateObject] | None:
        """List all objects of a kind; None after a logged failure."""
        collection = self._collection(kind, "")
        if kind is POD:  # as many as there are Jobs of old would be over
            collection = self._collection(kind, f",{labels.ROLE}={labels.OCCURRENCE}", RUNNING_PODS)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                state_objects: list[StateObject] = []
                take = partial(self._add, kind, state_objects)
                list_objects(self._api, collection, take, partial(self._may_skip, kind, state_objects))
                return state_objects
            except ApiError as error:
                self._log.trouble(f"list {kind.plural}", error)
                pause = backoff(attempt, error.retry_after, 0.0)
                is_final = error.status in (401, 403, 404) or attempt == ATTEMPTS
                if is_final or self._elapsed() + pause > LIST_SECONDS:
                    break
                self._context.wait(pause)
        self._failed += 1
        return None

    def _elapsed(self) -> float:
        return self._context.now() - self._began

    def _add(self, kind: ObjectKind, found: list[StateObject], tree: Tree) -> None:
        """Parse an object. Objects are large and parsed values small, so no object is kept.

        Raises ApiError if it is malformed, unless pods may have written it.
        """
        try:
            state_object = parse_object(self._site.name, kind, tree)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            name = str(part(tree, "metadata").get("name"))
            malformed = ApiError(200, "Malformed", f"{kind.name} {name}: {error!r}")
            if not self._may_skip(kind, found, name, malformed):
                raise malformed from None
            return
        if state_object:
            found.append(state_object)

    def _may_skip(self, kind: ObjectKind, found: list[StateObject], name: str, error: ApiError) -> bool:
        """Return whether to go on without an object that cannot be read, and to fail in the end.

        Not without one that only engines and the sweep write: it would be taken for one that is gone.
        """
        if kind not in _WRITTEN_BY_PODS and not (kind is CONFIG_MAP and is_written_by_pods(name)):
            return False
        self._log.trouble(f"read {kind.plural} {name}", error)
        self._failed += 1
        if kind is CONFIG_MAP and is_held(name):
            found.append(unreadable_note(name))
        return True

    def _look_at_images(self, known: SiteState, runner: ActionRunner) -> None:
        """Find out why placeholders are not ready; one page of waiting pods is enough."""
        waiting = unready_pools(known)
        if not waiting or not runner.has_time():
            return
        selector = f",{labels.RESERVATION},{labels.ROLE}!={labels.OCCURRENCE}"
        collection = self._collection(POD, selector, "status.phase=Pending")
        try:
            state_objects: list[StateObject] = []
            first = parse_page(self._api.read(collection.list_request(collection.page, "")))
            for pod in first.items:
                self._add(POD, state_objects, pod)
            pods = [fact for fact in state_objects if isinstance(fact, PodObject)]
            runner.warn(placeholder_pull_failures(waiting, pods))
        except ApiError as error:
            self._log.trouble("list placeholders", error)
            self._failed += 1


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    log = log_of(environment)

    def leave(_signal: int, _frame: FrameType | None) -> None:
        log.error("ended", reason=f"not finished after {MAX_SECONDS} seconds; the next run continues")
        os._exit(1)

    try:
        connection, namespace = in_cluster(environment, account), environment["BERTH_NAMESPACE"]
        api, site = Api(connection, SWEEP_FIELD_MANAGER), _settings(environment)
    except (KeyError, ValueError) as error:
        log.error("ended", reason=f"missing or invalid environment variable: {error}")
        return 1
    signal.signal(signal.SIGALRM, leave)
    signal.alarm(MAX_SECONDS)
    try:
        with closing(connection):
            return Sweep(RuntimeContext(api, namespace, log, time.time, jitter), site).run()
    except Exception as error:
        log.trouble("sweep", error)
        return 1
    finally:
        signal.alarm(0)


def seconds_of_date(header: str) -> int:
    """Parse the header Date of an answer; 0 for any other text."""
    try:
        return timegm(time.strptime(header, "%a, %d %b %Y %H:%M:%S GMT"))
    except ValueError:
        return 0


def _settings(environment: Mapping[str, str]) -> SweepSettings:
    return SweepSettings(
        environment["BERTH_SITE"],
        environment["BERTH_ENGINE"] == NO_ENGINE,
        environment.get("BERTH_INVENTORY", ""),
        environment.get("BERTH_KOORDINATOR") == "1",
        environment.get("BERTH_NODE_POOLS") == "1",
        environment.get("BERTH_CAPACITY_BUFFERS") == "1",
    )


if __name__ == "__main__":
    sys.exit(main())
