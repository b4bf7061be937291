"""A chart in characters is what it shows: whole charts are compared."""

import pytest
from berth.charts.drawing import ChartLine, LinePanel
from berth.charts.terminal import TerminalStyle, draw
from berth.output.table import width
from hypothesis import given
from hypothesis import strategies as st

from tests.charts.charts import ALONE, COMPARED, MORNING, line, span

BOXES = """\
25 ┤━━━┓┊
   │   ┃┊
   │   ┃┊
20 ┤   ┃┊
   │   ┃┊  ╭┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈╮
   │   ┗━━━┓               ╰┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈ sessions 15
   │    ┊  ┃
   │    ┊  ┃
10 ┤   ╭┈┈┈┃               ┏━━━━━━━━━━━━━━━━━━━┓ target 10
   │   ┊┊  ┗━━━━━━━━━━━━━━━┛                   ┃
   │   ┊┊                                      ┃
   │   ┊┊                                      ┃
   │   ┊┊                                      ┃
 0 ┤┈┈┈╯┊                                      ╹
   └────┬─────────┬────────┬─────────┬─────────┬
      09:00     10:00    11:00     12:00     13:00
     starts                                  ends
"""
TYPED = """\
25 |####:
   |   #:
   |   #:
20 |   #:
   |   #:  .................
   |   #####               ..................... sessions 15
   |    :  #
   |    :  #
10 |   ....#               ##################### target 10
   |   .:  #################                   #
   |   .:                                      #
   |   .:                                      #
   |   .:                                      #
 0 |....:                                      #
   +----+---------+--------+---------+---------+
      09:00     10:00    11:00     12:00     13:00
     starts                                  ends
"""
THREE = """\
25 ┤━━━━━┓─────────────────────────────────────────────────╮ none 25
   │     ┃┊                                                │
   │     ┃┊                                                │
20 ┤     ┃┊                                                │
   │     ┃┊   ╭┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈╮                        │
   │     ┗━━━━┓                   ╰┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│ sessions 15
   │      ┊   ┃                                            │
   │      ┊   ┃                                            │
10 ┤     ╭┈┈┈┈┃                   ┏━━━━━━━━━━━━━━━━━━━━━━━━┓ maintain 10
   │     ┊┊   ┗━━━━━━━━━━━━━━━━━━━┛                        ┃
   │     ┊┊   ╚═════════════╗     ╔═══════════╗            ┃
   │     ┊┊                 ╚═════╝           ║            ┃
   │     ┊┊                                   ╚════════════┃ reduce 2
 0 ┤┈┈┈┈┈╯┊                                                ╹
   └──────┬───────────┬───────────┬───────────┬────────────┬
        09:00       10:00       11:00       12:00        13:00
       starts                                            ends
"""
SMALL = """\
3 ┤━━━━━━━┓
  │  ┊    ┃
2 ┤  ┊    ┃
  │  ┊    ┃
1 ┤  ┊    ┗━━━━━━━━━━━━━━━┓ target 1
  │  ┊                    ┃
0 ┤  ┊                    ╹
  └───────┬─────────┬──────
        10:00     12:00
  starts                ends
"""
SPIKE = """\
    │╷  ┊
300 ┤━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┓ target 300
    │┊  ┊                             ┃
200 ┤┊  ┊                             ┃
    │┊  ┊                             ┃
100 ┤┊  ┊                             ┃
    │┊  ┊                             ╹
  0 ┤┴┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈ sessions 0
    └───────────┬─────────────┬────────
              10:00         12:00
     starts                         ends
"""


@pytest.mark.parametrize(
    ("panel", "look", "expected"),
    [
        (ALONE, TerminalStyle(60), BOXES),
        (ALONE, TerminalStyle(60, boxes=False), TYPED),
        (COMPARED, TerminalStyle(72), THREE),
        (LinePanel("", 3, (line("target", "08:30=3", "10:00=1", "13:00=0"),)), TerminalStyle(20), SMALL),
        (
            LinePanel(
                "",
                300,
                (
                    line("sessions", "08:30=0", "08:31=330", "08:32=0"),
                    line("target", "08:30=300", "13:00=40"),
                ),
            ),
            TerminalStyle(50),
            SPIKE,
        ),
    ],
    ids=["alone", "ascii", "compared", "few-seats-and-no-room", "more-than-once-in-a-column"],
)
def test_a_whole_chart(panel: LinePanel, look: TerminalStyle, expected: str) -> None:
    assert draw(panel, MORNING, look) == expected


def test_plain_characters_are_enough() -> None:
    assert draw(COMPARED, MORNING, TerminalStyle(80, boxes=False)).isascii()


def test_colours_change_nothing_but_colours() -> None:
    coloured = draw(COMPARED, MORNING, TerminalStyle(72, color=True))
    plain = "".join(part.partition("m")[2] for part in f"m{coloured}".split("\x1b["))

    assert "\x1b" not in THREE
    assert plain == THREE
    assert coloured.splitlines()[0] == (
        "25 \x1b[90m┤\x1b[36m━━━━━┓\x1b[33m─────────────────────────────────────────────────╮ none 25\x1b[0m"
    )


@given(st.integers(1, 3000), st.lists(st.integers(0, 3000), min_size=1, max_size=30), st.integers(1, 200))
def test_any_values_fit_into_any_width(seats: int, values: list[int], columns: int) -> None:
    points = tuple((MORNING.open + 540 * place, value) for place, value in enumerate(values))
    chart = draw(LinePanel("", seats, (ChartLine("target", points),)), MORNING, TerminalStyle(columns))

    lines = chart.splitlines()
    assert 8 < len(lines) <= 20
    assert max(map(width, lines)) <= max(columns, 48)
    assert f" target {values[-1]}" in chart


def test_a_single_seat_of_many_does_not_look_like_none() -> None:
    chart = draw(
        LinePanel("", 300, (line("target", "08:30=300", "09:00=1"),)), MORNING, TerminalStyle(60)
    ).splitlines()

    assert "target 1" in chart[-5]
    assert chart[-4].startswith("  0 ┤")
    assert "━" not in chart[-4]


def test_the_end_of_a_window_that_others_outlast_is_no_fall() -> None:
    other = LinePanel("", 10, (line("target", "08:30=5", "13:00=5"),))

    assert "━━━ target 5\n" in draw(other, MORNING, TerminalStyle(60))
    assert "━━┓ target 5\n" in draw(
        other._replace(lines=(line("target", "08:30=5", "13:00=0"),)), MORNING, TerminalStyle(60)
    )


def test_a_window_without_lead_has_no_opening() -> None:
    chart = draw(
        LinePanel("", 1, (line("target", "09:00=1", "13:00=0"),)),
        span("09:00", "09:00", "13:00"),
        TerminalStyle(60),
    )

    assert chart.splitlines()[-1].split() == ["starts", "ends"]
