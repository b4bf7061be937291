"""`berth move NAME DATE [TIME] --to "DATE [TIME[-TIME]]"`: lets one date happen at another time."""

from gen.command import edits
from gen.command.asked import Asked, UsageError
from gen.edit.occurrence import To, move


def run(asked: Asked) -> int:
    name, which = edits.which(asked.words, 'berth move NAME DATE [TIME] --to "DATE [TIME[-TIME]]"')
    to = _to(asked.value("--to"))
    return edits.run(asked, name, lambda tree, make: move(tree["spec"], which, to, make))


def _to(said: str | None) -> To:
    words = (said or "").replace("T", " ").split()
    if not 1 <= len(words) <= 2 or (len(words) == 2 and ":" in words[0]):
        raise UsageError(
            '--to says where it goes: --to 2026-05-15, --to "2026-05-15 10:00-14:00" or --to 10:00.'
        )
    day = edits.date(words[0]) if ":" not in words[0] else None
    times = words[-1] if ":" in words[-1] else ""
    start, _, end = times.partition("-")
    return To(day, edits.time(start) if start else None, edits.time(end) if end else None)
