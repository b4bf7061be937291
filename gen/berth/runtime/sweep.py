"""The sweep, a periodic program: reads all objects of a site, decides what is wrong, and corrects it.

It keeps no state: what one run does not finish, the next run does. Exit code 0 means that everything was
read and done, 1 that something failed; the log says what.
"""

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from types import FrameType
from typing import NamedTuple

from berth.core import labels
from berth.core.decide import decide
from berth.core.jsonvalues import Tree, part
from berth.core.labels import SWEEP_FIELD_MANAGER
from berth.core.objectnames import is_held, is_written_by_pods
from berth.core.objectreading import parse_object
from berth.core.objects import (
    CAPACITY_BUFFER,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    LEASE,
    NODE_POOL,
    RIGHTS,
    SLOT,
    ObjectKind,
)
from berth.core.poolobjects import unreadable_note
from berth.core.state import SiteState, StateObject, site_state
from berth.runtime.actionrunner import ActionRunner
from berth.runtime.apiclient import ACCOUNT, Api, ApiError, Request, in_cluster
from berth.runtime.program import RuntimeContext, ServerClock, backoff, jitter, load_plugins, log_of
from berth.runtime.watch import Collection, list_objects

NO_ENGINE = "none"
_WRITTEN_BY_PODS = (LEASE, SLOT, CAPACITY_BUFFER)  # accounts of reservations may change any field
PAGE = 500  # objects: this pod is short-lived, and a request costs more than memory that is released soon
LIST_SECONDS = 30.0  # seconds from the start in which a list that failed is asked for again
SLOT_SECONDS, MAX_SLOTS = 90.0, 20_000  # from the start, in which slots are read, and how many
ATTEMPTS = 3  # at each list, of which each page is tried several times
MAX_SECONDS = 280  # seconds: before the Job is ended, so that the log says why


class SweepSettings(NamedTuple):
    """The settings of the sweep, from its environment."""

    name: str
    prunes: bool  # the engine does not
    inventory: str  # the name of a ConfigMap; empty: none
    kinds: tuple[ObjectKind, ...] = ()  # that may hold seats, besides Deployments


