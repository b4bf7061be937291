"""What exit codes mean. README and `berth --help` tell them to people."""

GOOD, BAD_INPUT, USAGE, OUR_FAULT, STALE, INTERRUPTED = 0, 1, 2, 3, 4, 130
