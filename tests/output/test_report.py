"""How findings are told."""

import json

import pytest
import yaml
from berth.findings import ERROR, NOTE, WARNING, Finding, in_order
from berth.output import report

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
    assert report.text([ONE, TWO, TWO], color=False) == (
        "reservations/ml.yaml:23:17: error[B012] spec.provisioning.placeholderCount: -3 is below 1. "
        "Write a whole number from 1 up.\n"
        "reservations/a,b: 100%.yaml:1:1: warning[B007] one\\ntwo. Mend it.\n"
        "reservations/a,b: 100%.yaml:1:1: warning[B007] one\\ntwo. Mend it.\n"
        "1 error, 2 warnings.\n"
    )


def test_colour_marks_place_and_severity() -> None:
    assert report.text([ONE._replace(path="")], color=True).startswith(
        "\x1b[1mreservations/ml.yaml:23:17:\x1b[0m \x1b[31merror[B012]\x1b[0m -3 is below 1."
    )


def test_no_findings_are_no_text() -> None:
    assert report.text([], color=True) == ""


def test_github_gets_one_command_a_finding_and_nothing_breaks_out_of_it() -> None:
    assert report.github([ONE, TWO._replace(severity=NOTE)]) == (
        "::error file=reservations/ml.yaml,line=23,col=17,title=B012::spec.provisioning.placeholderCount: "
        "-3 is below 1. Write a whole number from 1 up.\n"
        "::notice file=reservations/a%2Cb%3A 100%25.yaml,line=1,col=1,title=B007::one\\ntwo. Mend it.\n"
    )


def test_json_is_a_finding_list() -> None:
    assert json.loads(report.serialize(report.finding_list([ONE]), "json")) == {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": "FindingList",
        "items": [
            {
                "severity": "error",
                "code": "B012",
                "file": "reservations/ml.yaml",
                "line": 23,
                "column": 17,
                "path": "spec.provisioning.placeholderCount",
                "message": "-3 is below 1.",
                "fix": "Write a whole number from 1 up.",
            }
        ],
    }


def test_findings_are_told_once_and_in_the_order_of_the_files() -> None:
    later = ONE._replace(line=24, column=1)

    assert in_order([later, TWO, ONE, later]) == [TWO, ONE, later]


def test_github_is_told_where_files_lie_below_the_repository() -> None:
    assert report.github([ONE], "capacity").startswith("::error file=capacity/reservations/ml.yaml,line=23,")


ANSWER = report.document(
    "Things",
    {
        "items": [
            {"name": "a, b", "seats": {"small": 2}, "next": None, "suspend": True, "marks": ["gap", "moved"]},
            {"name": "c", "seats": {"gpu": 1, "small": 3}, "next": 1.5, "suspend": False, "marks": []},
            {"name": "d", "seats": {}, "next": {"until": "x"}, "suspend": False, "marks": []},
        ],
        "other": [],
    },
)


def test_yaml_is_the_same_answer_as_json() -> None:
    assert yaml.safe_load(report.serialize(ANSWER, "yaml")) == json.loads(report.serialize(ANSWER, "json"))


def test_csv_has_a_line_for_each_item_and_a_column_for_each_key() -> None:
    assert report.serialize(ANSWER, "csv").splitlines() == [
        "name,seats.small,seats.gpu,next.until,suspend,marks",
        '"a, b",2,,,true,gap moved',
        "c,3,1,,false,",
        "d,,,x,false,",
    ]
    assert report.serialize(report.document("Things", {"items": []}), "csv") == ""


HOSTILE = "a\n::set-env name=X::\x1b[2J\u202e.yaml"


@pytest.mark.parametrize("form", ["text", "github", "csv"])
def test_names_of_files_do_nothing_to_a_log_or_a_terminal(form: str) -> None:
    found = ONE._replace(file=HOSTILE, message=f"{HOSTILE} is wrong.")
    shown = {
        "text": lambda: report.text([found], color=False),
        "github": lambda: report.github([found]),
        "csv": lambda: report.serialize(report.finding_list([found]), "csv"),
    }[form]()

    assert not {"\x1b", "\u202e"} & {*shown}
    assert [line for line in shown.splitlines() if line.startswith("::set-env")] == []
    assert len(shown.splitlines()) == {"text": 2, "github": 1, "csv": 2}[form]