class Sweep:
    """One run of the sweep."""

    def __init__(self, context: RuntimeContext, site: SweepSettings) -> None:
        self._context, self._site = context, site
        self._api, self._log = context.api, context.log
        self._began = context.now()
        self._failed = 0
        self._listed: dict[ObjectKind, list[StateObject] | None] = {}

    def run(self) -> int:
        """Correct what is wrong. Slots come last: however many there are, they delay no other pool."""
        known = self._look()
        runner = ActionRunner(self._context, known, self._began)
        judged = decide(known, int(self._context.now()))
        runner.act(judged.actions)
        runner.warn(judged.warnings)
        if SLOT in self._site.kinds:
            known = self._with_slots()
            runner.facts = known
            before = {(type(action), action.ref) for action in judged.actions}
            later = decide(known, int(self._context.now())).actions
            runner.act(action for action in later if (type(action), action.ref) not in before)
        failed = runner.failed + self._failed
        self._log.info(
            "swept",
            **known.counts(),
            done=dict(sorted(runner.done.items())),
            failed=failed,
            seconds=round(self._elapsed(), 2),
        )
        return 1 if failed else 0

    def _look(self) -> SiteState:
        """Read the state of the site without its slots.

        Timetables are read last, so that objects of a timetable created meanwhile do not look like leftovers.
        """
        site = self._site
        kinds = [DEPLOYMENT, LEASE, JOB, CRON_JOB, *(RIGHTS if site.prunes else ())]
        kinds += [kind for kind in site.kinds if kind is not SLOT]
        self._listed = {kind: self._list(kind) for kind in kinds}
        records = self._list(CONFIG_MAP, f",{labels.ROLE}={labels.RECORD}", metadata_only=True)
        others = self._list(CONFIG_MAP, f",{labels.ROLE}!={labels.RECORD}")
        self._listed[CONFIG_MAP] = None if others is None else [*others, *(records or ())]
        self._listed |= {SLOT: None} if SLOT in site.kinds else {}
        return self._state()

    def _with_slots(self) -> SiteState:
        """Read the slots, too, and the pools once more, which have changed since."""
        self._listed |= {kind: self._list(kind) for kind in (DEPLOYMENT, LEASE, SLOT)}
        return self._state()

    def _state(self) -> SiteState:
        site = self._site
        state = site_state(site.name, self._listed, site.prunes, site.inventory, self._context.namespace)
        state = state._replace(plugins=self._context.plugins)
        if "numbers" in self._context.plugins:
            from berth.plugins.numbers.numbersweep import with_numbers  # noqa: PLC0415 - where a cluster has them

            state = with_numbers(state, self._context, self._fail)
        return state

    def _fail(self) -> None:
        self._failed += 1

    def _list(
        self, kind: ObjectKind, selector: str = "", *, metadata_only: bool = False
    ) -> list[StateObject] | None:
        """List the objects of a kind that have the label of the site; None after a logged failure."""
        labelled = f"{labels.SITE}={self._site.name}{selector}"
        collection = Collection(kind.path(self._context.namespace), labelled, "", metadata_only, PAGE)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                state_objects: list[StateObject] = []
                take = partial(self._add, kind, state_objects)
                may_skip = partial(self._may_skip, kind, state_objects)
                list_objects(self._api, collection, take, may_skip, self._gives_up)
                return state_objects
            except ApiError as error:
                self._log.trouble(f"list {kind.plural}", error)
                is_final = error.status in (401, 403, 404) or error.reason == "DeadlineExceeded"
                if (
                    is_final
                    or attempt == ATTEMPTS
                    or self._gives_up(backoff(attempt, error.retry_after, 0.0))
                ):
                    break
        self._failed += 1
        return None

    def _gives_up(self, seconds: float) -> bool:
        """Wait, unless lists have taken too long already."""
        if self._elapsed() + seconds > LIST_SECONDS:
            return True
        self._context.wait(seconds)
        return False

    def _elapsed(self) -> float:
        return self._context.now() - self._began

    def _add(self, kind: ObjectKind, found: list[StateObject], tree: Tree) -> None:
        """Parse an object. Objects are large and parsed values small, so no object is kept.

        Raises ApiError if it is malformed, unless pods may have written it.
        """
        self._bound_slots(kind, found)
        try:
            state_object = parse_object(self._site.name, kind, tree, prunes=self._site.prunes)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            name = str(part(tree, "metadata").get("name"))
            malformed = ApiError(200, "Malformed", f"{kind.name} {name}: {error!r}")
            if not self._may_skip(kind, found, name, malformed):
                raise malformed from None
            return
        if state_object:
            found.append(state_object)

    def _bound_slots(self, kind: ObjectKind, found: list[StateObject]) -> None:
        """Raise ApiError if there are too many slots, or they take too long to read."""
        if kind is SLOT and (self._elapsed() > SLOT_SECONDS or len(found) >= MAX_SLOTS):
            raise ApiError(0, "DeadlineExceeded", f"there are more than {len(found)} slots to read")

    def _may_skip(self, kind: ObjectKind, found: list[StateObject], name: str, error: ApiError) -> bool:
        """Return whether to go on without an object that cannot be read, and to fail in the end.

        Not without one that only engines and the sweep write: it would be taken for one that is gone.
        """
        if kind not in _WRITTEN_BY_PODS and not (kind is CONFIG_MAP and is_written_by_pods(name)):
            return False
        self._bound_slots(kind, found)
        self._log.trouble(f"read {kind.plural} {name}", error)
        self._failed += 1
        if kind is CONFIG_MAP and is_held(name):
            found.append(unreadable_note(name))
        return True


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    clock = ServerClock()
    log = log_of(environment, clock)

    def leave(_signal: int, _frame: FrameType | None) -> None:
        log.error("ended", reason=f"not finished after {MAX_SECONDS} seconds; the next run continues")
        os._exit(1)

    try:
        connection, namespace = in_cluster(environment, account), environment["BERTH_NAMESPACE"]
        api, site = Api(clock.learns_from(connection), SWEEP_FIELD_MANAGER), _settings(environment)
        plugins = load_plugins(environment, unused="reconciler")
        context = RuntimeContext(api, namespace, log, clock, jitter, plugins=plugins)
    except (KeyError, ValueError, ImportError) as error:
        log.error("ended", reason=f"missing or invalid environment variable: {error}")
        return 1
    with suppress(ApiError):  # whatever is answered has a date
        api.read(Request("GET", "/version"))
    signal.signal(signal.SIGALRM, leave)
    signal.alarm(MAX_SECONDS)
    try:
        with closing(connection):
            return Sweep(context, site).run()
    except Exception as error:
        log.trouble("sweep", error)
        return 1
    finally:
        signal.alarm(0)


def _settings(environment: Mapping[str, str]) -> SweepSettings:
    names = environment.get("BERTH_KINDS", "").split(",")
    return SweepSettings(
        environment["BERTH_SITE"],
        environment["BERTH_ENGINE"] == NO_ENGINE,
        environment.get("BERTH_INVENTORY", ""),
        tuple(kind for kind in (NODE_POOL, CAPACITY_BUFFER, SLOT) if kind.name in names),
    )


if __name__ == "__main__":
    sys.exit(main())
