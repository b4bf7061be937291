"""What `--help` says: all there is, in lines that a narrow terminal shows whole."""

import pytest

from gen.command import usage
from gen.command.flags import BERTH, COMMANDS, EVERYWHERE, Command
from gen.table import width
from tests.command.conftest import Berth

RENDER = """\
Write the manifests of all reservations to rendered/.

Usage: berth render [FLAGS]

Flags:
  --check            write nothing; exit 4 if anything would change
  --output-dir DIR   instead of rendered/
  --templates DIR    your own templates, used instead of ours by name
  -o, --output FORM  answer as text, json or github

Flags of every command: berth --help
"""
SIMULATE = """\
Simulate one occurrence: the target for sessions that come and go.

Usage: berth simulate NAME [FLAGS]

Flags:
  --sessions FILE    08:55+10,11:00-3, or a file of such; - is standard input
  --occurrence ID    an id or a date, instead of the next one
  --class NAME       only seats of this class
  --compare          maintain, reduce and none beside each other
  --chart FILE       draw an SVG, too
  -o, --output FORM  answer as text or json

Flags of every command: berth --help
"""
STATUS = """\
Show what every pool does now in its cluster, and what is wrong.

Usage: berth status [NAME...] [FLAGS]

Flags:
  --class NAME       only seats of this class
  --cluster NAME     only this cluster
  --context CTX      [CLUSTER=]CONTEXT of the kubeconfig; may be repeated
  --kubeconfig FILE  instead of the usual ones
  --templates DIR    your own templates, used instead of ours by name
  --watch            look again every 5 seconds, until Ctrl-C
  -o, --output FORM  answer as text, wide or json

Flags of every command: berth --help
"""
OVERRIDE = """\
Set the targets of pools for a while, in an emergency.

Usage: berth override [NAME CLASS=TARGET...] [FLAGS]

Flags:
  --until INSTANT    when it ends: an INSTANT, or +90m, +2h, +1d from now
  --clear            end it now, of these classes or of all
  --cluster NAME     only this cluster
  --context CTX      [CLUSTER=]CONTEXT of the kubeconfig; may be repeated
  --kubeconfig FILE  instead of the usual ones

Flags of every command: berth --help
"""
COMPLETION = """\
Print a script that completes these words in a shell.

Usage: berth completion SHELL [FLAGS]

SHELL is one of bash, zsh, fish, names.

Flags of every command: berth --help
"""
WHOLE = """\
Scheduled Kubernetes capacity as a pull request.

Usage: berth COMMAND [FLAGS]

Commands:
  render       write the manifests of all reservations to rendered/
  validate     check the reservations; write nothing
  list         list the reservations: seats, seat-hours, next opening
  occurrences  list every dated occurrence, in local time and UTC
  plan         plan the machines that the windows need, and what they cost
  diff         say what a change means: dates, seats, peaks, warnings, manifests
  init         start a repository of reservations that passes its own checks
  new          write a new reservation; asks for what is missing
  import       make editable files of what Renku's API exported
  schema       print the JSON Schema of our documents, for editors
  set          change what a reservation says, and keep its comments
  skip         leave one date of a reservation out
  move         let one date of a reservation happen at another time
  extend       let one date of a reservation end later, or sooner
  simulate     simulate one occurrence: the target for sessions that come and go
  status       show what every pool does now in its cluster, and what is wrong
  override     set the targets of pools for a while, in an emergency
  completion   print a script that completes these words in a shell

Flags of every command, before or after it:
  -C DIR             work in this folder
  -o, --output FORM  how to answer, in one of the command's forms
  --strict           warnings are errors too
  --now INSTANT      instead of the clock
  -h, --help         say what there is, or what a command takes
  --version          say which Berth this is

An INSTANT is 2026-02-02T08:00:00Z, or in the site's zone "2026-02-02 09:00",
or a date, which means its first minute.

Exit codes: 0 good, 1 errors in the input, or a broken promise or a cluster that
cannot be read (status), 2 usage, 3 our fault, 4 stale, 130 interrupted.
"""


def test_help_of_the_program_and_of_a_command(berth: Berth) -> None:
    assert berth("--help") == (0, WHOLE, "")
    assert berth("render", "-h") == (0, RENDER, "")
    assert berth("simulate", "--help") == (0, SIMULATE, "")
    assert berth("status", "--help") == (0, STATUS, "")
    assert berth("override", "--help") == (0, OVERRIDE, "")
    assert berth("--help", "completion") == (0, COMPLETION, "")


def test_without_a_command_the_help_goes_to_stderr_and_nothing_is_done(berth: Berth) -> None:
    assert berth() == (2, "", WHOLE)


@pytest.mark.parametrize("command", [BERTH, *COMMANDS], ids=lambda command: command.name or "berth")
def test_every_flag_and_form_is_told_within_80_columns(command: Command) -> None:
    text = usage.text(command)

    for flag in command.flags if command.name else EVERYWHERE:
        assert f" {flag.name} " in text
        assert flag.meaning in text
    for form in command.forms:
        assert f" {form}" in text
    assert max(width(line) for line in text.splitlines()) <= 80
    assert "  \n" not in text
    assert text.endswith("\n")
