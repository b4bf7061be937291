"""`berth completion SHELL`: a script that completes commands, flags, forms, folders, files and names.

The scripts hold all words themselves. Only the names of reservations start Python, by the word `names`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from gen.command.asked import Asked
from gen.command.exits import GOOD
from gen.command.flags import COMMANDS, EVERYWHERE, NAMES, OUTPUT, SHELLS, Command, Flag
from gen.command.say import say

_BASH = """\
# bash completion of berth; load it with: source <(berth completion bash)
_berth() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="" words="" forms="" folder="." word last=""
  [[ "$current" == = ]] && current=""
  [[ "$previous" == = ]] && previous="${{COMP_WORDS[COMP_CWORD-2]}}"
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ "$last" == -C ]] && folder="$word"
    case "$word" in {names}) [[ -z "$command" ]] && command="$word" ;; esac
    last="$word"
  done
  case "$command" in
{cases}  esac
  case "$previous" in
    {output}) COMPREPLY=($(compgen -W "$forms" -- "$current")) ;;
    {folders}) COMPREPLY=($(compgen -d -- "$current")) ;;
    {files}) COMPREPLY=($(compgen -f -- "$current")) ;;
    {others}) COMPREPLY=(); return ;;
    *)
      case "$command" in
        {named}) [[ "$current" == -* ]] || words+=" $("$1" -C "$folder" completion names 2>/dev/null)" ;;
      esac
      COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}}
complete -o filenames -F _berth berth
"""
_FISH_VALUES = {"DIR": "-x -a '(__fish_complete_directories)'", "FILE": "-rF"}
_ZSH = """\
#compdef berth
# zsh completion of berth; load it with: source <(berth completion zsh)
_berth() {{
  local asked="" known="" forms="" folder="." word last=""
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    [[ "$last" == -C ]] && folder="$word"
    case "$word" in {names}) [[ -z "$asked" ]] && asked="$word" ;; esac
    last="$word"
  done
  case "$asked" in
{cases}  esac
  case "${{words[CURRENT-1]}}" in
    {output}) compadd -- ${{=forms}} ;;
    {folders}) _files -/ ;;
    {files}) _files ;;
    {others}) ;;
    *)
      case "$asked" in
        {named}) known+=" $("$words[1]" -C "$folder" completion names 2>/dev/null)" ;;
      esac
      compadd -- ${{=known}} ;;
  esac
}}
if [ "$funcstack[1]" = "_berth" ]; then _berth "$@"; else compdef _berth berth; fi
"""


_FISH_NAMES = """\
function __berth_names
    set -l words (commandline -opc)
    set -l folder .
    for i in (seq (math (count $words) - 1))
        test "$words[$i]" = -C; and set folder $words[(math $i + 1)]
    end
    $words[1] -C $folder completion names 2>/dev/null
end"""


def run(asked: Asked) -> int:
    if asked.words[0] == NAMES:
        say("".join(f"{name}\n" for name in sorted({*_names()})))
        return GOOD
    bash, zsh, fish = SHELLS
    scripts = {bash: lambda: _filled(_BASH, "words"), zsh: lambda: _filled(_ZSH, "known"), fish: _fish}
    say(scripts[asked.words[0]]())
    return GOOD


def _names() -> Iterator[str]:
    """Of all reservations, good or not, as far as files can be read; nothing is checked."""
    from gen.input.document import parse  # noqa: PLC0415 - the scripts need none of this
    from gen.input.source import read  # noqa: PLC0415

    for source in read("reservations", "reservations")[0]:
        for document in parse(source)[0]:
            value = document.value
            for item in value if isinstance(value, list) else [value]:
                yield from _name(item)


def _name(item: Any) -> Iterator[str]:
    """Only what is safe in a shell: names that are names."""
    from gen.schema import grammar, renkunames  # noqa: PLC0415
    from gen.schema.report import Refusal  # noqa: PLC0415

    if not isinstance(item, dict):
        return
    said = item["metadata"].get("name") if isinstance(item.get("metadata"), dict) else None
    if renkunames.is_payload(item) and isinstance(item.get("name"), str):
        ulid = item.get("id")
        said = renkunames.name(item["name"], ulid if isinstance(ulid, str) else None)
    elif item.get("kind") != "CapacityReservation" or not isinstance(said, str):
        return
    try:
        yield grammar.dns_name(said)
    except Refusal:
        return


def _filled(script: str, words: str) -> str:
    flags = [*EVERYWHERE, *dict.fromkeys(flag for one in COMMANDS for flag in one.flags)]
    return script.format(
        names="|".join(command.name for command in COMMANDS),
        named="|".join(command.name for command in COMMANDS if command.named),
        cases=_cases(words),
        output="|".join(_said([OUTPUT])),
        folders="|".join(_said(flag for flag in flags if flag.value == "DIR")),
        files="|".join(_said(flag for flag in flags if flag.value == "FILE")),
        others="|".join(_said(flag for flag in flags if flag.value not in ("", "DIR", "FILE", OUTPUT.value))),
    )


def _cases(words: str) -> str:
    every = [*[one.name for one in COMMANDS], *_said(EVERYWHERE)]
    lines = [_case(one.name, words, _words(one), one.forms) for one in COMMANDS]
    return "".join([*lines, _case("*", words, every, _all_forms())])


def _case(command: str, words: str, said: Iterable[str], forms: Iterable[str]) -> str:
    return f"    {command}) {words}='{' '.join(said)}' forms='{' '.join(forms)}' ;;\n"


def _all_forms() -> list[str]:
    return list(dict.fromkeys(form for one in COMMANDS for form in one.forms))


def _words(command: Command) -> list[str]:
    return [*command.choices, *_said(command.flags), *_said(EVERYWHERE)]


def _said(flags: Iterable[Flag]) -> list[str]:
    return [name for flag in flags for name in (flag.short, flag.name) if name]


def _fish() -> str:
    lines = [
        "# fish completion of berth; load it with: berth completion fish | source",
        _FISH_NAMES,
        "complete -c berth -f",
        _fish_flag(" -n __fish_use_subcommand", OUTPUT, " ".join(_all_forms())),
    ]
    for one in COMMANDS:
        seen = f" -n '__fish_seen_subcommand_from {one.name}'"
        lines.append(f"complete -c berth -n __fish_use_subcommand -a {one.name}{_explained(one.meaning)}")
        if one.choices:
            lines.append(f"complete -c berth{seen} -a '{' '.join(one.choices)}'")
        if one.named:
            lines.append(f"complete -c berth{seen} -a '(__berth_names)'")
        if one.forms:
            lines.append(_fish_flag(seen, OUTPUT, " ".join(one.forms)))
        lines += [_fish_flag(seen, flag) for flag in one.flags]
    lines += [_fish_flag("", flag) for flag in EVERYWHERE if flag is not OUTPUT]
    return "\n".join(lines) + "\n"


def _fish_flag(seen: str, flag: Flag, values: str = "") -> str:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in _said([flag])]
    if flag.value:
        names.append(_FISH_VALUES.get(flag.value, "-x"))
    if values:
        names.append(f"-a '{values}'")
    return f"complete -c berth{seen} {' '.join(names)}{_explained(flag.meaning)}"


def _explained(meaning: str) -> str:
    return f' -d "{meaning}"'
