"""A change as findings at the lines of the working tree, for the view of files in a pull request."""

from berth.diff.change import Change
from berth.diff.wording import details, title
from berth.findings import NOTE, WARNING, Finding, Problem
from berth.pipeline import Pipeline

_CHANGED, _THINK = "change", "think"


def annotations(change: Change, head: Pipeline) -> list[Finding]:
    """The head's own findings first; then a note at each reservation, and its warnings."""
    origins = {one.name: one.origin for one in head.declared.reservations}
    problems = []
    for one in change.reservations:
        if one.name in origins:
            told = "; ".join(f"{line.sign} {line.text}".strip() for line in details(one))
            problems.append(Problem(_CHANGED, *origins[one.name][:2], (), f"{title(one).text}:", f"{told}."))
    for warned in change.warnings:
        if warned.subject in origins:
            problems.append(Problem(_THINK, *origins[warned.subject][:2], (), warned.message, ""))
    return [
        *change.head.findings,
        *(change.plan.findings if change.plan else ()),
        *head.located(problems, lambda code: NOTE if code == _CHANGED else WARNING),
    ]
