"""Answer a request in Markdown, for the people who asked: the dates that they get, or what to write instead.

What they wrote is escaped, or stands in a fence that it cannot end: it is neither markup nor a mention.
"""

from collections.abc import Iterable, Iterator, Sequence

from berth.checks.policychecks import result_text
from berth.dates.moments import named, span_text
from berth.diff.wording import clock_changes, left_out_lines, number_of
from berth.edit.edits import EditResult
from berth.edit.prompts import ANSWER_MARK, FORM
from berth.findings import ERROR, NOTE, Finding
from berth.output.answers import seats_text
from berth.output.escape import fenced, in_markdown
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation

_MOST_DATES, _MOST_FINDINGS = 200, 50
_AGAIN = f"""\
To change something, edit the first text of this issue, or write a comment with the headings that change, for
example:

```text
### {FORM["seats"].heading}

{FORM["seats"].example}
```

Such a comment replaces the answers below its headings. Any other comment is for people and changes nothing.
"""


def refused_text(findings: Sequence[Finding], issue: str, *, strict: bool = False) -> str:
    """Return the answer to a request from which no reservation can be made.

    `issue` is the file with the first text of the request; others are comments.
    """
    wrong = [
        finding for finding in findings if finding.severity == ERROR or (strict and finding.severity != NOTE)
    ]
    count = number_of(len({finding.path or finding for finding in wrong}), "answer")  # one may have several
    lines = [ANSWER_MARK, f"### Please correct {count}", "", *_listed(wrong, issue), ""]
    return "\n".join([*lines, "No seats are reserved yet.", "", _AGAIN])


def accepted_text(
    result: EditResult, reservation: Reservation, known: Declared, issue: str, replaced: Iterable[str]
) -> str:
    """Return the answer to a request that is a reservation now: what was understood, and each date."""
    change = result.change
    assert change is not None  # it is new
    lines = [ANSWER_MARK, f"### Seats for {in_markdown(reservation.title)}", ""]
    lines += [*_sessions(result, reservation, known)]
    dates, unit = change.occurrences.added, change.units[1]
    texts = []
    for date in dates[:_MOST_DATES]:
        when = span_text(date.start, date.end, named(date.zone))
        texts.append(f"{when}{date.name and ' '}{date.name}  {seats_text(date.seats, unit)}")
    if more := len(dates) - len(texts):
        last = span_text(dates[-1].start, dates[-1].end, named(dates[-1].zone))
        texts.append(f"and {number_of(more, 'more date')}, the last on {last}")
    texts += [line.text for line in left_out_lines(result.expansion.skipped)]
    lines += [f"{number_of(len(dates), 'date')}, in the time zone {in_markdown(change.zone)}:", ""]
    lines += [fenced("".join(f"{text}\n" for text in texts), "text")]
    lines += [f"{in_markdown(line)}\n" for line in clock_changes(dates)]
    comments = [FORM[key].heading for key in replaced]
    lines += [f"A later comment changed: {', '.join(comments)}.", ""] if comments else []
    if result.policies:
        lines += ["By the policies of the site, this request:", ""]
        lines += [*(f"- {in_markdown(result_text(policy))}" for policy in result.policies), ""]
    lines += ["Please check:", "", *_listed(result.warnings, issue), ""] if result.warnings else []
    return "\n".join([*lines, _AGAIN])


def _sessions(result: EditResult, reservation: Reservation, known: Declared) -> Iterator[str]:
    """Yield whose sessions take the seats: those with the label of the course, or all of the class."""
    names = [name for name, _ in reservation.seats]
    labels = dict(reservation.sessions.match_labels or {})
    if labels:
        listed = ", ".join(f"{key}={value}" for key, value in labels.items())
        yield f"Sessions of class {', '.join(names)} with the label {in_markdown(listed)} take these seats."
    elif any(known.classes[name].sessions for name in names if name in known.classes):
        everyone = f"All sessions of class {', '.join(names)} take these seats, as the request has no label."
        yield from (f"**{in_markdown(sentence)}**" for sentence in result.shared or (everyone,))
        yield (
            "If only sessions of this course should count, their pods need a label: ask the platform team. "
            f"Then write it below {FORM['match-labels'].heading}: `course={reservation.name}`."
        )
    else:
        yield f"The seats are of class {', '.join(names)}, whose sessions are not counted."
    yield ""


def _listed(findings: Sequence[Finding], issue: str) -> Iterator[str]:
    for finding in findings[:_MOST_FINDINGS]:
        heading = f"**{in_markdown(finding.path)}**: " if finding.path else ""
        place = f" (line {finding.line}{'' if finding.file == issue else ' of a comment'})"
        if finding.file.startswith("reservations/"):
            place = f" ({in_markdown(finding.file)})"
        yield f"- {heading}{in_markdown(f'{finding.message} {finding.fix}')}{place}"
    if len(findings) > _MOST_FINDINGS:
        yield f"- and {len(findings) - _MOST_FINDINGS} more"
