"""What a browser shows of the calendar page by its address. Skipped where Chromium is not installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from berth import cli

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


def test_the_address_gives_the_week_and_the_search(page: Path) -> None:
    document = shown(page, "date=2026-02-04&search=caf%C3%A9")

    assert len(days(document)) == 7
    assert days(document)[0] == "Mon 2 Feb"
    assert cards(document) == ["course/2026-02-02T09:00"]


def test_a_link_to_a_date_keeps_how_it_is_shown(page: Path) -> None:
    document = shown(page, "date=2026-02-04&cluster=prod&color=owner")

    assert 'href="#course/2026-02-02T09:00&amp;date=2026-02-04&amp;cluster=prod&amp;color=owner"' in document


def test_a_phone_lists_the_days_on_which_something_happens(page: Path) -> None:
    document = shown(page, "date=2026-02-02&search=course", 390)

    assert days(document) == ["Mon 2 Feb"]


def test_an_empty_weekend_is_narrow(page: Path) -> None:
    assert 'class="week free-sat free-sun"' in shown(page, "date=2026-02-04&search=course")


def test_a_rehearsal_is_shown_apart(tmp_path: Path) -> None:
    folder = project.write(tmp_path)
    project.rehearsed(folder)
    assert cli.run(["-C", str(folder), "calendar", "--now", "2026-02-01"]) == 0
    document = shown(folder / "site/index.html", "course/2026-02-23T09:00/rehearsal")

    assert cards(document) == ["course/2026-02-23T09:00/rehearsal"]
    assert re.search(r'class="card[^"]* rehearsal"', document)
    assert ">1 rehearsal this week.<" in document
    assert re.findall(r"<caption>([^<]*)", document) == ["2 dates", "2 rehearsals"]
    assert "<td>for 2026-02-23 09:00</td>" in document


@pytest.mark.parametrize(
    ("address", "missing"),
    [
        pytest.param("class=huge", "class=huge", id="class"),
        pytest.param("date=2026-13-01", "date=2026-13-01", id="date"),
        pytest.param("colour=owner", "colour=owner", id="setting"),
        pytest.param("biology", "biology", id="reservation"),
        pytest.param("course/2026-02-03T09:00", "course/2026-02-03T09:00", id="occurrence"),
        pytest.param("view=%E0%A4", "view=%E0%A4", id="text-that-is-not-encoded"),
        pytest.param("class=%3Cimg%20src=x%20onerror=alert(1)%3E", "class=&lt;img", id="markup"),
    ],
)
def test_what_is_not_here_is_named(page: Path, address: str, missing: str) -> None:
    document = shown(page, address)

    assert f"The address asks for {missing}" in document
    assert "<img" not in document
