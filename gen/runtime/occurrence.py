"""The program of an occurrence's Job: opens the seats of a reservation on time, stays while any is open,
closes them.

Exit 0 means that nothing is open (any more) and nothing stands, and only that. On SIGTERM before the end it
exits 143 at once and scales nothing: the seats stay, and the Job's next pod goes on.
"""

import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from types import FrameType

from gen.runtime.api import Api
from gen.runtime.connection import ACCOUNT, in_cluster
from gen.runtime.loop import Folder, Run
from gen.runtime.program import MAIN, hands_of, log_of, shared_path, source_of
from gen.runtime.recorder import Recorder
from gen.runtime.share import COUNTS, MAIN_ALIVE, reader, replacer

TERMINATED = 128 + signal.SIGTERM
ASIDE_SECONDS = 1.5  # for what holds no seats: a tick and two of these stay below ten seconds


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    log = log_of(environment)

    def leave(_signal: int, _frame: FrameType | None) -> None:
        # Not by an exception: that could be caught or lost on its way, and a request may hold us.
        log.info("terminated", reason="SIGTERM before the end; nothing is scaled")
        os._exit(TERMINATED)

    signal.signal(signal.SIGTERM, leave)
    try:
        connection = in_cluster(environment, account)
        aside = in_cluster(environment, account, read_seconds=ASIDE_SECONDS, write_seconds=ASIDE_SECONDS)
        hands = hands_of(environment, Api(connection), log, MAIN)
        recorder = Recorder(Api(aside), hands.namespace, environment.get("BERTH_JOB", ""), log)
        folder = Folder(
            reader(shared_path(environment, COUNTS)), replacer(shared_path(environment, MAIN_ALIVE))
        )
        run = Run(source_of(environment, hands), hands, folder, recorder)
    except (KeyError, ValueError) as error:
        log.error("ended", reason=f"the environment does not say {error}")
        return 1
    with closing(connection), closing(aside):
        return run.run(time.sleep)


if __name__ == "__main__":
    sys.exit(main())
