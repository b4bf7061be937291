"""Render the project to files: which files there are, and which objects each has, in which order.

`templates/` defines what objects look like; `berth.manifests` which values they get.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.backends.backendinterface import Manifest, backend_of
from berth.checks.project import Item, Part
from berth.findings import Problem
from berth.manifests import clusterobjects, code, naming, rbac, window
from berth.manifests.engines.engineregistry import ENGINES
from berth.manifests.placed import Placed, cluster_named, cluster_of, shortest_leads
from berth.manifests.timetabletext import timetable_that_fits
from berth.output.folder import header
from berth.output.templates import render
from berth.pipeline import Pipeline
from berth.schema.declared import Declared
from berth.schema.values import Cluster, ResourceClass, Site


class ReservedLines(NamedTuple):
    """What files of a cluster say about its reservations.

    Lines of its inventory: of persistent slots, and of CronJobs. Leads of its pools of placeholders, but
    for rehearsals, and the names of these. Plugins that Jobs use.
    """

    slots: list[str]
    cronjobs: list[str]
    leads: dict[str, int]
    rehearsals: list[str]
    plugins: set[str]


def files(pipeline: Pipeline, items: Iterable[Item]) -> Iterator[tuple[str, str]]:
    """Yield path and text of every file. After an error, continue to check but yield nothing more."""
    site = pipeline.site
    if site is None:
        return
    names: list[str] = []
    listed = {cluster.name: ReservedLines([], [], {}, [], set()) for cluster in site.clusters}
    for item in items:
        for part in item.parts if item.is_renderable(pipeline.declared) else ():
            text = reservation_text(site, part)
            if isinstance(text, Problem):
                pipeline.problems.append(text)
            elif text:
                names.append(part_file(part))
                _list_part(site, part, listed[part.placed.cluster.name])
                if not pipeline.has_errors():
                    yield names[-1], text
    if pipeline.has_errors():
        return
    yield from engine_texts(site, pipeline.declared)
    for path, text in cloud_texts(pipeline):
        names.append(path)
        yield path, text
    for cluster in site.clusters:
        yield from _cluster_files(site, cluster, pipeline.declared, names, listed[cluster.name])


def _list_part(site: Site, part: Part, lines: ReservedLines) -> None:
    placed, reservation = part.placed, part.placed.reservation
    lines.plugins.update(_plugins(site, placed))
    lines.slots.extend(backend_of(reservation.holder).inventory_lines(site, placed))
    lines.cronjobs.extend(naming.listed_cronjobs(reservation.name, len(part.schedules)))
    if reservation.spec.rehearses:
        lines.rehearsals.append(reservation.name)
    else:
        lines.leads.update(_leads(placed))


def _cluster_files(
    site: Site, cluster: Cluster, declared: Declared, names: list[str], lines: ReservedLines
) -> Iterator[tuple[str, str]]:
    """Yield the files that a cluster has once. `names`: the files that exist already."""
    folder, has_alerts = f"clusters/{cluster.name}", cluster.monitoring.prometheus_rule
    texts = {
        "base": base_text(site, cluster, declared.classes.values()),
        "runtime": runtime_text(site, cluster, lines.plugins),
        "monitoring": (
            monitoring_text(site, cluster, lines) if has_alerts or cluster.monitoring.dashboard else ""
        ),
        "inventory": inventory_text(site, cluster, names, lines) if cluster.sweep_prunes else "",
    }
    for name, text in texts.items():
        if text:
            names.append(f"{folder}/{name}.yaml")
            yield names[-1], text
    if site.kustomization:
        resources = [
            file.removeprefix(f"{folder}/") for file in sorted(names) if file.startswith(f"{folder}/")
        ]
        manifest = Manifest("base/kustomization.yaml.j2", {"resources": resources})
        yield f"{folder}/kustomization.yaml", _file(site, [manifest])


def _leads(placed: Placed) -> dict[str, int]:
    """Return the lead of each pool of placeholders, by the name of its Deployment, if alerts need it."""
    reservation = placed.reservation
    if not placed.cluster.monitoring.prometheus_rule or not reservation.holder.has_placeholders:
        return {}
    leads = shortest_leads(reservation)
    classes = [resource_class.name for resource_class in placed.classes if resource_class.name in leads]
    return {naming.pool(reservation.name, name): leads[name] for name in classes}


def part_file(part: Part) -> str:
    return f"clusters/{part.placed.cluster.name}/reservations/{part.placed.reservation.name}.yaml"


def cloud_texts(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield path and text of each CloudCapacity, whose budgets depend on the windows of all reservations."""
    if not pipeline.held:
        return
    from berth.machines.windowbudgets import WindowBudgets  # noqa: PLC0415
    from berth.manifests import karpenter  # noqa: PLC0415 - most sites have no cloud

    site = pipeline.site
    assert site is not None  # without a site nothing is rendered
    for name, held in pipeline.held.items():
        cloud = pipeline.declared.clouds[name]
        cluster = cluster_named(cloud.cluster, site)
        if cluster is not None and isinstance(held, WindowBudgets):
            manifests = karpenter.manifests(site, cluster, cloud, held)
            manifests += karpenter.snippets(site, cluster, cloud, pipeline.declared)
            text = _file(site, manifests)
            yield f"clusters/{cluster.name}/cloud/{name}.yaml", text


