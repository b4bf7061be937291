"""How large the calendar page of many reservations is, and how fast a browser draws it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.process import Command, once
from tests.bench.rendering import RENDER, Row, project

CALENDAR: Command = (sys.executable, "-m", "berth", "calendar", "--now", "2026-02-01")
BROWSER = shutil.which("chromium")
# A busy week in the middle of the term, whenever this runs.
LINK = "#course-00001/2026-03-04T09:15"
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_TIMER = """\
<script>document.body.offsetHeight; document.body.dataset.drawn = performance.now();</script>
</body>"""


def rows() -> Iterator[Row]:
    with project(1000) as folder:
        rendered, written = once(RENDER, str(folder)), once(CALENDAR, str(folder))
        page = folder / "site/index.html"
        seconds = f"{written.seconds:.1f} s"
        yield Row("calendar of 1,000 / full render", written.seconds / rendered.seconds, None, seconds)
        size = page.stat().st_size / 1e6
        yield Row("calendar page of 1,000, MB", size, 1.5, "")
        if BROWSER is not None:
            note = "until the first layout, in headless Chromium, best of 3"
            yield Row("calendar page of 1,000, s", min(_drawn(page) for _ in range(3)), 1, note)


def _drawn(page: Path) -> float:
    """Return the seconds from the start of the navigation until the page is laid out."""
    timed = page.with_name("timed.html")
    text = _POLICY.sub("", page.read_text("utf-8")).replace("</body>", _TIMER)
    timed.write_text(text, "utf-8")
    profile = page.with_name("profile")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    command = [str(BROWSER), *flags, "--window-size=1400,1000", "--dump-dom", f"{timed.as_uri()}{LINK}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found = re.search(r'data-drawn="([\d.]+)"', done.stdout)
    assert found, "the page has not run its script"
    return float(found[1]) / 1000
