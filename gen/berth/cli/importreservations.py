"""`berth import renku`: capacity reservations of Renku become documents, each once."""

from collections.abc import Mapping, Sequence
from typing import Any

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_OK, stdout
from berth.cli.writing import write_imported
from berth.dates.moments import named
from berth.edit.create import MODELINE
from berth.notation import zones
from berth.notation.refusal import CommandError, read_at
from berth.output.yamltext import block
from berth.pipeline import Pipeline
from berth.reading.place import locate
from berth.reading.source import SCHEMA, Source
from berth.schema.renku import ID, read_payloads
from berth.schema.renkunames import name


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
        own = name(payload.name, payload.id)
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
    return write_imported(settings, pipeline, texts, ", ".join(file.file for file in files))
