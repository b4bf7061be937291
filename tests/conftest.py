"""All tests can interrupt what they start, and properties are tried with the same examples in each run."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# HYPOTHESIS_PROFILE=others tries others, and `many` more. A commit is not judged by what it did not change,
# nor by its speed.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", PATIENT, derandomize=True)
settings.register_profile("many", PATIENT, derandomize=True, max_examples=600)
settings.register_profile("others", PATIENT)
_START = Path.cwd()
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_configure() -> None:
    # A shell starts what runs in the background with interrupts ignored, and children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    return 2 * (os.cpu_count() or 1)  # the tests of the runtime wait half of their time


def pytest_collection_finish() -> None:
    gc.freeze()  # fifteen thousand tests stay to the end: each full garbage collection would visit them


@pytest.fixture(autouse=True)
def _in_its_folder() -> Iterator[None]:
    """`berth -C` changes the folder of the process, often to one that is removed after the test."""
    yield
    os.chdir(_START)
