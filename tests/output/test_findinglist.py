"""How findings are told."""

from berth.findings import ERROR, NOTE, WARNING, Finding
from berth.output import findinglist

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


def test_text_shows_place_code_path_message_fix_and_counts() -> None:
    assert findinglist.text([ONE, TWO, TWO], color=False) == (
        "reservations/ml.yaml:23:17: error[B012] spec.provisioning.placeholderCount: -3 is below 1. "
        "Write a whole number from 1 up.\n"
        "reservations/a,b: 100%.yaml:1:1: warning[B007] one\\ntwo. Mend it.\n"
        "reservations/a,b: 100%.yaml:1:1: warning[B007] one\\ntwo. Mend it.\n"
        "1 error, 2 warnings.\n"
    )


def test_github_output_has_one_escaped_command_for_each_finding() -> None:
    assert findinglist.github([ONE, TWO._replace(severity=NOTE)]) == (
        "::error file=reservations/ml.yaml,line=23,col=17,title=B012::spec.provisioning.placeholderCount: "
        "-3 is below 1. Write a whole number from 1 up.\n"
        "::notice file=reservations/a%2Cb%3A 100%25.yaml,line=1,col=1,title=B007::one\\ntwo. Mend it.\n"
    )
