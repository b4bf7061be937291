"""What all commands share: the common options, finding the project, the layout of `--help`, and findings.

A command is a function with this decorator, the settings first and its own options by name:

    @command("text json", examples=("berth list -o json",))
    @click.option("--class", "resource_class", help="...")
    def list_(settings: Settings, resource_class: str | None) -> int: ...
"""
# Importing pathlib is slow.
# ruff: noqa: PTH109, PTH112, PTH118, PTH120, PTH121

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.shell_completion import CompletionItem

from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, columns, has_color, progress, stderr, stdout
from berth.findings import ERROR, NOTE, Finding, FindingsError
from berth.notation.refusal import CommandError, close
from berth.output.escape import visible
from berth.output.table import INDENT, wrapped
from berth.reading.source import RESERVATIONS, link_on_path, repository_of
from berth.version import VERSION

if TYPE_CHECKING:
    from berth.findings import LiveFinding
    from berth.output.answers import Answer
    from berth.pipeline import Pipeline
    from berth.schema.values import Site

T = TypeVar("T")

FORMS = ("text", "wide", "json", "yaml", "csv", "markdown", "github", "ics")
_WIDTH = 80
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: Python reads a byte that is not UTF-8 so
_LIKENESS = 0.7  # of a word that is suggested: option and command names are short
_COMMON = ("-C", "--strict", "--quiet", "--now", "--help", "--version")


class Settings(NamedTuple):
    """The common options of one run, and where the user is.

    `up` leads from the user's folder to the project, `down` back; both are empty in the project's folder.
    """

    form: str = ""
    strict: bool = False
    quiet: bool = False
    now: str | None = None
    folder: str = ""  # of -C
    up: str = ""
    down: str = ""
    width: int | None = None  # of the terminal that gets the answer; None: it is no terminal

    def shown(self, path: str) -> str:
        """Return a path of the project as the user would write it, on one line."""
        is_below = self.down and not os.path.isabs(path)  # noqa: PTH117 - text
        return visible(os.path.relpath(path, self.down) if is_below else path)

    def given(self, path: str) -> str:
        """Return a path that the user wrote as seen from the project."""
        return os.path.join(self.down, path) if self.down else path

    @property
    def columns(self) -> int | None:
        """Return how wide a table may be; None: as wide as it is."""
        return self.width if self.form == "text" else None

    def wrapped(self, text: str) -> str:
        """Break the sentences of an answer at words where they go to a terminal."""
        return wrapped(text, self.width, INDENT)

    @property
    def in_repository(self) -> str:
        """The project's folder as seen from where the program was started, for GitHub."""
        return os.path.join(self.folder, self.up)

    def output_folder(self, given: str | None, default: str, *others: str) -> str:
        """Return the output folder, which must not be in reservations/ or in others. Raises CommandError."""
        folder = default if given is None else self.given(given)
        target = os.path.realpath(folder)
        for other in (RESERVATIONS, *others):
            source = os.path.realpath(other)
            if os.path.commonpath((source, target)) == source:
                raise CommandError(f'--output-dir "{given}": name a folder outside of {other}/.')
        return folder.rstrip("/") or folder

    def progress(self, items: Iterable[T], total: int) -> Generator[T, None, None]:
        """Yield the items, and report how far they are unless `--quiet` is given."""
        if self.quiet:
            yield from items
        else:
            yield from progress(items, total)

    def answer(self, data: "Callable[[], Answer]", text: Callable[[], str]) -> None:
        """Write the answer in the form of `-o`: as data for programs, or as text."""
        from berth.output.answers import DATA_FORMS, serialize  # noqa: PLC0415 - `--help` needs no answers

        self.write(serialize(data(), self.form) if self.form in DATA_FORMS else text())

    def write(self, text: str) -> None:
        """Write a text of the form of `-o`. Forms other than text have escapes of their own."""
        stdout(text, is_data=self.form not in ("", "text", "wide"))

    def report(self, findings: Sequence[Finding], *, aside: bool = True, counts_notes: bool = False) -> int:
        """Write the findings in the form of `-o`; return the exit code they mean.

        They are the answer, on stdout, or stand `aside`, on stderr. Aside, notes are left out, or only
        counted, and CSV, which is the form of one list, is text.
        """
        notes = [finding for finding in findings if finding.severity == NOTE] if aside else []
        code = exit_code(findings, strict=self.strict)
        self._write([finding for finding in findings if finding not in notes], aside=aside)
        counts_notes = counts_notes and self.form not in ("json", "yaml", "github") and not self.quiet
        if counts_notes and notes and code == EXIT_OK:
            from berth.output import findinglist  # noqa: PLC0415 - as above

            them = "them" if len(notes) > 1 else "it"
            stderr(f"{findinglist.count(notes)}; berth validate shows {them}.\n")
        return code

    def valid_site(self, pipeline: "Pipeline", *, counts_notes: bool = False) -> "Site":
        """Report the findings, and return the site; if they refuse it, end the command."""
        code = self.report(pipeline.findings(), counts_notes=counts_notes)
        if code != EXIT_OK or pipeline.site is None:
            raise click.exceptions.Exit(code)
        return pipeline.site

    def refused(self, findings: Sequence[Finding]) -> int:
        """Report why nothing is written; return the exit code."""
        code = self.report(findings)
        stderr("Nothing was written.\n")
        return code

    def _write(self, findings: Sequence[Finding], *, aside: bool) -> None:
        from berth.output import findinglist  # noqa: PLC0415 - as above
        from berth.output.answers import DATA_FORMS, serialize  # noqa: PLC0415

        is_text = False
        if self.form in DATA_FORMS and not (aside and self.form == "csv"):
            text = serialize(findinglist.as_answer(findings), self.form) if findings or not aside else ""
        elif self.form == "github":
            text = findinglist.github(findings, self.in_repository)
        else:
            is_text, color = True, has_color(sys.stderr if aside else sys.stdout)
            text = findinglist.text(findings, color=color, folder=self.up)
        if aside:
            stderr(text, is_data=not is_text)
        else:
            stdout(self.wrapped(text) if is_text else text, is_data=not is_text)


