"""Sum up a change in one line, and sort what it does into sections, which every format for people lays out.

What people lose is named before any fold: many harmless changes never hide it.
"""

from collections.abc import Iterable, Iterator, Sequence

from berth.diff.change import Change, ChangeWarning, ReservationChange
from berth.diff.manifests import ADDED, REMOVED, FileChange, deleted_objects
from berth.diff.wording import (
    DiffLine,
    file_line,
    number_of,
    objects_text,
    peak_line,
    permission_lines,
    policy_line,
)
from berth.findings import ERROR
from berth.schema.policies import APPROVAL, REFUSE

LOSSES, POLICIES, PERMISSIONS = "Refused, removed or reduced", "Policies", "New permissions"
SHARED, IGNORED, PEAKS, PLAN = "Shared documents", "Ignored findings", "Peaks", "Machines and money"
WARNINGS, MANIFESTS = "Check before merging", "Manifests"
"""Headings."""

FEW_RESERVATIONS = 8  # that are shown whole
_FEW_ALIKE = 3  # warnings of a code that are shown
_FEW_FILES = 8  # that are named one by one
_FEW_NAMES = 5  # of reservations with another title


def summary(change: Change) -> str:
    """Return `1 reservation added, 2 changed; peak seats of small in prod 200 -> 230; 2 warnings`.

    What refuses the change is first, then people, then money; all warnings are counted.
    """
    is_known = change.base.is_valid and change.head.is_valid
    errors = sum(finding.severity == ERROR for finding in change.plan.findings) if change.plan else 0
    refusing = dict.fromkeys(one.policy.name for one in change.policies if one.policy.effect == REFUSE)
    approvers = dict.fromkeys(one.policy.approver for one in change.policies if one.policy.effect == APPROVAL)
    places = dict.fromkeys(permission.where for permission in change.permissions)
    kinds = [reservation.kind for reservation in change.reservations]
    added, removed = kinds.count(ADDED), kinds.count(REMOVED)
    counts = [(added, "added"), (len(kinds) - added - removed, "changed"), (removed, "removed")]
    reservations = [f"{count} {kind}" for count, kind in counts if count]
    if reservations:
        count, _, kind = reservations[0].partition(" ")
        reservations[0] = f"{number_of(int(count), 'reservation')} {kind}"
    peaks = [peak for peak in change.peaks if not (peak.what.startswith("of ") or peak.during)]
    has_files_only = not change.reservations and not change.shared and change.files and is_known
    parts = [
        *(f"{side.name} is not valid" for side in (change.base, change.head) if not side.is_valid),
        "" if change.is_judged else "policies cannot be judged",
        f"the plan has {number_of(errors, 'error')}" if errors else "",
        f"refused by policy {', '.join(refusing)}" if refusing else "",
        f"needs approval by {' and '.join(approvers)}" if approvers else "",
        f"new permissions in {', '.join(places)}" if places else "",
        ", ".join(reservations),
        f"{number_of(len(change.shared), 'shared document')} changed" if change.shared else "",
        *(f"peak {peak.what} in {peak.cluster} {peak.before} -> {peak.after}" for peak in peaks[:2]),
        number_of(len(peaks) - 2, "more peak") if len(peaks) > 2 else "",
        f"dates and seats are the same; {number_of(len(change.files), 'rendered file')} changed"
        if has_files_only
        else "",
        _plan(change, "UTC")[0],
        number_of(change.warning_count, "warning") if change.warning_count else "",
    ]
    return "; ".join(filter(None, parts)) or "Nothing changes."


def _plan(change: Change, zone: str) -> tuple[str, list[DiffLine]]:
    """Return what differs in the plan in a few words, and in lines."""
    if change.plan is None:
        return "", []
    from berth.diff.plans import plan_lines, plan_summary  # noqa: PLC0415 - few sites name nodes

    return plan_summary(change.plan), [*plan_lines(change.plan, zone)]


def lists(change: Change, zone: str) -> dict[str, list[DiffLine]]:
    """Return the lines of the sections that are plain lists, by heading."""
    ignored = [(f"{one.path}: " if one.path else "", one) for one in change.ignored]
    return {
        LOSSES: [*loss_lines(change)],
        POLICIES: [policy_line(result) for result in change.policies],
        PERMISSIONS: permission_lines(change.permissions),
        IGNORED: [
            DiffLine("!", f"{one.file}:{one.line}: {one.code} {path}{one.message}") for path, one in ignored
        ],
        PEAKS: [peak_line(peak, zone) for peak in change.peaks],
        PLAN: _plan(change, zone)[1],
    }


