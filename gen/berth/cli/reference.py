"""`docs/reference/cli.md`, made of the commands themselves: `python -m berth.cli.reference` writes it."""

import re
from pathlib import Path

import click

from berth.cli.group import SECTIONS, berth, load

FILE = "docs/reference/cli.md"
_WIDTH = 80
_COMMON = re.compile(r"\n\nCommon options:(?:\n  .+)+")


def reference() -> str:
    """Return the page: the help of the program and of each command, with common options once."""
    parts = [
        "# Command line\n",
        "<!-- Made by `python -m berth.cli.reference`: change the commands, not this page. -->\n",
        "`berth help COMMAND` and `berth COMMAND --help` show the same, with the common options.\n",
        f"```text\n{_help(berth, None)}\n```\n",
    ]
    for section, commands in SECTIONS.items():
        parts.append(f"## {section}\n")
        for name in commands:
            parts.append(f"### berth {name}\n")
            parts.append(f"```text\n{_COMMON.sub('', _help(load(name), name))}\n```\n")
    return "\n".join(parts)


def _help(command: click.Command, name: str | None) -> str:
    """Return the help at a fixed width, whatever the terminal."""
    top = click.Context(berth, info_name="berth", terminal_width=_WIDTH)
    context = top if name is None else click.Context(command, parent=top, info_name=name)
    return command.get_help(context)


if __name__ == "__main__":
    Path(FILE).parent.mkdir(parents=True, exist_ok=True)
    Path(FILE).write_text(reference(), "utf-8")
