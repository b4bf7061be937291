"""All tests can interrupt what they start."""

import signal


def pytest_configure() -> None:
    # A shell starts what runs in the background with interrupts ignored, and children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
