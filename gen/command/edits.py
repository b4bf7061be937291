"""What the commands that edit a reservation share: the words of their line, writing, and the answer."""

from pathlib import Path

from gen.command.answer import tell
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD
from gen.command.say import say
from gen.dates.moment import named, read
from gen.diff.said import details, title
from gen.edit.occurrence import Which
from gen.edit.project import Edited, edit
from gen.edit.roundtrip import Edit, EditError
from gen.edit.write import write
from gen.edit.writing import SCHEMA
from gen.jsonschema import text as schema_text
from gen.pipeline import Pipeline


def run(asked: Asked, name: str, how: Edit) -> int:
    """Edits the file of a reservation, if the project allows it."""
    pipeline = Pipeline()
    try:
        return finish(asked, pipeline, edit(pipeline, name, how))
    except EditError as error:
        raise UsageError(f"{error}.") from error


def finish(asked: Asked, pipeline: Pipeline, found: Edited) -> int:
    """Writes, or tells why not."""
    if found.findings:
        tell(found.findings, asked)
        say(f"{found.file} is not changed.\n", aside=True)
        return BAD_INPUT
    before = next((one.text for one in pipeline.sources if one.file == found.file), None)
    if before == found.text.encode():
        say(f"{found.file} says so already.\n")
        return GOOD
    write(found.file, found.text, before)
    lines = [title(found.change), *details(found.change)] if found.change else []
    told = "".join(f"{line.sign} {line.text}".rstrip() + "\n" for line in lines)
    say(
        f"{found.file}:\n{told}Next: berth render\n"
        if told
        else f"{found.file} is written. Next: berth render\n"
    )
    return GOOD


def keep_schema() -> None:
    """What we write names the schema beside it, for editors; so it must be there."""
    file = f"reservations/{SCHEMA}"
    if not Path(file).exists():
        write(file, schema_text(), None)


def which(words: tuple[str, ...], usage: str) -> tuple[str, Which]:
    """NAME DATE [TIME]."""
    if not 2 <= len(words) <= 3:
        raise UsageError(f"Write: {usage}")
    return words[0], Which(date(words[1]), time(words[2]) if len(words) > 2 else None)


def date(said: str) -> str:
    if len(said) != 10 or read(said, named("UTC")) is None:
        raise UsageError(f'"{said}" is no date such as 2026-02-02.')
    return said


def time(said: str) -> str:
    if said != "24:00" and (len(said) != 5 or read(f"2026-01-01T{said}", named("UTC")) is None):
        raise UsageError(f'"{said}" is no time such as 09:00.')
    return said
