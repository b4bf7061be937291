"""The example of CODEOWNERS gives lecturers their own files, and no file that all share."""

import re

import pytest

from tests.console import ROOT

LINES = (ROOT / "docs/examples/CODEOWNERS").read_text("utf-8").splitlines()
RULES = [line.split() for line in LINES if line and not line.startswith("#")]
PLATFORM = ["@example-university/platform"]


def owners(path: str) -> list[str]:
    """Return who owns a path by the last rule that matches: those of the example are plain."""
    found: list[str] = []
    for pattern, *names in RULES:
        is_rooted = pattern.startswith("/")
        rule = re.escape(pattern.strip("/")) + (r"/.+" if pattern.endswith("/") else r"")
        if pattern == "*" or re.fullmatch(rule if is_rooted else rf"(.*/)?{rule}", path):
            found = names
    return found


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *((f"reservations/{name}.yaml", PLATFORM) for name in ("site", "classes", "new", "deep/new")),
        *((f"{top}.gitattributes", PLATFORM) for top in ("", "rendered/gitops/", "reservations/physics/")),
        *((name, PLATFORM) for name in (".github/workflows/x.yaml", "rendered/README.md", "rendered/x.yaml")),
        *(
            (name, PLATFORM)
            for name in (".gitmodules", "rendered/gitops/.sourceignore", ".github/berth/a.whl")
        ),
        ("reservations/physics/lab.yaml", ["@example-university/physics"]),
        ("rendered/clusters/prod/base.yaml", []),
        ("rendered/gitops/argocd/prod.yaml", []),
    ],
)
def test_the_codeowners_example_delegates_only_reservations_and_output(
    path: str, expected: list[str]
) -> None:
    assert owners(path) == expected
