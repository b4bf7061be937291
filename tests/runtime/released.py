"""A pod of version 0.1.0 with the code that was released, from runtime-0.1.0.zip.

Its two programs, the occurrence and the scaler, ran side by side and reported to each other in files.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.runtime.world import FakeObserved

sys.path.append(str(Path(__file__).with_name("runtime-0.1.0.zip")))

from collections.abc import Callable

from gen.runtime.api import SCALER_FIELD_MANAGER, Api  # type: ignore[import-not-found]
from gen.runtime.keeper import Hands  # type: ignore[import-not-found]
from gen.runtime.log import Log  # type: ignore[import-not-found]
from gen.runtime.loop import Folder, Run  # type: ignore[import-not-found]
from gen.runtime.recorder import Recorder  # type: ignore[import-not-found]
from gen.runtime.scaling import Folder as ScalerFolder  # type: ignore[import-not-found]
from gen.runtime.scaling import Scaling
from gen.runtime.source import Source  # type: ignore[import-not-found]

from tests.runtime.fake_cluster import FakeCluster, no_answer


class ReleasedPod:
    """`now` returns seconds since the epoch; `copy` is the mounted timetable."""

    def __init__(
        self, cluster: FakeCluster, observed: FakeObserved, now: Callable[[], float], copy: str
    ) -> None:
        self.log: list[dict[str, object]] = []
        self._cluster, self._now, self._copy = cluster, now, copy
        self._files: dict[str, str] = {}
        hands, source = self._hands("occurrence", "berth-occurrence")
        recorder = Recorder(Api(self._transport), "berth", "", hands.log)
        self.main = Run(source, hands, Folder(self._reader("counts"), self._writer("main")), recorder)
        hands, source = self._hands("scaler", SCALER_FIELD_MANAGER)
        folder = ScalerFolder(
            self._reader("main"), self._reader("counts"), self._writer("counts"), self._writer("scaler")
        )
        self.scaler = Scaling(source, hands, folder, observed)

    @property
    def is_over(self) -> bool:
        return self.main.exit_code is not None

    def _hands(self, who: str, field_manager: str) -> tuple[Any, Any]:
        log = Log(lambda line: self.log.append(json.loads(line)), self._now, "course")
        api = Api(self._transport, field_manager)
        source = Source("course", lambda: api.get_timetable("berth", "course"), lambda: self._copy, log)
        return Hands(api, "berth", log, self._now, lambda: 0.0, who), source

    def _transport(self, request: Any) -> Any:
        """Ask the fake cluster, whose answers have the same fields; its errors have another class."""
        from gen.runtime.api import ApiError  # noqa: PLC0415

        try:
            return self._cluster(request)
        except type(no_answer()) as error:
            raise ApiError(error.status, error.reason, str(error), error.retry_after) from None

    def _reader(self, name: str) -> Callable[[], str]:
        return lambda: self._files.get(name, "")

    def _writer(self, name: str) -> Callable[[str], None]:
        return lambda text: self._files.update({name: text})
