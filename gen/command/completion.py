"""`berth completion SHELL`: a script that completes commands and flags. Made from the parser itself."""

import argparse
import sys

from gen.cli import GOOD, parser


def run(asked: argparse.Namespace) -> int:
    words = _words(parser())
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[asked.shell](words)
    sys.stdout.write(script)
    return GOOD


def _words(whole: argparse.ArgumentParser) -> dict[str, list[str]]:
    """Flags by command, in their order; the empty command has the flags that stand before one."""
    words = {"": _flags(whole)}
    for action in whole._actions:  # noqa: SLF001 - argparse has no public way to list its commands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            words.update({name: _flags(command) for name, command in action.choices.items()})
    return words


def _flags(command: argparse.ArgumentParser) -> list[str]:
    return [flag for action in command._actions for flag in action.option_strings]  # noqa: SLF001


def _bash(words: dict[str, list[str]]) -> str:
    commands = " ".join(name for name in words if name)
    cases = "".join(f"    {name}) words='{' '.join(flags)}' ;;\n" for name, flags in words.items() if name)
    return (
        "# bash completion of berth; load it with: source <(berth completion bash)\n"
        "_berth() {\n"
        '  local current="${COMP_WORDS[COMP_CWORD]}" command="" words="" word\n'
        '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do\n'
        f'    case "$word" in {"|".join(name for name in words if name)}) command="$word"; break ;; esac\n'
        "  done\n"
        '  case "$command" in\n'
        f"{cases}"
        f"    *) words='{commands} {' '.join(words[''])}' ;;\n"
        "  esac\n"
        '  [[ "$command" == completion ]] && words="bash zsh fish"\n'
        '  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")\n'
        "}\n"
        "complete -o default -F _berth berth\n"
    )


def _zsh(words: dict[str, list[str]]) -> str:
    return (
        (
            "#compdef berth\n"
            "# zsh completion of berth; load it with: source <(berth completion zsh)\n"
            "autoload -U +X bashcompinit && bashcompinit\n"
            + "".join(_bash(words).splitlines(keepends=True)[1:])
        )
        .replace("mapfile -t COMPREPLY < <(compgen", 'COMPREPLY=(${(f)"$(compgen')
        .replace('"$current")\n', '"$current")"})\n')
    )


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["# fish completion of berth; load it with: berth completion fish | source"]
    names = [name for name in words if name]
    lines += [f"complete -c berth -f -n __fish_use_subcommand -a {name}" for name in names]
    for name, flags in words.items():
        when = f"'__fish_seen_subcommand_from {name}'" if name else "__fish_use_subcommand"
        for flag in flags:
            kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            lines.append(f"complete -c berth -n {when} {kind}")
    lines.append("complete -c berth -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'")
    return "\n".join(lines) + "\n"
