"""Read what somebody asks for below the headings of an issue form, or in a row of a table.

The text is a stranger's: it is read whole by the same grammars as the flags of `berth new`, or refused.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from berth.dates.expansion import Occurrence
from berth.edit.create import QUESTIONS, ReservationRequest, option_places
from berth.edit.prompts import FORM, NOTES
from berth.findings import ERROR, FilePlace, Finding
from berth.notation.refusal import CommandError, read_at
from berth.reading.source import Source
from berth.schema import grammar
from berth.schema.declared import Declared
from berth.schema.documentproblems import choice, shown
from berth.schema.renkunames import name_of

LIMIT = 262_144  # bytes of a text: GitHub accepts 65,536 characters
NO_ANSWER = "_No response_"
HEADINGS = [prompt.heading for prompt in FORM.values()]
_NAMES = "|".join(sorted(HEADINGS, key=len, reverse=True))
_BOLD = r"(?:\*\*|__)"
_KEYS = {prompt.heading.lower(): key for key, prompt in FORM.items()}
_IN_FORM = re.compile(rf"^### ({_NAMES})[ \t]*$", re.MULTILINE)
_IN_COMMENT = re.compile(  # Times: 9-11, **Times**: 9-11, ## times, **Times**
    rf"^ *(?:#{{1,6}}|{_BOLD})? *({_NAMES}) *{_BOLD}?:{_BOLD}?"
    rf"|^ *(?:#{{1,6}} *|{_BOLD})({_NAMES}) *{_BOLD}? *$",
    re.MULTILINE | re.IGNORECASE,
)
_UNCOUNTED = "none"  # scaleDownBehavior of seats whose sessions nobody counts


class FormAnswer(NamedTuple):
    """What somebody wrote below a heading of the form; empty for no answer."""

    key: str  # of FORM
    text: str
    place: FilePlace

    def finding(self, code: str, message: str, fix: str) -> Finding:
        return self.place.finding(code, message, fix, FORM[self.key].heading)


Answers = Mapping[str, FormAnswer]


class FormAnswers(NamedTuple):
    """The answers of a request by key, and what is wrong with its texts.

    `replaced` are the keys of those that a later text gave.
    """

    answers: dict[str, FormAnswer]
    findings: tuple[Finding, ...]
    replaced: tuple[str, ...]


def read_request(sources: Sequence[Source]) -> FormAnswers:
    """Read the text of the form, and those of later comments, whose answers replace those before them.

    A comment without a heading is for people, and is passed over.
    """
    answers: dict[str, FormAnswer] = {}
    findings: list[Finding] = []
    replaced: set[str] = set()
    for number, source in enumerate(sources):
        start = FilePlace(source.file)
        try:
            text = source.text.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            findings.append(start.finding("B002", "the text is not UTF-8.", "Write it again."))
            continue
        if len(source.text) > LIMIT:
            message = f"the text is larger than {LIMIT // 1024} KiB."
            findings.append(start.finding("B006", message, "Shorten the notes."))
            continue
        found = [*_answers(source.file, text, _IN_COMMENT if number else _IN_FORM, findings)]
        answers |= {answer.key: answer for answer in found}
        replaced |= {answer.key for answer in found if number}
        for missing in () if number else (one for one in FORM if one not in answers):
            message = f"the heading {shown(f'### {FORM[missing].heading}')} is missing."
            fix = "Write it again, with its answer below it, or fill in the form again."
            findings.append(FilePlace(source.file, text.count("\n") + 1).finding("B295", message, fix))
    return FormAnswers(answers, tuple(findings), tuple(key for key in FORM if key in replaced))


def _answers(file: str, text: str, pattern: re.Pattern[str], findings: list[Finding]) -> Iterator[FormAnswer]:
    """Yield the answer below each heading: one line, and below Notes all that follows, whatever it is.

    Add what is wrong to the findings.
    """
    elsewhere = (
        f"Write everything else {'below Notes' if pattern is _IN_FORM else 'in a comment without headings'}."
    )
    matches = [*pattern.finditer(text)]
    keys = [_KEYS[(match[1] or match[match.lastindex or 1]).lower()] for match in matches]
    matches = matches[: keys.index(NOTES) + 1] if NOTES in keys else matches
    above = text[: matches[0].start()] if matches else text
    if above.strip() and (matches or pattern is _IN_FORM or re.search(r"^ {0,3}#{1,6} ", text, re.MULTILINE)):
        line = next(line for line in above.split("\n") if line.strip())
        place = FilePlace(file, above.split("\n").index(line) + 1)
        message = f"{shown(line.strip())} is above the first heading of the form."
        findings.append(place.finding("B295", message, elsewhere))
    lines: dict[str, int] = {}
    for match, end, key in zip(matches, [*(one.start() for one in matches[1:]), None], keys, strict=False):
        body, number = text[match.end() : end], text.count("\n", 0, match.start()) + 1
        first, *others = [(i, line.strip()) for i, line in enumerate(body.split("\n")) if line.strip()] or [
            (0, "")
        ]
        answer = FormAnswer(
            key, body.strip() if key == NOTES else first[1], FilePlace(file, number + first[0])
        )
        if key in lines:
            message = f"it is also in line {lines[key]}."
            heading = answer._replace(place=FilePlace(file, number))
            findings.append(heading.finding("B295", message, "Remove one of them."))
        elif others and key != NOTES:
            other = answer._replace(place=FilePlace(file, number + others[0][0]))
            findings.append(other.finding("B295", f"{shown(others[0][1])} is a second line.", elsewhere))
        lines.setdefault(key, number)
        yield answer._replace(text="") if answer.text == NO_ANSWER else answer


def requested(
    answers: Answers, name: str, known: Declared, today: int | None
) -> tuple[ReservationRequest, list[Finding]]:
    """Return what the answers ask for, and what is wrong with them.

    Without a name, it is made of the course's title.

    A request is read again later, when `tomorrow` would be another day: such words are refused. Seats of a
    class whose sessions nobody counts stay as they are, as no sessions take them.
    """
    title = answers["title"].text if "title" in answers else ""
    request = ReservationRequest(
        name or name_of(title, "course"), "", (), {}, today, (*sorted(known.terms),), has_words=False
    )
    findings: list[Finding] = []
    refused: set[str] = set()
    for key, answer in answers.items():
        longest = FORM[key].longest
        if len(answer.text) > longest:
            refused.add(key)
            message = f"the answer has {len(answer.text)} characters."
            findings.append(answer.finding("B012", message, f"Write at most {longest}."))
        if not answer.text or key == NOTES or key in refused:
            continue
        try:
            if key == "title":  # with a contact it is also the name of the owner, which is one line
                read_at("--title", partial(grammar.line, answer.text))
            request = request.with_answer(key, _without_zone(answers) if key == "times" else answer.text)
        except CommandError as error:
            refused.add(key)
            findings += [refused_answer(problem, answers, key) for problem in error.each]
    resource_class = known.classes.get(request.given.get("class", ""))
    if resource_class is not None and resource_class.sessions is None:
        request = request._replace(given={**request.given, "behavior": _UNCOUNTED})
    if "contact" in request.given and "title" in request.given:
        request = request._replace(given={**request.given, "owner": title})
    findings += _unknown_classes(request, answers, known)
    findings += _missing(request, answers, refused)
    return request, findings


def _without_zone(answers: Answers) -> str:
    """Return the times without the time zone that they repeat: 9 am EST to 6 PM EST."""
    zone = answers["time-zone"].text if "time-zone" in answers else ""
    return (
        re.sub(rf"(?<=[\w.]) {re.escape(zone)}\b", "", answers["times"].text)
        if zone
        else answers["times"].text
    )


def refused_answer(problem: CommandError, answers: Answers, key: str = "title") -> Finding:
    """Return a refused value as a finding at the heading that it belongs to; `key` if it is not told."""
    of_place = _key_of(problem.place)
    message, fix = problem.message, ""
    if problem.refusal is not None:
        message, fix = problem.refusal.message, problem.refusal.fix
    return answers[of_place if of_place in answers else key].finding(problem.code or "B014", message, fix)


def taken_name(name: str, answers: Answers, feed: str = "") -> Finding:
    """Return the finding that another reservation has the name of the request already.

    `feed`: the table or calendar from which it was imported with the title of the request.
    """
    message = f"there is a reservation {name} already"
    fix = "Write another title, for instance with the term."
    if feed:
        message += f", imported from {shown(feed)}"
        fix = f"If it is the same table, give --feed {shlex.quote(feed)}; if not, write another title."
    return answers["title"].finding("B060", f"{message}.", fix)


def _key_of(place: str) -> str:
    """Return the key of FORM that an argument or option of `berth new` is for; empty for none."""
    by_flag = {prompt.flag: key for key, prompt in FORM.items()}
    by_flag |= {flag: key for flag, key in QUESTIONS.items() if key in FORM}
    return {**by_flag, "NAME": "title", "--owner": "contact"}.get(place, "")


def _unknown_classes(request: ReservationRequest, answers: Answers, known: Declared) -> Iterator[Finding]:
    """Yield the classes that do not exist. The checks of the project find them only if all else is right."""
    names = tuple(sorted(known.classes))
    for name in request.value("class") or ():
        if not known.may_exist("ResourceClass", name):
            message = f"no ResourceClass named {shown(name)}."
            yield answers["class"].finding("B061", message, choice(name, names))


def _missing(request: ReservationRequest, answers: Answers, refused: set[str]) -> Iterator[Finding]:
    """Yield what has no answer but needs one."""
    wanted = {key for key, prompt in FORM.items() if not prompt.optional}
    wanted |= set(request.missing()) & FORM.keys() if request.type else set()
    for key, answer in answers.items():
        if key in wanted and key not in refused and not answer.text:
            prompt = FORM[key]
            fix = f"Write one such as {prompt.example}." if prompt.example else prompt.help or "Choose one."
            yield answer.finding("B011", f"{prompt.text} There is no answer.", fix)


def at_headings(
    findings: Iterable[Finding],
    file: str,
    request: ReservationRequest,
    answers: Answers,
    occurrences: Iterable[Occurrence],
) -> list[Finding]:
    """Return findings about the file that is not written at the headings that its values come from.

    A request without a date is refused: nobody asks for none. So is a time zone such as EST unless the clocks
    of its place show it at each occurrence.
    """
    places = option_places(request.type)
    found = []
    try:
        request.check_zone(occurrence.start for occurrence in occurrences)
    except CommandError as error:
        found.append(refused_answer(error, answers))
    for finding in findings:
        severity = ERROR if finding.code == "B042" else finding.severity
        if finding.file == file:
            path = re.sub(r"\[[^]]*\]", "", finding.path)
            while path and path not in places:
                path = path.rpartition(".")[0]
            answer = answers.get(_key_of(places.get(path, "")), answers["title"])
            found.append(
                answer.finding(finding.code, finding.message, finding.fix)._replace(severity=severity)
            )
        else:
            found.append(finding._replace(severity=severity))
    return found
