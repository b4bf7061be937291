"""`berth schema`: the JSON Schema of our documents."""

from gen.command.asked import Asked
from gen.command.exits import GOOD
from gen.command.say import say
from gen.jsonschema import text


def run(_: Asked) -> int:
    say(text())
    return GOOD
