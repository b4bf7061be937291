"""Calendars in the style of programs: what each event becomes, its dates, and what is reported."""

import re
from typing import Any

import pytest
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests import cases
from tests.edit.events import Imported, day, imported, moment, windows, world

NOW = 1_768_003_200  # 2026-01-10T00:00:00Z
CLASSES = ("small", "python", "gpu", "data100", "r")


def site(zone: str) -> Source:
    """Return the project of all cases: a Site and its classes."""
    head = f"kind: Site\nmetadata: {{name: uni}}\nspec: {{timeZone: {zone}, clusters: [{{name: prod}}]}}\n"
    kinds = [
        f"kind: ResourceClass\nmetadata: {{name: {n}}}\nspec: {{requests: {{cpu: 1}}}}\n" for n in CLASSES
    ]
    text = "---\n".join(f"apiVersion: berth.dev/v1alpha1\n{part}" for part in (head, *kinds))
    return Source("reservations/a.yaml", text.encode())


def dates(found: Imported, project: Source) -> dict[str, str]:
    """Return how many dates each reservation has, and the start of the first and of the last, in UTC."""
    by_name: dict[str, list[int]] = {}
    for id_, start, _ in windows(found.sources, project):
        by_name.setdefault(id_.partition("/")[0], []).append(start)
    return {
        name: f"{len(own)}: {moment(own[0])}" + (f" to {moment(own[-1])}" if len(own) > 1 else "")
        for name, own in by_name.items()
    }


def told(case: cases.Case) -> cases.Case:
    """Import the calendar of a case twice, and return what came of it in the words of the case."""
    options: dict[str, Any] = {"now": NOW, "seats": int(case.get("seats", "5"))}
    if "until" in case:
        options["last"] = day(case["until"])
    project = site(case.get("site", "Europe/Zurich"))
    source, calendar = world(case["file"]), case.get("calendar", "")
    found = imported(source, site=project, calendar=calendar, **options)
    again = imported(source, *found.sources, site=project, calendar=calendar, **options)
    assert (again.files, again.findings) == ([], found.findings)
    result: dict[str, Any] = {
        key: case[key] for key in ("file", "site", "seats", "until", "calendar") if key in case
    }
    result["events"] = {
        f"{outcome.line} {outcome.event}": f"{outcome.result}: {outcome.reason}" for outcome in found.outcomes
    }
    if found.findings:
        result["findings"] = [f"{one.code} {one.line} {one.path}" for one in found.findings]
    if calendar:
        declared = Pipeline(sources=sorted([project, *found.sources])).declared.calendars[calendar]
        result["closed"] = [f"{one.first} to {one.last} {one.title}" for one in declared.dates]
        return result
    result["dates"] = dates(found, project)
    if "recurrences" in case:
        texts = {file.file[13:-5]: file.text for file in found.files}
        result["recurrences"] = {
            name: re.sub(
                "^    ", "", re.findall(r"  recurrence:\n(.*)  provisioning:", text, re.S)[0], flags=re.M
            )
            for name, text in texts.items()
        }
    return result


@pytest.mark.parametrize("case", cases.read("feeds"), ids=lambda case: case["file"])
def test_an_import_gives_the_results_dates_and_findings_of_its_case(case: cases.Case) -> None:
    """Importing it again changes nothing."""
    assert told(case) == case