def exit_code(findings: "Iterable[Finding | LiveFinding]", *, strict: bool) -> int:
    """Errors are bad input; with `strict`, warnings are too. Notes never are."""
    bad = any(finding.severity == ERROR or (strict and finding.severity != NOTE) for finding in findings)
    return EXIT_BAD_INPUT if bad else EXIT_OK


class _PathType(click.ParamType[str]):
    """A path that shells complete. Only an empty one is refused: it may be relative to another folder."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value:
            what = "Name a file" if self.name == "file" else "Write . for this folder"
            self.fail(f"the path is empty. {what}, or leave it out.", param, ctx)
        return value

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self.name)]


FILE, FOLDER = _PathType("file"), _PathType("dir")


class Parsing(click.Command):
    """A command that says in each usage error which command it is, and takes each option once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            if not ctx.resilient_parsing:
                self._check_once(ctx, args)
            rest = super().parse_args(ctx, args)
            self._check_text(ctx)
            return rest
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def _check_text(self, ctx: click.Context) -> None:
        """Refuse bytes that are not UTF-8 in all but paths, which may have any."""
        for parameter in self.params:
            value = ctx.params.get(parameter.name or "")
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and not isinstance(parameter.type, _PathType) and _HALF.search(text):
                    name = (
                        parameter.opts[-1]
                        if isinstance(parameter, click.Option)
                        else parameter.human_readable_name
                    )
                    raise click.UsageError(f"{name}: {visible(text)} is not UTF-8. Write it again.")

    def _check_once(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse an option with two values: one of them would be lost.

        Common options may stand before and after the command; the last one counts.
        """
        given = self.make_parser(ctx).parse_args([*args])[2]
        for option in given:
            takes_one = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
            if takes_one and not is_common(option) and option.name != "output" and given.count(option) > 1:
                raise click.UsageError(f"{option.opts[-1]} is given twice. Give it once.")


class Command(Parsing):
    """A command with the common options; `--help` lists them after its own, and then examples."""

    def __init__(self, *, examples: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(**settings)
        self.examples = tuple(examples)
        self.context_settings = {"max_content_width": _WIDTH}

    def get_help_option(self, ctx: click.Context) -> click.Option:  # noqa: ARG002 - click's signature
        return _HELP

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                (common if is_common(parameter) else own).append(record)
        for title, records in (("Options", own), ("Common options", common)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"  {line}\n")


def is_common(parameter: click.Parameter) -> bool:
    return any(name in _COMMON for name in parameter.opts)


def command(
    forms: str = "", *, name: str = "", in_project: bool = True, examples: Sequence[str] = ()
) -> Callable[[Callable[..., int]], Command]:
    """Make a command of a function, whose docstring is its help.

    `forms` are the values of `-o`, the default first. `in_project`: whether it works in the
    project's folder.
    """

    def decorate(function: Callable[..., int]) -> Command:
        def callback(
            folder: str | None, strict: bool, quiet: bool, now: str | None, output: str = "", **own: object
        ) -> int:
            given = Settings(output, strict, quiet, now, width=columns(sys.stdout))
            settings = enter(given, folder, in_project=in_project)
            try:
                return function(settings, **own)
            except FindingsError as error:
                settings.report(error.findings)
                if error.unchanged:
                    stderr(f"{settings.shown(error.unchanged)} is not changed.\n")
                return EXIT_BAD_INPUT

        params = [
            *reversed(getattr(function, "__click_params__", ())),
            *_output(forms.split()),
            *common_options(),
        ]
        title = name or function.__name__.rstrip("_")
        return Command(name=title, callback=callback, params=params, help=function.__doc__, examples=examples)

    return decorate


def enter(settings: Settings, folder: str | None, *, in_project: bool) -> Settings:
    """Go to the folder of `-C`; without it, go up to the nearest folder with `reservations`."""
    _refuse_linked_start()
    if folder is not None:
        folder = folder.removeprefix("=")  # -C=DIR
        refuse_linked(f"-C {folder}", folder)
        try:
            os.chdir(folder)
        except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
            raise CommandError(f"-C {folder}: {reason(error)}.") from error
        return settings._replace(folder=folder)
    if not in_project or os.path.lexists(RESERVATIONS):
        return settings
    try:
        here = above = os.getcwd()
    except OSError:  # the folder is gone
        return settings
    while above != (above := os.path.dirname(above)):
        if os.path.isdir(os.path.join(above, RESERVATIONS)):
            os.chdir(above)
            return settings._replace(up=os.path.relpath(above, here), down=os.path.relpath(here, above))
    return settings


def refuse_linked(given: str, folder: str) -> None:
    """Raise CommandError if a symbolic link in a repository leads to a folder that the user gave.

    Both sides of a comparison would be what is behind the link, which shows nothing of what it replaced.
    """
    link = link_on_path(folder)
    if link is not None:
        raise CommandError(f"{given}: {link} is a symbolic link. Use the folder that it leads to")


def _refuse_linked_start() -> None:
    """Refuse a link in the repository also where a shell followed it before the program was started."""
    here = os.environ.get("PWD", "")
    try:
        link = link_on_path(here) if os.path.samefile(here, ".") else None
    except OSError:
        return
    if link is not None and repository_of(os.path.dirname(link)) == repository_of("."):
        raise CommandError(f"{link} is a symbolic link. Change to the folder that it leads to")


def reason(error: Exception) -> str:
    """Return what the operating system says, without the path."""
    return getattr(error, "strerror", None) or str(error)


def ask(question: str, accept: Callable[[str], T], default: str = "") -> T:
    """Ask on the terminal until an answer is accepted; `accept` raises click.UsageError for any other.

    An empty answer is the default.
    """
    while True:
        try:
            shown = wrapped(question, columns(sys.stderr))
            return accept(click.prompt(shown, default, prompt_suffix=" ", show_default=False, err=True))
        except click.UsageError as error:
            stderr(f"berth: {error.message}\n")
        except click.Abort as abort:
            if isinstance(abort.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise CommandError("Nothing was written.") from None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean ...?` with the nearest word, or nothing if no known word is close."""
    nearest = close(word, tuple(known), _LIKENESS)
    return f" Did you mean {nearest[0]}?" if nearest else ""


def common_options() -> list[click.Parameter]:
    """Return the options of every command but `-o` and `--help`, which click adds."""
    return [
        click.Option(
            ["-C", "folder"],
            metavar="DIR",
            type=FOLDER,
            help="Work in this folder instead of the current one.",
        ),
        click.Option(["--strict"], is_flag=True, help="Treat warnings as errors."),
        click.Option(["--quiet"], is_flag=True, help="Show no progress, and do not count notes."),
        click.Option(["--now"], metavar="INSTANT", help="Use this instant instead of the clock."),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_showing(lambda _: f"berth {VERSION}"),
            help="Show the version of Berth.",
        ),
    ]


class _Form(click.Choice[str]):
    """The forms of a command's output; `-o=json` is `-o json`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        form = value.removeprefix("=") if isinstance(value, str) else value
        return super().convert(form, param, ctx)


def _output(forms: Sequence[str]) -> list[click.Parameter]:
    if not forms:
        return []
    help_text = f"Form of the output: {', '.join(forms[:-1])} or {forms[-1]}; default: {forms[0]}."
    option = click.Option(
        ["-o", "--output"], type=_Form(forms), metavar="FORM", default=forms[0], help=help_text
    )
    return [option]


def _showing(text: Callable[[click.Context], str]) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return what an option does that shows a text instead of running the command."""

    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            stdout(f"{text(context)}\n")
            context.exit()

    return show


_HELP = click.Option(
    ["-h", "--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_showing(click.Context.get_help),
    help="Show help.",
)
