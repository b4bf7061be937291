"""`berth init DIR`: starts a repository that passes its own checks at once."""

import time
from datetime import UTC, datetime
from pathlib import Path

from gen.command import selection
from gen.command.answer import tell
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD
from gen.command.say import say
from gen.edit.roundtrip import EditError
from gen.edit.starting import project, rendered, started
from gen.edit.write import write
from gen.schema.renkunames import slug

_NEXT = """\
{folder} is a repository of reservations now. Next:
  1. Edit reservations/site.yaml and classes.yaml: your clusters, your seats.
  2. berth render, and commit all of it.
"""


def run(asked: Asked) -> int:
    """All files or none; what is there is never overwritten."""
    folder = Path(asked.words[0])
    now = selection.instant("--now", asked, None)
    today = datetime.fromtimestamp(int(time.time()) if now is None else now, UTC).date()
    name = slug(folder.resolve().name)
    zone, engine = asked.value("--time-zone") or "UTC", asked.value("--engine") or "argocd"
    texts = started(name, zone, engine, today)
    pipeline = project(texts)
    texts.update(rendered(pipeline, "rendered"))
    if pipeline.has_errors():
        tell(pipeline.findings(), asked)
        say("Nothing is written.\n", aside=True)
        return BAD_INPUT
    taken = [path for path in ("reservations", "rendered", *texts) if (folder / path).exists()]
    if taken:
        raise UsageError(f"{folder / taken[0]} is there already; nothing was written.")
    try:
        for path, text in texts.items():
            write(str(folder / path), text, None)
    except EditError as error:
        raise UsageError(f"{error}.") from error
    say(_NEXT.format(folder=folder))
    return GOOD
