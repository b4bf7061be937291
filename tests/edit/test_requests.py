"""`berth new --from-request`: the text of a form becomes a reservation, or findings at its headings."""

import re
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.edit.issueform import issue_form
from berth.edit.prompts import FORM
from berth.edit.requestform import read_request, requested
from berth.pipeline import Pipeline
from berth.reading.source import Source
from hypothesis import given
from hypothesis import strategies as st

from tests.answer import Answer, Berth
from tests.cases import tabled
from tests.cli import project
from tests.edit.newcourse import with_sessions
from tests.requesting import ANSWERS, FILE, HOSTILE, NAME, assert_harmless, form_text, part_text

HEADINGS = "|".join(prompt.heading for prompt in FORM.values())
FINDING = re.compile(rf"^\S+\.md:(\d+):1: error\[(B\d+)\] (?:({HEADINGS}): )?", re.M)


class Asking:
    """Sends texts as requests: the first is that of the issue, the others are comments."""

    def __init__(self, berth: Berth, folder: Path) -> None:
        self.berth, self.folder = berth, folder

    def __call__(self, *texts: str | bytes, words: tuple[str, ...] = ()) -> Answer:
        requests = []
        for number, text in enumerate(texts):
            file = self.folder.parent / f"text{number}.md"
            file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
            requests += ["--from-request", str(file)]
        return self.berth("new", *requests, *words)

    def findings(self, *texts: str | bytes) -> list[tuple[int, str, str]]:
        """Return the line, code and heading of each finding."""
        answer = self(*texts)
        assert (answer.code, answer.out) == (1, "")
        return [(int(line), code, heading or "") for line, code, heading in FINDING.findall(answer.err)]

    def spec(self, *texts: str) -> Any:
        answer = self(*texts)
        assert (answer.code, answer.err) == (0, "")
        return yaml.safe_load(answer.out)["spec"]


@pytest.fixture
def ask(berth: Berth, folder: Path) -> Asking:
    return Asking(berth, folder)


def line_of(text: str, line: str) -> int:
    return text.splitlines().index(line) + 1


def test_a_request_prints_the_document_that_the_flags_of_new_write(
    ask: Asking, berth: Berth, folder: Path
) -> None:
    printed = ask(form_text(contact="ada@example.org"))
    assert (printed.code, (folder / FILE).exists()) == (0, False)

    owner = ("--owner", ANSWERS["title"], "--contact", "ada@example.org", "--title", ANSWERS["title"])
    when = ("09:00-13:00", "--weekly", "mon,wed", "--from", "2026-02-02", "--until", "2026-02-11")
    what = ("--class", "small", "--seats", "25", "--time-zone", "Europe/Zurich")
    assert berth("new", NAME, *when, *what, *owner, "--behavior", "none").code == 0
    assert (folder / FILE).read_text("utf-8") == printed.out


def test_the_write_option_writes_a_request_only_once(ask: Asking, folder: Path) -> None:
    assert ask(form_text(), words=("--write",)).code == 0
    assert yaml.safe_load((folder / FILE).read_text("utf-8"))["metadata"]["name"] == NAME

    text = form_text()
    assert ask.findings(text) == [(line_of(text, ANSWERS["title"]), "B060", "Course")]


def test_a_request_is_read_from_stdin(berth: Berth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(form_text().encode())))

    assert yaml.safe_load(berth("new", "--from-request", "-").out)["metadata"]["name"] == NAME


@tabled("edit")
def test_the_days_answer_accepts_dates_daily_and_weekday_ranges(
    answers: dict[str, str], recurrence: str, ask: Asking
) -> None:
    assert ask.spec(part_text(**{**ANSWERS, **answers}))["recurrence"]["type"] == recurrence


