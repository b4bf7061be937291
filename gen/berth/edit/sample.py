"""Replace the sample class of `berth init` by classes that are imported."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from berth.edit.classes import ImportedClasses
from berth.edit.roundtrip import MakeNode, edit_document, to_block
from berth.edit.scaffold import SAMPLE_CLASS, SAMPLE_COURSES, is_sample_class
from berth.karpenter.taints import may_match_same_taint, names_a_taint
from berth.manifests.placed import class_names
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.scheduling import PodToleration


class SampleReplacement(NamedTuple):
    """The new text of each file; None: it is to be removed. `kept`: the reservations that keep the sample."""

    files: dict[str, str | None]
    kept: tuple[str, ...] = ()


def sample_source(pipeline: Pipeline, source: str) -> Source | None:
    """Return the file of the sample class for sessions of this source; None if somebody has changed it."""
    sample = pipeline.declared.classes.get(SAMPLE_CLASS)
    if sample is None or sample.sessions is None or sample.sessions.source != source:
        return None
    found = next((one for one in pipeline.sources if one.file == sample.origin.file), None)
    return found if found is not None and is_sample_class(sample, found) else None


def replace_sample(
    pipeline: Pipeline, sample: Source, imported: ImportedClasses, declared: Declared
) -> SampleReplacement:
    """Remove the sample class, and let its courses use the default of the imported classes.

    `declared` has the imported classes, all of which are valid. Unless the Site says where the Jobs of Berth
    run, it then lets them tolerate the taints of these classes.
    """
    names = [resource_class.name for resource_class in imported.classes]
    users = [
        reservation
        for reservation in pipeline.declared.reservations
        if SAMPLE_CLASS in class_names(reservation)
    ]
    others = [user.name for user in users if not _is_sample_course(user)]
    if others and SAMPLE_CLASS not in names:
        return SampleReplacement({}, tuple(others))
    files: dict[str, str | None] = {sample.file: None}
    if SAMPLE_CLASS not in names:
        for user in users:
            text = next(source.text for source in pipeline.sources if source.file == user.origin.file)

            def edit(tree: Any, make: MakeNode) -> None:
                tree["spec"]["resourceClass"] = make(imported.default)

            files[user.origin.file] = edit_document(text.decode(), user.origin.index, edit)
    files.update(_tolerant_site(pipeline, names, declared))
    return SampleReplacement(files)


def _is_sample_course(one: Reservation) -> bool:
    return one.name in SAMPLE_COURSES and not one.seats_listed


def readme_with_class(text: str, name: str) -> str:
    """Return the README of `berth init` with another class in its example."""
    return text.replace(f" --class {SAMPLE_CLASS} --seats 25 ", f" --class {name} --seats 25 ")


def _tolerant_site(pipeline: Pipeline, names: list[str], declared: Declared) -> Iterator[tuple[str, str]]:
    """Yield the Site with the tolerations of the classes for the Jobs of Berth, if it has none for them."""
    site = pipeline.site
    source = None if site is None else next(s for s in pipeline.sources if s.file == site.origin.file)
    if site is None or source is None:
        return
    if any(cluster.runtime.tolerations or cluster.runtime.node_selector for cluster in site.clusters):
        return
    wanted: list[PodToleration] = []
    for name in names:
        for toleration in declared.classes[name].pod.tolerations or ():
            if names_a_taint(toleration) and not any(
                may_match_same_taint(toleration, other) for other in wanted
            ):
                wanted.append(toleration)
    if not wanted:
        return

    def edit(tree: Any, make: MakeNode) -> None:
        runtime = tree["spec"].setdefault("runtime", {})
        runtime["tolerations"] = make([pod_toleration.dump() for pod_toleration in wanted])
        to_block(runtime["tolerations"])

    yield source.file, edit_document(source.text.decode(), site.origin.index, edit)
