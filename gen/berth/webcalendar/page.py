"""Write the calendar page: one HTML file with its style, script and data, which loads nothing else."""

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

from berth.output.templates import built_in_folder
from berth.webcalendar.model import CalendarPage, PageReservation

MARK = "<!-- Rendered by berth -->"
"""By this, a later run knows that it may replace the file."""

_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def page_html(page: CalendarPage) -> str:
    """Return the text of the page. A browser runs nothing but its script, whatever names and titles say."""
    folder = Path(built_in_folder(), "calendar")
    style, script = (folder.joinpath(name).read_text("utf-8") for name in ("calendar.css", "calendar.js"))
    template = Template(folder.joinpath("page.html").read_text("utf-8"))
    return template.substitute(
        mark=MARK,
        site=escape(page.site),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=page_data(page),
    )


def page_data(page: CalendarPage) -> str:
    """Return the data as compact JSON that can stand in a script element."""
    answer = {
        "site": page.site,
        "zone": page.zone,
        "zones": page.zones,
        "clusters": page.clusters,
        "classes": page.classes,
        "reservations": [_reservation(reservation) for reservation in page.reservations],
        "curves": [
            {"class": curve.resource_class, "steps": curve.steps, "limits": curve.limits}
            for curve in page.curves
        ],
        "outcomes": page.outcomes,
        "recorded": page.recorded,
        "ask": None if page.ask is None else {"url": page.ask.url, "field": page.ask.field},
    }
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE)


def _reservation(one: PageReservation) -> Mapping[str, object]:
    """Return the fields by the names that the script knows, without those that are empty."""
    fields = one._asdict()
    fields["leftOut"] = fields.pop("left_out")
    return {key: value for key, value in fields.items() if value}


def _hash(text: str) -> str:
    """Return the source by which a Content-Security-Policy allows exactly this text."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
