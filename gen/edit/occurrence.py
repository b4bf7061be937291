"""Edits of single occurrences: leave one out, move it, let it last longer. Pure.

Each works on the spec of a reservation as it stands in a file. An occurrence that stands in `extra` is edited
there; one of the schedule gets a line in `except` or `moved`, or has its line changed.
"""

from typing import Any, NamedTuple

from gen.edit.roundtrip import EditError, Make


class Which(NamedTuple):
    """The date of the original start, and the time where a date has several."""

    day: str
    start: str | None


class To(NamedTuple):
    """What changes; None stays as it is."""

    day: str | None = None
    start: str | None = None
    end: str | None = None


def skip(spec: Any, which: Which, make: Make) -> None:
    """Raises EditError where no occurrence can be edited. So does `move`."""
    recurrence = _recurrence(spec)
    extra = _line(recurrence, "extra", which)
    if extra is not None:
        _remove(recurrence, "extra", extra)
        return
    moved = _line(recurrence, "moved", which)
    if moved is not None:
        _remove(recurrence, "moved", moved)
    line = which.day if which.start is None else {"date": which.day, "startTime": which.start}
    _add(recurrence, "except", line, make)


def move(spec: Any, which: Which, to: To, make: Make) -> None:
    recurrence = _recurrence(spec)
    extra = _line(recurrence, "extra", which)
    if extra is not None:
        _set_extra(extra, to, make)
        return
    moved = _line(recurrence, "moved", which)
    if moved is not None:
        for key, value in _said(to).items():
            moved["to"][key] = make(value)
        return
    line: dict[str, Any] = {"date": which.day}
    if which.start is not None:
        line["startTime"] = which.start
    _add(recurrence, "moved", {**line, "to": _said(to)}, make)


def _recurrence(spec: Any) -> Any:
    if spec.get("recurrence") is None:
        raise EditError("its seats stand always: it has no dates")
    return spec["recurrence"]


def _said(to: To) -> dict[str, str]:
    named = {"date": to.day, "startTime": to.start, "endTime": to.end}
    return {key: value for key, value in named.items() if value is not None}


def _set_extra(line: Any, to: To, make: Make) -> None:
    if to.start is not None and to.end is None:
        raise EditError("an extra occurrence that starts at another time needs its end too: --to ...-HH:MM")
    for key, value in _said(to).items():
        line[key] = make(value)


def _line(recurrence: Any, key: str, which: Which) -> Any:
    """The line of this occurrence in a list, or None."""
    for line in recurrence.get(key) or ():
        if str(line["date"]) == which.day and which.start in (None, line.get("startTime")):
            return line
    return None


def _add(recurrence: Any, key: str, line: Any, make: Make) -> None:
    found = recurrence.get(key)
    if found is None:
        recurrence[key] = make([line])
    else:
        found.append(make(line))


def _remove(recurrence: Any, key: str, line: Any) -> None:
    found = recurrence[key]
    found.remove(line)
    if not found:
        del recurrence[key]
