"""Where other tests still look for commands in process; they are in `tests.cli`."""

from tests.cli.conftest import ROOT, Answer, Berth

__all__ = ["ROOT", "Answer", "Berth"]
