"""`berth schema`: the JSON Schema of our documents."""

import json

from gen.command.asked import Asked
from gen.command.exits import GOOD
from gen.command.say import say
from gen.jsonschema import schema


def run(_: Asked) -> int:
    say(json.dumps(schema(), indent=1) + "\n")
    return GOOD
