"""Read a request that somebody wrote with an issue form: the headings of the form, and an answer below each.

The text is a stranger's: it is read whole by the same grammars as the flags of `berth new`, or refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from berth.checks.references import UNKNOWN_NAME
from berth.edit.create import QUESTIONS, ReservationRequest, option_places
from berth.edit.prompts import FORM, NOTES, Prompt
from berth.findings import FilePlace, Finding
from berth.notation.refusal import CommandError, read_at
from berth.reading.source import Source
from berth.schema import grammar
from berth.schema.declared import Declared
from berth.schema.documentproblems import CHOICE, MISSING, RANGE, choice, close, nearest, shown
from berth.schema.renkunames import name_of

LIMIT = 262_144  # bytes of a text: GitHub accepts 65,536 characters
NO_ANSWER = "_No response_"
UNLIKE_FORM, UNREADABLE, TWICE = "B295", "B002", "B060"
_MARK = "### "
_KEYS = {f"{_MARK}{prompt.heading}": key for key, prompt in FORM.items()}
_is_heading = re.compile(r"\s*#{1,6}(?:\s|$)").match
_is_marked = re.compile(r"#{1,6}\s*([^:]+?)\s*(?::.*)?|(?:\*\*|__)([^*_:]+?)\s*:?\s*(?:\*\*|__).*").fullmatch
_LIKENESS = 0.8  # of a line with # to the heading that is meant
_CONTRADICTION = "B016"
_UNCOUNTED = "none"  # scaleDownBehavior of seats whose sessions nobody counts


class FormAnswer(NamedTuple):
    """What somebody wrote below a heading of the form; empty for no answer."""

    key: str  # of FORM
    text: str
    place: FilePlace


class FormAnswers(NamedTuple):
    """The answers of a request by key, and what is wrong with its texts.

    `replaced` are the keys of those that a later text gave.
    """

    answers: dict[str, FormAnswer]
    findings: tuple[Finding, ...]
    replaced: tuple[str, ...]


class RequestedReservation(NamedTuple):
    """What a request asks for, and what is wrong with its answers."""

    request: ReservationRequest
    findings: tuple[Finding, ...]


def read_request(sources: Sequence[Source]) -> FormAnswers:
    """Read the text of the form, and those of later comments, whose answers replace those before them.

    A comment without a heading of the form is none of them, and is passed over: unless a line of it is nearly
    one, as its author meant it to be read.
    """
    answers: dict[str, FormAnswer] = {}
    findings: list[Finding] = []
    replaced: dict[str, None] = {}
    for number, source in enumerate(sources):
        text = _text(source)
        if text is None:
            message = "the text is not UTF-8."
            findings.append(FilePlace(source.file).finding(UNREADABLE, message, "Write it again."))
            continue
        lines = text.split("\n")
        if number and not any(line.rstrip() in _KEYS for line in lines):
            findings += _nearly_headings(source.file, lines)
            continue
        reader = _Reader(source.file, is_whole=not number)
        reader.read(lines)
        findings += reader.findings
        answers |= reader.answers
        replaced |= dict.fromkeys(reader.answers) if number else {}
    return FormAnswers(answers, tuple(findings), tuple(key for key in FORM if key in replaced))


def _text(source: Source) -> str | None:
    """Return the text with the line ends that browsers do not have; None if it is not UTF-8."""
    try:
        return source.text.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


def _nearly_headings(file: str, lines: Sequence[str]) -> Iterable[Finding]:
    """Yield the first line of a comment that its author took for a heading of the form."""
    is_first = True
    for number, line in enumerate(lines, 1):
        heading = _meant_heading(line.strip(), is_first=is_first)
        if heading:
            message = f"{shown(line.strip())} is not a heading of the form, so the comment is not understood."
            fix = f'Write "{_MARK}{heading}" alone in a line, and the answer alone below it.'
            yield FilePlace(file, number).finding(UNLIKE_FORM, message, fix)
            return
        is_first = is_first and not line.strip()


def _meant_heading(line: str, *, is_first: bool) -> str:
    """Return the heading of the form that a line is nearly: `## times`, `**Times**: 9-11`; empty for none.

    Without marks, it is one only at the top: `Times: 9-11` below other text may be a sentence.
    """
    marked = _is_marked(line)
    if marked and marked[1]:
        likely = close(marked[1], [prompt.heading for prompt in FORM.values()], _LIKENESS)
        return likely[0] if likely else ""
    text = marked[2] if marked else line.partition(":")[0] if is_first and ":" in line else ""
    return next((prompt.heading for prompt in FORM.values() if prompt.heading.lower() == text.lower()), "")


class _Reader:
    """Reads one text: each heading at most once and in the order of the form, and one line below each."""

    def __init__(self, file: str, *, is_whole: bool) -> None:
        self._file, self._is_whole = file, is_whole
        self.answers: dict[str, FormAnswer] = {}
        self.findings: list[Finding] = []

    @property
    def _elsewhere(self) -> str:
        """Say where text for people belongs: the notes of the form are not replaced for a greeting."""
        return "below Notes" if self._is_whole else "in a comment without headings"

    def read(self, lines: Sequence[str]) -> None:
        key: str | None = None
        for number, line in enumerate(lines, 1):
            if _is_heading(line):
                key = self._heading(line.rstrip(), number)
                if key == NOTES:  # whatever follows is text for people, also if it looks like a heading
                    self._notes(lines[number:], number)
                    break
            elif line.strip():
                self._line(key, line.strip(), number)
        if self._is_whole:
            last = max(1, len(lines))
            for missing in (one for one in FORM if one not in self.answers):
                fix = "Write it again, with its answer below it, or fill in the form again."
                self._refuse(last, f"the heading {shown(_MARK + FORM[missing].heading)} is missing.", fix)

    def _heading(self, line: str, number: int) -> str:
        """Begin the answer of a heading; return its key, or "" if it is refused."""
        key = _KEYS.get(line, "")
        if not key:
            advice = nearest(line.lstrip("# "), [prompt.heading for prompt in FORM.values()], "The form has")
            self._refuse(number, f"{shown(line)} is not a heading of the form.", advice)
        elif key in self.answers:
            place = f"it is also in line {self.answers[key].place.line}."
            self._refuse(number, f"the heading {shown(line)} is here again: {place}", "Remove one of them.")
            return ""
        elif self.answers and [*FORM].index(key) < max([*FORM].index(known) for known in self.answers):
            fix = f"Keep the order of the form: {', '.join(prompt.heading for prompt in FORM.values())}."
            self._refuse(number, f"the heading {shown(line)} is not in its place.", fix)
        if key:
            self.answers[key] = FormAnswer(key, "", FilePlace(self._file, number))
        return key

    def _line(self, key: str | None, line: str, number: int) -> None:
        if key is None:
            if not self.findings:  # of such lines, the first is enough
                fix = f"Write everything else {self._elsewhere}."
                self._refuse(number, f"{shown(line)} is above the first heading.", fix)
        elif key and self.answers[key].text:
            fix = f"Write the answer in one line, and everything else {self._elsewhere}."
            self._refuse(number, f"{shown(line)} is a second line.", fix, FORM[key].heading)
        elif key:  # else its heading is refused
            self._keep(FormAnswer(key, line, FilePlace(self._file, number)))

    def _notes(self, lines: Sequence[str], number: int) -> None:
        self._keep(FormAnswer(NOTES, "\n".join(lines).strip(), FilePlace(self._file, number)))

    def _keep(self, answer: FormAnswer) -> None:
        text = "" if answer.text == NO_ANSWER else answer.text
        longest = FORM[answer.key].longest
        if len(text) > longest:
            message = f"the answer has {len(text)} characters."
            fix = f"Write at most {longest}."
            self.findings.append(answer.place.finding(RANGE, message, fix, FORM[answer.key].heading))
            text = ""
        self.answers[answer.key] = answer._replace(text=text)

    def _refuse(self, line: int, message: str, fix: str, heading: str = "") -> None:
        self.findings.append(FilePlace(self._file, line).finding(UNLIKE_FORM, message, fix, heading))


def requested(answers: Mapping[str, FormAnswer], name: str, known: Declared) -> RequestedReservation:
    """Return what the answers ask for. Without a name, it is made of the course's title.

    Dates are absolute: a request is read again later, when `tomorrow` would be another day. Seats of a class
    whose sessions nobody counts stay as they are, as no sessions take them.
    """
    title = answers["title"].text if "title" in answers else ""
    request = ReservationRequest(name or name_of(title, "course"), "", (), {}, terms=(*sorted(known.terms),))
    findings: list[Finding] = []
    refused: set[str] = set()
    for key in FORM:
        answer = answers.get(key)
        if answer is None or not answer.text or key == NOTES:
            continue
        try:
            if key == "title":  # with a contact it is also the name of the owner, which is one line
                read_at("--title", partial(grammar.line, answer.text))
            request = request.with_answer(key, answer.text)
        except CommandError as error:
            refused.add(key)
            for problem in error.each:
                findings.append(_finding(problem, answers, key))
    resource_class = known.classes.get(request.given.get("class", ""))
    if resource_class is not None and resource_class.sessions is None:
        request = request._replace(given={**request.given, "behavior": _UNCOUNTED})
    if "contact" in request.given and "title" in request.given:
        request = request._replace(given={**request.given, "owner": title})
    findings += _unknown_classes(request, answers, known)
    findings += _missing(request, answers, refused)
    findings += _contradictions(request, answers)
    return RequestedReservation(request, tuple(findings))


def taken_name(name: str, answers: Mapping[str, FormAnswer]) -> Finding:
    """Return the finding that another reservation has the name of the request already."""
    place = answers["title"].place if "title" in answers else FilePlace("NAME", 0, 0)
    message = f"there is a reservation {name} already."
    return place.finding(
        TWICE, message, "Write another title, for instance with the term.", FORM["title"].heading
    )


def _finding(problem: CommandError, answers: Mapping[str, FormAnswer], key: str) -> Finding:
    """Return a refused value as a finding at the heading that it belongs to."""
    key = next((one for one in (_key_of(problem.place), key) if one in answers), key)
    message, fix = problem.message, ""
    if problem.refusal is not None:
        message, fix = problem.refusal.message, problem.refusal.fix
    return answers[key].place.finding(problem.code or CHOICE, message, fix, FORM[key].heading)


def _key_of(place: str) -> str:
    """Return the key of FORM that an argument or option of `berth new` is for; empty for none."""
    by_flag = {prompt.flag: key for key, prompt in FORM.items()}
    by_flag |= {
        "NAME": "title",
        "--owner": "contact",
        **{flag: key for flag, key in QUESTIONS.items() if key in FORM},
    }
    return by_flag.get(place, "")


def _unknown_classes(
    request: ReservationRequest, answers: Mapping[str, FormAnswer], known: Declared
) -> Iterable[Finding]:
    """Yield the classes that do not exist. The checks of the project find them only if all else is right."""
    names = tuple(sorted(known.classes))
    for name in request.value("class") or ():
        if not known.may_exist("ResourceClass", name):
            message = f"no ResourceClass named {shown(name)}."
            yield answers["class"].place.finding(
                UNKNOWN_NAME, message, choice(name, names), FORM["class"].heading
            )


def _missing(
    request: ReservationRequest, answers: Mapping[str, FormAnswer], refused: set[str]
) -> Iterable[Finding]:
    """Yield what has no answer but needs one."""
    wanted = {key for key, prompt in FORM.items() if not prompt.optional}
    wanted |= set(request.missing()) & FORM.keys() if request.type else set()
    for key, prompt in FORM.items():
        answer = answers.get(key)
        if key in wanted and key not in refused and answer is not None and not answer.text:
            yield answer.place.finding(
                MISSING, f"{prompt.text} There is no answer.", _example(prompt), prompt.heading
            )


def _example(prompt: Prompt) -> str:
    return f"Write one such as {prompt.example}." if prompt.example else prompt.help or "Choose one."


def _contradictions(request: ReservationRequest, answers: Mapping[str, FormAnswer]) -> Iterable[Finding]:
    """Yield answers that another one makes pointless: one of the two would be lost."""
    has_first = not {"from", "within"}.isdisjoint(request.given)
    if request.type == "dates":
        why = "the dates are listed already."
        pointless = ["from"] * has_first + ["until"] * ("until" in request.given)
    elif {"within", "until"} <= request.given.keys():
        why, pointless = "the terms have a last date already.", ["until"]
    else:
        return
    for key in pointless:
        yield answers[key].place.finding(_CONTRADICTION, why, "Leave it empty.", FORM[key].heading)


def at_headings(
    findings: Iterable[Finding], file: str, request: ReservationRequest, answers: Mapping[str, FormAnswer]
) -> list[Finding]:
    """Return findings about the file that is not written at the headings that its values come from."""
    places = option_places(request.type)
    found = []
    for finding in findings:
        if finding.file != file:
            found.append(finding)
            continue
        path = re.sub(r"\[[^]]*\]", "", finding.path)
        while path and path not in places:
            path = path.rpartition(".")[0]
        key = _key_of(places.get(path, "")) or "title"
        place = answers[key].place
        found.append(
            place.finding(finding.code, finding.message, finding.fix, FORM[key].heading)._replace(
                severity=finding.severity
            )
        )
    return found
