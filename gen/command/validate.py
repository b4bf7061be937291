"""`berth validate`: findings, nothing else."""

from gen.command.answer import tell
from gen.command.asked import Asked
from gen.command.exits import GOOD
from gen.command.say import say
from gen.pipeline import Pipeline


def run(asked: Asked) -> int:
    pipeline = Pipeline()
    for _ in pipeline.items():
        pass
    code = tell(pipeline.findings(), asked, aside=False)
    if code == GOOD and asked.form == "text":
        number = len(pipeline.declared.reservations)
        say(f"{number} reservation{'' if number == 1 else 's'} in order.\n")
    return code
