"""What all tests share: they keep nothing in the cache of whoever runs them."""

import os
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    cache = tempfile.TemporaryDirectory(prefix="berth-tests-")
    os.environ["BERTH_CACHE_DIR"] = cache.name
    config.add_cleanup(cache.cleanup)
