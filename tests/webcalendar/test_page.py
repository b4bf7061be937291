"""The calendar page: its data say what is reserved, and nothing in them is code."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from berth.checks.project import Item
from berth.dates.zone import clock, date_text
from berth.pipeline import Pipeline
from berth.webcalendar.model import DatedReservation, calendar_page
from berth.webcalendar.page import page_data, page_html

from tests import generate
from tests.awkward import TITLES
from tests.cli import heldproject, project

Data = dict[str, Any]


def page_of(folder: Path) -> tuple[Data, list[Item]]:
    """The data of the page of a project, and what the project reserves."""
    pipeline = Pipeline(str(folder))
    items = pipeline.items(all_loads=True)
    assert pipeline.site is not None
    dated = [DatedReservation(item.reservation, item.expansion) for item in items]
    page = calendar_page(pipeline.site, pipeline.declared.classes, dated, pipeline.pools)
    return json.loads(page_data(page)), items


def windows(data: Data) -> dict[str, tuple[int, int, int, dict[str, int]]]:
    """Opening, start, end and seats of every window by its id, as the script of the page reads them."""
    found = {}
    for one in data["reservations"]:
        start, pairs = 0, one.get("windows", [])
        for i in range(0, len(pairs), 2):
            start += pairs[i]
            offset, length, name, _, seats = one["shapes"][pairs[i + 1]]
            wall = start + offset
            usual = f"{date_text(wall // 1440)}T{clock(wall)}{'~' if name else ''}{name}"
            id_ = f"{one['name']}/{one.get('ids', {}).get(str(i // 2), usual)}"
            opens = start - max((lead for _, _, lead in seats), default=0)
            by_class = {data["classes"][number][0]: count for number, count, _ in seats}
            found[id_] = (opens, start, start + length, by_class)
    return found


def levels(curve: Data) -> list[tuple[int, float]]:
    minutes, found = 0, []
    for minute, level in zip(curve["steps"][::2], curve["steps"][1::2], strict=True):
        minutes += minute
        found.append((minutes, level))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_page_has_exactly_the_reserved_windows(tmp_path: Path, seed: int) -> None:
    generate.project(tmp_path, seed, 40)

    data, items = page_of(tmp_path)

    known = {name for name, _ in data["classes"]}
    assert windows(data) == {
        occurrence.id: (
            occurrence.of_classes(known).open // 60,
            occurrence.start // 60,
            occurrence.end // 60,
            {name: count for name, count in occurrence.seats if name in known},
        )
        for item in items
        for occurrence in item.expansion.occurrences
    }


@pytest.mark.parametrize("seed", range(6))
def test_each_step_of_a_curve_changes_the_level(tmp_path: Path, seed: int) -> None:
    """A page of thirty thousand windows would be larger by those that end where others begin."""
    generate.project(tmp_path, seed, 40)
    data, _ = page_of(tmp_path)

    for curve in data["curves"]:
        amounts = [0, *(level for _, level in levels(curve))]
        assert all(before != after for before, after in pairwise(amounts))


def test_a_window_in_two_clusters_is_listed_once_with_the_seats_of_both(tmp_path: Path) -> None:
    data, _ = page_of(project.write(tmp_path))

    assert windows(data)["night/2026-02-07T22:00"][3] == {"small": 2, "bench": 3}
    assert data["clusters"] == ["prod", "lab"]
    assert data["classes"] == [["bench", 1], ["small", 0]]


def test_left_out_moved_and_suspended_dates_are_marked(tmp_path: Path) -> None:
    data, _ = page_of(project.write(tmp_path))

    by_name = {one["name"]: one for one in data["reservations"]}
    assert by_name["course"]["leftOut"] == [
        ["2026-02-09T09:00", "except"],
        ["2026-02-16T09:00", "calendar holidays: Carnival"],
    ]
    assert "moved" in by_name["course"]["shapes"][by_name["course"]["windows"][-1]][3]
    assert by_name["rest"]["suspended"] is True


def test_a_curve_has_the_sum_of_open_seats_and_the_ceilings_of_its_cluster(tmp_path: Path) -> None:
    ceiling = "- {name: prod, ceilings: [{seats: {small: 30}}]}"
    site = project.SITE.replace("- name: prod", ceiling)

    data, _ = page_of(project.write(tmp_path, site=site))

    assert [data["classes"][one["class"]] for one in data["curves"]] == [["small", 0], ["bench", 1]]
    small, _ = data["curves"]
    assert [level for _, level in levels(small)] == [25, 0, 2, 0, 25, 0]
    assert levels(small)[0][0] * 60 == 1_770_017_400  # 2026-02-02 08:30 in Zurich
    assert [limit[2] for limit in small["limits"]] == [30]


def test_a_held_number_is_in_no_curve_of_seats(tmp_path: Path) -> None:
    folder = project.write(tmp_path, site=heldproject.SITE)
    (folder / "reservations/exam.yaml").write_text(heldproject.EXAM, "utf-8")

    data, _ = page_of(folder)

    assert [data["classes"][one["class"]][0] for one in data["curves"]] == ["small", "bench"]


def html_of(folder: Path) -> str:
    pipeline = Pipeline(str(folder))
    dated = [DatedReservation(item.reservation, item.expansion) for item in pipeline.items()]
    assert pipeline.site is not None
    return page_html(calendar_page(pipeline.site, pipeline.declared.classes, dated, {}))


@pytest.mark.parametrize("title", ["</script><script>alert(1)</script>", "<!--<script>", "]]>", *TITLES[:20]])
def test_no_title_can_end_the_element_of_the_data(tmp_path: Path, title: str) -> None:
    text = project.REST.replace("spec:\n", f"spec:\n  title: {json.dumps(title)}\n", 1)
    html = html_of(project.write(tmp_path, rest=text))

    data = html.partition('<script type="application/json" id="Data">')[2].partition("</script>")[0]
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    assert not re.search("[<>&]", data)
    titles = {load["name"]: load["title"] for load in json.loads(data)["reservations"]}
    assert titles.keys() == {"course", "night"} | ({"rest"} & titles.keys())
    assert titles.get("rest", title) == title


def test_the_page_loads_nothing_and_runs_only_its_own_script(tmp_path: Path) -> None:
    html = html_of(project.write(tmp_path))

    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    assert rules["default-src"] == "'none'"
    for element, rule in (("script", "script-src"), ("style", "style-src")):
        text = html.partition(f"<{element}>")[2].partition(f"</{element}>")[0]
        assert rules[rule] == f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
    assert not re.search(r'(?:src|href)="(?:https?:)?//|@import|url\(', html)
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|innerHTML|eval|importScripts)\b", html)


def test_the_same_project_gives_the_same_page(tmp_path: Path) -> None:
    folder = project.write(tmp_path)

    assert html_of(folder) == html_of(folder)
