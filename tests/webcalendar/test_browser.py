"""What a browser shows of the calendar page by its address. Skipped where Chromium is not installed."""

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from berth import cli
from berth.core.record import OccurrenceRecord, record_text

from tests.cases import tabled
from tests.cli import project

BROWSER = shutil.which("chromium")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project.write(tmp_path_factory.mktemp("calendar"))
    assert cli.run(["-C", str(folder), "calendar", "--now", "2026-02-01"]) == 0
    return folder / "site/index.html"


def shown(page: Path, address: str, width: int = 1440) -> str:
    """The document after its script has run."""
    flags = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={page.with_name('profile')}",
    ]
    command = [str(BROWSER), *flags, f"--window-size={width},900", "--dump-dom", f"{page.as_uri()}#{address}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def days(document: str) -> list[str]:
    return re.findall(r'<h3 id="D\d+"><a [^>]*>([^<]*)<', document)


def cards(document: str) -> list[str]:
    return re.findall(r'<a class="card[^"]*" href="#([^"&]*)', document)


def test_the_address_sets_the_week_and_the_search(page: Path) -> None:
    document = shown(page, "date=2026-02-04&search=caf%C3%A9")

    assert len(days(document)) == 7
    assert days(document)[0] == "Mon 2 Feb"
    assert cards(document) == ["course/2026-02-02T09:00"]


def test_a_link_to_a_date_keeps_the_view_settings(page: Path) -> None:
    document = shown(page, "date=2026-02-04&cluster=prod&color=owner")

    assert 'href="#course/2026-02-02T09:00&amp;date=2026-02-04&amp;cluster=prod&amp;color=owner"' in document


def test_a_phone_lists_only_the_days_that_have_dates(page: Path) -> None:
    document = shown(page, "date=2026-02-02&search=course", 390)

    assert days(document) == ["Mon 2 Feb"]


def test_an_empty_weekend_is_narrow(page: Path) -> None:
    assert 'class="week free-sat free-sun"' in shown(page, "date=2026-02-04&search=course")


def test_a_date_with_a_record_says_when_its_seats_were_ready(tmp_path: Path) -> None:
    folder, start = project.write(tmp_path), 1_770_019_200
    times = (start - 1800, start, start + 7200)
    record = OccurrenceRecord("course/2026-02-02T09:00", {"small": 25}, start - 470, window=times)
    (folder / "records.json").write_text(record_text([record]), "utf-8")
    words = ("calendar", "--records", "records.json", "--now", "2026-02-03 12:00")
    assert cli.run(["-C", str(folder), *words]) == 0
    document = shown(folder / "site/index.html", "course/2026-02-02T09:00&date=2026-02-04")

    assert '<span class="tag">ready 08:52, 25 of 25</span>' in document
    assert "<dt>Outcome</dt><dd>ready 08:52, 25 of 25</dd>" in document
    assert "Records of Tue 3 Feb 2026 12:00" in document


@tabled("webcalendar")
def test_an_unknown_part_of_the_address_is_reported(address: str, missing: str, page: Path) -> None:
    document = shown(page, address)

    assert f"The address asks for {missing}" in document
    assert "<img" not in document


FORM = "https://github.com/uni/seats/issues/new?template=seats.yml"


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a site on GitHub with the issue form, whose course has a title that is markup."""
    weekly = project.COURSE.replace("name: course", "name: weekly").replace("    moved:", "    #")
    folder = project.write(tmp_path_factory.mktemp("asking"), weekly=weekly)
    site, course = folder / "reservations/site.yaml", folder / "reservations/course.yaml"
    site.write_text(
        f"{site.read_text('utf-8')}  repository: {{url: git@github.com:uni/seats.git, revision: main}}\n",
        "utf-8",
    )
    title = "<b>&x=1#\\u0022 onclick=alert(1)//"
    text = course.read_text("utf-8").replace("Zürich, Café | Lab", title)
    course.write_text(text, "utf-8")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    assert cli.run(["init", str(folder), "--requests"]) == 0
    assert cli.run(["-C", str(folder), "calendar", "--now", "2026-02-01"]) == 0
    return folder / "site/index.html"


def test_the_page_links_to_the_form_and_a_date_links_to_its_file(asking: Path) -> None:
    document = shown(asking, "course/2026-02-02T09:00")

    assert f'<a href="{FORM}" rel="noreferrer">Ask for seats</a>' in document
    edit = "https://github.com/uni/seats/edit/main/reservations/course.yaml"
    for word, line in (("Skip", "except: [2026-02-02]"), ("Move", "moved: [{date: 2026-02-02, ")):
        assert f'<a href="{edit}" rel="noreferrer">{word}</a>: <code>{line}' in document


def test_the_form_is_filled_with_class_seats_and_zone_but_no_title(asking: Path) -> None:
    (link,) = re.findall(r'href="([^"]*)"[^>]*>Ask for seats like these<', shown(asking, "course"))

    fields = parse_qs(urlsplit(unescape(link)).query)
    assert fields == {
        "template": ["seats.yml"],
        "resource-class": ["small"],
        "seats": ["25"],
        "time-zone": ["Europe/Zurich"],
    }


GROUPS = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: exam}
spec:
  title: Exam
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-02-20
    calendars: [holidays]
    schedule:
      - {dayOfWeek: mon, startTime: "09:00", endTime: "11:00", name: regular}
      - {dayOfWeek: mon, startTime: "09:00", endTime: "12:00", name: late}
      - {dayOfWeek: wed, startTime: "09:00", endTime: "11:00", name: regular}
      - {dayOfWeek: wed, startTime: "14:00", endTime: "16:00", name: late}
    except: [{date: 2026-02-18, startTime: "14:00"}]
  provisioning:
    placeholderCount: 5
    scaleDownBehavior: none
"""


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a project with an exam in groups."""
    folder = project.write(tmp_path_factory.mktemp("grouped"), exam=GROUPS)
    site = folder / "reservations/site.yaml"
    site.write_text(
        f"{site.read_text('utf-8')}  repository: {{url: https://github.com/uni/seats}}\n", "utf-8"
    )
    assert cli.run(["-C", str(folder), "calendar", "--now", "2026-02-01"]) == 0
    return folder / "site/index.html"


def lines(document: str) -> list[str]:
    """The code in the details of a date."""
    return [unescape(code) for code in re.findall(r"<code>([^<]*)</code>", document.partition("<dialog")[2])]


def entries(page: Path, key: str, *command: str) -> list[object]:
    """The entries below `key` that a command adds to the file of the exam."""
    folder = page.parents[1]
    file = folder / "reservations/exam.yaml"
    before = file.read_text("utf-8")
    try:
        assert cli.run(["-C", str(folder), *command]) == 0
        after = yaml.safe_load(file.read_text("utf-8"))["spec"]["recurrence"]
    finally:
        file.write_text(before, "utf-8")
    known = yaml.safe_load(before)["spec"]["recurrence"].get(key, [])
    return [entry for entry in after[key] if entry not in known]


@pytest.mark.parametrize(
    "date", ["2026-02-02T09:00~late", "2026-02-04T14:00~late", "2026-02-18T09:00~regular"]
)
def test_the_skip_and_move_lines_equal_what_the_commands_write(grouped: Path, date: str) -> None:
    except_line, moved_line = lines(shown(grouped, f"exam/{date}"))[:2]
    skip, move = yaml.safe_load(except_line)["except"], yaml.safe_load(moved_line)["moved"]

    assert skip == entries(grouped, "except", "skip", "exam", date)
    (moved,) = entries(grouped, "moved", "move", "exam", date, "--to", "2026-02-03")
    assert isinstance(moved, dict)
    assert [{key: value for key, value in entry.items() if key != "to"} for entry in move] == [
        {key: value for key, value in moved.items() if key != "to"}
    ]


def test_the_form_opens_with_the_usual_weekdays_and_times(asking: Path) -> None:
    (link,) = re.findall(r'href="([^"]*)"[^>]*>Ask for seats like these<', shown(asking, "weekly"))

    fields = parse_qs(urlsplit(unescape(link)).query)
    assert (fields["days-or-dates"], fields["times"]) == (["mon"], ["09:00-13:00"])


def test_a_page_without_a_form_or_a_known_forge_has_no_form_or_edit_links(page: Path) -> None:
    document = shown(page, "course/2026-02-02T09:00")

    assert not re.search(r">(Ask for seats|Skip|Move|Edit the file)( like these)?</a>", document)
