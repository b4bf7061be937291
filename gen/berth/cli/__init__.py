"""The command line: `main` is the program `berth`, `run` is one command of it."""

from berth.cli.process import main, run

__all__ = ["main", "run"]