def engine_texts(site: Site, declared: Declared) -> Iterator[tuple[str, str]]:
    """Yield path and text of the objects that make the engines apply everything else."""
    for name, engine in ENGINES.items():
        clusters = [cluster for cluster in site.clusters if cluster.engine == name]
        files = engine.of_site(site, clusters, declared)
        for cluster in clusters:  # a cluster and the site may share a file
            files.setdefault(f"{cluster.name}.yaml", []).extend(engine.of_cluster(site, cluster))
        for file, found in files.items():
            if found:
                yield f"gitops/{name}/{file}", _file(site, found)


def base_text(site: Site, cluster: Cluster, classes: Iterable[ResourceClass]) -> str:
    return _file(site, base_manifests(site, cluster, classes))


def base_manifests(site: Site, cluster: Cluster, classes: Iterable[ResourceClass]) -> list[Manifest]:
    """Return the objects that a cluster has once. `classes` are all declared ones."""
    return clusterobjects.manifests(
        site,
        cluster,
        [resource_class for resource_class in classes if cluster_of(resource_class, site) is cluster],
    )


def _plugins(site: Site, placed: Placed) -> list[str]:
    """Return the plugins that the Jobs of a reservation use; none where it has no windows."""
    holder = placed.reservation.holder
    if holder.persistence is not None:
        return []
    return code.of_reservation(site, placed, backend_of(holder).plugins)


def runtime_text(site: Site, cluster: Cluster, plugins: Iterable[str]) -> str:
    """Return the in-cluster code; empty where an image contains it."""
    manifests = clusterobjects.runtime(site, cluster, plugins)
    return _file(site, manifests) if manifests else ""


def monitoring_text(site: Site, cluster: Cluster, lines: ReservedLines) -> str:
    """Return the alerts and the dashboard of a cluster."""
    from berth.manifests import monitoring  # noqa: PLC0415 - most sites have neither

    return _file(site, monitoring.manifests(site, cluster, lines.leads, rehearses=bool(lines.rehearsals)))


def inventory_text(site: Site, cluster: Cluster, files: Sequence[str], lines: ReservedLines) -> str:
    """Return the list of reservations among `files`, with the other lines."""
    folder, suffix = f"clusters/{cluster.name}/reservations/", ".yaml"
    names = sorted(
        file.removeprefix(folder).removesuffix(suffix) for file in files if file.startswith(folder)
    )
    manifest = clusterobjects.inventory(site, cluster, names, sorted(lines.slots), sorted(lines.cronjobs))
    return _file(site, [manifest])


def reservation_text(site: Site, part: Part) -> str | Problem:
    """Return the file of a reservation in a cluster, or the problem that prevents it.

    An empty text means no file, because some tools refuse a file without objects.
    """
    timetable = timetable_that_fits(site, part.placed, part.occurrences)
    if isinstance(timetable, Problem):
        return timetable
    manifests = part_manifests(site, part, timetable)
    if not manifests:
        return ""
    return _file(site, manifests)


def pool_texts(site: Site, part: Part) -> list[str]:
    """Return those objects in the file of a reservation that are pools: Deployments or NodePools."""
    templates = backend_of(part.placed.reservation.holder).pool_templates
    return [
        render(part_manifest.template, part_manifest.values)
        for part_manifest in part_manifests(site, part)
        if part_manifest.template in templates
    ]


def part_manifests(site: Site, part: Part, timetable: str = "") -> list[Manifest]:
    """Return the objects of a reservation in a cluster; the ConfigMap of its timetable has this text."""
    placed, holder = part.placed, part.placed.reservation.holder
    backend, common = backend_of(holder), window.shared(site, placed)
    manifests = [*backend.pools(site, placed, common)]
    if holder.persistence is None:
        manifests = [
            window.timetable(common, timetable),
            *manifests,
            *rbac.of_reservation(site, placed, backend.leases(placed), backend.scaling_rules(placed)),
            *backend.permissions(site, placed),
            *window.cronjobs(site, placed, common, part.occurrences, part.schedules, _plugins(site, placed)),
        ]
    return [*manifests, *backend.session_objects(site, placed, common)]


def _file(site: Site, manifests: Sequence[Manifest]) -> str:
    """Render a file."""
    texts = [render(manifest.template, manifest.values) for manifest in manifests]
    return header(site.name) + "---\n" + "---\n".join(texts)
