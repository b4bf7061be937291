"""Backend `value`: capacity is a number in an object of somebody else, which goes back to what it was.

Git has no object whose number it is. It has a ConfigMap that says which number is held, which stays when the
reservation leaves git, so that the sweep can give the number back.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from berth.backends.backendinterface import Backend, Manifest
from berth.backends.value import numberpairs, valuechecks
from berth.backends.value.valueholder import ValueHolder
from berth.backends.value.valueoptions import ValueOptions
from berth.checks.project import CheckedReservation, Project
from berth.core import objectnames
from berth.core.labels import CLASS, ROLE, TARGET
from berth.core.objects import ObjectKind, group_of
from berth.findings import Problem
from berth.manifests import naming, rbac
from berth.manifests.placed import Placed
from berth.notation.objectpath import object_path_text
from berth.plugins.numbers.foreignnumbers import ForeignNumber, parse_number
from berth.schema.heldobjects import REPLICAS, HeldSpec
from berth.schema.seatholders import Holder
from berth.schema.values import Cluster, ResourceClass, Site

CHANGED_NUMBER = "number-changed"
_TEMPLATE = "value/target.yaml.j2"


class ValueBackend(Backend):
    pool_templates = (_TEMPLATE,)
    plugins = ("numbers",)

    def pools(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterator[Manifest]:  # noqa: ARG002
        """Yield the ConfigMap that says which number is held. It is immutable, and named after its text."""
        text = json.dumps(_number(placed))
        for resource_class in placed.classes:
            pool = naming.pool(placed.reservation.name, resource_class.name)
            labels = {**common["labels"], ROLE: TARGET, CLASS: resource_class.name}
            notes = {**common["annotations"], **naming.kept(placed.cluster.engine)}
            known = {**common, "name": objectnames.target(pool, text), "labels": labels, "annotations": notes}
            yield Manifest(_TEMPLATE, {**known, "target": text})

    def leases(self, placed: Placed) -> list[str]:
        """Return the names of the notes, too: who holds the same number shares both."""
        number = held_number(placed)
        return list(dict.fromkeys(number.note_name(pool) for pool in super().leases(placed)))

    def scaling_rules(self, placed: Placed) -> Iterator[rbac.Rule]:
        yield rbac.rule("", ["configmaps"], ["get", "create", "patch", "delete"], self.leases(placed))
        if placed.peers:
            yield rbac.rule("", ["configmaps"], ["get"], [naming.single(name) for name in placed.peers])

    def permissions(self, site: Site, placed: Placed) -> list[Manifest]:
        """Return the role of a reservation over the one object, where that is, and its binding."""
        reservation, home, number = placed.reservation, placed.cluster.namespace, held_number(placed)
        role = naming.held_role(site.name, naming.OCCURRENCE, reservation.name)
        labels = naming.of_permissions(site, reservation)
        account, rules = naming.single(reservation.name), _rules_for(number.object_kind, [number.name])
        if number.object_kind.of_cluster:
            role_over_one = rbac.cluster_role(role, labels, rules)
            return [role_over_one, rbac.cluster_binding(role, labels, role, account, home)]
        return rbac.namespaced_role(role, str(number.namespace), labels, rules, account, home)

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> dict[str, Any]:  # noqa: ARG002
        return {"number": _number(placed), **({"peers": list(placed.peers)} if placed.peers else {})}

    def option_texts(self, holder: Holder) -> Iterator[tuple[str, str]]:
        assert isinstance(holder, ValueHolder)
        options = holder.options
        yield "number", str(options.target)
        yield "apiVersion", options.target.api_version if options.target else ""
        yield "otherwise", options.otherwise_text
        yield "unit", options.unit or ""
        yield "combine", options.combine or ""
        if options.target:
            yield "ready at", object_path_text(options.target.ready_path)

    def can_give_back(self, holder: Holder, cluster: Cluster) -> bool:
        target = holder.options.target if isinstance(holder, ValueHolder) else None
        if target is None:
            return True
        place = group_of(target.api_version), target.kind, target.namespace or ""
        return any(place in held.places for held in cluster.held)

    def change_risks(
        self, before: Holder | None, after: Holder | None, *, is_open: bool
    ) -> Iterator[tuple[str, str]]:
        """Say what happens to the number that was held. `is_open`: the window of the base is open."""
        old, new = (holder.options if isinstance(holder, ValueHolder) else None for holder in (before, after))
        if old is None:
            return
        back = f"{old.target} goes back to {old.otherwise_text}"
        if new is None or old.target is None or new.target is None:
            if is_open:
                yield CHANGED_NUMBER, f"{back} in the middle of a window, as soon as this is applied."
        elif old.target.identity != new.target.identity:
            when = (
                "in the middle of a window, as soon as this is applied" if is_open else "first, if it is held"
            )
            yield CHANGED_NUMBER, f"{back} {when}. From then on windows set {new.target}."
        elif is_open and old.unit != new.unit:
            yield CHANGED_NUMBER, f"{new.target} gets another unit in the middle of a window."
        elif is_open and old.otherwise != new.otherwise:
            message = f"{new.target} goes back to {new.otherwise_text} at the end of the open window"
            yield CHANGED_NUMBER, f"{message}, no longer to {old.otherwise_text}."

    def cluster_permissions(self, site: Site, cluster: Cluster) -> Iterator[Manifest]:
        """Yield the roles by which the sweep gives numbers back, also of reservations that are gone."""
        role, labels = naming.held_role(site.name, naming.SWEEP), naming.of_site(site)
        home = cluster.namespace
        for namespace in dict.fromkeys(name for held in cluster.held for name in held.namespaces or ()):
            here = [held for held in cluster.held if namespace in (held.namespaces or ())]
            yield from rbac.namespaced_role(role, namespace, labels, _rules(here), naming.SWEEP, home)
        if of_cluster := [held for held in cluster.held if held.namespaces is None]:
            yield rbac.cluster_role(role, labels, _rules(of_cluster))
            yield rbac.cluster_binding(role, labels, role, naming.SWEEP, home)

    def sweep_rules(self) -> list[rbac.Rule]:
        """Return what the sweep needs to note what a number was, under names that it does not know before."""
        return [rbac.rule("", ["configmaps"], ["get", "create", "patch"])]

    def cluster_kinds(self, site: Site, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
        """Yield kinds of cluster-scoped roles, by patterns, so that a new reservation changes no project."""
        has_cluster_roles = any(held.namespaces is None for held in cluster.held)
        for kind in ("ClusterRole", "ClusterRoleBinding") if has_cluster_roles else ():
            yield rbac.RBAC, kind, naming.held_role(site.name, naming.OCCURRENCE, "*")
            yield rbac.RBAC, kind, naming.held_role(site.name, naming.SWEEP)

    def problems(self, checked: CheckedReservation) -> Iterator[Problem]:
        return valuechecks.check_number(checked)

    def problems_of_all(self, project: Project) -> Iterator[Problem]:
        yield from valuechecks.check_shared_numbers(project)
        yield from valuechecks.check_lowered_numbers(project)
        yield from numberpairs.check_pairs(project)


BACKEND = ValueBackend()


def held_number(placed: Placed) -> ForeignNumber:
    """Return the number that a reservation holds, as programs in the cluster read it."""
    return parse_number(json.loads(json.dumps(_number(placed))), "number")


def _rules_for(kind: ObjectKind, names: Sequence[str] = ()) -> list[rbac.Rule]:
    """Return the rules to hold a number of objects of a kind: by the subresource scale where it has one."""
    if kind.has_scale:
        return rbac.of_scaled(kind.group, kind.plural, names)
    return [rbac.rule(kind.group, [kind.plural], ["get", "patch"], names)]


def _rules(held: Sequence[HeldSpec]) -> list[rbac.Rule]:
    return [each for spec in held for each in _rules_for(spec.object_kind)]


def _number(placed: Placed) -> dict[str, Any]:
    options = _options(placed)
    target = options.target
    assert target is not None  # the model requires it
    held = valuechecks.held_spec(target, placed.cluster)
    kind = held.object_kind if held else None
    return {
        "apiVersion": target.api_version,
        "kind": target.kind,
        "plural": kind.plural if kind else target.kind.lower(),
        **({"namespace": target.namespace} if target.namespace else {}),
        "name": target.name,
        "path": target.path,
        "scale": bool(kind and kind.has_scale and target.path == REPLICAS),
        "unit": options.counted.plural,
        **({"ready": target.ready_path} if target.ready_path else {}),
        **({} if options.otherwise is None else {"otherwise": options.otherwise}),
        **({"suffix": options.suffix} if options.suffix else {}),
    }


def _options(placed: Placed) -> ValueOptions:
    holder = placed.reservation.holder
    assert isinstance(holder, ValueHolder)
    return holder.options
