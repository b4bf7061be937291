"""`berth import renku`, `renku-classes` and `z2jh`: reservations and classes of hubs become documents."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_OK, stdout
from berth.cli.writing import write_imported
from berth.dates.moments import named
from berth.edit.classes import ClassRequest, classes_text, import_renku_classes, import_z2jh
from berth.edit.create import MODELINE
from berth.notation import zones
from berth.notation.refusal import CommandError, read_at
from berth.output import table
from berth.output.escape import visible
from berth.output.yamltext import block
from berth.pipeline import Pipeline
from berth.reading.place import locate
from berth.reading.source import SCHEMA, Source, is_input
from berth.schema import renkunames
from berth.schema.renku import ID, read_payloads
from berth.schema.z2jh import SCHEDULER


def import_classes(
    settings: Settings, pipeline: Pipeline, source: str, files: Sequence[Source], given: Mapping[str, Any]
) -> int:
    """Write the classes of a hub or of Renku, or report why not; `given` are the values of the options."""
    file = f"reservations/{'jupyterhub' if source == 'z2jh' else 'renku'}-classes.yaml"
    if given["file_name"]:
        file = os.path.normpath(settings.given(given["file_name"]))
    if not is_input(file) or not file.startswith("reservations/"):
        raise CommandError(f"--file {file} is not a YAML file in reservations/.")
    declared = pipeline.declared.classes.values()
    request = ClassRequest(
        tuple(files),
        given["cluster"],
        given["namespace"] or "",
        given.get("release") or "",
        given.get("pools") or (),
        [one.name for one in declared if one.origin.file != file],
    )
    imported = import_z2jh(request) if source == "z2jh" else import_renku_classes(request)
    if not imported.classes or exit_code(imported.findings, strict=settings.strict) != EXIT_OK:
        return settings.refused(imported.findings)
    settings.report(imported.findings)
    before = next((known for known in pipeline.sources if known.file == file), None)
    there = [one for one in declared if one.origin.file == file]
    text, kept = classes_text(before, there, imported.classes)
    write_imported(settings, pipeline, {file: text}, ", ".join(one.file for one in files))
    rows = []
    for one in imported.classes:
        amounts = ", ".join(f"{name} {amount}" for name, amount in one.spec["requests"].items())
        rows.append((one.name, amounts, one.sessions))
    stdout(table.text(("class", "requests", "counts"), rows))
    for line in (*imported.left_out, *(f"Not imported any more, remove it: {name}" for name in kept)):
        stdout(f"{visible(line)}.\n")
    if imported.unlabeled:
        stdout("Label the pods in kubespawner_override, so that each class counts its own sessions:\n")
        for title, labels in imported.unlabeled:
            stdout(f"  {visible(title)}: extra_labels: {visible(labels)}\n")
    if imported.needs_release:
        stdout(
            f"The hub has its own scheduler, and placeholders should have the same. Add schedulerName: "
            f"RELEASE{SCHEDULER} to each class, or import again with --release RELEASE.\n"
        )
    return EXIT_OK


def import_reservations(
    settings: Settings, pipeline: Pipeline, files: Sequence[Source], given: Mapping[str, Any]
) -> int:
    """Write a document for each reservation that has none, or report why not."""
    zone = read_at("--time-zone", lambda: zones.zone_at(given["time_zone"])) if given["time_zone"] else "UTC"
    declared = pipeline.declared
    classes = {one.renku_id: one.name for one in declared.classes.values() if one.renku_id is not None}
    payloads, problems = read_payloads(files, classes)
    findings = locate(problems, files)
    if exit_code(findings, strict=settings.strict) != EXIT_OK:
        return settings.refused([*findings, *pipeline.findings()])
    settings.report(findings)
    # A document is known by the id of its reservation in Renku, or by its name.
    known = {dict(one.annotations).get(ID) or one.name: one.origin.file for one in declared.reservations}
    texts: dict[str, str] = {}
    for payload in payloads:
        own = renkunames.name(payload.name, payload.id)
        if (payload.id or own) in known:
            stdout(f"Known: {settings.shown(known[payload.id or own])}.\n")
            continue
        file = f"reservations/{own}.yaml"
        if file in texts or any(source.file == file for source in pipeline.sources):
            raise CommandError(f"{settings.shown(file)}: another document has this name; nothing was written")
        try:
            document = payload.document(own, classes[payload.resource_class_id], named(zone))
        except CommandError as error:
            raise CommandError(f"{own}: {error}") from error
        if given["suspend"]:
            document["spec"]["suspend"] = True
        texts[file] = f"{MODELINE.format(SCHEMA)}{block(document, 0)}\n"
    write_imported(settings, pipeline, texts, ", ".join(file.file for file in files))
    return EXIT_OK
