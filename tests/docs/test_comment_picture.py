"""docs/img/comment.svg shows the comment that `berth diff -o markdown` writes for such a change."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from tests.console import ROOT
from tests.pages import checkout, followed

PICTURE = ROOT / "docs/img/comment.svg"
SVG = "{http://www.w3.org/2000/svg}"
CHANGE = """\
```console
$ berth move data-science-101 2027-02-15 --to "2027-02-16 10:00-14:00"
$ berth set data-science-101 --on 2027-03-08 --seats 120
$ berth render
$ berth diff --now 2027-02-14T18:00:00Z -o markdown
```
"""


def plain(markdown: str) -> str:
    """Return the text that a reader sees before unfolding the manifests."""
    visible = markdown.partition("</summary>")[0].replace("<details><summary>", "")
    unmarked = re.sub(r"^(?:#+|-) |\*\*|`", "", visible, flags=re.M)
    return " ".join(re.sub(r"\\(.)", r"\1", unmarked).split())


def test_the_picture_shows_the_comment_that_diff_prints(tmp_path: Path) -> None:
    *_, (_, comment) = followed(CHANGE, checkout(tmp_path))
    drawn = ET.parse(PICTURE).getroot().findall(f"{SVG}text")  # the name of the author is in a group

    assert " ".join(text.text or "" for text in drawn) == plain(comment)
