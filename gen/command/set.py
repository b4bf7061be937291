"""`berth set NAME PATH=VALUE...`: changes what a reservation says."""

from typing import Any

from gen.command import edits
from gen.command.asked import Asked, UsageError
from gen.edit.assignment import assign, assignment
from gen.edit.roundtrip import EditError, Make


def run(asked: Asked) -> int:
    if len(asked.words) < 2:
        raise UsageError("Write: berth set NAME PATH=VALUE, such as provisioning.placeholderCount=30.")
    name, *said = asked.words
    try:
        assignments = [assignment(one) for one in said]
    except EditError as error:
        raise UsageError(f"{error}.") from error

    def change(tree: Any, make: Make) -> None:
        for one in assignments:
            assign(tree, one, make)

    return edits.run(asked, name, change)
