"""Texts that do something where they are shown, and what must not be left of them."""

import re
from unicodedata import category

COMMANDS = "##[add-mask]e ::stop-commands::x"
MENTIONS = "@everyone closes #12 GH-12 uni/seats#3 https://evil.example www.evil.example :tada:"
MARKUP = "<img src=x> ![](x) [x](y) `x` **b** _i_ ~~s~~ | $x$ <!-- x -->"
PRINTABLE = f"{COMMANDS} {MENTIONS} {MARKUP}"
"""What a title may have."""
HIDDEN = "\x1b[8m\x1b]0;x\x07\x9b2J\x7f\u202e\u2066\u200b\u2028\u0085"
LINES = "\n::error::BROKEN\r##[error]BROKEN\r\nBROKEN"
WHATEVER = f"{HIDDEN}{LINES}{PRINTABLE}"

_JOINERS = "\u200c\u200d"


def acts_on_a_terminal(text: str) -> list[str]:
    """Return the characters that are not shown, but for the ends of lines."""
    hidden = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [f"{ord(c):04x}" for c in text if category(c) in hidden and c not in ("\n", *_JOINERS)]


def acts_on_a_log(text: str) -> list[str]:
    """Return the lines that GitHub takes for commands, and those that a value has begun."""
    lines = re.split(r"\r\n|\r|\n", text)
    return [line for line in lines if line.strip().startswith(("::", "BROKEN")) or "##[" in line]


def acts_in_markdown(text: str) -> list[str]:
    """Return what GitHub would make a mention, a reference, a link, an image or a tag of."""
    outside = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    outside = re.sub(r"</?(?:details|summary)>|&#?\w+;|`[-+~!]`|`berth diff -o wide`", " ", outside)
    outside = re.sub(r"^\*\*|\*\*$", "", outside, flags=re.MULTILINE)
    live = r"[@#](?=\w)|GH-(?=\d)|://|www\.(?=\w)|:tada:|<|(?<!\\)[`*_\[]|\$"
    return re.findall(live, outside)
