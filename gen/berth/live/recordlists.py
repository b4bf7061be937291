"""List the records in clusters, and say which could not be read."""

from collections.abc import Iterable, Mapping
from typing import Any

from berth.core.labels import RECORD, ROLE, SITE
from berth.core.objects import CONFIG_MAP
from berth.core.record import OccurrenceRecord
from berth.findings import LiveFinding
from berth.live.access import ClusterAccess, validated_list
from berth.live.client import ClusterClient
from berth.live.clusterfacts import ClusterLocation
from berth.live.kubeobject import list_all
from berth.live.records import ReadRecords, of_config_maps
from berth.schema.values import Cluster, Site


def read_clusters(
    access: ClusterAccess, site: Site, clusters: Iterable[Cluster]
) -> tuple[list[OccurrenceRecord], list[LiveFinding]]:
    """Read the records in clusters, and say what could not be read."""
    places = access.places(site, [*clusters])
    known = [place for place in places.values() if isinstance(place, ClusterLocation)]

    def listed(remote: ClusterClient, place: ClusterLocation) -> ReadRecords:
        def ask(path: str, query: Mapping[str, str], accept: str) -> Any:
            return validated_list(remote.get(path, query, accept), path)

        path, selector = CONFIG_MAP.path(place.namespace), f"{SITE}={site.name},{ROLE}={RECORD}"
        return of_config_maps(list_all(ask, path, selector, "", "application/json"))

    answers = access.at_each(known, listed)
    records: list[OccurrenceRecord] = []
    findings = [one for one in (*places.values(), *answers.values()) if isinstance(one, LiveFinding)]
    for name, answer in answers.items():
        if isinstance(answer, ReadRecords):
            records += answer.records
            fix = "It is left out. The scaler writes the record anew at the next occurrence."
            findings += [LiveFinding("S024", name, "", f"{problem}.", fix) for problem in answer.problems]
    return records, findings