def folded(lines: Sequence[DiffLine], most: int) -> tuple[Sequence[DiffLine], Sequence[DiffLine]]:
    """Return the first lines, and the others: none unless there are two."""
    shown = most if len(lines) > most + 1 else len(lines)
    return lines[:shown], lines[shown:]


def folded_warnings(
    warnings: Iterable[ChangeWarning],
) -> Iterator[tuple[str, Sequence[DiffLine], Sequence[DiffLine]]]:
    """Yield each code with the warnings that are shown, and those that are folded."""
    by_code: dict[str, list[DiffLine]] = {}
    for one in warnings:
        text = f"{one.subject}: {one.message}" if one.subject else one.message
        by_code.setdefault(one.code, []).append(DiffLine("!", text))
    for code, lines in by_code.items():
        yield code, *folded(lines, _FEW_ALIKE)


def file_lines(files: Sequence[FileChange]) -> Iterator[DiffLine]:
    """Yield a line for each file, or for each folder with many, and what the engine deletes."""
    by_folder: dict[tuple[str, str], list[FileChange]] = {}
    for file in files:
        by_folder.setdefault((file.path.rpartition("/")[0], file.change), []).append(file)
    for (folder, _), own in by_folder.items():
        if len(own) <= _FEW_FILES:
            yield from map(file_line, own)
        else:
            objects = objects_text([item for file in own for item in file.objects])
            text = f"{folder}/: {number_of(len(own), 'file')}, {objects}"
            yield DiffLine(file_line(own[0]).sign, text)
    yield from deleted_lines(files)


def deleted_lines(files: Sequence[FileChange]) -> list[DiffLine]:
    """Return a line that counts what the engine deletes, if it deletes anything."""
    counts = ", ".join(f"{count} {kind}" for kind, count in deleted_objects(files).items())
    return [DiffLine("-", f"the engine deletes {counts}")] if counts else []


def by_effect(change: Change, reservations: Iterable[ReservationChange]) -> list[ReservationChange]:
    """Sort: refused, removed, with lost dates or seats, changed otherwise, new, and with another title."""
    refused = _refused(change)

    def rank(reservation: ReservationChange) -> int:
        ranks = (
            reservation.name in refused,
            reservation.kind == REMOVED,
            _loses_dates_or_seats(reservation),
            reservation.kind != ADDED and not reservation.is_retitled,
            reservation.kind == ADDED,
            True,
        )
        return ranks.index(True)

    return sorted(reservations, key=rank)


def _loses_dates_or_seats(reservation: ReservationChange) -> bool:
    """Tell whether a reservation that stays has fewer dates, seats or seat-hours, or holds other seats."""
    before, after = reservation.seat_seconds
    dates = reservation.occurrences
    return reservation.kind not in (ADDED, REMOVED) and (
        bool(dates.removed)
        or any(
            dict(new.seats).get(name, 0) < count for old, new in dates.changed for name, count in old.seats
        )
        or (before is not None and after is not None and after < before)
        or (bool(reservation.standing[0]) and reservation.standing[0] != reservation.standing[1])
    )


def loss_lines(change: Change) -> Iterator[DiffLine]:
    """Name what is refused, removed, and what loses dates or seats by its own document.

    What shared documents do is counted with these.
    """
    own = [reservation for reservation in change.reservations if not reservation.causes]
    for sign, words, names in (
        ("!", "refused", [*_refused(change)]),
        ("-", "removed", [item.name for item in own if item.kind == REMOVED]),
        ("-", "with fewer dates or seats", [item.name for item in own if _loses_dates_or_seats(item)]),
    ):
        if names:
            yield DiffLine(sign, f"{number_of(len(names), 'reservation')} {words}: {', '.join(names)}")


def titles_line(retitled: list[ReservationChange]) -> DiffLine:
    """Return `118 titles change: a, b, c, d, e and 113 more`."""
    names = ", ".join(item.name for item in retitled[:_FEW_NAMES])
    left = len(retitled) - _FEW_NAMES
    more = f" and {left} more" if left > 0 else ""
    return DiffLine("~", f"{number_of(len(retitled), 'title')} change: {names}{more}")


def _refused(change: Change) -> dict[str, None]:
    return dict.fromkeys(result.subject for result in change.policies if result.policy.effect == REFUSE)
