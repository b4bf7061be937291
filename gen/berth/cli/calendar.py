"""`berth calendar`: a page of all dates that works from a file, and feeds to subscribe to."""

from collections.abc import Iterable
from pathlib import Path

import click

from berth.checks.project import Item
from berth.cli.command import FOLDER, Settings, command
from berth.cli.console import EXIT_OK, stdout
from berth.cli.reaching import read_record_file, records_option
from berth.cli.selection import clock_of, items_of, published
from berth.git import top_of
from berth.output.calendarfile import FeedHeader, event_bytes, join_events
from berth.output.pages import write_site
from berth.pipeline import Pipeline
from berth.reading.source import OUTPUT
from berth.schema.values import Site
from berth.webcalendar.events import EventSource, event_order, events_of, feed_name
from berth.webcalendar.forgelinks import FORMS, edit_url, issue_form_link
from berth.webcalendar.model import DatedReservation, calendar_page
from berth.webcalendar.outcomes import outcomes
from berth.webcalendar.page import MARK, page_html

_OUTPUT, _FEEDS = "site", "feeds"
_FEED_MARK = b"PRODID:-//berth.dev//Berth//EN"


@command(
    examples=(
        "berth calendar",
        "berth calendar --output-dir /tmp/site",
        "berth calendar --records records.json",
    )
)
@click.option("--output-dir", metavar="DIR", type=FOLDER, help="Write to this folder; default: site/.")
@records_option
def calendar(settings: Settings, output_dir: str | None, records: str | None) -> int:
    """Write a page of all dates, and calendar feeds to subscribe to.

    index.html shows weeks, days and a list, works from a file and loads nothing. berth.ics has the dates of
    all reservations, feeds/NAME.ics those of one. Feeds say that they were published at the time of the
    commit that is checked out, or at --now, so one commit always gives the same files. With
    --records, the page says of past and open dates when their seats were ready, or what was missing.
    """
    folder = settings.output_folder(output_dir, _OUTPUT, OUTPUT)
    pipeline = Pipeline()
    sources: list[EventSource] = []
    dated: list[DatedReservation] = []
    site = pipeline.site
    for item in items_of(settings, pipeline, all_loads=True):
        assert site is not None  # as there are items, there is one
        source = _source(item, site)
        is_attended = item.reservation.spec.rehearses is None
        sources += [source] if is_attended else []
        edit = edit_url(site.repository, item.reservation.origin.file)
        dated.append(
            DatedReservation(item.reservation, item.expansion, source.url if is_attended else "", edit)
        )
    site = settings.valid_site(pipeline, counts_notes=True)
    page = calendar_page(site, pipeline.declared.classes, dated, pipeline.pools)
    top, _ = top_of(Path())
    forms = frozenset(form for form in FORMS if Path(top, form).is_file())  # that the repository has
    page = page._replace(ask=issue_form_link(site.repository, forms))
    if records is not None:
        windows = [window for each in dated for window in each.expansion.occurrences]
        known = outcomes(read_record_file(settings, records), windows)
        page = page._replace(outcomes=known, recorded=clock_of(settings, pipeline).now // 60)
    files = {
        "index.html": page_html(page).encode(),
        **_feeds(site, settings.progress(sources, len(sources)), published(settings, pipeline)),
    }
    _write(settings, folder, files)
    return EXIT_OK


def _write(settings: Settings, folder: str, files: dict[str, bytes]) -> None:
    """Write the files, and say what became of the folder."""
    written, removed = write_site(folder, files, (MARK.encode(), _FEED_MARK), _FEEDS)
    shown = settings.shown(folder)
    gone = "".join(f"removed {shown}/{path}\n" for path in removed)
    numbers = f"{written} written, {len(removed)} removed, {len(files) - written} unchanged"
    outcome = f"{gone}{shown}/: {numbers}. Open {shown}/index.html, or publish the folder.\n"
    stdout(settings.wrapped(outcome))


def _source(item: Item, site: Site) -> EventSource:
    """Return what the events of a reservation are made from."""
    source = EventSource.of(item.reservation, site)
    for part in item.parts:
        cluster, names = (
            part.placed.cluster.name,
            {resource_class.name for resource_class in part.placed.classes},
        )
        source.occurrences.extend((cluster, occurrence) for occurrence in part.occurrences)
        source.standing.append((cluster, tuple(pair for pair in item.reservation.seats if pair[0] in names)))
    return source


def _feeds(site: Site, sources: Iterable[EventSource], stamp: int) -> dict[str, bytes]:
    """Return the feed of the site, and that of each reservation. An event is the same in both."""
    whole: list[tuple[tuple[int, str], bytes]] = []
    files = {}
    for source in sources:
        feed = FeedHeader(source.reservation.title, site.name, stamp)
        events = [(event_order(event), event_bytes(feed, event)) for event in events_of(source)]
        files[f"{_FEEDS}/{source.reservation.name}.ics"] = join_events(feed, [data for _, data in events])
        whole += events
    everything = FeedHeader(feed_name(site), site.name, stamp)
    return {"berth.ics": join_events(everything, [data for _, data in sorted(whole)]), **files}
