"""`berth new NAME TIMES...`: writes a new reservation. On a terminal it asks for what is missing."""

import sys

from gen.command import edits
from gen.command.asked import Asked, UsageError
from gen.command.say import say
from gen.edit.project import check
from gen.edit.roundtrip import EditError
from gen.edit.wanted import QUESTIONS, Wanted, reservation
from gen.edit.writing import written
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
        file = asked.value("--file") or f"reservations/{name}.yaml"
        text = written(reservation(wanted), file.count("/") - 1)
        return edits.finish(asked, pipeline, check(pipeline, file, text, None))
    except EditError as error:
        raise UsageError(f"{error}.") from error


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
