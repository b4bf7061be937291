"""A change as a comment: it stays below its limit, everything in it is closed, and no text becomes markup."""

import re
from random import Random

import pytest
from berth.dates.expansion import Occurrence
from berth.diff.change import (
    Change,
    ChangeWarning,
    FieldChange,
    OccurrenceChanges,
    PeakChange,
    ReservationChange,
    SideSummary,
)
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.markdown import LIMIT, as_markdown
from berth.diff.permissions import Permission
from berth.output.escape import in_markdown

from tests.awkward import AWKWARD
from tests.cases import tabled
from tests.diff.conftest import Pair
from tests.seeds import seeds

HOSTILE = (
    "@everyone",
    "closes #12",
    "</details><script>alert(1)</script>",
    "```\n````",
    "| a | b |",
    "[x](https://evil.example)",
    "https://evil.example www.evil.example",
    "![](http://x)",
    "<!-- marker -->",
    "**bold** _it_ ~~no~~",
    "\u202e\x1b[31m",
    "GH-12 !34 &5 $6 %7",
)


def reservation(random: Random, number: int) -> ReservationChange:
    title = random.choice((*HOSTILE, *AWKWARD))
    dates = tuple(
        Occurrence(
            f"r{number}",
            f"r{number}/{n}",
            at,
            at + 1800,
            at + 9000,
            (("small", n + 1),),
            "UTC",
            (),
            "2026-02-02",
        )
        for n in range(random.randrange(6))
        for at in (1770000000 + n * 86400 * 7,)
    )
    fields = (FieldChange("title", random.choice(HOSTILE), title),)
    kind = random.choice(("added", "removed", "changed"))
    return ReservationChange(
        f"r{number}",
        f"r{number}",
        kind,
        title,
        "UTC",
        ("prod",),
        fields,
        OccurrenceChanges(dates, (), (), 3),
        (0, 36000),
    )


def change(reservations: int, seed: int = 1) -> Change:
    random = Random(seed)
    names = range(reservations)
    text = "metadata:\n  name: x\n" + "".join(f"  line{n}: {random.choice(HOSTILE)!r}\n" for n in range(40))
    return Change(
        SideSummary("main (1234567)", (), True),
        SideSummary("working tree", (), True),
        tuple(reservation(random, n) for n in names),
        tuple(
            PeakChange("prod", f"seats of c{n}", "", "1", "2", 1770000000, (("r1", "2"),), "")
            for n in names[:60]
        ),
        tuple(ChangeWarning("soon", f"r{n}", random.choice(HOSTILE)) for n in names),
        tuple(
            FileChange(
                f"clusters/prod/reservations/r{n}.yaml",
                "changed",
                (ObjectChange("ConfigMap", f"r{n}", "changed", text, text.replace("line1", "line2")),),
            )
            for n in names
        ),
    )


def is_balanced(text: str) -> bool:
    """Every fence is closed by one of its length, and every <details> outside of fences is closed."""
    fence, depth = "", 0
    for line in text.splitlines():
        run = re.match("`{3,}", line)
        if fence:
            if line == fence:
                fence = ""
        elif run:
            fence = run.group()
        else:
            depth += line.count("<details>") - line.count("</details>")
            if depth < 0:
                return False
    return not fence and not depth


@pytest.mark.parametrize("reservations", [0, 1, 5, 40, 200, 1000])
@pytest.mark.parametrize("limit", [1000, 5000, LIMIT])
def test_a_comment_has_balanced_markup_and_stays_within_its_limit(reservations: int, limit: int) -> None:
    text = as_markdown(change(reservations, seed=reservations + limit), "UTC", limit)
    assert len(text) <= limit
    assert is_balanced(text)


def test_a_shortened_comment_says_that_it_is_shortened() -> None:
    text = as_markdown(change(1000), "UTC")
    assert re.search(r"and \d+ more reservations\n", text)
    assert text.endswith("Shortened to fit into a comment. For everything, run `berth diff -o wide`.\n")
    assert "Shortened" not in as_markdown(change(3), "UTC")


def test_a_long_comment_drops_manifests_then_details_but_no_permission() -> None:
    permission = Permission("clusters/prod/base.yaml", "Role", "sweep", "berth", ("get secrets",))
    one = change(60)._replace(permissions=(permission,))
    whole, cut, brief = (as_markdown(one, "UTC", limit) for limit in (10**9, LIMIT, 6000))
    for text, has_manifests, has_details, files in (
        (whole, True, True, 60),
        (cut, False, True, 50),
        (brief, False, False, 10),
    ):
        assert text.startswith("### Berth: new permissions in berth; ")
        assert "- berth: Role sweep grants get secrets\n" in text
        assert ("```diff" in text, "seat-hours" in text) == (has_manifests, has_details)
        assert len(re.findall(r"/r\d+\.yaml", text)) == files
        assert ("Shortened" in text) == (text != whole)


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_texts_of_authors_never_become_markup(seed: int) -> None:
    text = as_markdown(change(30, seed), "UTC", 10**9)
    outside = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "<script" not in outside
    assert "<!--" not in outside
    assert not re.search(r"[@#]\w", outside.replace("&#", ""))
    assert "://" not in outside
    assert not re.search(r"(?<!\\)[\[\]|*_]", outside.replace("**", ""))


@tabled("diff")
def test_special_characters_are_escaped(said: str, shown: str) -> None:
    assert in_markdown(said) == shown


def test_no_line_begins_with_a_quick_action() -> None:
    """GitLab would carry out a comment's line `/close`."""
    one = reservation(Random(1), 1)._replace(
        title="/close", fields=(FieldChange("title", "/approve", "/merge"),)
    )
    text = as_markdown(
        change(0)._replace(reservations=(one,), warnings=(ChangeWarning("x", "", "/close"),)), "UTC"
    )
    assert text.count("/close") == 2
    assert not [line for line in text.splitlines() if line.lstrip().startswith("/")]


def test_a_summary_tag_contains_no_backslash(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    text = pair.diff("-o", "markdown").out
    assert "<details><summary>ConfigMap course (+2 -2)</summary>\n\n```diff\n" in text


def test_a_small_change_is_shown_completely(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    told = pair.diff("-o", "markdown").out
    assert told.startswith(
        "### Berth: 1 reservation changed; peak seats of small in prod 25 \u2192 30; 1 warning\n"
    )
    assert told.count("<details>") == told.count("</details>") == 2
    assert '+      {"id": "course/2026-02-02T09:00", ' in told