@pytest.mark.parametrize(
    ("key", "text", "code"),
    [
        ("title", "x" * 101, "B012"),
        ("class", "smal", "B061"),
        ("seats", "many", "B013"),
        ("seats", "-5", "B012"),
        ("seats", "1" * 300, "B012"),
        ("when", "someday", "B014"),
        ("when", "2026-02-30", "B017"),
        ("times", "9-5", "B018"),
        ("from", "02/03/2026", "B017"),
        ("from", "tomorrow", "B061"),
        ("match-labels", "algebra", "B019"),
        ("until", "2026-01-01", "B024"),
        ("time-zone", "Mars", "B021"),
        ("contact", "Ada Lovelace, room 4", "B014"),
        ("class", "_No response_", "B011"),
        ("from", "_No response_", "B011"),
        ("until", "_No response_", "B011"),
    ],
)
def test_a_wrong_answer_is_refused_at_its_heading(ask: Asking, key: str, text: str, code: str) -> None:
    request = part_text(**{**ANSWERS, key: text})
    (line, found, heading) = ask.findings(request)[0]
    assert "--" not in ask(request).err  # a form has no flags

    assert (found, heading) == (code, FORM[key].heading)
    assert request.splitlines()[line - 1] in (text, f"### {heading}")


@pytest.mark.parametrize("contact", ["_No response_", "ada@example.org"], ids=["no-contact", "contact"])
@pytest.mark.parametrize("character", ["\u202e", "\u00ad", "\t", "\ufeff", "\u2028"])
def test_a_title_with_invisible_characters_gets_the_finding_b012(
    ask: Asking, character: str, contact: str
) -> None:
    text = form_text(title=f"Statistics \U0001f469{character}\U0001f4bb", contact=contact)

    assert ask.findings(text) == [(3, "B012", "Course")]


def test_all_wrong_answers_are_reported_at_once(ask: Asking) -> None:
    text = form_text(**{"class": "smal"}, seats="many", times="9-5", time_zone="Mars", until="never")

    assert [heading for _, _, heading in ask.findings(text)] == [
        *("Resource class", "Seats", "Times", "Last date", "Time zone"),
    ]


@pytest.mark.parametrize("times", ["half-past-nine to eleven", "from 09:00 until 11:00 or so"])
def test_an_answer_in_words_is_refused_once(ask: Asking, times: str) -> None:
    found = ask.findings(form_text(times=times, when="every other monday"))

    assert [(code, heading) for _, code, heading in found] == [("B014", "Days or dates"), ("B018", "Times")]


def test_the_answer_counts_wrong_headings_and_not_findings(ask: Asking) -> None:
    answer = ask(form_text(times="25:00-26:00 09:00-9:77", seats="many"), words=("-o", "markdown"))

    assert "### Please correct 2 answers" in answer.out.splitlines()
    assert sum(line.startswith("- **") for line in answer.out.splitlines()) >= 2


@pytest.mark.usefixtures("site_holidays")
def test_a_date_on_a_holiday_gets_the_finding_b042(ask: Asking) -> None:
    dates = {"when": "2026-02-16", "from": "_No response_", "until": "_No response_"}
    answer = ask(part_text(**{**ANSWERS, **dates}))

    assert "B042" in answer.err
    assert "2026-02-16 (calendar holidays: Carnival)" in answer.err


def test_a_relative_day_in_a_request_gets_the_finding_b017(ask: Asking) -> None:
    text = part_text(**{**ANSWERS, "when": "tomorrow", "from": "_No response_", "until": "_No response_"})

    assert [(code, heading) for _, code, heading in ask.findings(text)] == [("B017", "Days or dates")]


def test_first_and_last_date_beside_listed_dates_get_the_finding_b016(ask: Asking) -> None:
    text = form_text(when="2026-02-02")

    assert [(code, heading) for _, code, heading in ask.findings(text)] == [
        ("B016", "First date"),
        ("B016", "Last date"),
    ]


def test_a_ceiling_is_reported_at_the_heading_of_the_seats(ask: Asking, folder: Path) -> None:
    project.change(folder, "site", "- name: prod", "- {name: prod, ceilings: [{seats: {small: 30}}]}")

    assert [finding[1:] for finding in ask.findings(form_text(seats="500"))] == [("B067", "Seats")]


