"""A process that sees what a scaler sees, to be measured from outside: give it a port and an account.

It prints what it counts and what it has in memory when the first list is complete, and at each change.
"""

import json
import os
import sys

from berth.core.sessions import Match, Recognition
from berth.core.timetable import Timetable, TimetableOccurrence, TimetablePool
from berth.runtime.apiclient import Api, in_cluster
from berth.runtime.program import Log, RuntimeContext
from berth.runtime.sessionobserver import SessionObserver

NOW = 1_770_019_300.0
RENKU = Recognition("renku", ("renku",), (), 5)
COURSE = Match(labels=(("course", "x"),))
TIMETABLE = Timetable(
    "course",
    False,
    (TimetablePool("small", "course-small", "maintain", RENKU, COURSE),),
    (TimetableOccurrence("course/1", 1_770_017_400, 1_770_019_200, 1_770_033_600, (("small", 25),)),),
    "example",
)


def resident(process: str = "self") -> float:
    """MiB that a process has for itself or shares with others, as the kernel counts it."""
    with open(f"/proc/{process}/status", encoding="ascii") as file:  # noqa: PTH123 (pathlib is memory)
        fields = dict(line.split(":", 1) for line in file)
    return sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssFile")) / 1024


def main(port: str, account: str) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
    log = Log(lambda line: os.write(2, line.encode()), lambda: NOW, "course")
    api = Api(in_cluster(environment, account))
    context = RuntimeContext(api, "berth", log, lambda: NOW, lambda: 0.5)
    observed = SessionObserver(context, lambda: in_cluster(environment, account))
    observed.update(TIMETABLE)
    before = None
    while True:
        seen = observed.seen("small", NOW)
        if not seen.pending and seen != before:
            before = seen
            print(json.dumps([(seen.counts or {})["course/1"], round(resident(), 1)]), flush=True)
        observed.wait(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
