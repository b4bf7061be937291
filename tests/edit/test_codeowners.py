"""CODEOWNERS: which lines owners become, and which part of a file is ours."""

from typing import Any

import pytest
from berth.edit.codeownerlines import BEGIN, END, code_owners, owner_lines, with_block
from berth.findings import Origin
from berth.notation.refusal import CommandError
from berth.schema.reservation import Reservation
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.saying import lines, read, reservation, resource_class, site

OURS = f"{BEGIN}\n/reservations/a.yaml @ada\n{END}\n"


def owned(file: str, *contacts: str | None, prefix: str = "r") -> list[Reservation]:
    """A reservation in this file for each contact; None has no owner."""
    reservations = []
    for number, contact in enumerate(contacts):
        owner: dict[str, Any] = {} if contact is None else {"name": "A", "contact": contact or None}
        declared = read(reservation(f"{prefix}{number}", owner=owner), site(), resource_class())
        (one,) = declared.reservations
        reservations.append(one._replace(origin=Origin(file, number)))
    return reservations


def lines_of(*some: list[Reservation], others: tuple[str, ...] = (), top: str = "") -> list[str]:
    every = [one for each in some for one in each]
    contacts, problems = code_owners(every, {*others, *(one.origin.file for one in every)})
    assert problems == []
    return owner_lines(contacts, top)


def test_a_file_is_a_line_with_each_contact_once() -> None:
    algebra = owned("reservations/algebra.yaml", "@ada", "@uni/maths", None, "@ada")

    assert lines_of(algebra, others=("reservations/site.yaml",)) == [
        "/reservations/algebra.yaml @ada @uni/maths"
    ]


def test_a_folder_of_one_owner_is_one_line_the_largest_that_there_is() -> None:
    physics = [owned(f"reservations/science/physics/{name}.yaml", "p@uni.example") for name in "ab"]
    biology = owned("reservations/science/biology/c.yaml", "p@uni.example")

    assert lines_of(*physics, biology) == ["/reservations/science/ p@uni.example"]
    others = ("reservations/science/biology/classes.yaml",)
    assert lines_of(*physics, biology, others=others) == [
        "/reservations/science/biology/c.yaml p@uni.example",
        "/reservations/science/physics/ p@uni.example",
    ]


def test_the_top_folder_is_never_a_line_as_new_files_would_belong_to_somebody() -> None:
    assert lines_of(owned("reservations/a.yaml", "@ada")) == ["/reservations/a.yaml @ada"]


def test_paths_begin_at_the_top_of_the_repository_and_keep_their_spaces() -> None:
    life = owned("reservations/life science.yaml", "@ada")

    assert lines_of(life, top="teaching/") == ["/teaching/reservations/life\\ science.yaml @ada"]


@pytest.mark.parametrize(
    ("file", "contact", "problem"),
    [
        ("a.yaml", "", "B235 spec.owner"),
        ("a.yaml", "Room 5", "B235 spec.owner.contact"),
        ("a.yaml", "@", "B235 spec.owner.contact"),
        ("a.yaml", "https://uni.example/@ada", "B235 spec.owner.contact"),
        ("a.yaml", "ada@uni", "B235 spec.owner.contact"),
        ("a#1.yaml", "@ada", "B235 spec.owner"),
        ("[a].yaml", "@ada", "B235 spec.owner"),
    ],
)
def test_what_codeowners_cannot_name_is_told(file: str, contact: str, problem: str) -> None:
    contacts, problems = code_owners(owned(f"reservations/{file}", contact), [f"reservations/{file}"])

    assert lines(problems) == [problem]
    assert owner_lines(contacts, "") == []


@pytest.mark.parametrize("contact", ["@ada", "@ada-l", "@uni/maths", "@uni/maths/algebra", "a.l@uni.example"])
def test_users_teams_and_addresses_are_contacts(contact: str) -> None:
    assert lines_of(owned("reservations/a.yaml", contact)) == [f"/reservations/a.yaml {contact}"]


def test_a_block_is_at_the_end_and_then_stays_where_it_is() -> None:
    assert with_block("", ["/reservations/a.yaml @ada"]) == OURS
    assert with_block("* @uni", ["/reservations/a.yaml @ada"]) == f"* @uni\n\n{OURS}"
    assert (
        with_block(f"* @uni\n{OURS}/docs/ @b\n", ["/x @y"]) == f"* @uni\n{BEGIN}\n/x @y\n{END}\n/docs/ @b\n"
    )
    assert with_block(f"* @uni\n{OURS}/docs/ @b\n", []) == "* @uni\n/docs/ @b\n"
    assert with_block("* @uni\n", []) == "* @uni\n"


@pytest.mark.parametrize("text", [f"{BEGIN}\n", f"{END}\n", f"{END}\n{BEGIN}\n", f"{OURS}{OURS}"])
def test_a_block_that_somebody_broke_is_an_error(text: str) -> None:
    with pytest.raises(CommandError):
        with_block(text, ["/x @y"])


quick = settings(max_examples=200)
texts = st.lists(st.sampled_from(["* @uni", "# a comment", "", "/docs/ @b"])).map("\n".join)
blocks = st.lists(st.sampled_from(["/x @y", "/z/ @a @b"]), max_size=3)


@quick
@given(texts, blocks, blocks)
def test_writing_again_changes_the_block_alone(text: str, first: list[str], second: list[str]) -> None:
    once = with_block(text, first)

    assert with_block(once, first) == once
    if first:
        before, after = once.split(BEGIN)[0], once.split(f"{END}\n")[1]
        again = with_block(once, second)
        assert again.startswith(before)
        assert again.endswith(after)
        assert [line for line in again[len(before) :].splitlines() if line[0] == "/"] == second
