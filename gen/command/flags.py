"""Every command and flag: the one list of what is understood, what `--help` says and what shells complete.

Values only. A command is the module of its name in `gen.command`, imported when somebody asks for it.
"""

from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")


class Flag(NamedTuple):
    name: str
    meaning: str
    value: str = ""  # what stands behind it, for people; empty for a switch
    short: str = ""
    many: bool = False  # said twice, both count


class Command(NamedTuple):
    name: str
    meaning: str  # a sentence
    forms: tuple[str, ...] = ()  # of its answer, the usual one first
    flags: tuple[Flag, ...] = ()
    words: str = (
        ""  # what else is said, for people: exactly one word, or any number in brackets; empty if none
    )
    choices: tuple[str, ...] = ()  # exactly one word, and one of these


OUTPUT = Flag("--output", "how to answer, in one of the command's forms", "FORM", "-o")
EVERYWHERE = (
    Flag("-C", "work in this folder", "DIR"),
    OUTPUT,
    Flag("--strict", "warnings are errors too"),
    Flag("--now", "instead of the clock", "INSTANT"),
    Flag("--help", "say what there is, or what a command takes", short="-h"),
    Flag("--version", "say which Berth this is"),
)
_CLASS = Flag("--class", "only seats of this class", "NAME")
_SELECTION = (_CLASS, Flag("--cluster", "only this cluster", "NAME"))
_CLUSTERS = (
    Flag("--context", "[CLUSTER=]CONTEXT of the kubeconfig; may be repeated", "CTX", many=True),
    Flag("--kubeconfig", "instead of the usual ones", "FILE"),
)
COMMANDS = (
    Command(
        "render",
        "Write the manifests of all reservations to rendered/.",
        ("text", "json", "github"),
        (
            Flag("--check", "write nothing; exit 4 if anything would change"),
            Flag("--output-dir", "instead of rendered/", "DIR"),
            Flag("--templates", "your own templates, used instead of ours by name", "DIR"),
        ),
    ),
    Command("validate", "Check the reservations; write nothing.", ("text", "json", "github")),
    Command(
        "list",
        "List the reservations: seats, seat-hours, next opening.",
        ("text", "wide", "json", "markdown"),
        _SELECTION,
    ),
    Command(
        "occurrences",
        "List every dated occurrence, in local time and UTC.",
        ("text", "wide", "json", "markdown", "ics"),
        (
            Flag("--at", "only those that are open then", "INSTANT"),
            Flag("--from", "only those that end later", "INSTANT"),
            Flag("--until", "only those that open earlier", "INSTANT"),
            *_SELECTION,
        ),
        words="[NAME...]",
    ),
    Command(
        "simulate",
        "Simulate one occurrence: the target for sessions that come and go.",
        ("text", "json"),
        (
            Flag("--sessions", "08:55+10,11:00-3, or a file of such; - is standard input", "FILE"),
            Flag("--occurrence", "an id or a date, instead of the next one", "ID"),
            _CLASS,
            Flag("--compare", "maintain, reduce and none beside each other"),
            Flag("--chart", "draw an SVG, too", "FILE"),
        ),
        words="NAME",
    ),
    Command(
        "status",
        "Show what every pool does now in its cluster, and what is wrong.",
        ("text", "wide", "json"),
        (
            *_SELECTION,
            *_CLUSTERS,
            Flag("--watch", "look again every 5 seconds, until Ctrl-C"),
        ),
        words="[NAME...]",
    ),
    Command(
        "override",
        "Set the targets of pools for a while, in an emergency.",
        flags=(
            Flag("--until", "when it ends: an INSTANT, or +90m, +2h, +1d from now", "INSTANT"),
            Flag("--clear", "end it now, of these classes or of all"),
            Flag("--cluster", "only this cluster", "NAME"),
            *_CLUSTERS,
        ),
        words="[NAME CLASS=TARGET...]",
    ),
    Command(
        "completion", "Print a script that completes these words in a shell.", words="SHELL", choices=SHELLS
    ),
)
BERTH = Command("", "Scheduled Kubernetes capacity as a pull request.")
"""The program itself, before a command is named."""