def test_a_comment_replaces_the_answers_below_its_headings(ask: Asking) -> None:
    spec = ask.spec(
        form_text(), "Thank you!", part_text(seats="40", until="2026-02-25"), part_text(seats="41")
    )

    assert spec["provisioning"]["placeholderCount"] == 41
    assert str(spec["recurrence"]["endDate"]) == "2026-02-25"


def test_a_quoted_heading_in_a_comment_is_ignored(ask: Asking) -> None:
    assert (
        ask.spec(form_text(), "> ### Seats\n>\n> 25\n\nIs that enough?")["provisioning"]["placeholderCount"]
        == 25
    )


def test_a_comment_with_text_above_its_headings_gets_the_finding_b295(ask: Asking) -> None:
    comment = f"Sorry, other dates:\n\n{part_text(until='2026-02-25')}"

    assert ask.findings(form_text(), comment) == [(1, "B295", "")]


@tabled("edit")
def test_a_comment_may_write_headings_in_other_styles(comment: str, ask: Asking) -> None:
    assert ask.spec(form_text(), comment) == ask.spec(form_text(times="10:00-12:00"))


@pytest.mark.parametrize(
    "comment", ["### Tmes\n\n10:00-12:00", "Hello,\n\n## Times\n\n10-12"], ids=["letters", "greeting"]
)
def test_a_comment_with_an_almost_correct_heading_gets_the_finding_b295(ask: Asking, comment: str) -> None:
    assert next(finding[1:] for finding in ask.findings(form_text(), comment)) == ("B295", "")


@tabled("edit")
def test_a_comment_without_a_heading_is_ignored(comment: str, ask: Asking) -> None:
    assert ask.spec(form_text(), comment) == ask.spec(form_text())


@pytest.mark.parametrize("text", ["Hello\n\n{}", "{}\nThank you"], ids=["above", "below"])
def test_prose_beside_the_headings_of_a_comment_is_refused(ask: Asking, text: str) -> None:
    answer = ask(form_text(), text.format(part_text(seats="40")))

    assert answer.code == 1
    assert "in a comment without headings" in answer.err
    assert "below Notes" not in answer.err


def test_the_answer_names_the_headings_that_a_comment_replaced(ask: Asking) -> None:
    told = ask(form_text(), part_text(seats="40"), words=("-o", "markdown"))

    assert "A later comment changed: Seats." in told.out


@pytest.mark.usefixtures("site_holidays")
def test_the_answer_lists_dates_in_local_time_and_the_dates_left_out(ask: Asking) -> None:
    told = ask(form_text(until="2026-02-18"), words=("-o", "markdown"))

    assert told.out.split("```")[1].splitlines()[1:] == [
        "Mon 2026-02-02 09:00-13:00  25 small",
        "Wed 2026-02-04 09:00-13:00  25 small",
        "Mon 2026-02-09 09:00-13:00  25 small",
        "Wed 2026-02-11 09:00-13:00  25 small",
        "Wed 2026-02-18 09:00-13:00  25 small",
        "left out by calendar holidays: Carnival: Mon 2026-02-16",
    ]


def test_the_answer_warns_first_about_other_sessions_that_take_the_seats(ask: Asking, folder: Path) -> None:
    with_sessions(folder)
    told = ask(form_text(), words=("-o", "markdown"))

    sentence, label = told.out.splitlines()[3:5]
    assert sentence.endswith("also those of course, night: while 25 of them run, no seat is held.**")
    assert label.endswith(f"below Label: `course={NAME}`.")
    assert "also those of course, night" in ask(form_text()).err

    labeled = ask(form_text(match_labels="course=algebra"), words=("-o", "markdown")).out
    assert "Sessions of class small with the label course=algebra take these seats." in labeled


def test_the_answer_says_which_date_a_clock_change_moves(ask: Asking) -> None:
    text = part_text(**{**ANSWERS, "when": "2027-03-28", "times": "02:30-06:00", "from": "", "until": ""})

    assert "Sun 2027-03-28 03:30-06:00: a clock change skips" in ask(text, words=("-o", "markdown")).out
    assert "a clock change skips" in ask(text).err


