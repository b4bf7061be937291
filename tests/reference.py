"""Make the pages that are not kept in git: `python -m tests.reference FOLDER`, as `make docs` does.

The pages of the same name in docs/reference/ say where these are.
"""

import re
import sys
from pathlib import Path

import click
from berth.cli.group import SECTIONS, berth, load
from berth.schema.engine import OPTIONS

from tests import answerkeys, fieldspage, findingspage
from tests.pages import text_of

_WIDTH = 80
_COMMON = re.compile(r"\n\nCommon options:(?:\n  .+)+")


def fields_page() -> str:
    """Return the fields of all kinds, and the options of the engines."""
    engines = [
        f"## {engine}\n\nOptions of `engine: {{type: {engine}}}`, of the site or of a cluster.\n\n"
        f"{fieldspage.options_table(engine)}"
        for engine in OPTIONS
        if engine != "none"
    ]
    return "\n".join([fieldspage.kinds(), *engines])


def commands_page() -> str:
    """Return the help of the program and of each command, with common options once."""
    parts = [
        "# Command line\n",
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


def answers_page() -> str:
    """Return the page in git, with the keys of answers instead of the sentence that says where they are."""
    before, _, after = text_of("docs/reference/json.md").partition("<!-- keys -->")
    rest = after[after.index("## ") :]
    return f"{before}{answerkeys.text()}\n\nA mapping by class or capacity type is `{{...}}`.\n\n{rest}"


MADE = {
    "docs/reference/fields.md": fields_page,
    "docs/reference/cli.md": commands_page,
    "docs/reference/findings.md": findingspage.made_page,
}


def main(folder: Path) -> None:
    """Write all pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in {**MADE, "docs/reference/json.md": answers_page}.items():
        (folder / Path(name).name).write_text(page(), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
