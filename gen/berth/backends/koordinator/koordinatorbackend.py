"""Backend `koordinator`: capacity is held by Reservations of Koordinator, which only their owners can take.

A slot of a window is made in the cluster, at `open`, as in the timetable; a persistent one is rendered. The
templates are in templates/koordinator/.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from berth.backends.backendinterface import Backend, Manifest, PersistentPool
from berth.backends.koordinator import slotchecks
from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotobjects import (
    GROUP,
    inventory_line,
    is_by_profile,
    persistent_slots,
    pod_annotations,
    pool_slots,
    profiles,
    slot_object,
    slots_of,
    snippet,
)
from berth.backends.koordinator.slotoptions import Owner, SlotOptions
from berth.checks.project import CheckedReservation, Project
from berth.core.jsonvalues import instant_text
from berth.core.labels import AFFINITY, ROLE
from berth.findings import Problem
from berth.manifests import deployments, naming, rbac
from berth.manifests.placed import Placed
from berth.plugins.slots.slotspec import slot_hash
from berth.schema.seatholders import Holder
from berth.schema.values import Cluster, ResourceClass, Site


class KoordinatorBackend(Backend):
    pool_templates = (deployments.TEMPLATE,)
    plugins = ("slots",)

    def pools(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterable[Manifest]:
        """Return persistent Reservations, or the Deployments that hand over to slots of windows."""
        if placed.reservation.holder.persistence is not None:
            return _persistent(site, placed, common)
        if not placed.reservation.holder.has_placeholders:
            return ()
        # The scheduler that knows the slots also places what hands over to them.
        scheduler = placed.cluster.koordinator.scheduler_name if placed.cluster.koordinator else ""
        return deployments.deployments(site, placed, common, scheduler)

    def scaling_rules(self, placed: Placed) -> Iterable[rbac.Rule]:
        if not placed.reservation.holder.has_placeholders:
            return []
        # Placeholders that hand over lose an annotation, for which this permission is enough.
        handing_over = rbac.rule("", ["pods/status"], ["patch"])
        return [*rbac.of_deployments(placed, deployments.names(placed)), handing_over]

    def permissions(self, site: Site, placed: Placed) -> list[Manifest]:
        """Return the binding of a reservation with slots to the ClusterRole of the base."""
        name, role = placed.reservation.name, naming.slot_role(site.name, naming.OCCURRENCE)
        binding = naming.slot_binding(site.name, name)
        labels = naming.of_permissions(site, placed.reservation)
        return [rbac.cluster_binding(binding, labels, role, naming.single(name), placed.cluster.namespace)]

    def session_objects(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterable[Manifest]:
        return _affinity(site, placed, common) if placed.reservation.holder.renders_affinity else ()

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> dict[str, Any]:
        return {"slots": pool_slots(site, placed.cluster, placed.reservation, found)}

    def persistent_pools(self, site: Site, placed: Placed) -> Iterator[PersistentPool]:
        reservation, once = placed.reservation, slots_of(placed.reservation).allocate_once
        counts = {} if reservation.suspend else dict(reservation.seats)
        for resource_class in placed.classes:
            made = persistent_slots(
                site, placed.cluster, reservation, resource_class, counts.get(resource_class.name, 0)
            )
            yield PersistentPool(resource_class.name, tuple(name for name, _ in made), once)

    def shape_hashes(self, site: Site, placed: Placed) -> Iterator[tuple[str, str]]:
        for resource_class in placed.classes:
            yield (
                resource_class.name,
                slot_hash(slot_object(site, placed.cluster, placed.reservation, resource_class)),
            )

    def option_texts(self, holder: Holder) -> Iterator[tuple[str, str]]:
        assert isinstance(holder, SlotHolder)
        yield from option_texts(holder.options)
        yield "expires", "" if holder.until is None else instant_text(holder.until)

    def cluster_permissions(self, site: Site, cluster: Cluster) -> Iterator[Manifest]:
        """Yield both ClusterRoles, and the binding of the sweep; each reservation binds its own account."""
        labels = naming.of_site(site)
        for account, rules in of_slots().items():
            yield rbac.cluster_role(naming.slot_role(site.name, account), labels, rules)
        role = naming.slot_role(site.name, naming.SWEEP)
        yield rbac.cluster_binding(role, labels, role, naming.SWEEP, cluster.namespace)

    def cluster_kinds(self, site: Site, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
        """Yield kinds of Koordinator, by patterns, as slots and profiles are named after reservations."""
        for account in (naming.OCCURRENCE, naming.SWEEP):
            for kind in ("ClusterRole", "ClusterRoleBinding"):
                yield rbac.RBAC, kind, naming.slot_role(site.name, account)
        yield rbac.RBAC, "ClusterRoleBinding", naming.slot_binding(site.name, "*")
        yield GROUP, "Reservation", naming.slot(site.name, "*")
        if cluster.koordinator is not None and cluster.koordinator.colocation_profiles:
            profile = naming.affinity_profile(site.name, "*", 1)
            yield "config.koordinator.sh", "ClusterColocationProfile", profile

    def problems(self, checked: CheckedReservation) -> Iterator[Problem]:
        yield from slotchecks.check_reserved_slots(checked)
        yield from slotchecks.check_limits_of_slots(checked)

    def problems_of_all(self, project: Project) -> Iterator[Problem]:
        yield from slotchecks.check_scheduler_of_slots(project)
        yield from slotchecks.check_slot_profiles(project)

    def inventory_lines(self, site: Site, placed: Placed) -> list[str]:
        if placed.reservation.holder.persistence is None:
            return []
        return [
            inventory_line(site, placed.cluster, placed.reservation, resource_class)
            for resource_class in placed.classes
        ]


BACKEND = KoordinatorBackend()


def of_slots() -> dict[str, list[rbac.Rule]]:
    """Return the rules for slots, of occurrences and of the sweep. Slots have no namespace.

    They hold for all slots, as their names are not known before. An occurrence patches a slot that ends later
    than planned; the sweep replaces it.
    """
    slots = (GROUP, ["reservations"])
    return {
        naming.OCCURRENCE: [rbac.rule(*slots, ["list", "create", "patch", "delete"])],
        naming.SWEEP: [rbac.rule(*slots, ["list", "create", "delete"])],
    }


def _persistent(site: Site, placed: Placed, common: dict[str, Any]) -> Iterator[Manifest]:
    """Yield the persistent slots.

    The author's labels and the title change in place, as they are not part of a slot's shape. Labels that
    Koordinator reads come from the backend alone.
    """
    reservation, cluster = placed.reservation, placed.cluster
    counts = {} if reservation.suspend else dict(reservation.seats)
    for resource_class in placed.classes:
        for name, made in persistent_slots(
            site, cluster, reservation, resource_class, counts.get(resource_class.name, 0)
        ):
            metadata = made["metadata"]
            values = {
                "name": name,
                "labels": {**_without_koordinator(common["labels"]), **metadata["labels"]},
                "annotations": {
                    **_without_koordinator(common["annotations"]),
                    **metadata.get("annotations", {}),
                },
                "spec": made["spec"],
            }
            yield Manifest("koordinator/reservation.yaml.j2", values)


def _without_koordinator(notes: dict[str, str]) -> dict[str, str]:
    return {key: text for key, text in notes.items() if "koordinator.sh/" not in key}


def _affinity(site: Site, placed: Placed, common: dict[str, Any]) -> Iterator[Manifest]:
    if is_by_profile(site, placed):
        yield from _profiles(site, placed, common)
        return
    files = [
        {
            "name": f"{resource_class.name}.yaml",
            "text": snippet(placed.cluster, pod_annotations(site, placed, resource_class)),
        }
        for resource_class in placed.classes
    ]
    values = {
        **common,
        "name": naming.affinity_snippet(placed.reservation.name),
        "labels": {**common["labels"], ROLE: AFFINITY},
        "files": files,
    }
    yield Manifest("koordinator/snippet.yaml.j2", values)


def _profiles(site: Site, placed: Placed, common: dict[str, Any]) -> Iterator[Manifest]:
    assert placed.cluster.koordinator is not None
    for resource_class in placed.classes:
        name = naming.pool(placed.reservation.name, resource_class.name)
        for number, profile in enumerate(profiles(site, placed, resource_class) or (), start=1):
            values = {
                **common,
                "name": naming.affinity_profile(site.name, name, number),
                "namespaces": profile.namespaces,
                "selector": profile.selector,
                "scheduler": placed.cluster.koordinator.scheduler_name,
                "pod_annotations": pod_annotations(site, placed, resource_class),
            }
            yield Manifest("koordinator/profile.yaml.j2", values)


def option_texts(slots: SlotOptions) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each option of slots, for people who compare two versions."""
    yield "standing", _flag(slots.standing)
    yield "owners", "; ".join(map(_owner, slots.owners)) or "sessions of the class"
    yield "allocate once", _flag(slots.allocate_once)
    yield "with placeholders", _flag(slots.with_placeholders)
    yield "session affinity", _flag(slots.session_affinity)
    yield "taints", _json([taint.dump() for taint in slots.taints])


def _owner(one: Owner) -> str:
    return " and ".join(f"{key} {_json(value)}" for key, value in one.parts().items())


def _flag(flag: bool) -> str:
    return "yes" if flag else "no"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""
