"""Requests as GitHub writes them from the issue form: headings, and an answer below each."""

from berth.edit.prompts import FORM

ANSWERS = {
    "title": "Linear algebra, spring 2026",
    "class": "small",
    "seats": "25",
    "when": "mon,wed",
    "times": "09:00-13:00",
    "from": "2026-02-02",
    "until": "2026-02-11",
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
