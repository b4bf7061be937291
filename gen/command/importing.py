"""`berth import renku FILE`: makes editable files of ours of what Renku's API exported."""

from pathlib import Path

from gen.command import edits
from gen.command.answer import tell
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD
from gen.command.say import say
from gen.edit.imported import imported
from gen.edit.roundtrip import EditError
from gen.edit.write import write
from gen.edit.writing import written
from gen.input.source import Source, read_file
from gen.pipeline import Pipeline


def run(asked: Asked) -> int:
    """All or none. The file itself is left alone; if it lies in reservations/, it must go."""
    if len(asked.words) != 2 or asked.words[0] != "renku":
        raise UsageError("Write: berth import renku FILE.")
    file = asked.words[1]
    pipeline = Pipeline()
    try:
        found = imported(read_file(file), pipeline, asked.value("--time-zone"))
    except (EditError, OSError) as error:
        raise UsageError(f"{file}: {error}.") from error
    if found.findings:
        tell(found.findings, asked)
        return BAD_INPUT
    reservations = [one._replace(suspend=asked.has("--suspend")) for one in found.reservations]
    texts = {f"reservations/{one.name}.yaml": written(one) for one in reservations}
    try:
        return _write(asked, pipeline, texts, file)
    except EditError as error:
        raise UsageError(f"{error}.") from error


def _write(asked: Asked, pipeline: Pipeline, texts: dict[str, str], file: str) -> int:
    kept = [one for one in pipeline.sources if one.file != file and one.file not in texts]
    sources = [*kept, *(Source(name, text.encode()) for name, text in texts.items())]
    after = Pipeline(sources=sorted(sources))
    for _ in after.items():
        pass
    code = tell(after.findings(), asked)
    if code != GOOD:
        say("Nothing is written.\n", aside=True)
        return code
    taken = [name for name in texts if Path(name).exists()]
    if taken:
        raise EditError(f"{taken[0]}: there is a file already; nothing was written")
    for name, text in texts.items():
        write(name, text, None)
        say(f"{name} is written.\n")
    edits.keep_schema()
    if any(one.file == file for one in pipeline.sources):
        say(f"Remove {file}: what it says stands in the new files now.\n")
    return GOOD
