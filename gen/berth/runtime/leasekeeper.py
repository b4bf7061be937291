"""Takes, renews and gives up the Leases of a scaler's pools: who holds one writes the pool."""

from collections.abc import Mapping

from berth.core.jsonvalues import Tree
from berth.core.leases import (
    ENDED,
    RENEW_SECONDS,
    VALID_SECONDS,
    PoolLease,
    ended_note,
    lease_spec,
    parse_lease,
)
from berth.core.objects import LEASE
from berth.runtime.apiclient import Api, ApiError
from berth.runtime.program import NO_PAUSE, Pause, RuntimeContext

RETRY_SECONDS = 4.0  # until a Lease that could not be had is tried again
MAX_REFUSALS = 2  # renewals in a row that fail, after which the pod no longer writes


class LeaseKeeper:
    """Keeps the Lease of one pool."""

    def __init__(self, api: Api, context: RuntimeContext, pod: str, name: str) -> None:
        """`api` gives up soon: pools are not scaled meanwhile. `pod` is the name of this one."""
        self._api, self._context, self._name, self._pod = api, context, name, pod
        self.pause = NO_PAUSE  # until it is taken or renewed
        self._refusals = 0
        self._renewed = 0.0
        self._version = ""
        self._noted: Mapping[str, int] = {}
        self.found: PoolLease | None = None  # as it was before it was taken
        self.is_held = False
        self.is_others = False  # another pod holds it

    def keep(self, metadata: Tree, ended: Mapping[str, int]) -> bool:
        """Take or renew the Lease if that is due; return whether the pod may write.

        `metadata` is that of a new one; `ended` are the rehearsals that it is to note.
        """
        now = self._context.now()
        if self.pause.left(now) and (not self.is_held or ended == self._noted):
            return self.is_held
        was_held, was_others = self.is_held, self.is_others
        try:
            if not (self.is_held and self._write(self._version, ended)):
                self._take(metadata, ended, now)
        except ApiError as error:
            self._refusals += 1
            is_late = now - self._renewed >= VALID_SECONDS  # this pod was held up, and others may have it
            self.is_held = self.is_held and self._refusals < MAX_REFUSALS and not is_late
            self.is_others = False
            self._context.log.trouble(f"lease {self._name}", error)
        else:
            self._refusals, self._renewed = 0, now
            self._context.log.works(f"lease {self._name}")
        is_good = self.is_held and not self._refusals
        self.pause = Pause(self._context.now(), RENEW_SECONDS if is_good else RETRY_SECONDS)
        if (self.is_held, self.is_others) != (was_held, was_others):
            state = "held" if self.is_held else "standing by" if self.is_others else "lost"
            self._context.log.info("lease", name=self._name, state=state)
        return self.is_held

    def release(self, api: Api) -> None:
        """Give the Lease up: another scaler takes it at once, and the sweep waits until it has run out."""
        if self.is_held:
            self.is_held = False
            tree: Tree = {"metadata": {"resourceVersion": self._version}, "spec": {"holderIdentity": ""}}
            api.patch(LEASE, self._context.namespace, self._name, tree)

    def _take(self, metadata: Tree, ended: Mapping[str, int], now: float) -> None:
        tree = self._api.find(LEASE, self._context.namespace, self._name)
        self.found = parse_lease(tree) if tree else None
        self.is_others = self.found is not None and not self.found.is_free(self._pod, int(now))
        self.is_held = False
        if self.found is None:
            body: Tree = {"metadata": {"name": self._name, **metadata}, "spec": lease_spec(self._pod, now)}
            created = self._api.claim(LEASE, self._context.namespace, self._name, body, self._pod)
            self.is_held, self.is_others, self._version = bool(created), not created, created
            self._noted = {}
        elif not self.is_others:
            self._noted = self.found.ended
            self.is_others = not self._write(self.found.version, {**self.found.ended, **ended})

    def _write(self, version: str, ended: Mapping[str, int]) -> bool:
        """Write the Lease if it has this version; return whether it had."""
        metadata: Tree = {"resourceVersion": version}
        if ended != self._noted:
            metadata["annotations"] = {ENDED: ended_note(ended) or None}
        tree: Tree = {"metadata": metadata, "spec": lease_spec(self._pod, self._context.now())}
        self._version = self._api.patch(LEASE, self._context.namespace, self._name, tree)
        self.is_held = bool(self._version)
        if self.is_held:
            self._noted = ended
        return self.is_held
