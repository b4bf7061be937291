"""How findings are told."""

import pytest
from berth.findings import ERROR, NOTE, WARNING, Finding, in_order
from berth.output import findinglist
from berth.output.answers import serialize

ONE = Finding(
    "reservations/ml.yaml",
    23,
    17,
    "B012",
    ERROR,
    "spec.provisioning.placeholderCount",
    "-3 is below 1.",
    "Write a whole number from 1 up.",
)
TWO = Finding("reservations/a,b: 100%.yaml", 1, 1, "B007", WARNING, "", "one\ntwo.", "Mend it.")


def test_text_tells_place_code_path_message_and_remedy_and_counts() -> None:
    assert findinglist.text([ONE, TWO, TWO], color=False) == (
        "reservations/ml.yaml:23:17: error[B012] spec.provisioning.placeholderCount: -3 is below 1. "
        "Write a whole number from 1 up.\n"
        "reservations/a,b: 100%.yaml:1:1: warning[B007] one\\ntwo. Mend it.\n"
        "reservations/a,b: 100%.yaml:1:1: warning[B007] one\\ntwo. Mend it.\n"
        "1 error, 2 warnings.\n"
    )


def test_colour_marks_place_and_severity() -> None:
    assert findinglist.text([ONE._replace(path="")], color=True).startswith(
        "\x1b[1mreservations/ml.yaml:23:17:\x1b[0m \x1b[31merror[B012]\x1b[0m -3 is below 1."
    )


def test_github_gets_one_command_a_finding_and_nothing_breaks_out_of_it() -> None:
    assert findinglist.github([ONE, TWO._replace(severity=NOTE)]) == (
        "::error file=reservations/ml.yaml,line=23,col=17,title=B012::spec.provisioning.placeholderCount: "
        "-3 is below 1. Write a whole number from 1 up.\n"
        "::notice file=reservations/a%2Cb%3A 100%25.yaml,line=1,col=1,title=B007::one\\ntwo. Mend it.\n"
    )


def test_findings_are_told_once_and_in_the_order_of_the_files() -> None:
    later = ONE._replace(line=24, column=1)

    assert in_order([later, TWO, ONE, later]) == [TWO, ONE, later]


def test_github_is_told_where_files_lie_below_the_repository() -> None:
    assert findinglist.github([ONE], "capacity").startswith(
        "::error file=capacity/reservations/ml.yaml,line=23,"
    )


HOSTILE = "a\n::set-env name=X::\x1b[2J\u202e.yaml"


@pytest.mark.parametrize("form", ["text", "github", "csv"])
def test_names_of_files_do_nothing_to_a_log_or_a_terminal(form: str) -> None:
    found = ONE._replace(file=HOSTILE, message=f"{HOSTILE} is wrong.")
    shown = {
        "text": lambda: findinglist.text([found], color=False),
        "github": lambda: findinglist.github([found]),
        "csv": lambda: serialize(findinglist.as_answer([found]), "csv"),
    }[form]()

    assert not {"\x1b", "\u202e"} & {*shown}
    assert [line for line in shown.splitlines() if line.startswith("::set-env")] == []
    assert len(shown.splitlines()) == {"text": 2, "github": 1, "csv": 2}[form]
