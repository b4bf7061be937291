"""`berth render` and `berth validate`: from the reservations to manifests, or only to findings."""

import os
from collections.abc import Sequence

import click

from berth.checks.policychecks import (
    PolicyCase,
    PoolCosts,
    cases_of_reservation,
    check_policies,
    compare_costs,
    policy_subject,
)
from berth.cli.command import FOLDER, Settings, command
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, EXIT_STALE, stdout
from berth.cli.selection import clock_of, items_of
from berth.findings import FindingsError, Problem, in_order
from berth.manifests.timetabletext import timetable_that_fits
from berth.notation.refusal import CommandError
from berth.output.escape import visible
from berth.output.stage import FolderComparison, Stage
from berth.pipeline import Pipeline
from berth.reading.source import OUTPUT, RESERVATIONS
from berth.rendering import files


@command(
    "text github",
    examples=(
        "berth render",
        "berth render --check        # in CI: exits 4 if rendered/ is not up to date",
        "berth render --staged       # in a hook of git: exits 4 if git add is missing",
        "berth render --output-dir /tmp/out",
    ),
)
@click.option("--check", is_flag=True, help="Write nothing; exit 4 if a file would change.")
@click.option(
    "--staged",
    is_flag=True,
    help="Exit 4 if a reservation or a rendered file differs from what is staged in git.",
)
@click.option("--output-dir", metavar="DIR", type=FOLDER, help="Write to this folder instead of rendered/.")
def render(settings: Settings, check: bool, staged: bool, output_dir: str | None) -> int:
    """Write the manifests of all reservations to rendered/.

    Either all files are written or, if there are errors, none.
    """
    if check and staged:
        raise click.UsageError("--staged does not go with --check, which writes nothing.")
    folder = settings.output_folder(output_dir, OUTPUT)
    pipeline = Pipeline()
    try:
        if check:
            return _check(settings, pipeline, folder)
        code = _write(settings, pipeline, folder)
        if staged and code == EXIT_OK:
            return _staged(settings, [RESERVATIONS, folder])
        return code
    except FindingsError as error:
        settings.report(in_order([*pipeline.findings(), *error.findings]))
        return EXIT_BAD_INPUT


def _fill(settings: Settings, pipeline: Pipeline, sink: Stage | FolderComparison) -> int:
    """Put every file into the sink, report the findings, and return the exit code that they mean."""
    for path, text in files(pipeline, items_of(settings, pipeline)):
        sink.put(path, text)
    return settings.report(pipeline.findings(), counts_notes=True)


def _write(settings: Settings, pipeline: Pipeline, folder: str) -> int:
    with Stage(folder, folder) as stage:
        code = _fill(settings, pipeline, stage)
        if code != EXIT_OK:
            return code
        outcome = stage.finish()
    shown = settings.shown(folder)
    removed = "".join(f"removed {shown}/{visible(path)}\n" for path in outcome.removed)
    numbers = f"{len(outcome.written)} written, {len(outcome.removed)} removed, {outcome.unchanged} unchanged"
    stdout(f"{removed}{shown}/: {numbers}.\n")
    return EXIT_OK


def _check(settings: Settings, pipeline: Pipeline, folder: str) -> int:
    check = FolderComparison(folder, folder)
    code = _fill(settings, pipeline, check)
    if code != EXIT_OK:
        return code
    differences, shown = check.finish(), settings.shown(folder)
    if not differences:
        stdout(f"{shown}/ is up to date.\n")
        return EXIT_OK
    listed = "".join(f"{shown}/{visible(path)} {kind}\n" for path, kind in differences)
    number = f"{len(differences)} files are" if len(differences) > 1 else "1 file is"
    stdout(f"{listed}{number} not up to date. Run: berth render\n")
    return EXIT_STALE


def _staged(settings: Settings, folders: Sequence[str]) -> int:
    """Compare the folders with git's index: a commit has what is staged, not what was rendered."""
    from berth.git import GitError, unstaged  # noqa: PLC0415 - only a hook runs git

    try:
        by_folder = {folder: unstaged(".", [folder]) for folder in folders}
    except GitError as error:
        raise CommandError(f"--staged: {error}.") from error
    listed = [settings.shown(path) for paths in by_folder.values() for path in paths]
    if not listed:
        return EXIT_OK
    number = f"{len(listed)} files are" if len(listed) > 1 else "1 file is"
    concerned = " ".join(
        os.path.join(settings.folder, settings.shown(folder))  # noqa: PTH118 - text
        for folder, paths in by_folder.items()
        if paths
    )
    lines = "".join(f"{path} is not staged\n" for path in listed)
    stdout(f"{lines}{number} not staged as it is now. Run: git add {concerned}\n")
    return EXIT_STALE


@command(
    "text json yaml csv github",
    examples=("berth validate", "berth validate --strict     # warnings fail, too"),
)
def validate(settings: Settings) -> int:
    """Check the reservations; write nothing.

    It takes no file: what is in reservations/ is checked together.
    """
    pipeline = Pipeline()
    site = pipeline.site

    cases: list[PolicyCase] = []
    now = clock_of(settings, pipeline).now
    for item in items_of(settings, pipeline, now=now):
        assert site is not None  # as there are items, there is one
        for part in item.parts if item.is_renderable(pipeline.declared) else ():
            timetable = timetable_that_fits(site, part.placed, part.occurrences)
            pipeline.problems += [timetable] if isinstance(timetable, Problem) else []
        if site.policies:
            subject = policy_subject(item.reservation, item.expansion.occurrences, pipeline.declared, site)
            cases += cases_of_reservation(site, subject, now)
    costs, problems = _planned(pipeline, now)
    pipeline.problems += problems
    if site is not None:
        pipeline.problems += check_policies(site, cases, costs)
    code = settings.report(pipeline.findings(), aside=False)
    if code == EXIT_OK and settings.form == "text":
        number = len(pipeline.declared.reservations)
        stdout(f"{number} reservation{' is' if number == 1 else 's are'} valid.\n")
    return code


def _planned(pipeline: Pipeline, now: int) -> tuple[PoolCosts | None, list[Problem]]:
    """Return what pools cost from now on, and the windows that open too late for their nodes.

    There is neither where nothing says what nodes there are. The costs are None beside errors.
    """
    declared, site = pipeline.declared, pipeline.site
    if pipeline.has_errors():
        return None, []
    if site is None or not declared.capacities:
        return {}, []
    from berth.machines.clusterplans import plan_clusters  # noqa: PLC0415 - the estimate takes time to load
    from berth.machines.costplan import pool_costs  # noqa: PLC0415
    from berth.machines.planfindings import short_leads  # noqa: PLC0415

    plans = plan_clusters(declared, site, pipeline.pools)
    costs = pool_costs(plans, now) if compare_costs(site.policies) else {}
    return costs, [*short_leads(plans, declared, now)]
