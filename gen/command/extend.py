"""`berth extend NAME DATE [TIME] --until TIME`: lets one date end later, or sooner."""

from gen.command import edits
from gen.command.asked import Asked, UsageError
from gen.edit.occurrence import To, move


def run(asked: Asked) -> int:
    name, which = edits.which(asked.words, "berth extend NAME DATE [TIME] --until TIME")
    until = asked.value("--until")
    if until is None:
        raise UsageError("--until says when it ends: --until 14:00.")
    to = To(end=edits.time(until))
    return edits.run(asked, name, lambda tree, make: move(tree["spec"], which, to, make))
