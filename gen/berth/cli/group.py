"""The command line itself: its commands, each imported when somebody uses it, and `berth --help`."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from berth.cli.command import FORMS, Command, Parsing, common_options, did_you_mean
from berth.cli.console import EXIT_OK, EXIT_USAGE, stderr, stdout
from berth.names import REPOSITORY
from berth.notation.refusal import close
from berth.version import VERSION

# By section and command: its module in `berth.cli`, and its help in one line, the first of its docstring.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Check and render": {
        "validate": ("render", "Check the reservations; write nothing."),
        "render": ("render", "Write the manifests of all reservations to rendered/."),
        "diff": ("diff", "Explain what a change means: dates, seats, peaks, manifests."),
    },
    "Look ahead": {
        "list": ("listing", "List the reservations: seats, seat-hours, next opening."),
        "occurrences": ("listing", "List every dated occurrence, in local time and UTC."),
        "calendar": ("calendar", "Write a page of all dates, and calendar feeds to subscribe to."),
        "plan": ("plan", "Plan the machines that the windows need, and their cost."),
        "size": ("size", "Size a reservation for so many people: seats, lead, cost."),
        "simulate": ("simulate", "Simulate one occurrence while sessions come and go."),
    },
    "Edit": {
        "init": ("init", "Start a repository of reservations that passes its checks."),
        "new": ("importformats", "Write a new reservation; ask for what is missing."),
        "copy": ("edit", "Copy a reservation to the dates of another term."),
        "import": ("importformats", "Convert tables, calendars, Renku's exports, or hub profiles."),
        "set": ("edit", "Change fields of a reservation, or seats of one date."),
        "skip": ("edit", "Leave out dates of a reservation."),
        "move": ("edit", "Move one date of a reservation, or its end."),
        "rehearse": ("edit", "Try the opening of a date beforehand."),
        "add": ("edit", "Add a date to a reservation, or a group to one of its dates."),
        "end": ("edit", "End a reservation early."),
        "delete": ("edit", "Remove a reservation and its rehearsals."),
    },
    "Clusters": {
        "status": ("status", "Show what every pool does in its cluster, and what is wrong."),
        "preflight": ("preflightreport", "Prove that Jobs can run and scale: by dry runs and a test Job."),
        "override": ("override", "Set the placeholders of pools for a while, in an emergency."),
    },
    "Look back": {
        "report": ("report", "Report on past windows; propose seats and leads for the next."),
    },
    "Other": {
        "schema": ("importformats", "Print the JSON Schema of the declarations, for editors."),
        "completion": ("completion", "Print the completion script of a shell."),
        "help": ("completion", "Show help for Berth or for a command."),
    },
}
# What people type who know other programs, and what says the same here.
_WORDS = {
    "rm remove": "Write berth delete NAME, or berth skip NAME DATE for one date.",
    "ls get show": "Write berth list.",
    "edit": "Write berth set NAME PATH=VALUE.",
    "extend prolong shorten": "Write berth move NAME DATE --end TIME.",
    "cancel": "Write berth skip NAME DATE.",
    "undo unskip restore": "Write berth add NAME DATE: the date takes place after all. Or git restore FILE.",
    "codeowners": f"See https://github.com/{REPOSITORY}/blob/v{VERSION}/docs/policies.md#owners.",
}
HINTS = {word: hint for words, hint in _WORDS.items() for word in words.split()}
_REMOVING = ("delete", "end", "skip")  # what a word that only looks like it must not lead to
_SLIP = 0.88  # likeness of a word with one slip of the finger
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
_INTRODUCTION = "Scheduled Kubernetes capacity as a pull request."
NOTES = """\
Commands work in the nearest folder, from here upward, that contains
reservations/. Common options go before or after the command.

An INSTANT is 2026-02-02T08:00:00Z, or "2026-02-02 09:00" in the site's time
zone, or a date, which means its first minute; or relative to now: now, +90m,
-2h, +7d, +2w. Instead of a date write today, tomorrow, yesterday or a weekday,
which is the next one or today: monday, "monday 09:00".

On a terminal, text and the cells of tables break at words at its width, and a
row takes several lines where that is not enough. In a pipe nothing is broken: a
row or a finding is one line.

Exit codes: 0 success; 1 errors in the input, an unreadable cluster, a broken
promise (status) or something unproven (preflight); 2 usage; 3 internal error;
4 differences (render --check, diff --exit-code); 130 interrupted.
"""


def load(name: str) -> Command:
    """Import a command."""
    module = import_module(f"berth.cli.{COMMANDS[name][0]}")
    return next(value for value in vars(module).values() if isinstance(value, Command) and value.name == name)


def unknown_command(name: str, context: click.Context) -> click.UsageError:
    """Return the error of a command that there is not, with the one that is probably meant."""
    is_slip = close(name, _REMOVING, _SLIP)
    known = [command for command in COMMANDS if command not in _REMOVING or command in is_slip]
    hint = f" {HINTS[name]}" if name in HINTS else did_you_mean(name, known)
    return click.UsageError(f'No command named "{name}".{hint}', context)


class Berth(Parsing, click.Group):
    """The group of all commands. Common options before a command are handed on to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return load(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *rest = args
        command = self.get_command(ctx, name)
        if command is None and not ctx.resilient_parsing:
            raise unknown_command(name, ctx)
        return name, command, [*_before(ctx.params), *rest]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in commands.items()])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        records = [record for param in self.get_params(ctx) if (record := param.get_help_record(ctx))]
        with formatter.section("Common options"):
            formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        formatter.write(f"\n{NOTES}".rstrip("\n"))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Name the commands without importing them."""
        completion_items = [
            CompletionItem(name, help=text)
            for name, (_, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return completion_items + click.Command.shell_complete(self, ctx, incomplete)


def _before(params: dict[str, Any]) -> Sequence[str]:
    """Return the common options before the command as arguments of the command."""
    values = (("-C", params.get("folder")), ("-o", params.get("output")), ("--now", params.get("now")))
    words = [word for option, value in values if value is not None for word in (option, value)]
    return [*words, *(f"--{name}" for name in ("strict", "quiet", "help", "version") if params.get(name))]


def _berth(*, help: bool, version: bool, **_: object) -> int:  # noqa: A002 - the option's name
    """Answer without a command."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        return EXIT_OK
    if version:
        stdout(f"berth {VERSION}\n")
        return EXIT_OK
    (stdout if help else stderr)(f"{context.get_help()}\n")
    return EXIT_OK if help else EXIT_USAGE


def _options() -> list[click.Parameter]:
    """Return the common options, none of them eager: a command behind them answers --help and --version."""
    folder, strict, quiet, now, _ = common_options()
    output = click.Option(
        ["-o", "--output"],
        metavar="FORM",
        help="Form of the output, see the command's --help.",
        shell_complete=lambda _, __, incomplete: [one for one in FORMS if one.startswith(incomplete)],
    )
    return [
        folder,
        output,
        strict,
        quiet,
        now,
        click.Option(["-h", "--help"], is_flag=True, help="Show help."),
        click.Option(["--version"], is_flag=True, help="Show the version of Berth."),
    ]


berth = Berth(
    name="berth",
    callback=_berth,
    params=_options(),
    help=_INTRODUCTION,
    add_help_option=False,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGUMENTS]",
    context_settings={"max_content_width": 80},
)
