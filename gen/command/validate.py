"""`berth validate`: findings, nothing else."""

from gen.command.answer import tell
from gen.command.asked import Asked
from gen.command.exits import GOOD
from gen.command.progress import watched
from gen.command.say import say
from gen.finding import Problem
from gen.manifest.timetabletext import timetable_that_fits
from gen.pipeline import Part, Pipeline


def run(asked: Asked) -> int:
    pipeline = Pipeline()

    def too_large(part: Part) -> str | Problem:
        """What only a render would find: no text, or the problem."""
        assert pipeline.site is not None  # without it there are no parts
        found = timetable_that_fits(pipeline.site, part.placed, part.occurrences)
        return found if isinstance(found, Problem) else ""

    for item in watched(pipeline.items(too_large), len(pipeline.declared.reservations)):
        pipeline.problems += [problem for problem in item.texts if isinstance(problem, Problem)]
    code = tell(pipeline.findings(), asked, aside=False)
    if code == GOOD and asked.form == "text":
        number = len(pipeline.declared.reservations)
        say(f"{number} reservation{'' if number == 1 else 's'} in order.\n")
    return code