def test_the_answer_names_the_groups(ask: Asking) -> None:
    text = form_text(times="regular=09:00-11:00 late=14:00-16:00", seats="regular=20,late=5")
    dates = ask(text, words=("-o", "markdown")).out.split("```")[1].splitlines()

    assert dates[1:3] == [
        "Mon 2026-02-02 09:00-11:00 regular  20 small",
        "Mon 2026-02-02 14:00-16:00 late  5 small",
    ]


def test_the_form_lists_the_terms_in_the_order_of_their_dates(folder: Path) -> None:
    (folder / "reservations/terms.yaml").write_text(
        "apiVersion: berth.dev/v1alpha1\nkind: Calendar\nmetadata: {name: terms}\n"
        "spec: {terms: [{name: spring, from: 2026-02-02, to: 2026-02-20}, "
        "{name: fall, from: 2026-09-02, to: 2026-09-20}]}\n",
        "utf-8",
    )
    project = Pipeline(str(folder))
    form = yaml.safe_load(issue_form(project.declared, project.site))
    (first,) = [one["attributes"] for one in form["body"] if one.get("id") == "first-date"]

    assert first["description"].endswith("Terms: spring, fall.")


def test_the_answer_lists_findings_by_heading_and_says_which_text_is_wrong(ask: Asking) -> None:
    told = ask(form_text(seats="many"), part_text(until="never"), words=("-o", "markdown"))

    lines = [line for line in told.out.splitlines() if line.startswith("- ")]
    assert [line.partition(":")[0] for line in lines] == ["- **Seats**", "- **Last date**"]
    assert [line.rpartition(" (")[2] for line in lines] == ["line 11)", "line 3 of a comment)"]


def test_the_answer_lists_approvals_and_refusals_of_policies(ask: Asking, folder: Path) -> None:
    policies = """\
  policies:
    - {name: large, when: {seatsAbove: 20}, require: {approvalBy: "@uni/platform"}}
    - {name: huge, when: {seatsAbove: 24}, require: refuse}
"""
    site = folder / "reservations/site.yaml"
    site.write_text(site.read_text("utf-8") + policies, "utf-8")
    told = ask(form_text(), words=("-o", "markdown")).out

    lines = [line.replace("\\", "") for line in told.splitlines() if line.startswith("- ")]
    assert lines == [
        "- needs approval by @\u200buni/platform, policy large: 25 seats, above 20",
        "- refused by policy huge: 25 seats, above 24",
    ]


@tabled("edit")
def test_request_options_beside_flags_or_without_a_request_are_usage_errors(
    words: list[str], berth: Berth
) -> None:
    assert berth("new", *words).code == 2


def test_a_second_file_needs_the_option_again(berth: Berth) -> None:
    answer = berth("new", "--from-request", "a.md", "c1.md", "c2.md")

    assert answer.code == 2
    assert "--from-request a.md --from-request c1.md --from-request c2.md" in answer.err


def test_a_project_with_errors_refuses_a_request(ask: Asking, folder: Path) -> None:
    (folder / "reservations/site.yaml").write_text("kind: Site\n", "utf-8")

    assert ask(form_text()).code != 0


