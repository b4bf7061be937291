"""`python -m gen` is `berth`."""

from gen.cli import main

main()
