"""The labels that all objects of a site or of a reservation carry."""

from gen.core.labels import CLASS, RESERVATION, SITE
from gen.model import Reservation, ResourceClass, Site

# Argo CD calls a placeholder that waits Progressing for as long as it waits, and a CronJob whose last run
# failed Degraded until the next has succeeded, which may be in a week. Neither says anything of a sync.
_UNJUDGED = {"argocd": {"argocd.argoproj.io/ignore-healthcheck": "true"}}


def unjudged(engine: str) -> dict[str, str]:
    """Annotations that keep an engine from judging the health of a pool or of its CronJobs."""
    return _UNJUDGED.get(engine, {})


# Flux puts values in the place of ${...} where a Kustomization has `postBuild`, as a team may patch into all
# of theirs, and refuses everything where it knows none. Titles are free text.
_UNTOUCHED = {"flux": {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}}


def untouched(engine: str) -> dict[str, str]:
    """Annotations that keep an engine from rewriting what people wrote."""
    return _UNTOUCHED.get(engine, {})


def of_site(site: Site) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "berth",
        "app.kubernetes.io/part-of": site.name,
        "app.kubernetes.io/managed-by": "berth",
        SITE: site.name,
    }


def of_reservation(site: Site, reservation: Reservation) -> dict[str, str]:
    """Ours first; what the author adds cannot replace them (that is refused when reading)."""
    return {**of_site(site), RESERVATION: reservation.name, **dict(reservation.labels)}


def of_pool(site: Site, reservation: Reservation, found: ResourceClass) -> dict[str, str]:
    """By which its placeholders and its slots are told from all others; nothing else is ever selected by."""
    return {SITE: site.name, RESERVATION: reservation.name, CLASS: found.name}


def of_placeholder(site: Site, reservation: Reservation, found: ResourceClass) -> dict[str, str]:
    """A reservation's own labels stay off the pods: a new label would replace them in the middle of a
    class.
    """
    return {**of_site(site), **of_pool(site, reservation, found), **dict(found.pod_labels)}
