"""How the state of pools is told: a table with findings below it, and JSON. Nothing is decided here."""

from collections.abc import Callable, Sequence

from gen import report, table
from gen.core.instants import instant_text
from gen.dates.moment import local_day, local_text, near_span_text
from gen.dates.zone import Zone
from gen.finding import ERROR, NOTE, WARNING
from gen.live.findings import LiveFinding
from gen.live.poolstate import ACTIVE, COMPLETED, DEGRADED, SCHEDULED, ClusterStatus, PoolStatus, SlotCount

_UNSYNCED = ("S020", "S021", "S022", "S023", "S024")
_RED, _YELLOW, _GREEN, _CYAN, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[36m", "\x1b[0m"
_STATES = {ACTIVE: _GREEN, DEGRADED: _RED, SCHEDULED: "", COMPLETED: ""}
_SEVERITIES = {ERROR: _RED, WARNING: _YELLOW, NOTE: _CYAN}


def as_text(
    clusters: Sequence[ClusterStatus], zone_of: Callable[[str], Zone], now: int, *, wide: bool, colour: bool
) -> str:
    """`zone_of` gives the zone of a reservation. Clusters have a column where there are several."""
    rows = pools_of(clusters)
    lines = [finding_line(one, colour=colour) for one in _once(clusters)]
    found = "".join(f"{line}\n" for line in lines)
    if not rows:
        return found or "No pool.\n"
    cells = [_cells(row, zone_of(row.reservation), now, wide) for row in rows]
    headings = ["reservation", "class", "cluster", "state", "open", "wanted", "ready", "pending", "sessions"]
    headings += ["asked for", "opens (UTC)", "ends (UTC)", "git"] if wide else []
    if wide and any(row.slots for row in rows):
        headings.append("slots")
        for cell, row in zip(cells, rows, strict=True):
            cell.insert(-1, _slots(row.slots))
    headings.append("note")
    if len(clusters) == 1 and not wide:
        cells = [[*cell[:2], *cell[3:]] for cell in cells]
        headings.remove("cluster")
    text = table.text(headings, cells)
    if colour:
        text = _coloured(text, rows)
    return text + (f"\n{found}" if found else "")


def pools_of(clusters: Sequence[ClusterStatus]) -> list[PoolStatus]:
    """By reservation; then in the order of clusters and classes."""
    return sorted((row for one in clusters for row in one.pools), key=lambda row: row.reservation)


def _once(clusters: Sequence[ClusterStatus]) -> list[LiveFinding]:
    """Those of clusters first; what all pools of a reservation share is told once."""
    found = [finding for one in clusters for finding in one.findings]
    found += [finding for row in pools_of(clusters) for finding in row.findings]
    return list(dict.fromkeys(found))


def _cells(row: PoolStatus, zone: Zone, now: int, wide: bool) -> list[str]:
    numbers = [_number(one) for one in (row.wanted, row.ready, row.pending, row.active)]
    more = []
    if wide:
        opens, ends = (_utc(at) for at in (row.open, row.end))
        more = [_number(row.replicas), opens, ends, _drift(row)]
    note = ", ".join(
        dict.fromkeys([*([row.remark] if row.remark else []), *(one.brief for one in row.findings)])
    )
    return [
        row.reservation,
        row.resource_class,
        row.cluster,
        row.state,
        _when(row, zone, now),
        *numbers,
        *more,
        note,
    ]


def _when(row: PoolStatus, zone: Zone, now: int) -> str:
    """Of what is open its span; of what comes next its opening; how long that stands which has no windows."""
    if row.persistent:
        over = row.end is not None and row.end <= now
        return "over" if over else "always" if row.end is None else f"until {local_text(row.end, zone)}"
    if row.open is None or row.end is None or row.end <= now:
        return "never" if row.open is None else "over"
    if row.open <= now:
        return near_span_text(row.open, row.end, zone, local_day(now, zone))
    return local_text(row.open, zone)


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _slots(found: SlotCount | None) -> str:
    """`20 free, 3 in use, 2 pending`; `none`."""
    if found is None:
        return ""
    words = [f"{number} {name.replace('_', ' ')}" for name, number in found._asdict().items() if number]
    return ", ".join(words) or "none"


def _utc(at: int | None) -> str:
    return "" if at is None else instant_text(at)[:16].replace("T", " ")


def _drift(row: PoolStatus) -> str:
    """The first of how git differs, with all that is of its kind: of the timetable, and of the template."""
    found = [one for one in row.findings if one.code in _UNSYNCED]
    if found:
        alike = [one.message for one in found if one.code == found[0].code]
        return "; ".join(text.removeprefix("not synced: ").removesuffix(".") for text in alike)
    return "?" if row.replicas is None else "synced"


def finding_line(found: LiveFinding, *, colour: bool) -> str:
    kind = f"{found.severity}[{found.code}]"
    if colour:
        kind = f"{_SEVERITIES[found.severity]}{kind}{_PLAIN}"
    subject = f"{found.subject}: " if found.subject else ""
    return f"{found.cluster}: {kind} {subject}{found.message} {found.fix}"


def _coloured(text: str, rows: Sequence[PoolStatus]) -> str:
    """The state of each line; widths are those of the plain text."""
    head, *lines = text.splitlines(keepends=True)
    for n, row in enumerate(rows):
        if _STATES[row.state]:
            lines[n] = lines[n].replace(f" {row.state} ", f" {_STATES[row.state]}{row.state}{_PLAIN} ", 1)
    return head + "".join(lines)


def as_json(clusters: Sequence[ClusterStatus]) -> str:
    items = [
        {
            "reservation": row.reservation,
            "class": row.resource_class,
            "cluster": row.cluster,
            "state": row.state,
            "open": _instant(row.open),
            "end": _instant(row.end),
            "wanted": row.wanted,
            "ready": row.ready,
            "pending": row.pending,
            "active": row.active,
            "findings": _findings(row.findings),
            **_slots_json(row.slots),
        }
        for row in pools_of(clusters)
    ]
    about = [
        {
            "name": one.cluster,
            "context": one.place.context if one.place else None,
            "findings": _findings(one.findings),
        }
        for one in clusters
    ]
    return report.document("Status", {"items": items, "clusters": about})


def _slots_json(found: SlotCount | None) -> dict[str, object]:
    """Only of a pool that has slots."""
    if found is None:
        return {}
    names = ("free", "inUse", "handed", "pending", "over")
    return {"slots": dict(zip(names, found, strict=True))}


def _instant(at: int | None) -> str | None:
    return None if at is None else instant_text(at)


def _findings(found: Sequence[LiveFinding]) -> list[dict[str, str]]:
    return [
        {"severity": one.severity, "code": one.code, "message": one.message, "fix": one.fix} for one in found
    ]
