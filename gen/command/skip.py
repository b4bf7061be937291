"""`berth skip NAME DATE [TIME]`: leaves one date out."""

from gen.command import edits
from gen.command.asked import Asked
from gen.edit.occurrence import skip


def run(asked: Asked) -> int:
    name, which = edits.which(asked.words, "berth skip NAME DATE [TIME]")
    return edits.run(asked, name, lambda tree, make: skip(tree["spec"], which, make))
