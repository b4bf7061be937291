"""`berth validate`: findings, nothing else."""

import argparse
import sys

from gen.cli import GOOD
from gen.command.answer import exit_code, form, tell
from gen.pipeline import Pipeline


def run(asked: argparse.Namespace) -> int:
    wanted = form(asked, "text", "json", "github")
    pipeline = Pipeline()
    for _ in pipeline.items():
        pass
    findings = pipeline.findings()
    tell(findings, asked, on_stdout=True)
    code = exit_code(findings, asked)
    if code == GOOD and wanted == "text":
        number = len(pipeline.declared.reservations)
        sys.stdout.write(f"{number} reservation{'' if number == 1 else 's'} in order.\n")
    return code
