"""The sweep, a periodic program: reads all objects of a site, decides what is wrong, and corrects it.

It keeps no state: what one run does not finish, the next run does. Exit code 0 means that everything was
read and done, 1 that something failed; the log says what.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from types import FrameType
from typing import NamedTuple

from berth.core import labels
from berth.core.decide import decide, placeholder_pull_failures, unready_pools
from berth.core.jsonvalues import Tree
from berth.core.objects import (
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
from berth.core.state import PodObject, SiteState, StateObject, parse_object, site_state
from berth.runtime.actions import ActionRunner, SweepContext
from berth.runtime.apiclient import ACCOUNT, SWEEP_FIELD_MANAGER, Api, ApiError, in_cluster, list_pages
from berth.runtime.program import Log, backoff, log_of

NO_ENGINE = "none"
LIST_SECONDS = 30.0  # seconds from the start in which a list that failed is asked for again
ACTION_SECONDS = (
    75.0  # seconds from the start in which something is begun: a write may then take half a minute
)
ATTEMPTS = 6  # at each list, with twelve seconds of pauses
MAX_SECONDS = 110  # seconds: long before the next run, so that the log says why this one ended


class SweepSettings(NamedTuple):
    """The settings of the sweep, from its environment."""

    namespace: str
    name: str
    prunes: bool  # the engine does not
    inventory: str  # the name of a ConfigMap; empty: none
    koordinator: bool = False  # the cluster has it
    node_pools: bool = False  # there may be such as are of a fixed number of nodes


class Sweep:
    """One run of the sweep. `now` returns seconds since the epoch; `wait` takes seconds."""

    def __init__(
        self,
        api: Api,
        site: SweepSettings,
        log: Log,
        now: Callable[[], float],
        wait: Callable[[float], object],
    ) -> None:
        self._api, self._site, self._log = api, site, log
        self._now, self._wait = now, wait
        self._began = now()
        self._failed = 0

    def run(self) -> int:
        known = self._look()
        context = SweepContext(
            self._api,
            self._site.namespace,
            self._log,
            self._now,
            self._wait,
            lambda: self._elapsed() < ACTION_SECONDS,
        )
        runner = ActionRunner(context, known)
        judged = decide(known, int(self._now()))
        runner.act(judged.actions)
        runner.warn(judged.warnings)
        self._look_at_images(known, runner)
        failed = self._failed + runner.failed
        self._log.info(
            "swept",
            timetables=len(known.sources),
            deployments=len(known.deployments),
            cronjobs=len(known.cronjobs),
            jobs=len(known.jobs),
            pods=len(known.pods),
            **({} if known.slots is None else {"slots": len(known.slots)}),
            done=dict(sorted(runner.done.items())),
            failed=failed,
            seconds=round(self._elapsed(), 2),
        )
        return 1 if failed else 0

    def _elapsed(self) -> float:
        return self._now() - self._began

    def _look(self) -> SiteState:
        """Read the state of the site.

        Timetables are read last, so that objects of a timetable created meanwhile do not look like leftovers.
        """
        site = self._site
        kinds = [DEPLOYMENT, POD, JOB, CRON_JOB, *(RIGHTS if site.prunes else ())]
        kinds += [*((SLOT,) if site.koordinator else ()), *((NODE_POOL,) if site.node_pools else ())]
        found = {kind: self._list(kind) for kind in (*kinds, CONFIG_MAP)}
        return site_state(site.name, found, site.prunes, site.inventory, site.namespace)

    def _list(self, kind: ObjectKind) -> list[StateObject] | None:
        """List all objects of a kind; None after a logged failure."""
        selector, fields = f"{labels.SITE}={self._site.name}", ""
        if kind is POD:  # as many as there are Jobs of old would be over
            selector, fields = f"{selector},{labels.ROLE}={labels.OCCURRENCE}", RUNNING_PODS
        for attempt in range(1, ATTEMPTS + 1):
            try:
                found = list_pages(self._api, kind, self._site.namespace, selector, fields)
                return [fact for page in found for fact in self._facts(kind, page)]
            except ApiError as error:
                self._log.trouble(f"list {kind.plural}", error)
                pause = backoff(attempt, error.retry_after, 0.0)
                is_final = error.status in (401, 403, 404) or attempt == ATTEMPTS
                if is_final or self._elapsed() + pause > LIST_SECONDS:
                    break
                self._wait(pause)
        self._failed += 1
        return None

    def _facts(self, kind: ObjectKind, page: list[Tree]) -> list[StateObject]:
        """Parse a page. Objects are large and parsed values small, so no page is kept."""
        made = (parse_object(self._site.name, kind, tree) for tree in page)
        return [fact for fact in made if fact]

    def _look_at_images(self, known: SiteState, runner: ActionRunner) -> None:
        """Find out why placeholders are not ready; one page of waiting pods is enough."""
        waiting = unready_pools(known)
        if not waiting or self._elapsed() > ACTION_SECONDS:
            return
        ours = f"{labels.SITE}={self._site.name},{labels.RESERVATION}"
        selector = f"{ours},{labels.ROLE}!={labels.OCCURRENCE}"
        try:
            page = next(list_pages(self._api, POD, self._site.namespace, selector, "status.phase=Pending"))
            pods = [fact for fact in self._facts(POD, page) if isinstance(fact, PodObject)]
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
        connection, site = in_cluster(environment, account), _settings(environment)
    except (KeyError, ValueError) as error:
        log.error("ended", reason=f"missing or invalid environment variable: {error}")
        return 1
    signal.signal(signal.SIGALRM, leave)
    signal.alarm(MAX_SECONDS)
    try:
        with closing(connection):
            return Sweep(Api(connection, SWEEP_FIELD_MANAGER), site, log, time.time, time.sleep).run()
    except Exception as error:
        log.trouble("sweep", error)
        return 1
    finally:
        signal.alarm(0)


def _settings(environment: Mapping[str, str]) -> SweepSettings:
    return SweepSettings(
        environment["BERTH_NAMESPACE"],
        environment["BERTH_SITE"],
        environment["BERTH_ENGINE"] == NO_ENGINE,
        environment.get("BERTH_INVENTORY", ""),
        environment.get("BERTH_KOORDINATOR") == "1",
        environment.get("BERTH_NODE_POOLS") == "1",
    )


if __name__ == "__main__":
    sys.exit(main())
