"""What `--help` says, in lines of at most 80 columns. `berth --help` tells the flags of every command."""

from collections.abc import Sequence

from gen.command.flags import BERTH, COMMANDS, EVERYWHERE, OUTPUT, Command, Flag

_MORE = """\
An INSTANT is 2026-02-02T08:00:00Z, or in the site's zone "2026-02-02 09:00",
or a date, which means its first minute.

Exit codes: 0 good, 1 errors in the input, or a broken promise or a cluster that
cannot be read (status), 2 usage, 3 our fault, 4 stale, 130 interrupted.
"""


def text(command: Command) -> str:
    if command is BERTH:
        commands = [(one.name, f"{one.meaning[:1].lower()}{one.meaning[1:-1]}") for one in COMMANDS]
        parts = [
            f"{BERTH.meaning}\n\nUsage: berth COMMAND [FLAGS]\n",
            _listed("Commands", commands),
            _listed("Flags of every command, before or after it", _lines(EVERYWHERE)),
            _MORE,
        ]
        return "\n".join(parts)
    words = f" {command.words}" if command.words else ""
    parts = [f"{command.meaning}\n\nUsage: berth {command.name}{words} [FLAGS]\n"]
    flags = _lines(command.flags)
    if command.choices:
        parts.append(f"{command.words} is one of {', '.join(command.choices)}.\n")
    if command.forms:
        flags.append((_said(OUTPUT), f"answer as {', '.join(command.forms[:-1])} or {command.forms[-1]}"))
    if flags:
        parts.append(_listed("Flags", flags))
    return "\n".join([*parts, "Flags of every command: berth --help\n"])


def _lines(flags: Sequence[Flag]) -> list[tuple[str, str]]:
    return [(_said(flag), flag.meaning) for flag in flags]


def _said(flag: Flag) -> str:
    return f"{flag.short + ', ' if flag.short else ''}{flag.name} {flag.value}".rstrip()


def _listed(heading: str, rows: list[tuple[str, str]]) -> str:
    width = max(len(first) for first, _ in rows)
    return "".join([f"{heading}:\n", *(f"  {first:{width}}  {second}\n" for first, second in rows)])
