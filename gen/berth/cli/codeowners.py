"""`berth codeowners`: who reviews which reservation, as CODEOWNERS lines of GitHub and GitLab."""

from pathlib import Path

import click

from berth.cli.command import Settings, command, reason
from berth.cli.console import EXIT_OK, EXIT_STALE, stderr, stdout
from berth.diff.wording import number_of
from berth.edit.codeownerlines import code_owners, owner_lines, with_block
from berth.edit.create import write_file
from berth.git import top_of
from berth.notation.refusal import CommandError
from berth.pipeline import Pipeline

_FILES = (".github/CODEOWNERS", "CODEOWNERS")


@command(
    examples=(
        "berth codeowners",
        "berth codeowners --write",
        "berth codeowners --check    # in CI: exits 4 if CODEOWNERS is not up to date",
    ),
)
@click.option("--write", is_flag=True, help="Write the lines into a block of CODEOWNERS.")
@click.option("--check", is_flag=True, help="Write nothing; exit 4 if CODEOWNERS would change.")
def codeowners(settings: Settings, write: bool, check: bool) -> int:
    """Print who reviews which reservation, as CODEOWNERS lines.

    They are the contacts of spec.owner that CODEOWNERS can name: @user, @organization/team or an e-mail
    address. A folder in which all files have the same contacts is one line. --write changes only its own
    block, in .github/CODEOWNERS or CODEOWNERS at the top of the repository.
    """
    if write and check:
        raise CommandError("Give --write or --check.")
    pipeline = Pipeline()
    contacts, problems = code_owners(
        pipeline.declared.reservations, (source.file for source in pipeline.sources)
    )
    pipeline.problems += problems
    code = settings.report(pipeline.findings())
    if code != EXIT_OK:
        return code
    up, down = top_of(Path())
    lines = owner_lines(contacts, down)
    if not write and not check:
        stdout("".join(f"{line}\n" for line in lines))
        return EXIT_OK
    path = _file(up)
    try:
        before = path.read_bytes() if path.exists() else None
        after = with_block("" if before is None else before.decode(), lines)
        shown = settings.shown(str(path))
        if (before or b"").decode() == after:
            stdout(f"{shown} is up to date.\n")
            return EXIT_OK
        if check:
            stdout(f"{shown} is not up to date. Run: berth codeowners --write\n")
            return EXIT_STALE
        write_file(str(path), after, before, up or ".")
    except OSError as error:
        raise CommandError(f"{path}: {reason(error)}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8 text.") from error
    except CommandError as error:
        raise CommandError(f"{path}: {error}") from error
    stdout(f"{shown}: {number_of(len(lines), 'line')} in the block of berth codeowners.\n")
    if not lines:
        stderr("No owner has a contact that CODEOWNERS can name.\n")
    return EXIT_OK


def _file(up: str) -> Path:
    """Return the file that is there, or where it should be. `up` leads to the top of the repository."""
    paths = [Path(up, name) for name in _FILES]
    has_folder = Path(up, ".github").is_dir()
    return next((one for one in paths if one.exists()), paths[0] if has_folder else paths[1])
