"""The program beside the occurrence's: lets placeholders give way while sessions arrive.

It never ends by itself, whatever happens; the kubelet ends it after the main program, or when the pod goes.
"""

import os
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType

from gen.runtime.api import SCALER_FIELD_MANAGER, Api
from gen.runtime.connection import ACCOUNT, in_cluster
from gen.runtime.lookout import Means
from gen.runtime.observed import Observed
from gen.runtime.program import SCALER, hands_of, jitter, log_of, shared_path, source_of
from gen.runtime.scaling import Folder, Scaling
from gen.runtime.share import COUNTS, MAIN_ALIVE, SCALER_ALIVE, reader, replacer
from gen.runtime.watcher import MOST

WRITE_SECONDS = 10.0  # well below the minute after which the main program would not believe us any more


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    log = log_of(environment)

    def leave(_signal: int, _frame: FrameType | None) -> None:
        log.info("terminated", reason="SIGTERM")
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    try:
        connection = in_cluster(environment, account, write_seconds=WRITE_SECONDS)
        hands = hands_of(environment, Api(connection, SCALER_FIELD_MANAGER), log, SCALER)
        counts = shared_path(environment, COUNTS)
        folder = Folder(
            reader(shared_path(environment, MAIN_ALIVE)),
            reader(counts),
            replacer(counts),
            replacer(shared_path(environment, SCALER_ALIVE)),
        )
        token_file = environment.get("BERTH_RENKU_TOKEN_FILE", "")
        means = Means(
            lambda: in_cluster(environment, account, most=MOST),
            hands.namespace,
            log,
            time.time,
            jitter,
            token_file,
        )
        scaling = Scaling(source_of(environment, hands), hands, folder, Observed(means))
    except (KeyError, ValueError) as error:
        log.error("ended", reason=f"the environment does not say {error}")
        return 1
    scaling.run(time.sleep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
