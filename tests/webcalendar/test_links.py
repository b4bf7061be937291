"""The address of a file, from each form in which a site may name its repository."""

import pytest
from berth.schema.site import RepositorySpec
from berth.webcalendar.forgelinks import FORMS, IssueFormLink, edit_url, file_url, issue_form_link

from tests.built import built
from tests.cases import tabled

FILE = "reservations/ai/deep learning.yaml"


def repository(url: str, revision: str = "main", path: str = ".") -> RepositorySpec:
    return built(RepositorySpec, {"url": url, "revision": revision, "path": path})


@tabled("webcalendar")
def test_a_repository_on_a_web_server_has_pages_of_its_files(url: str, expected: str) -> None:
    found = file_url(repository(url), FILE)

    assert found == f"{expected}reservations/ai/deep%20learning.yaml"


@pytest.mark.parametrize("url", ["oci://ghcr.io/uni/seats", "file:///srv/git/seats.git", "/srv/git/x:y"])
def test_a_repository_without_a_web_server_has_no_file_address(url: str) -> None:
    assert file_url(repository(url), FILE) == ""


def test_a_site_without_a_repository_has_no_file_address() -> None:
    assert file_url(None, FILE) == ""


def test_a_project_may_be_in_a_folder_and_on_another_branch() -> None:
    found = file_url(
        repository("https://github.com/uni/it", "release/2026", "./clusters/"), "reservations/a.yaml"
    )

    assert found == "https://github.com/uni/it/blob/release/2026/clusters/reservations/a.yaml"


@tabled("webcalendar")
def test_a_known_forge_has_an_editor_of_a_file(url: str, expected: str) -> None:
    assert edit_url(repository(url), FILE) == f"{expected}reservations/ai/deep%20learning.yaml"


@tabled("webcalendar")
def test_only_a_branch_has_an_edit_address(url: str, revision: str, expected: str) -> None:
    assert edit_url(repository(url, revision), "a.yaml") == expected


@pytest.mark.parametrize("url", ["https://git.example.org/github/gitlab.git", "/srv/git/x:y"])
def test_a_forge_that_is_not_known_has_no_editor_and_no_form(url: str) -> None:
    assert edit_url(repository(url), FILE) == ""
    assert issue_form_link(repository(url), frozenset(FORMS)) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@github.com:uni/x", IssueFormLink("https://github.com/uni/x/issues/new?template=seats.yml", "")),
        (
            "https://gitlab.com/uni/x",
            IssueFormLink("https://gitlab.com/uni/x/-/issues/new?issuable_template=Seats", None),
        ),
        (
            "https://codeberg.org/uni/x",
            IssueFormLink(
                "https://codeberg.org/uni/x/issues/new?template=.github%2FISSUE_TEMPLATE%2Fseats.yml",
                "field:",
            ),
        ),
    ],
    ids=["github", "gitlab", "gitea"],
)
def test_an_existing_form_has_an_address(url: str, expected: IssueFormLink) -> None:
    assert issue_form_link(repository(url), frozenset(FORMS)) == expected
    assert issue_form_link(repository(url), frozenset()) is None
