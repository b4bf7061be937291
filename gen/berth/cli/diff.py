"""`berth diff`: what a change of the reservations means, from a commit or a folder to the working tree."""

import sys
from functools import cache
from pathlib import Path

import click

from berth.cli.command import Settings, command, exit_code, refuse_linked
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, EXIT_STALE, has_color
from berth.cli.selection import clock_of, items_of
from berth.diff.answer import annotations, as_answer
from berth.diff.change import Change
from berth.diff.comparedfiles import CommitFiles, FolderFiles
from berth.diff.comparison import compare
from berth.diff.difftext import TextStyle, as_text
from berth.diff.markdown import LIMIT, as_markdown
from berth.findings import Problem
from berth.git import Git, GitError
from berth.notation.refusal import CommandError
from berth.output import findinglist
from berth.output.answers import DATA_FORMS, serialize
from berth.pipeline import Pipeline, read_file
from berth.reading.source import OUTPUT, RESERVATIONS, submodule

_HEAD = "working tree"
_WHAT_TO_NAME = "Name a commit, or a folder that begins with ./: berth diff BASE."
_FOLDER_BEGINS = ("./", "../", "/")
_SHORT_ID, _LONGEST_SUBJECT = 7, 60


@command(
    "text wide markdown json yaml github",
    examples=(
        "berth diff                        # since it left the main branch",
        "berth diff v1.2 -o wide           # with the lines of the manifests",
        "berth diff ../other-checkout --exit-code",
    ),
)
@click.argument("base", required=False)
@click.option("--exit-code", "fail", is_flag=True, help="Exit 4 if anything changes.")
@click.option(
    "--limit",
    metavar="NUMBER",
    type=click.IntRange(min=1000),
    default=LIMIT,
    help=f"Most characters of markdown; default: {LIMIT}.",
)
def diff(settings: Settings, base: str | None, fail: bool, limit: int) -> int:
    """Explain what a change means: dates, seats, peaks, manifests.

    BASE is a commit, or a folder that begins with ./, ../ or /; default: the commit at which the branch
    left the main branch. It is compared with the working tree.
    """
    try:
        base_files, name = _base(settings, base)
    except GitError as error:
        raise CommandError(f"{error}. {_WHAT_TO_NAME}") from error
    sources, problems = base_files.inputs()
    reader = cache(read_file)  # most files are the same on both sides
    other_file = base_files.other_file
    before = Pipeline(sources=sources, other_file=other_file, problems=problems, file_reader=reader)
    after = Pipeline(file_reader=reader)
    after.problems += _submodules(settings)
    now = clock_of(settings, after).now
    items = items_of(settings, after, all_loads=True, now=now)
    rendered = base_files, FolderFiles(".", OUTPUT)
    change = compare((before, after), items, rendered, (name, _HEAD), now)
    settings.write(_answer(change, settings, after, limit))
    planned = change.plan.findings if change.plan else ()
    is_bad = change.is_refused or not change.head.is_valid
    if is_bad or exit_code(planned, strict=settings.strict) != EXIT_OK:
        return EXIT_BAD_INPUT
    return EXIT_STALE if fail and not change.is_empty() else EXIT_OK


def _base(settings: Settings, base: str | None) -> tuple[CommitFiles | FolderFiles, str]:
    """Return the base and its name. Authors choose the names of folders, so no commit is looked for there."""
    if base is not None and (base.startswith(_FOLDER_BEGINS) or base in (".", "..")):
        folder = settings.given(base)
        refuse_linked(base, folder)
        if not Path(folder, RESERVATIONS).is_dir():
            raise CommandError(f"{base} has no folder {RESERVATIONS}/")
        return FolderFiles(folder, OUTPUT), base
    git = Git(".")
    commit, name = git.merge_base() if base is None else (git.commit(base), base)
    # what people call a commit: its branch, or what it says; never the id alone
    if len(name) >= _SHORT_ID and commit.startswith(name):
        name = f'{commit[:9]} "{git.subject(commit)[:_LONGEST_SUBJECT]}"'
    else:
        name = f"{name} ({commit[:9]})"
    return CommitFiles(git, commit, OUTPUT), name


def _submodules(settings: Settings) -> list[Problem]:
    """Return why what git stores in other repositories is not compared."""
    try:
        git = Git(".")
        if settings.folder and git.is_submodule():
            return [submodule(".")]
        return [submodule(path) for path in git.submodules(RESERVATIONS)]
    except GitError:  # there is no repository
        return []


def _answer(change: Change, settings: Settings, head: Pipeline, limit: int) -> str:
    zone = head.site.zone if head.site else "UTC"
    if settings.form in DATA_FORMS:
        return serialize(as_answer(change), settings.form)
    if settings.form == "markdown":
        return as_markdown(change, zone, limit)
    if settings.form == "github":
        return findinglist.github(annotations(change, head), settings.in_repository)
    style = TextStyle(has_color(sys.stdout), settings.width)
    return as_text(change, zone, style, wide=settings.form == "wide")
