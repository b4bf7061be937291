"""Bars say what they are about, by themselves: no script, no font, no page needed."""

from xml.etree import ElementTree

import pytest
from berth.charts.barchart import BarLayer, BarPanel, bar_chart

NAMESPACE = "{http://www.w3.org/2000/svg}"
SEATS = BarPanel("Most seats", (BarLayer("seats", (100.0, 0.0, 134.0)),))
MACHINES = BarPanel(
    "Most machines",
    (
        BarLayer("reserved", (4.0, 0.0, 2.0)),
        BarLayer("on-demand", (2.0, 0.0, 6.0)),
        BarLayer("spot", (0.0,) * 3),
    ),
)
BINS = ("02-02", "02-09", "02-16")


def parsed(*panels: BarPanel, title: str = "uni", bins: tuple[str, ...] = BINS) -> ElementTree.Element:
    return ElementTree.fromstring(bar_chart(title, "a term", panels, bins))


def rects(tree: ElementTree.Element, style: str) -> list[tuple[float, ...]]:
    keys = ("x", "y", "width", "height")
    return [
        tuple(float(one.get(key, "")) for key in keys)
        for one in tree.iter(f"{NAMESPACE}rect")
        if one.get("class") == style and one.get("width") != "10"
    ]


def texts(tree: ElementTree.Element, style: str) -> list[str]:
    return [one.text or "" for one in tree.iter(f"{NAMESPACE}text") if one.get("class") == style]


def test_bars_stand_where_their_values_are() -> None:
    """Three bins share 658; the axis ends at 150, which is 150 high; the floor is at 268."""
    assert rects(parsed(SEATS), "seats") == [(81, 168, 213.33, 100), (519.67, 134, 213.33, 134)]


def test_layers_stand_on_each_other_and_nothing_is_drawn_of_nothing() -> None:
    tree = parsed(MACHINES)

    assert rects(tree, "reserved") == [(81, 193, 213.33, 75), (519.67, 230.5, 213.33, 37.5)]
    assert rects(tree, "on-demand") == [(81, 155.5, 213.33, 37.5), (519.67, 118, 213.33, 112.5)]
    assert rects(tree, "spot") == []


def test_axes_have_round_numbers_and_bins_their_names() -> None:
    tree = parsed(SEATS, MACHINES)

    assert texts(tree, "faint left") == ["0", "50", "100", "150", "0", "2", "4", "6", "8"]
    assert texts(tree, "faint middle") == [*BINS, *BINS]
    assert texts(tree, "heading") == ["Most seats", "Most machines"]


def test_only_layers_that_show_are_explained() -> None:
    assert texts(parsed(MACHINES), "faint") == ["a term", "on-demand", "reserved"]
    assert texts(parsed(SEATS), "faint") == ["a term"]


def test_of_many_bins_every_so_many_has_its_name() -> None:
    many = tuple(f"{n:02}" for n in range(53))
    tree = parsed(BarPanel("x", (BarLayer("seats", (1.0,) * 53),)), bins=many)

    assert texts(tree, "faint middle") == [f"{n:02}" for n in range(0, 53, 5)]


def test_it_can_be_read_aloud() -> None:
    tree = parsed(SEATS, MACHINES, BarPanel("Dollars", (BarLayer("spot", (0.0, 0.0, 0.0)),)))

    assert tree.get("role") == "img"
    assert [(one.get("id"), one.text) for one in list(tree)[:2]] == [
        ("title", "uni"),
        (
            "desc",
            "a term. Most seats: most in 02-16, 134 seats. "
            "Most machines: most in 02-16, 2 reserved, 6 on-demand. Dollars: nothing.",
        ),
    ]


@pytest.mark.parametrize("bins", [(), ("02-02",)], ids=["nothing", "one"])
def test_there_may_be_little_to_show(bins: tuple[str, ...]) -> None:
    tree = parsed(BarPanel("x", (BarLayer("seats", (0.0,) * len(bins)),)), bins=bins)

    assert texts(tree, "faint left") == ["0", "1"]


def test_titles_are_text_whatever_they_hold() -> None:
    tree = parsed(SEATS, title='</text><script>"&\u202e')

    assert texts(tree, "title") == ['</text><script>"&\\u202e']