# Hostile texts


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("key", FORM)
def test_a_hostile_answer_is_refused_or_changes_only_the_title(
    ask: Asking, folder: Path, key: str, text: str
) -> None:
    before = sorted(folder.rglob("*"))
    request = part_text(**{**ANSWERS, key: text})
    printed, told = ask(request), ask(request, words=("-o", "markdown"))

    assert printed.code == told.code in (0, 1)
    assert sorted(folder.rglob("*")) == before
    if printed.code == 0:
        (document,) = yaml.safe_load_all(printed.out)
        plain = yaml.safe_load(ask(form_text(contact=text if key == "contact" else ANSWERS["contact"])).out)
        changed = {
            path
            for path in ("title", "owner")
            if document["spec"].pop(path, None) != plain["spec"].pop(path, None)
        }
        assert document["spec"] == plain["spec"]
        assert changed <= {"title": {"title"}, "contact": set(), "notes": set()}[key]
        assert document["metadata"]["name"].replace("-", "").isalnum()
    assert_harmless(told.out)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (form_text(notes="### Seats\n\n900"), None),
        (form_text(title="### Seats"), (1, "B011", "Course")),
        (form_text().replace("### Seats", "### Seats\n\n9\n\n### Seats"), (13, "B295", "Seats")),
        (form_text().replace("### Seats", "### \u0405eats"), (9, "B295", "Resource class")),
        (form_text().replace("### Seats", "#### Seats"), (9, "B295", "Resource class")),
        (form_text().replace("25\n", "25\n26\n", 1), (12, "B295", "Seats")),
        (form_text().replace("### Resource class\n\nsmall\n\n", ""), None),
        ("Hello\n" + form_text(), (1, "B295", "")),
        (part_text(**dict(reversed(ANSWERS.items()))), (43, "B295", "")),
        ("", (1, "B295", "")),
        (b"\xff\xfe" + form_text().encode(), (1, "B002", "")),
    ],
    ids=[
        *("heading-in-notes", "heading-as-answer", "twice", "lookalike", "other-level", "second-line"),
        *("missing", "before", "reversed", "empty", "not-utf-8"),
    ],
)
def test_a_request_must_have_each_heading_of_the_form_once_and_in_order(
    ask: Asking, text: str | bytes, expected: tuple[int, str, str] | None
) -> None:
    if isinstance(text, str) and "900" in text:
        assert ask.spec(text)["provisioning"]["placeholderCount"] == 25
    elif expected is None:
        assert {code for _, code, _ in ask.findings(text)} == {"B295"}
    else:
        assert ask.findings(text)[0] == expected


def test_crlf_line_ends_and_a_byte_order_mark_change_nothing(ask: Asking) -> None:
    text = form_text()

    assert ask(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()).out == ask(text).out


def test_a_text_larger_than_256_kib_is_refused(ask: Asking) -> None:
    assert ask.findings(form_text(), "x" * 262_145) == [(1, "B006", "")]
    told = ask("x" * 262_145, words=("-o", "markdown"))
    assert (told.code, "256 KiB" in told.out) == (1, True)


def test_a_title_without_latin_letters_gets_a_generated_name(ask: Asking) -> None:
    name = yaml.safe_load(ask(form_text(title="\u7dda\u5f62\u4ee3\u6570")).out)["metadata"]["name"]

    assert name.startswith("course-")


@pytest.mark.parametrize("name", ["../x", "a/b", ".git", "A", ""])
def test_a_name_on_the_command_line_must_be_valid_in_kubernetes(ask: Asking, name: str) -> None:
    assert ask(form_text(), words=(name,)).code == (0 if name == "" else 2)


DECLARED = Pipeline(sources=[]).declared
TODAY = 20_000  # days since 1970
LINES = st.one_of(
    st.sampled_from([f"### {prompt.heading}" for prompt in FORM.values()]),
    st.sampled_from([*ANSWERS.values(), *HOSTILE.values(), "", "---", "#", "```"]),
    st.text(max_size=20),
)


@given(st.lists(LINES, max_size=40), st.lists(LINES, max_size=10))
def test_any_text_gives_answers_or_findings(first: list[str], comment: list[str]) -> None:
    texts = ("\n".join(first), "\n".join(comment))
    form = read_request([Source(f"{i}.md", text.encode("utf-8", "replace")) for i, text in enumerate(texts)])
    request, wrong_answers = requested(form.answers, "", DECLARED, TODAY)

    assert form.findings or set(form.answers) == set(FORM)
    for finding in (*form.findings, *wrong_answers):
        assert 1 <= finding.line <= texts[int(finding.file[0])].count("\n") + 2
    if not (form.findings or wrong_answers):
        assert not request.missing()


