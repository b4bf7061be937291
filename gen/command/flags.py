"""Every command and flag: the one list of what is understood, what `--help` says and what shells complete.

Values only. A command is the module of its name in `gen.command`, imported when somebody asks for it.
"""

from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")
NAMES = "names"  # what the scripts ask `berth completion` for: names of reservations, one a line


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
    words: str = ""  # what else is said, for people: one word, or several, which the command checks itself
    choices: tuple[str, ...] = ()  # exactly one word, and one of these
    module: str = ""  # of `gen.command`, where it is not called as the command
    named: bool = False  # whether its words begin with a reservation's name, which shells then complete


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
_TEMPLATES = Flag("--templates", "your own templates, used instead of ours by name", "DIR")
COMMANDS = (
    Command(
        "render",
        "Write the manifests of all reservations to rendered/.",
        ("text", "json", "github"),
        (
            Flag("--check", "write nothing; exit 4 if anything would change"),
            Flag("--output-dir", "instead of rendered/", "DIR"),
            _TEMPLATES,
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
        named=True,
    ),
    Command(
        "plan",
        "Plan the machines that the windows need, and what they cost.",
        ("text", "wide", "json", "markdown"),
        (
            Flag("--from", "only what is later", "INSTANT"),
            Flag("--until", "only what is earlier", "INSTANT"),
            *_SELECTION,
            Flag("--chart", "draw an SVG of seats, machines and money, too", "FILE"),
        ),
        words="[NAME...]",
        named=True,
    ),
    Command(
        "diff",
        "Say what a change means: dates, seats, peaks, warnings, manifests.",
        ("text", "wide", "markdown", "json", "github"),
        (
            Flag("--exit-code", "exit 4 if anything changes"),
            Flag("--limit", "of markdown, in characters; 65000", "NUMBER"),
            _TEMPLATES,
        ),
        words="[BASE]",
    ),
    Command(
        "init",
        "Start a repository of reservations that passes its own checks.",
        flags=(
            Flag("--time-zone", "of the site; UTC", "NAME"),
            Flag("--engine", "argocd, flux or none; argocd", "NAME"),
        ),
        words="DIR",
    ),
    Command(
        "new",
        "Write a new reservation; asks for what is missing.",
        flags=(
            Flag("--class", "its resource class", "NAME"),
            Flag("--seats", "how many", "NUMBER"),
            Flag("--weekly", "on these weekdays", "DAYS"),
            Flag("--daily", "on every day"),
            Flag("--once", "from the first date to the last, without a break"),
            Flag("--dates", "on these dates", "DATES"),
            Flag("--from", "first date", "DATE"),
            Flag("--until", "last date", "DATE"),
            Flag("--title", "what people call it", "TEXT"),
            Flag("--lead", "minutes before each start; 30", "NUMBER"),
            Flag("--behaviour", "maintain, reduce or none", "WORD"),
            Flag("--time-zone", "of its times; the site's", "NAME"),
            Flag("--calendars", "whose dates do not happen", "NAMES"),
            Flag("--file", "instead of reservations/NAME.yaml", "FILE"),
        ),
        words="NAME TIMES...",
    ),
    Command(
        "import",
        "Make editable files of what Renku's API exported.",
        flags=(
            Flag("--time-zone", "write its times in this zone", "NAME"),
            Flag("--suspend", "they open only once suspend is taken away"),
        ),
        words="renku FILE",
        module="importing",
    ),
    Command("schema", "Print the JSON Schema of our documents, for editors."),
    Command(
        "set",
        "Change what a reservation says, and keep its comments.",
        words="NAME PATH=VALUE...",
        named=True,
    ),
    Command("skip", "Leave one date of a reservation out.", words="NAME DATE [TIME]", named=True),
    Command(
        "move",
        "Let one date of a reservation happen at another time.",
        flags=(Flag("--to", "where it goes: DATE, DATE TIME-TIME or TIME", "WHEN"),),
        words="NAME DATE [TIME]",
        named=True,
    ),
    Command(
        "extend",
        "Let one date of a reservation end later, or sooner.",
        flags=(Flag("--until", "when it ends", "TIME"),),
        words="NAME DATE [TIME]",
        named=True,
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
        named=True,
    ),
    Command(
        "status",
        "Show what every pool does now in its cluster, and what is wrong.",
        ("text", "wide", "json"),
        (
            *_SELECTION,
            *_CLUSTERS,
            _TEMPLATES,
            Flag("--watch", "look again every 5 seconds, until Ctrl-C"),
        ),
        words="[NAME...]",
        named=True,
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
        named=True,
    ),
    Command(
        "completion",
        "Print a script that completes these words in a shell.",
        words="SHELL",
        choices=(*SHELLS, NAMES),
    ),
)
BERTH = Command("", "Scheduled Kubernetes capacity as a pull request.")
"""The program itself, before a command is named."""
