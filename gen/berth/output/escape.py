"""Escape text where it leaves Berth: for terminals and logs, Markdown, JSON and the commands of GitHub.

Texts come from files, their names, clusters and records, and are shown by nothing else than these functions.
"""

import re
from unicodedata import category

_JOINERS = "\u200c\u200d"  # cannot be seen, and scripts and emoji need them
_COLOR = re.compile(r"(\x1b\[(?:[0-2]?|3[0-7]|9[0-7])m)")
_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)  # GitHub reads commands in every log of a workflow
_INVISIBLE = "\u200b"  # breaks what would be a mention, a reference or a link
_MARKUP = re.compile(r"[\\`*_\[\]|~]")
_BLOCK = re.compile(r"^\s*(?:[0-9]+(?=[.)](?:\s|$))|(?=[-+#=]))")  # begins a list or a heading
_REFERENCE = re.compile(
    r"([@#!$%&~])(?=\w)|(?<=[a-z])(:)(?=//)|(?<=\bwww)(\.)|(?<=\bGH)(-)|(:)(?=[a-z]\w*:)", re.IGNORECASE
)


def visible(text: str) -> str:
    """Return the text on one line, with control and format characters escaped."""
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    return character not in _JOINERS and category(character) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")


def printed(text: str, *, has_color: bool = False) -> str:
    """Escape lines for a terminal or a log: control characters but our colors, and commands of GitHub."""
    lines = (_colored(line) if has_color and "\x1b" in line else visible(line) for line in text.split("\n"))
    shown = "\n".join(lines)
    return _COMMAND.sub(r"\1\\x3a", shown).replace("##[", r"##\x5b")


def _colored(line: str) -> str:
    return "".join(part if _COLOR.fullmatch(part) else visible(part) for part in _COLOR.split(line))


def in_json(text: str) -> str:
    """Return JSON in whose strings hidden characters and commands are escaped; the values stay the same."""
    lines = (line if line.isprintable() else _in_json(line) for line in text.split("\n"))
    return "\n".join(lines).replace("##[", r"##\u005b")


def _in_json(line: str) -> str:
    import json  # noqa: PLC0415 - a tenth of the time of `--help`

    return "".join(json.dumps(c)[1:-1] if _is_hidden(c) else c for c in line)


def workflow_data(text: str) -> str:
    """Escape the text of a command of GitHub's workflows."""
    return visible(text).replace("%", "%25")


def workflow_property(text: str) -> str:
    return workflow_data(text).replace(":", "%3A").replace(",", "%2C")


def in_markdown(text: str) -> str:
    """Escape text for Markdown: it never becomes markup, a mention or a link."""
    plain = _MARKUP.sub(r"\\\g<0>", _without_references(text))
    return _entities(_BLOCK.sub(r"\g<0>\\", plain))


def in_markdown_html(text: str) -> str:
    """Escape text between HTML tags in Markdown, where a backslash would be shown."""
    return _entities(_without_references(text))


def _without_references(text: str) -> str:
    shown = visible(text).replace(" -> ", " → ")
    return _REFERENCE.sub(lambda match: match.group(0) + _INVISIBLE, shown)


def _entities(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        text = text.replace(character, entity)
    return text


def fenced(content: str, language: str) -> str:
    """Put lines into a fence that is longer than any in them."""
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{printed(content)}{fence}\n"
