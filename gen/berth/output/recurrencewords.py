"""Say when a recurrence repeats: in a cell of a table, and as JSON."""

from berth.dates.zone import clock_text
from berth.notation.weekdays import WEEKDAYS, WEEKS
from berth.schema.values import Entry, Recurrence

_WEEKS = {weeks: f" in {name} weeks" for name, weeks in WEEKS.items()}


def recurrence_text(recurrence: Recurrence) -> str:
    """Return `Mon, Thu 09:00-11:00`, or nothing where there are no windows."""
    if recurrence.type == "standing":
        return ""
    if recurrence.type == "capacity":
        return f"as {recurrence.capacity}"
    often = {
        "dates": "listed",
        "weekly": "" if recurrence.interval == 1 else f"every {recurrence.interval} weeks",
    }
    head = often.get(recurrence.type, recurrence.type)
    lines = dict.fromkeys(" ".join(filter(None, (head, _line(entry)))) for entry in recurrence.schedule)
    return "; ".join(lines)


def _line(entry: Entry) -> str:
    days = ", ".join(WEEKDAYS[day - 1].title() for day in entry.days)
    which = _WEEKS.get(entry.dates.weeks, " in some weeks" if entry.dates.weeks else "")
    which += " once a month" if entry.dates.nth else ""
    return f"{days} {clock_text(entry.start)}-{clock_text(entry.end)}{which}".strip()


def recurrence_json(recurrence: Recurrence) -> dict[str, str | None]:
    """Return the type, the first and the last date, and the days and times in words."""
    first, last = (None if day is None else str(day) for day in (recurrence.first, recurrence.last))
    return {
        "type": recurrence.type,
        "startDate": first,
        "endDate": last,
        "timeZone": recurrence.zone,
        "times": recurrence_text(recurrence),
    }