def test_the_form_has_each_question_once_with_the_choices_of_the_site(folder: Path) -> None:
    project = Pipeline(str(folder))
    form = yaml.safe_load(issue_form(project.declared, project.site))
    fields = {one["attributes"]["label"]: one for one in form["body"] if "id" in one}

    assert [*fields] == [prompt.heading for prompt in FORM.values()]
    assert len({field["id"] for field in fields.values()} - {"title", "body", "labels"}) == len(fields)
    assert fields["Resource class"]["attributes"]["options"] == ["bench", "small"]
    assert fields["Time zone"]["attributes"]["options"] == ["Europe/Zurich", "America/New_York"]
    assert {label for label, field in fields.items() if not field["validations"]["required"]} == {
        *("First date", "Last date", "Label", "Contact", "Notes"),
    }


# Answers in people's own words

WORLD = Path(__file__).parents[1] / "cases/world2"
CASES = [
    case
    for file in ("requests", "ownwords")
    for case in yaml.load((WORLD / f"{file}.yaml").read_text("utf-8"), Loader=yaml.BaseLoader)
]
KEYS = {"days": "when", "first": "from", "last": "until", "zone": "time-zone"}
NOW = ("--now", "2026-11-28")
OF_FIELDS = {"days": "Days or dates", "times": "Times", "zone": "Time zone"}


def answered(fields: dict[str, str]) -> str:
    """Return the text of the form with these answers; all others but the course and the class are empty."""
    given = {KEYS.get(key, key): text for key, text in fields.items()}
    usual = {**dict.fromkeys(FORM, "_No response_"), "title": ANSWERS["title"], "class": "small"}
    return part_text(**{**usual, **given})


@pytest.mark.parametrize(
    "case", [case for case in CASES if "means" in case], ids=lambda case: case["fields"]["times"]
)
def test_an_unambiguous_answer_is_read_and_repeated_in_the_output(ask: Asking, case: dict[str, Any]) -> None:
    text, means = answered(case["fields"]), case["means"]
    printed, told = ask(text, words=NOW), ask(text, words=(*NOW, "-o", "markdown"))
    assert (printed.code, printed.err) == (0, "")

    spec = yaml.load(printed.out, Loader=yaml.BaseLoader)["spec"]
    (entry,) = spec["recurrence"]["schedule"]
    days = entry.get("daysOfWeek", [entry.get("dayOfWeek")])
    understood = {
        "start": entry["startTime"],
        "end": entry["endTime"],
        "seats": spec["provisioning"]["placeholderCount"],
        "zone": spec["recurrence"]["timeZone"],
        "weekdays": days,
        "date": spec["recurrence"].get("dates", [""])[0],  # the first
        "last": spec["recurrence"].get("endDate"),
    }
    assert means.items() <= understood.items()
    first = told.out.split("```")[1].splitlines()[1]
    assert f"{understood['start']}-{understood['end']}  {understood['seats']} small" in first
    assert f"in the time zone {understood['zone']}:" in told.out.replace("\\", "")


@pytest.mark.parametrize(
    "case", [case for case in CASES if "asks" in case], ids=lambda case: case["fields"]["times"]
)
def test_an_ambiguous_or_unreadable_answer_is_reported_at_its_heading(
    ask: Asking, case: dict[str, Any]
) -> None:
    answer = ask(answered(case["fields"]), words=NOW)

    assert (answer.code, answer.out) == (1, "")
    assert [heading for _, _, heading in FINDING.findall(answer.err)] == [OF_FIELDS[case["asks"]]]


@tabled("edit")
def test_whole_requests_are_read(file: str, first: str, zone: str, ask: Asking) -> None:
    told = ask((WORLD / file).read_text("utf-8"), words=("--now", "2026-01-10", "-o", "markdown"))

    assert told.out.split("```")[1].splitlines()[1] == first
    assert f"time zone {zone}:" in told.out.replace("\\", "")


def test_est_in_summer_gets_the_finding_b021_with_both_readings(ask: Asking) -> None:
    answer = ask((WORLD / "summer-est.md").read_text("utf-8"), words=("--now", "2026-01-10"))

    assert [finding[1:] for finding in FINDING.findall(answer.err)] == [("B021", "Time zone")]
    assert "Write America/New_York, or Etc/GMT+5 for EST all year." in answer.err
