"""Run `berth` as `python -m berth`."""

from berth.cli import main

main()
