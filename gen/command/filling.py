"""Every file of a render, from a pipeline into whatever takes them."""

from collections.abc import Iterator
from typing import Protocol

from gen.command.answer import tell
from gen.command.asked import Asked
from gen.command.progress import watched
from gen.finding import Problem
from gen.output.renderer import Renderer
from gen.pipeline import Part, Pipeline
from gen.render import (
    base_file,
    base_text,
    engine_texts,
    inventory_file,
    inventory_text,
    kustomization_file,
    kustomization_text,
    reservation_file,
    reservation_text,
)


class Sink(Protocol):
    def put(self, path: str, text: str) -> None: ...


def fill(pipeline: Pipeline, sink: Sink, asked: Asked) -> int:
    """Puts every file into the sink, tells the findings, and answers the exit code that they mean."""
    for path, text in _files(pipeline, asked.value("--templates")):
        sink.put(path, text)
    return tell(pipeline.findings(), asked)


def _files(pipeline: Pipeline, templates: str | None) -> Iterator[tuple[str, str]]:
    """Path and text of every file, one at a time. After an error nothing more is rendered, only checked."""
    renderer = Renderer(templates)
    names: list[str] = []

    def text_of(part: Part) -> str | Problem:
        assert pipeline.site is not None  # without it there are no parts
        return reservation_text(renderer, pipeline.site, part)

    for item in watched(pipeline.items(text_of), len(pipeline.declared.reservations)):
        for part, text in zip(item.parts, item.texts, strict=False):  # no texts where something is wrong
            if isinstance(text, str):
                names.append(reservation_file(part))
                if not pipeline.has_errors():
                    yield names[-1], text
            else:
                pipeline.problems.append(text)
    if pipeline.has_errors() or pipeline.site is None:
        return
    classes = pipeline.declared.classes.values()
    yield from engine_texts(renderer, pipeline.site, classes)
    for cluster in pipeline.site.clusters:
        names.append(base_file(cluster))
        yield names[-1], base_text(renderer, pipeline.site, cluster, classes)
        inventory = inventory_text(renderer, pipeline.site, cluster, names)
        if inventory is not None:
            names.append(inventory_file(cluster))
            yield names[-1], inventory
        if pipeline.site.kustomization:
            text = kustomization_text(renderer, pipeline.site, cluster, names)
            yield kustomization_file(cluster), text
