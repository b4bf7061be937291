"""The option `--records`: read what scalers have recorded from a file."""

import click

from berth.cli.command import FILE, Settings
from berth.cli.console import stderr
from berth.cli.selection import read_option
from berth.core.record import OccurrenceRecord
from berth.live.records import of_json
from berth.notation.refusal import CommandError
from berth.output.escape import visible

_LARGEST = 1 << 30  # bytes
records_option = click.option(
    "--records", metavar="FILE", type=FILE, help="Read records from this file, or - for stdin."
)


def read_record_file(settings: Settings, file: str) -> tuple[OccurrenceRecord, ...]:
    """Read the records of a file, and say on stderr which of them are not as Berth writes them."""
    try:
        read = of_json(read_option(settings, "--records", file, _LARGEST))
    except ValueError as error:
        command = "kubectl get configmaps -l berth.dev/role=record -o json"
        raise CommandError(f"--records {file}: {error}. Write it with: {command}") from error
    for problem in map(visible, read.problems):
        stderr(f"--records {file}: {problem}. It is left out.\n")
    if not read.records:
        stderr(f"--records {file}: there is no record in it.\n")
    return read.records
