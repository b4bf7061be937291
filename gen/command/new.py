"""`berth new NAME TIMES...`: writes a new reservation. On a terminal it asks for what is missing."""

import os
import sys

from gen.command import edits
from gen.command.asked import Asked, UsageError
from gen.command.exits import GOOD
from gen.command.say import say
from gen.edit.project import check
from gen.edit.roundtrip import EditError
from gen.edit.wanted import QUESTIONS, Wanted, reservation
from gen.edit.writing import written
from gen.input.source import is_input
from gen.pipeline import Pipeline

_TYPES = ("--weekly", "--daily", "--once", "--dates")


def run(asked: Asked) -> int:
    if not asked.words:
        raise UsageError(
            "Write: berth new NAME TIMES..., such as: berth new algebra 09:00-13:00 --weekly mon."
        )
    name, *times = asked.words
    pipeline = Pipeline()
    given = {flag.removeprefix("--"): value for flag, value in asked.given.items()}
    types = [flag.removeprefix("--") for flag in _TYPES if asked.has(flag)]
    if len(types) > 1:
        raise UsageError(f"Write one of {', '.join(_TYPES)}.")
    wanted = Wanted(name, types[0] if types else "", tuple(times), given)
    classes = sorted(pipeline.declared.classes)
    if len(classes) == 1:
        given.setdefault("class", classes[0])
    try:
        wanted = _asked(wanted, classes)
        file = _file(asked.value("--file"), name)
        text = written(reservation(wanted), file.count("/") - 1)
        if any(one.file == file and one.text != text.encode() for one in pipeline.sources):
            raise EditError(f"{file}: there is a file already; nothing was written")
        code = edits.finish(asked, pipeline, check(pipeline, file, text, None))
    except EditError as error:
        raise UsageError(f"{error}.") from error
    if code == GOOD:
        edits.keep_schema()
    return code


def _file(given: str | None, name: str) -> str:
    """Where somebody will read it: below reservations/, as YAML."""
    file = os.path.normpath(given or f"reservations/{name}.yaml")
    if not (file.startswith("reservations/") and is_input(file) and not file.endswith(".json")):
        raise EditError(
            f'--file "{given}" is no place to write. Name a file such as reservations/{name}.yaml'
        )
    return file


def _asked(wanted: Wanted, classes: list[str]) -> Wanted:
    """Asks for everything that is missing, if somebody is there to answer; else it says all of it."""
    missing = wanted.missing()
    if missing and not (sys.stdin is not None and sys.stdin.isatty()):
        raise EditError(f"it also needs {', '.join(QUESTIONS[one].flag for one in missing)}")
    while missing:
        question = QUESTIONS[missing[0]]
        hint = ", ".join(classes) if missing[0] == "class" else question.example
        say(f"{question.text} [{hint}] ", aside=True)
        answer = sys.stdin.readline()
        if not answer:
            raise EditError(f"it also needs {question.flag}")
        if answer.strip():
            wanted = wanted.answered(missing[0], answer.strip())
        missing = wanted.missing()
    return wanted
