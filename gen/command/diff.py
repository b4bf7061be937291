"""`berth diff`: what a change of the reservations means, from a commit or a folder to the working tree."""

import sys
import time
from pathlib import Path

from gen import report
from gen.command import selection
from gen.command.answer import coloured, exit_code
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD, STALE
from gen.command.progress import watched
from gen.command.say import say
from gen.command.screen import width
from gen.diff.annotations import annotations
from gen.diff.answer import as_json
from gen.diff.base import RESERVATIONS, Commit, Folder
from gen.diff.change import Change
from gen.diff.markdown import LIMIT, markdown
from gen.diff.sides import Comparison, Question
from gen.diff.text import Look, text
from gen.git import Git, GitError
from gen.output.templates import Renderer, TemplateError
from gen.pipeline import Pipeline
from gen.render import files, text_of

_OUTPUT = "rendered"
WORKING_TREE = "working tree"


def run(asked: Asked) -> int:
    limit = _limit(asked.value("--limit"))
    try:
        base, name = _base(asked.words)
    except GitError as error:
        raise UsageError(f"{error}. Name a commit or a folder: berth diff BASE.") from error
    before, after = Pipeline(sources=base.sources()), Pipeline()
    now = selection.instant("--now", asked, after)
    notice = after.site.notice_hours if after.site else 24
    question = Question((name, WORKING_TREE), int(time.time()) if now is None else now, notice)
    comparison = Comparison(before, after, (base, Folder(".", _OUTPUT)), question)
    renderer = Renderer(asked.value("--templates"))
    try:
        items = watched(
            after.items(text_of(after, renderer), all_loads=True), len(after.declared.reservations)
        )
        for path, said in files(after, renderer, comparison.reservations(items)):
            comparison.file(path, said)
    except TemplateError as error:
        say(report.text(error.findings, colour=False), aside=True)
        return BAD_INPUT
    change = comparison.change()
    say(_answer(change, asked, after, limit))
    planned = change.plan.findings if change.plan else ()
    if not change.head.is_sound or exit_code(planned, strict=asked.has("--strict")) != GOOD:
        return BAD_INPUT
    return STALE if asked.has("--exit-code") and not change.is_empty() else GOOD


def _base(words: tuple[str, ...]) -> tuple[Commit | Folder, str]:
    """A folder is what has reservations in it; anything else is a commit."""
    if len(words) > 1:
        raise UsageError(f'berth diff takes one base, not "{" ".join(words)}".')
    if words and Path(words[0], RESERVATIONS).is_dir():
        return Folder(words[0], _OUTPUT), words[0]
    git = Git(".")
    commit = git.commit(words[0]) if words else git.merge_base()
    return Commit(git, commit, _OUTPUT), f"{words[0]} ({commit[:9]})" if words else commit[:9]


def _limit(said: str | None) -> int:
    if said is None:
        return LIMIT
    if not said.isascii() or not said.isdigit() or int(said) < 1000:
        raise UsageError(f'--limit "{said}" is no number of characters from 1000 up.')
    return int(said)


def _answer(change: Change, asked: Asked, head: Pipeline, limit: int) -> str:
    zone = head.site.zone if head.site else "UTC"
    if asked.form == "json":
        return as_json(change)
    if asked.form == "markdown":
        return markdown(change, zone, limit)
    if asked.form == "github":
        return report.github(annotations(change, head), asked.value("-C") or "")
    look = Look(coloured(sys.stdout), width(sys.stdout))
    return text(change, zone, look, wide=asked.form == "wide")
