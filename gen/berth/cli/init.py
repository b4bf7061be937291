"""The command that begins a repository: `berth init`."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from berth.cli.command import FOLDER, Settings, ask, command
from berth.cli.console import EXIT_OK, is_terminal, stderr, stdout
from berth.cli.selection import clock_of
from berth.cli.writing import of_options
from berth.dates.moments import local_text, named
from berth.edit.create import refuse_link, write_file
from berth.edit.scaffold import (
    ACTION,
    NAMESPACES,
    OPTIONAL,
    README,
    Starter,
    action_files,
    next_commands,
    part_files,
    project_of,
    starter_files,
)
from berth.git import origin, top_of
from berth.notation.refusal import CommandError, taken
from berth.notation.zones import zone_at
from berth.output.folder import AGAIN, refusal
from berth.output.stage import write_files
from berth.pipeline import Pipeline
from berth.reading.source import RESERVATIONS
from berth.schema import grammar
from berth.schema.documentproblems import Refusal
from berth.schema.engine import CALLED, ENGINES
from berth.schema.renkunames import slug


class _Text(click.ParamType[str]):
    """A text that a grammar of the schema accepts, as a flag or as an answer."""

    def __init__(self, name: str, read: Callable[[str], str]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return taken(lambda: self._read(value))
        except Refusal as refusal:
            self.fail(f"{refusal.message} {refusal.fix}", param, ctx)


_LABEL, _ZONE = _Text("label", grammar.dns_label), _Text("zone", zone_at)
_ADDRESS = _Text("address", grammar.optional(grammar.repository))
_SOURCE, _ENGINE = click.Choice(tuple(NAMESPACES)), click.Choice(ENGINES)


def _part_options(function: Callable[..., int]) -> Callable[..., int]:
    for name, part in reversed(OPTIONAL.items()):
        function = click.option(f"--{name}", is_flag=True, help=part.help)(function)
    return function


@command(
    in_project=False,
    examples=(
        "berth init seats --demo",
        "berth init --source jupyterhub --time-zone Europe/Zurich --engine argocd",
        "berth init --requests    # where there are reservations: adds only these files",
    ),
)
@click.argument("directory", metavar="[DIR]", type=FOLDER, default=".")
@click.option("--cluster", metavar="NAME", type=_LABEL, help="Name of the cluster; default: prod.")
@click.option(
    "--source", metavar="NAME", type=_SOURCE, help="Sessions: jupyterhub, renku or pods; default: jupyterhub."
)
@click.option(
    "--namespace",
    metavar="NAME",
    type=_LABEL,
    help="Where sessions run; default: jupyterhub, renku or default.",
)
@click.option("--time-zone", metavar="ZONE", type=_ZONE, help="Time zone of the site; default: UTC.")
@click.option("--engine", metavar="NAME", type=_ENGINE, help="argocd, flux or none; default: none.")
@click.option(
    "--repository", metavar="URL", type=_ADDRESS, help="This repository, for engines; default: git's origin."
)
@click.option("--demo", is_flag=True, help="Ask nothing; add two seats that open in two minutes.")
@_part_options
def init(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    directory: str,
    cluster: str | None,
    source: str | None,
    namespace: str | None,
    time_zone: str | None,
    engine: str | None,
    repository: str | None,
    demo: bool,
    **parts: bool,
) -> int:
    """Start a repository of reservations that passes its checks.

    On a terminal it asks for what is not given. It writes a site, a resource class, a calendar, a course from
    the next Monday on, and a workflow for GitHub. What the workflow runs is in .github/berth/, with a wheel
    of this Berth. DIR is the top of the repository; default: this folder.

    In a repository of reservations, it adds the workflow if there is no .github/berth/, and the files of
    --calendar, --report and --requests. Files that differ stay: remove one to have it written again.

    Nothing else is overwritten: in a new repository a README.md stays, and if another file exists, nothing is
    written.
    """
    asks = is_terminal(sys.stdin) and not demo

    def value(given: str | None, question: str, kind: click.ParamType[str], default: str) -> str:
        if given is not None or not asks:
            return default if given is None else given
        choices = f" ({', '.join(kind.choices)})" if isinstance(kind, click.Choice) else ""
        return ask(f"{question}{choices}{f' [{default}]' if default else ''}:", kind, default)

    folder = Path(directory)
    wanted = tuple(part for part in OPTIONAL if parts[part])
    of_site = (cluster, source, namespace, time_zone, engine, repository)
    if not demo and not any(of_site) and (folder / RESERVATIONS).exists():
        return _add(settings, directory, wanted)
    cluster = value(cluster, "Name of the cluster", _LABEL, "prod")
    source = value(source, "Source of the sessions", _SOURCE, "pods" if demo else "jupyterhub")
    namespace = value(namespace, "Namespace of the sessions", _LABEL, NAMESPACES[source])
    zone = value(time_zone, "Time zone", _ZONE, "UTC")
    engine = value(engine, "Engine that applies the manifests", _ENGINE, "none")
    if engine != "none":
        repository = value(repository, "Address of the git repository", _ADDRESS, origin(folder) or "")
    name = slug(folder.resolve().name)
    where = (cluster, source, namespace, zone, engine, repository or "")
    return _begin(settings, directory, Starter(name, *where, demo=demo, parts=wanted))


def _begin(settings: Settings, directory: str, starter: Starter) -> int:
    """Write the repository if it passes its checks, and say what comes next; return the exit code."""
    files = starter_files(starter, clock_of(settings, None).now)
    pipeline = project_of(files)
    opens = [occurrence.open for item in pipeline.items() for occurrence in item.expansion.occurrences]
    if pipeline.has_errors():
        findings = pipeline.findings()
        for file, places in _PLACES.items():
            findings = of_options(findings, file, (places, "DIR"))
        return settings.refused(findings)
    _write(Path(directory), files)
    stdout(_told(directory, starter, local_text(min(opens), named(starter.zone))))
    return EXIT_OK


def _add(settings: Settings, directory: str, parts: tuple[str, ...]) -> int:
    """Add the workflows to a repository of reservations, and say what became of their files."""
    folder = Path(directory)
    project = Pipeline(directory)
    if project.has_errors():
        return settings.refused(project.findings())
    if "requests" in parts and not project.declared.classes:
        raise CommandError("No ResourceClass is declared, which people could ask for. Declare one first")
    contents = part_files(parts, project) | ({} if (folder / ACTION).exists() else action_files())
    for path in contents:
        refuse_link(str(folder / path), directory)
    before = {path: (folder / path).read_bytes() for path in contents if (folder / path).exists()}
    kept = [path for path in before if before[path] != contents[path]]
    for path, content in contents.items():
        if before.get(path) == content:
            stdout(f"{path} is unchanged.\n")
        elif path in kept:
            stderr(_KEPT.format(path))
        else:
            write_file(str(folder / path), content, before.get(path), directory)
            stdout(f"Wrote {path}.\n")
    if not contents:
        stderr(_KEPT.format(ACTION))
    if {*contents} <= {*kept}:
        raise CommandError("Nothing was written: all of these files exist.")
    up, down = top_of(folder)
    if down:
        stderr(_BELOW_TOP.format((folder / up).resolve()))
    return EXIT_OK


_BELOW_TOP = """\
GitHub reads .github/ only at the top of the repository, which is {}: move it there, and adapt its paths.
"""
_KEPT = """\
{} stays. To get what this Berth would write, move it away, and run this again.
"""


_PLACES = {
    "reservations/site.yaml": {
        "spec.timeZone": "--time-zone",
        "spec.engine": "--engine",
        "spec.repository": "--repository",
        "spec.clusters": "--cluster",
    },
    "reservations/classes.yaml": {"spec.sessions.source": "--source", "spec.sessions": "--namespace"},
}
"""Which option each field of a file comes from."""


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write all files of a new repository, or none."""
    for path in files:
        refuse_link(str(folder / path), str(folder))
    existing = [path for path in ("reservations", "rendered", *files) if (folder / path).exists()]
    in_the_way = [path for path in existing if path != README]
    if in_the_way:
        raise CommandError(f"{folder / in_the_way[0]} exists; nothing was written.")
    new = {path: content for path, content in files.items() if path not in existing}
    try:
        write_files(str(folder), new)
    except OSError as error:
        raise refusal(str(folder), "", error, AGAIN) from error


def _told(directory: str, starter: Starter, opens: str) -> str:
    """Say what to do next, and when there is something to see."""
    folder = Path(directory).resolve()
    lines = [f"{folder.name} is a repository of reservations now. Next:"]
    if starter.engine != "none" and not starter.repository:
        engine = CALLED[starter.engine]
        lines.append(f"  # Add repository.url to reservations/site.yaml, so that {engine} finds rendered/.")
    if folder != Path.cwd():
        lines.append(f"  cd {shlex.quote(directory)}")
    lines += [f"  {next_command}" for next_command in next_commands(starter)]
    return "\n".join([*lines, f"The first placeholders start on {opens} ({starter.zone}).", ""])
