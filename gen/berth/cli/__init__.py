"""The command line: `main` is the program `berth`, `run` is one command of it."""

import sys

try:
    from berth.cli.process import main, run
except KeyboardInterrupt:  # an interrupt is silent from the first import on
    sys.exit(130)

__all__ = ["main", "run"]
