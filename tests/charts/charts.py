"""Charts with little to say, for the tests of those who draw them."""

from berth.charts.drawing import ChartLine, LinePanel, TimeAxis
from berth.dates.moments import named, read

UTC = named("UTC")


def instant(text: str, zone: str = "UTC") -> int:
    found = read(text if " " in text else f"2026-02-02 {text}", named(zone))
    assert found is not None, text
    return found


def span(opens: str, start: str, end: str, zone: str = "UTC") -> TimeAxis:
    return TimeAxis(instant(opens, zone), instant(start, zone), instant(end, zone), named(zone))


def line(name: str, *points: str) -> ChartLine:
    """`08:30=25`, in UTC."""
    pairs = [point.split("=") for point in points]
    return ChartLine(name, tuple((instant(at), int(value)) for at, value in pairs))


MORNING = span("08:30", "09:00", "13:00")
TARGET = line("target", "08:30=25", "08:55=15", "09:20=7", "11:00=7", "11:00:30=10", "13:00=0")
SESSIONS = line("sessions", "08:30=0", "08:55=10", "09:20=18", "11:00=15")
ALONE = LinePanel("25 small in prod, maintain", 25, (SESSIONS, TARGET))
COMPARED = LinePanel(
    "25 small in prod",
    25,
    (
        SESSIONS,
        line("none", "08:30=25", "13:00=0"),
        line("reduce", "08:30=25", "08:55=15", "09:20=6", "10:30=4", "11:00:30=5", "12:00=2", "13:00=0"),
        TARGET._replace(name="maintain"),
    ),
)
