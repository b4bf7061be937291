"""The one exception of the harness: its text is one line that says what to do."""


class E2EError(RuntimeError):
    """Something the person at the keyboard can act on."""


class WaitTimeoutError(E2EError):
    """A condition did not become true in time."""
