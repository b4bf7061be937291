"""Every file of a render, from a pipeline into whatever takes them."""

from typing import Protocol

from gen.command.answer import tell
from gen.command.asked import Asked
from gen.command.progress import watched
from gen.output.templates import Renderer
from gen.pipeline import Pipeline
from gen.render import files, text_of


class Sink(Protocol):
    def put(self, path: str, text: str) -> None: ...


def fill(pipeline: Pipeline, sink: Sink, asked: Asked) -> int:
    """Puts every file into the sink, tells the findings, and answers the exit code that they mean."""
    renderer = Renderer(asked.value("--templates"))
    items = watched(pipeline.items(text_of(pipeline, renderer)), len(pipeline.declared.reservations))
    for path, text in files(pipeline, renderer, items):
        sink.put(path, text)
    return tell(pipeline.findings(), asked)
