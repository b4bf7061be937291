"""The picture says what the chart says, by itself: no script, no font, no page needed."""

import re
from xml.etree import ElementTree

from berth.charts.drawing import LinePanel
from berth.charts.linechart import line_chart
from hypothesis import given
from hypothesis import strategies as st

from tests.charts.charts import ALONE, COMPARED, MORNING, line, span

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parsed(*panels: LinePanel, title: str = "Course", subtitle: str = "course/1, Mon") -> ElementTree.Element:
    return ElementTree.fromstring(line_chart(title, subtitle, panels, MORNING))


def texts(tree: ElementTree.Element, style: str) -> list[str]:
    return [one.text or "" for one in tree.iter(f"{NAMESPACE}text") if one.get("class") == style]


def paths(tree: ElementTree.Element, style: str) -> list[str]:
    return [one.get("d", "") for one in tree.iter(f"{NAMESPACE}path") if one.get("class") == style]


def test_lines_are_steps_and_stand_where_their_values_are() -> None:
    """Along, then up or down; never a slope. 25 seats are 240 high, 270 minutes 582 wide."""
    tree = parsed(COMPARED)

    assert paths(tree, "line maintain") == ["M60 122H113.89V218H167.78V294.8H384.41V266H642V362H642"]
    assert paths(tree, "line none") == ["M60 122H642V362H642"]
    for line_ in paths(tree, "line reduce") + paths(tree, "line sessions"):
        assert re.fullmatch(r"M[\d.]+ [\d.]+(H[\d.]+V[\d.]+)*H642", line_)


def test_lead_start_and_end_are_marked() -> None:
    tree = parsed(ALONE)
    (lead,) = (one for one in tree.iter(f"{NAMESPACE}rect") if one.get("class") == "lead")

    assert [lead.get(key) for key in ("x", "y", "width", "height")] == ["60", "122", "64.67", "240"]
    assert [text for text in texts(tree, "faint middle") if text.isalpha()] == ["opens", "starts", "ends"]
    assert paths(tree, "axis")[1:3] == ["M124.67 116V362", "M642 116V362"]


def test_lines_have_their_labels_beside_them() -> None:
    tree = parsed(COMPARED)

    labels = {name: texts(tree, f"label {name}") for name in ("none", "maintain", "reduce", "sessions")}
    assert labels == {
        "none": ["none 25"],
        "maintain": ["maintain 10"],
        "reduce": ["reduce 2"],
        "sessions": ["sessions 15"],
    }
    assert texts(parsed(ALONE), "label target") == ["target 10"]


def test_it_can_be_read_aloud() -> None:
    tree = parsed(ALONE)

    assert tree.get("role") == "img"
    assert tree.get("aria-labelledby") == "title desc"
    assert [(one.tag, one.get("id"), one.text) for one in list(tree)[:2]] == [
        (f"{NAMESPACE}title", "title", "Course"),
        (
            f"{NAMESPACE}desc",
            "desc",
            "course/1, Mon. 25 small in prod, maintain: "
            "sessions: 0 from 08:30, 10 from 08:55, 18 from 09:20, 15 from 11:00. "
            "target: 25 from 08:30, 15 from 08:55, 7 from 09:20, 10 from 11:00, 0 from 13:00.",
        ),
    ]


def test_many_steps_are_not_read_out_one_by_one() -> None:
    points = [f"10:{minute:02}={60 - minute}" for minute in range(60)]
    many = LinePanel("60 small", 60, (line("target", "08:30=60", *points),))

    description = parsed(many)[1].text or ""

    assert description.endswith("52 from 10:08, 51 from 10:09, and so on, 1 from 10:59.")


def test_it_needs_nothing_but_itself_and_is_legible_in_light_and_dark() -> None:
    text = line_chart("Course", "course/1", [COMPARED], MORNING)

    assert re.findall(r"https?:[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    for word in ("<script", "<image", "<use", "@import", "@font-face", "url(", "href", "onload"):
        assert word not in text
    light, dark = text.split("@media (prefers-color-scheme: dark)")
    for style in (".paper", "text ", ".faint", ".lead", ".grid", ".axis", ".maintain.line", ".sessions.line"):
        assert f"\n{style}" in light or f", {style}" in light
        assert style in dark.partition("</style>")[0]


def test_the_same_chart_gives_the_same_bytes() -> None:
    assert line_chart("C", "d", [ALONE, COMPARED], MORNING) == line_chart(
        "C", "d", [ALONE, COMPARED], MORNING
    )


def test_panels_stand_below_each_other_in_a_picture_as_high_as_they_need() -> None:
    one, two = parsed(ALONE), parsed(ALONE, COMPARED)

    assert (one.get("viewBox"), two.get("viewBox")) == ("0 0 760 402", "0 0 760 740")
    assert texts(two, "heading") == ["25 small in prod, maintain", "25 small in prod"]


def test_a_title_is_text_whatever_it_holds_and_keeps_within_the_picture() -> None:
    markup, hidden = parsed(ALONE, title="<b>&\"'</b>"), parsed(ALONE, title="a\x00\x1b[2J\u202e\ud800b")
    long = parsed(ALONE, title="Mathematics " * 20)

    assert texts(markup, "title") == ["<b>&\"'</b>"]
    assert texts(hidden, "title") == ["a\\x00\\x1b[2J\\u202e\\ud800b"]
    assert texts(long, "title") == [("Mathematics " * 20)[:77] + "…"]
    assert long[0].text == "Mathematics " * 20


@given(st.text())
def test_whatever_the_title_it_is_xml(title: str) -> None:
    parsed(ALONE, title=title, subtitle=title)


def test_where_the_lead_is_too_narrow_for_its_word_the_start_stands_alone() -> None:
    where = span("08:55", "09:00", "13:00")
    tree = ElementTree.fromstring(
        line_chart("C", "d", [LinePanel("", 1, (line("target", "08:55=1"),))], where)
    )

    assert [text for text in texts(tree, "faint middle") if text.isalpha()] == ["starts", "ends"]
