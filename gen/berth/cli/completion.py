"""Shell completion: the names that are declared, `berth completion SHELL`, and `berth help`.

Click's scripts run `berth` for the candidates. Names are read from the files as they are, without checks.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from berth.cli.command import Settings, command, enter
from berth.cli.console import COMPLETE, EXIT_OK, stdout
from berth.notation.refusal import CommandError

SHELLS = ("bash", "zsh", "fish")
_NAMES = "names"
_is_name = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?").fullmatch  # safe in every shell

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completing(kind: str) -> Complete:
    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            enter(Settings(), context.params.get("folder"), in_project=True)
        except CommandError:
            return []
        return [CompletionItem(name) for name in declared_names(kind) if name.startswith(incomplete)]

    return complete


def _complete_commands(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from berth.cli.group import COMMANDS  # noqa: PLC0415 - it imports the commands, and so this module

    return [CompletionItem(name) for name in COMMANDS if name.startswith(incomplete)]


complete_reservations = _completing("CapacityReservation")
complete_classes = _completing("ResourceClass")
complete_clusters = _completing("Cluster")


def declared_names(kind: str) -> list[str]:
    """Return the names of a kind in files that can be read; `Cluster` means those of the site."""
    from berth.reading.document import parse  # noqa: PLC0415 - most completions need no file
    from berth.reading.source import read  # noqa: PLC0415

    names = set()
    for source in read("reservations", "reservations")[0]:
        for document in parse(source)[0]:
            value = document.value
            for item in value if isinstance(value, list) else [value]:
                names |= {name for name in _named(item, kind) if isinstance(name, str) and _is_name(name)}
    return sorted(names)


def _named(item: Any, kind: str) -> Iterator[object]:
    if not isinstance(item, dict):
        return
    if kind == "Cluster" and item.get("kind") == "Site":
        spec = item.get("spec")
        clusters = spec.get("clusters") if isinstance(spec, dict) else None
        for cluster in clusters if isinstance(clusters, list) else ():
            yield cluster.get("name") if isinstance(cluster, dict) else None
    elif item.get("kind") == kind and isinstance(item.get("metadata"), dict):
        yield item["metadata"].get("name")


@command(
    examples=(
        "source <(berth completion bash)         # in ~/.bashrc",
        "source <(berth completion zsh)          # in ~/.zshrc, after compinit",
        "berth completion fish | source          # in ~/.config/fish/config.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice((*SHELLS, _NAMES)))
def completion(settings: Settings, shell: str) -> int:  # noqa: ARG001 - one signature for all
    """Print the completion script of a shell.

    SHELL is bash, zsh or fish; with "names", the names of all reservations are printed instead.

    It completes commands, options and their values, and the names of reservations, resource classes and
    clusters.
    """
    from berth.cli.group import berth  # noqa: PLC0415 - it is imported when a command line is parsed

    if shell == _NAMES:
        stdout("".join(f"{name}\n" for name in declared_names("CapacityReservation")), is_data=True)
        return EXIT_OK
    found = get_completion_class(shell)
    assert found is not None
    # Not the class's own `source`, which starts bash to ask for its version.
    stdout(ShellComplete.source(found(berth, {}, "berth", COMPLETE)) + "\n", is_data=True)
    return EXIT_OK


@command(name="help", in_project=False, examples=("berth help render",))
@click.argument("name", metavar="[COMMAND]", required=False, shell_complete=_complete_commands)
def help_(settings: Settings, name: str | None) -> int:  # noqa: ARG001 - one signature for all
    """Show help for Berth or for a command."""
    from berth.cli.group import COMMANDS, berth, load, unknown_command  # noqa: PLC0415 - as above

    context = click.Context(berth, info_name="berth")
    if name is None:
        stdout(f"{berth.get_help(context)}\n")
        return EXIT_OK
    if name not in COMMANDS:
        raise unknown_command(name, context)
    found = load(name)
    stdout(f"{found.get_help(click.Context(found, parent=context, info_name=name))}\n")
    return EXIT_OK
