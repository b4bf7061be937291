"""The option `--records`: read what scalers have recorded from a file."""

import sys
from pathlib import Path

import click

from berth.cli.command import FILE, Settings, reason
from berth.cli.console import stderr
from berth.live.records import ReadRecords, of_text
from berth.notation.refusal import CommandError
from berth.output.escape import visible

records_option = click.option(
    "--records", metavar="FILE", type=FILE, help="Read records from this file, or - for stdin."
)


def read_record_file(settings: Settings, file: str) -> ReadRecords:
    """Read the records of a file, and say on stderr which of them cannot be read."""
    try:
        text = sys.stdin.read() if file == "-" else Path(settings.given(file)).read_text("utf-8")
    except (OSError, ValueError) as error:  # a name with a NUL, and what is not UTF-8, is a ValueError
        raise CommandError(f"--records {file}: {reason(error)}.") from error
    try:
        read = of_text(text)
    except ValueError as error:
        command = "kubectl get configmaps -l berth.dev/role=record -o json"
        raise CommandError(f"--records {file}: {error}. Write it with: {command}") from error
    for name in map(visible, read.malformed):
        stderr(f"--records {file}: {name} has no records that can be read; its dates are left out.\n")
    if not read.records:
        stderr(f"--records {file}: there is no record in it.\n")
    return read
