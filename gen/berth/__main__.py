"""`python -m berth` is `berth`."""

from berth.cli import main

main()
