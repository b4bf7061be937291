"""All tests keep nothing in the cache of whoever runs them, and can interrupt what they start."""

import os
import signal
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    cache = tempfile.TemporaryDirectory(prefix="berth-tests-")
    os.environ["BERTH_CACHE_DIR"] = cache.name
    config.add_cleanup(cache.cleanup)
    # A shell starts what runs in the background with interrupts ignored, and children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
