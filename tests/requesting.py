"""Requests as GitHub writes them from the issue form: headings, and an answer below each."""

import re

from berth.edit.prompts import FORM

NAME = "linear-algebra-spring-2026"
FILE = f"reservations/{NAME}.yaml"
"""What the whole form gives."""

ANSWERS = {
    "title": "Linear algebra, spring 2026",
    "class": "small",
    "seats": "25",
    "when": "mon,wed",
    "times": "09:00-13:00",
    "from": "2026-02-02",
    "until": "2026-02-11",
    "match-labels": "_No response_",
    "time-zone": "Europe/Zurich",
    "contact": "_No response_",
    "notes": "_No response_",
}


def form_text(**changed: str) -> str:
    """Return the text of a whole form; `time_zone` stands for the key `time-zone`."""
    changes = {key.replace("_", "-"): text for key, text in changed.items()}
    return part_text(**{**ANSWERS, **changes})


def part_text(**answers: str) -> str:
    """Return the headings of these answers, in their order."""
    return "\n\n".join(f"### {FORM[key].heading}\n\n{text}" for key, text in answers.items())


HOSTILE = {
    "yaml": 'x"\n---\nkind: Site',
    "expression": "${{ secrets.KUBECONFIG }}",
    "command": "$(touch /tmp/pwned) `id` ; rm -rf / #",
    "fence": "``` ```` `````",
    "mention": "@everyone @uni/platform #4711 https://example.org",
    "html": "<img src=x onerror=alert(1)> <!-- berth request -->",
    "details": "</details><script>alert(1)</script>",
    "markdown": "![x](https://example.org/x.png) [y](javascript:z) **b**",
    "direction": "abc\u202egnp.exe",
    "zero-width": "al\u200bgebra",
    "null": "a\x00b",
    "return": "a\rb",
    "escape": "a\x1b[2Jb",
    "tag": "!!python/object/apply:os.system [id]",
    "alias": "*x &x {{ x }}",
    "path": "../../.github/workflows/x",
    "absolute": "/etc/passwd",
    "long": "a" * 5_000,
    "cyrillic": "\u0405eats",
    "workflow-command": "::set-output name=x::y",
}
"""What somebody may write who hopes that a program reads it."""


def assert_harmless(answer: str) -> None:
    """Nothing in an answer is a mention, a link, an image or HTML, or ends a fence."""
    prose = "".join(answer.split("```")[::2]).removeprefix("<!-- berth request -->")
    for markup in ("<", r"(?<!\\)\]\(", "@everyone", "@uni", "https://", "#4711"):
        assert not re.search(markup, prose), markup
    assert answer.count("\n```text\n") * 2 == answer.count("\n```")
    assert answer.replace("\n", "").replace("\u200b", "").isprintable()
