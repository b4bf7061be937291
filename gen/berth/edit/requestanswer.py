"""Answer a request in Markdown, for the people who asked: the dates that they get, or what to write instead.

What they wrote is escaped, or stands in a fence that it cannot end: it is neither markup nor a mention.
"""

from collections.abc import Iterable, Iterator, Sequence

from berth.checks.policychecks import result_text
from berth.dates.expansion import Occurrence
from berth.dates.moments import named, span_text
from berth.diff.wording import left_out_lines, number_of
from berth.edit.edits import EditResult
from berth.edit.prompts import ANSWER_MARK, FORM
from berth.edit.requestform import FormAnswer
from berth.findings import ERROR, NOTE, Finding
from berth.output.answers import seats_text
from berth.output.escape import fenced, in_markdown

_MOST_DATES, _MOST_FINDINGS = 200, 50
_AGAIN = """\
To change something, edit the first text of this issue, or write a comment with the headings that change, for
example:

```text
### {heading}

{example}
```

Such a comment replaces the answers below its headings. Any other comment is for people and changes nothing.
"""


def refused_answer(findings: Sequence[Finding], issue: str, *, strict: bool = False) -> str:
    """Return the answer to a request from which no reservation can be made.

    `issue` is the file with the first text of the request; others are comments.
    """
    wrong = [
        finding for finding in findings if finding.severity == ERROR or (strict and finding.severity != NOTE)
    ]
    answers = {finding.path or finding for finding in wrong}  # an answer may have several
    count = number_of(len(answers), "answer")
    return "\n".join(
        [
            ANSWER_MARK,
            f"### Please correct {count}",
            "",
            *_listed(wrong, issue),
            "",
            "No seats are reserved yet.",
            "",
            _again(),
        ]
    )


def accepted_answer(result: EditResult, title: FormAnswer, issue: str, replaced: Iterable[str]) -> str:
    """Return the answer to a request that is a reservation now."""
    change = result.change
    assert change is not None  # it is new
    lines = [ANSWER_MARK, f"### Seats for {in_markdown(title.text)}", ""]
    lines += [*_shared(result.shared, change.name)]
    dates = change.occurrences.added
    unit = change.units[1]
    texts = [f"{_span(date)}{_group(date)}  {seats_text(date.seats, unit)}" for date in dates[:_MOST_DATES]]
    more = len(dates) - len(texts)
    texts += [f"and {number_of(more, 'more date')}, the last on {_span(dates[-1])}"] if more else []
    texts += [line.text for line in left_out_lines(result.left_out)]
    lines += [f"{number_of(len(dates), 'date')}, in the time zone {in_markdown(change.zone)}:", ""]
    lines += [fenced("".join(f"{text}\n" for text in texts), "text")]
    comments = [FORM[key].heading for key in replaced]
    lines += [f"A later comment changed: {', '.join(comments)}.", ""] if comments else []
    lines += [*_policies(result), *_warnings(result.warnings, issue), _again()]
    return "\n".join(lines)


def _shared(shared: Sequence[str], name: str) -> Iterator[str]:
    if shared:
        yield from (f"**{in_markdown(sentence)}**" for sentence in shared)
        yield (
            "If only sessions of this course should count, their pods need a label, and the reservation "
            f"`sessions: {{matchLabels: {{course: {name}}}}}`: ask the people who run the platform."
        )
        yield ""


def _span(occurrence: Occurrence) -> str:
    return span_text(occurrence.start, occurrence.end, named(occurrence.zone))


def _group(occurrence: Occurrence) -> str:
    return f" {occurrence.name}" if occurrence.name else ""


def _policies(result: EditResult) -> Iterator[str]:
    if result.policies:
        yield from ("By the policies of the site, this request:", "")
        yield from (f"- {in_markdown(result_text(policy))}" for policy in result.policies)
        yield ""


def _warnings(findings: Sequence[Finding], issue: str) -> Iterator[str]:
    if findings:
        yield from ("Please check:", "", *_listed(findings, issue), "")


def _listed(findings: Sequence[Finding], issue: str) -> Iterator[str]:
    for finding in findings[:_MOST_FINDINGS]:
        heading = f"**{in_markdown(finding.path)}**: " if finding.path else ""
        yield f"- {heading}{in_markdown(f'{finding.message} {finding.fix}')}{_place(finding, issue)}"
    if len(findings) > _MOST_FINDINGS:
        yield f"- and {len(findings) - _MOST_FINDINGS} more"


def _place(finding: Finding, issue: str) -> str:
    if finding.file.startswith("reservations/"):
        return f" ({in_markdown(finding.file)})"
    return f" (line {finding.line}{'' if finding.file == issue else ' of a comment'})"


def _again() -> str:
    prompt = FORM["seats"]
    return _AGAIN.format(heading=prompt.heading, example=prompt.example)
