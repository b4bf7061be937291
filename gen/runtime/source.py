"""Which timetable holds: the newest good one that could be read.

The API server is asked first. The mounted copy counts where the server gives none, but only if it has changed
since the server last did: it lags behind, and must not bring an older timetable back. What is malformed
changes nothing. Overrides come from the server alone, and end by themselves.
"""

from binascii import crc32
from collections.abc import Callable
from typing import NamedTuple

from gen.runtime.api import ApiError, TimetableText
from gen.runtime.jsonvalue import TimetableError
from gen.runtime.log import Log
from gen.runtime.override import Override, parse_overrides, strays
from gen.runtime.timetable import Timetable, parse


class Home(NamedTuple):
    """The ConfigMap that a timetable comes from."""

    name: str
    uid: str = ""  # empty: it has not been read yet


class Source:
    def __init__(
        self,
        reservation: str,
        ask_server: Callable[[], TimetableText],
        read_copy: Callable[[], str],
        log: Log,
        home: str = "",
    ) -> None:
        """`read_copy` raises OSError or ValueError where it cannot. `home` names the ConfigMap."""
        self._reservation = reservation
        self._ask_server = ask_server
        self._read_copy = read_copy
        self._log = log
        # Of texts only the hashes are kept: they may be long, and memory is dear.
        self._text: int | None = None  # of the timetable that holds
        self._copy: int | None = None  # of the mounted copy when it last was of no use, or was taken
        self._overrides = ""
        self._sum = 0
        self.home = Home(home or reservation)
        self.timetable: Timetable | None = None
        self.overrides: dict[str, Override] = {}

    @property
    def version(self) -> str:
        """The same for two programs that follow the same timetable and overrides."""
        return f"{self._sum:08x}-{crc32(self._overrides.encode()):08x}"

    def refresh(self) -> bool:
        """Looks for a newer timetable. False: the server gave none, so look again soon."""
        try:
            copy = self._read_copy()
        except (OSError, ValueError):
            copy = ""
        try:
            said = self._ask_server()
            self.home = self.home._replace(uid=said.uid)
            self._override(said.overrides)
            self._take(said.timetable, "server")
            self._look_at_strays()
        except (ApiError, TimetableError) as error:
            self._log.trouble("timetable", error)
        else:
            self._copy = hash(copy)
            self._log.works("timetable")
            return True
        if copy and (hash(copy) != self._copy or self.timetable is None):
            self._copy = hash(copy)
            self._take_copy(copy)
        return False

    def _take_copy(self, copy: str) -> None:
        try:
            self._take(copy, "mounted copy")
        except TimetableError as error:
            self._log.trouble("mounted timetable", error)
        else:
            self._log.works("mounted timetable")

    def _take(self, text: str, origin: str) -> None:
        if hash(text) == self._text:
            return
        timetable = parse(text)
        if timetable.reservation != self._reservation:
            raise TimetableError(f"reservation: {timetable.reservation!r} is not {self._reservation!r}")
        if timetable != self.timetable:
            self._log.info("timetable", origin=origin, occurrences=len(timetable.occurrences))
        self._text, self.timetable, self._sum = hash(text), timetable, crc32(text.encode())

    def _look_at_strays(self) -> None:
        classes = [pool.resource_class for pool in self.timetable.pools] if self.timetable else []
        wrong = strays(self.overrides, classes)
        if wrong:
            self._log.trouble("override", TimetableError(wrong))

    def _override(self, said: str) -> None:
        """What is malformed overrides nothing."""
        if said == self._overrides:
            return
        self._overrides = said
        try:
            self.overrides = parse_overrides(said)
        except TimetableError as error:
            self.overrides = {}
            self._log.trouble("override", error)
        else:
            self._log.works("override")
            self._log.info("override", says=said)
