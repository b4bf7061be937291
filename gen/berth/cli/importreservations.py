"""`berth import renku`: capacity reservations of Renku become documents, each once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.writing import keep_schema
from berth.edit.create import refuse_link, reservation_yaml, write_file
from berth.edit.renkureservations import differences, imported_before, in_zone
from berth.findings import ERROR, Finding, Problem
from berth.notation import zones
from berth.notation.refusal import CommandError, read_at
from berth.pipeline import Pipeline
from berth.reading.place import locate
from berth.reading.source import Source
from berth.schema.renku import read_payloads
from berth.schema.reservation import Reservation


def import_reservations(
    settings: Settings, files: Sequence[Source | Problem], time_zone: str | None, *, suspend: bool
) -> int:
    """Import file after file; one that is wrong stops none of the others. Return the exit code."""
    zone = read_at("--time-zone", lambda: zones.zone(time_zone)) if time_zone else "UTC"
    imported, codes = {file.file for file in files}, [EXIT_OK]
    for file in files:
        sources = Pipeline().sources
        project = Pipeline(sources=[source for source in sources if source.file not in imported])
        try:
            codes.append(_import_file(settings, project, file, zone, suspend=suspend))
        except CommandError as error:
            stderr(f"{settings.shown(file.file)}: {error}\n")
            codes.append(EXIT_BAD_INPUT)
        if codes[-1] == EXIT_OK and any(source.file == file.file for source in sources):
            stdout(f"Remove {settings.shown(file.file)}: the documents replace it.\n")
    return max(codes)


def _import_file(
    settings: Settings, project: Pipeline, source: Source | Problem, zone: str, *, suspend: bool
) -> int:
    if isinstance(source, Problem):
        return settings.report(project.located([source]))
    if project.has_errors():
        return _refused(settings, source, project.findings())
    declared = project.declared
    classes = {one.renku_id: one.name for one in declared.classes.values() if one.renku_id is not None}
    reading = read_payloads(source, classes)
    findings = locate(reading.problems, [source])
    if exit_code(findings, strict=settings.strict) != EXIT_OK:
        return _refused(settings, source, findings)
    new: dict[str, Reservation] = {}
    known: list[str] = []
    for reservation in reading.reservations:
        before = imported_before(reservation, declared)
        if before is None:
            spec = reservation.spec.model_copy(update={"suspend": suspend})
            new[f"reservations/{reservation.name}.yaml"] = in_zone(reservation, zone)._replace(spec=spec)
        else:
            known.append(_compared(settings, before, reservation))
    if new:
        code = _write(settings, project, source, new, findings)
        if code != EXIT_OK:
            return code
    else:
        settings.report(findings)
    stdout("".join(known))
    return EXIT_OK


def _compared(settings: Settings, before: Reservation, reservation: Reservation) -> str:
    """Say what became of a reservation that was imported before."""
    shown, changes = settings.shown(before.origin.file), "; ".join(differences(before, reservation))
    if not changes:
        return f"Known: {shown}.\n"
    return f"Changed: {shown} is not as in Renku, and stays: {changes}.\n"


def _write(
    settings: Settings,
    project: Pipeline,
    source: Source,
    new: Mapping[str, Reservation],
    findings: Sequence[Finding],
) -> int:
    """Write the new documents unless the project would have errors then."""
    texts = {file: reservation_yaml(reservation) for file, reservation in new.items()}
    written = [Source(file, text.encode()) for file, text in texts.items()]
    after = Pipeline(sources=sorted([*project.sources, *written]))
    for _ in after.items():
        pass
    found = [one for one in after.findings() if one.file in new or one.severity == ERROR]
    if exit_code(found, strict=settings.strict) != EXIT_OK:
        moved = [_at_source(finding, source, new) for finding in found]
        return _refused(settings, source, [*findings, *moved])
    for file in new:
        refuse_link(file)
        if Path(file).exists():
            raise CommandError(f"{settings.shown(file)} exists; nothing was written")
    settings.report([*findings, *found])
    for file, text in texts.items():
        write_file(file, text, None)
        stdout(f"Wrote {settings.shown(file)}.\n")
    keep_schema()
    return EXIT_OK


def _at_source(finding: Finding, source: Source, new: Mapping[str, Reservation]) -> Finding:
    """Return a finding about a file that is not written with what it would be made of."""
    if finding.file not in new:
        return finding
    return finding._replace(file=f"{source.file}, {new[finding.file].name}", line=0, column=0)


def _refused(settings: Settings, source: Source, findings: Sequence[Finding]) -> int:
    code = settings.report(findings)
    stderr(f"Nothing of {settings.shown(source.file)} was written.\n")
    return code
