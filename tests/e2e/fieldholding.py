"""A number of somebody else's object, held and given back by the code of Berth that its pods run."""

import json
import time
from collections.abc import Callable
from typing import NamedTuple

from berth.core.holders import HeldNumber, parse_number
from berth.core.pooldecision import PoolFound, ScalePool, decide_pool
from berth.core.poolobjects import ObjectRef, PoolObject
from berth.core.target import DesiredState, PoolTarget
from berth.core.timetable import Timetable, TimetablePool
from berth.notation.objectpath import parse_object_path
from berth.plugins.numbers.numberdecision import release
from berth.plugins.numbers.numberwrites import read_number, write_number
from berth.runtime.apiclient import Api, ApiError, Connection, Request, Response

from tests.e2e.direct import as_administrator

_SECONDS = 10.0  # that the API server has for an answer


class HeldField(NamedTuple):
    """The number of a pool, and the namespace in which it is noted that it is held."""

    api: Api
    namespace: str
    timetable: Timetable

    @property
    def number(self) -> HeldNumber:
        number = self.timetable.pools[0].holder.foreign
        assert number is not None
        return number

    def look(self) -> PoolObject:
        return read_number(self.api, self.namespace, self.number.name, self.number)

    def hold(self, count: int) -> bool:
        """Set it as in a window; return whether anything had to be written."""
        return self._write(lambda stands: self.to_hold(stands, count))

    def release(self) -> bool:
        """Give it back as at the end of a window; return whether it was held."""
        return self._write(lambda stands: release(stands, "closed", _now()))

    def to_hold(self, stands: PoolObject, count: int) -> tuple[ScalePool, ...]:
        """Return what has to be written. `stands` is how the number stands."""
        target = PoolTarget(self.timetable.pools[0], count, ("window",))
        ref = ObjectRef("ConfigMap", self.timetable.reservation, "", self.timetable.reservation, 0)
        desired = DesiredState(target, self.timetable, _now())
        decision = decide_pool(ref, PoolFound(stands), desired)
        return tuple(action for action in decision.actions if isinstance(action, ScalePool))

    def _write(self, decide: Callable[[PoolObject], tuple[ScalePool, ...]]) -> bool:
        while True:
            actions = decide(self.look())
            try:
                for action in actions:
                    write_number(self.api, self.namespace, action)
            except ApiError as error:
                if not error.is_conflict():  # a controller writes the status meanwhile
                    raise
            else:
                return bool(actions)


def of_object(  # noqa: PLR0913
    api_version: str, kind: str, plural: str, name: str, path: str, *, home: str
) -> HeldField:
    """Return a field of an object without a namespace. `home` is the namespace of Berth."""
    tree = {
        "apiVersion": api_version,
        "kind": kind,
        "plural": plural,
        "name": name,
        "path": json.loads(json.dumps(parse_object_path(path))),
        "scale": path == "spec.replicas",
        "unit": "units",
    }
    pool = TimetablePool("unit", name, "none", holder=parse_number(tree, "number"))
    return HeldField(_administrator(), home, Timetable("course", False, (pool,), ()))


def _administrator() -> Api:
    connect = as_administrator()
    return Api(_closing(lambda: Connection(lambda: connect(_SECONDS), "")))


def _closing(connect: Callable[[], Connection]) -> Callable[[Request], Response]:
    """Return what asks on a new connection each time, so that nobody has to close one."""

    def ask(request: Request) -> Response:
        connection = connect()
        try:
            return connection(request)
        finally:
            connection.close()

    return ask


def _now() -> int:
    return int(time.time())
