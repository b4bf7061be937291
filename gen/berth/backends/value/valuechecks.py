"""Check numbers of somebody else that are held: may they be, and do reservations agree about them?"""

from collections.abc import Iterable, Iterator
from itertools import pairwise, permutations

from berth.backends.value.numberpairs import number_holdings
from berth.backends.value.valueholder import ValueHolder
from berth.backends.value.valueoptions import ValueOptions, ValueTarget
from berth.checks.numberlevels import NumberHolding, number_levels
from berth.checks.project import CheckedReservation, Project
from berth.findings import Path, Problem
from berth.machines.versions import version_text
from berth.manifests import naming
from berth.manifests.placed import class_names, used_behaviors
from berth.notation.objectpath import may_be_same, object_path_text, yaml_path
from berth.schema.declared import Declared
from berth.schema.heldobjects import REPLICAS, HeldSpec
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, Site

_BACKEND: Path = ("spec", "backend")
_TARGET: Path = (*_BACKEND, "target")


def held_spec(target: ValueTarget, cluster: Cluster) -> HeldSpec | None:
    """Return the entry of the Site that lets reservations hold the number; None if there is none."""
    for held in cluster.held:
        is_here = target.namespace is None if held.namespaces is None else target.namespace in held.namespaces
        if (held.api_version, held.kind) == (target.api_version, target.kind) and is_here:
            return held
    return None


def check_number(checked: CheckedReservation) -> Iterator[Problem]:
    """Check that the Site lets the reservation hold its number, and that it can be what is asked for."""
    (declared, site, *_), reservation, places, _ = checked
    options = _options(reservation)
    if options is None or options.target is None:
        return
    target = options.target
    for place in places:
        if len(place.classes) > 1:
            names = " and ".join(resource_class.name for resource_class in place.classes)
            message = f"classes {names} would hold one number."
            fix = "Write a reservation for each, with its own target."
            yield reservation.problem("B300", _BACKEND, message, fix)
        held = held_spec(target, place.cluster)
        if held is None:
            yield reservation.problem("B300", _TARGET, *_refusal(target, place.cluster))
        elif not held.allows(target.path):
            message = f"the Site does not let reservations hold {target}."
            entry = f"paths of {target.kind} in held of cluster {place.cluster.name}"
            allowed = " or ".join(map(yaml_path, held.allowed))
            fix = f"Write {allowed}, or have {yaml_path(target.path)} added to {entry}."
            yield reservation.problem("B300", (*_TARGET, "path"), message, fix)
        elif selector := held.moving_selector(target.path):
            message = f"[{selector}] selects an item by what windows may change, and then finds another one."
            fix = "Select it by its name or by its index, from 0."
            yield reservation.problem("B300", (*_TARGET, "path"), message, fix)
        version = place.cluster.kubernetes
        if version is not None and target.refuses_zero_in(version):
            refuser = f"Kubernetes {version_text(version)} of cluster {place.cluster.name}"
            yield from _zeros(reservation, options, refuser)
    if target.kind == "NodePool" and target.name in _own_node_pools(declared, site):
        message = f"NodePool {target.name} is one of Berth's own."
        fix = "Write backend: {type: nodePool}, or limits of the CloudCapacity."
        yield reservation.problem("B300", (*_TARGET, "name"), message, fix)
    if target.least:
        yield from _zeros(reservation, options, "the API server")
    yield from _idle_sessions(reservation, declared)


def _idle_sessions(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    """Report sessions that are narrowed for nothing; of a class without any, all backends have that check."""
    has_sessions = any(
        each.sessions for name in class_names(reservation) if (each := declared.classes.get(name))
    )
    if reservation.spec.sessions is not None and has_sessions and used_behaviors(reservation) == ["none"]:
        message = "sessions has no effect: with behavior none, sessions change no number."
        fix = "Remove it, or write a scaleDownBehavior that counts sessions."
        yield reservation.problem("B029", ("spec", "sessions"), message, fix)


def _own_node_pools(declared: Declared, site: Site) -> set[str]:
    """Return the names of the NodePools that are rendered, or would be if a backend changed."""
    return {naming.node_pool(site.name, name) for name in declared.clouds} | {
        naming.static_pool(site.name, naming.pool(reservation.name, name))
        for reservation in declared.reservations
        for name in class_names(reservation)
    }


def _zeros(reservation: Reservation, options: ValueOptions, refuser: str) -> Iterator[Problem]:
    """Report what would write 0 where none is taken: behaviors, and what is there outside of windows."""
    if options.otherwise_count == 0:
        message = f"{refuser} refuses 0 as {options.target}."
        yield reservation.problem("B300", (*_BACKEND, "otherwise"), message, "Write a number from 1.")
    spare = reservation.buffer.minimum if reservation.buffer else 0
    for place, behavior in _behaviors(reservation):
        if behavior != "none" and not (behavior == "buffer" and spare):
            message = f"with {behavior} sessions lower {options.target} to 0, which {refuser} refuses."
            advice = "Write none, or buffer with a minimum from 1."
            yield reservation.problem("B300", place, message, advice)


def _behaviors(reservation: Reservation) -> Iterator[tuple[Path, str]]:
    """Yield each behavior that windows have, with the place that says so."""
    used = used_behaviors(reservation)
    for place, line in reservation.spec.scaling_lines():
        if line.scale_down_behavior in used:
            yield ("spec", *place, "scaleDownBehavior"), line.scale_down_behavior


def check_lowered_numbers(project: Project) -> Iterator[Problem]:
    """Warn of windows that take away from others what they have outside of windows.

    What counts is what all who hold a number ask for, at each moment from `now` on.
    """
    now, by_number = project.now, dict[tuple[object, ...], list[NumberHolding]]()
    for cluster, number, holding in number_holdings(project):
        by_number.setdefault((cluster, number.identity), []).append(holding)
    least: dict[str, int] = {}
    for holdings in by_number.values():
        for level, following in pairwise(number_levels(holdings)):
            name, is_over = level.reservation.name, now is not None and following.since <= now
            if level.amount is not None and not is_over:
                least[name] = min(level.amount, least.get(name, level.amount))
                if len(holdings) == 1:  # else sessions count for nobody
                    least[name] = min(least[name], _least_by_sessions(level.reservation, level.amount))
    for reservation, _, parts, _ in project.items:
        if reservation.name in least:
            versions = {part.placed.cluster.kubernetes for part in parts}
            yield from _lower(reservation, least[reservation.name], versions)


def _least_by_sessions(reservation: Reservation, count: int) -> int:
    """Return to what sessions may lower the count of a window."""
    behaviors = [behavior for behavior in used_behaviors(reservation) if behavior != "none"]
    spare = reservation.buffer.minimum if reservation.buffer else 0
    return min([count, *(spare if behavior == "buffer" else 0 for behavior in behaviors)])


def _lower(
    reservation: Reservation, least: int, versions: Iterable[tuple[int, int] | None]
) -> Iterator[Problem]:
    """Report a reservation of which a window lets its number be less than outside, or may do so.

    `versions` are those of Kubernetes in its clusters.
    """
    options = _options(reservation)
    if options is None or options.target is None:
        return
    if least < options.target.least or (least == 0 and any(map(options.target.refuses_zero_in, versions))):
        return  # which is refused
    target, otherwise = options.target, options.otherwise_count
    is_floor = target.number is not None and not options.is_cap
    if otherwise is None and (least == 0 or not is_floor):
        message = f"a window lets {target} be {least}, and what it is outside of windows is not said."
        fix = "Add otherwise, and let counts and sessions lower it to no less."
        yield reservation.problem("B302", _BACKEND, message, fix)
    elif otherwise is not None and least < otherwise:
        message = f"a window lets {target} be {least}, and outside of windows it is {otherwise}."
        fix = "Write a lower otherwise, or larger counts, and no sessions that lower them."
        yield reservation.problem("B302", (*_BACKEND, "otherwise"), message, fix)


def _refusal(target: ValueTarget, cluster: Cluster) -> tuple[str, str]:
    where = f" in namespace {target.namespace}" if target.namespace else ""
    message = f"the Site lets no reservation hold a number of {target.kind} {target.api_version}{where}."
    here = f"held of cluster {cluster.name}"
    same = [held for held in cluster.held if held.kind == target.kind]
    of_version = [held for held in same if held.api_version == target.api_version]
    if same and not of_version:
        return message, f"Write apiVersion: {min(held.api_version for held in same)}, as {here} does."
    if target.namespace is None and same and all(held.namespaces for held in same):
        return message, f"Add namespace: where the {target.kind} is."
    if target.namespace is not None and any(held.namespaces for held in of_version):
        fix = f"Add {target.namespace} to namespaces of {target.kind} in {here}, or name another target."
        return message, fix
    return message, f"Add {_new_entry(target)} to {here}, or name another target."


def _new_entry(target: ValueTarget) -> str:
    """Return the entry of the Site that lets reservations hold the number, for YAML in one line."""
    namespaces = f", namespaces: [{target.namespace}]" if target.namespace else ""
    more = "" if target.known else f", plural: PLURAL, paths: [{yaml_path(target.path)}]"
    if target.known and target.known.has_scale is None and target.path == REPLICAS:
        more = ", scale: true"
    return f"{{apiVersion: {target.api_version}, kind: {target.kind}{namespaces}{more}}}"


def _options(reservation: Reservation) -> ValueOptions | None:
    holder = reservation.holder
    return holder.options if isinstance(holder, ValueHolder) else None


def check_shared_numbers(project: Project) -> Iterator[Problem]:
    """Check reservations that hold one number in a cluster, suspended ones too: they must agree about it."""
    by_name = {item.reservation.name: item.reservation for item in project.items}
    for reservation, _, parts, _ in project.items:
        if _options(reservation) is not None:
            names = {name for part in parts for name in part.placed.peers}
            yield from _disagreements(reservation, [by_name[name] for name in sorted(names)])
    yield from _doubtful_paths(project)


def _doubtful_paths(project: Project) -> Iterator[Problem]:
    """Report reservations that may hold one number by two spellings of its path, at each of them."""
    by_object: dict[tuple[object, ...], list[tuple[Reservation, ValueTarget]]] = {}
    for cluster, number, holding in number_holdings(project):
        by_object.setdefault((cluster, *number.identity[:-1]), []).append((holding.reservation, number))
    pairs = {
        (reservation.name, other.name): (reservation, target, other, others_target)
        for holdings in by_object.values()
        for (reservation, target), (other, others_target) in permutations(holdings, 2)
        if may_be_same(target.path, others_target.path)
    }
    for reservation, target, other, others_target in pairs.values():
        message = (
            f"{target} may be the same number as {object_path_text(others_target.path)} in {other.name}."
        )
        fix = "Write both paths in the same way."
        yield reservation.problem("B301", (*_TARGET, "path"), message, fix)


def _disagreements(reservation: Reservation, others: list[Reservation]) -> Iterator[Problem]:
    holder = reservation.holder
    assert isinstance(holder, ValueHolder)
    if not others:
        return
    names = ", ".join(other.name for other in others)
    what = f"{holder.options.target} is held by {names} as well"
    if holder.options.otherwise is None:
        message = f"{what}, so what it is otherwise must be said."
        yield reservation.problem("B301", _BACKEND, message, "Add otherwise, the same in all of them.")
    for place, behavior in _behaviors(reservation):
        if behavior != "none":
            message = f"{what}, and only behavior none is the same for all of them."
            yield reservation.problem("B301", place, message, "Write none, or leave it out.")
    differing: set[str] = set()  # what was reported, with the first other that has another value
    for other in others:
        assert isinstance(other.holder, ValueHolder)
        options, others_options = holder.options, other.holder.options
        values = [
            ("otherwise", options.otherwise, others_options.otherwise),
            ("unit", options.unit, others_options.unit),
            ("combine", options.combine, others_options.combine),
            ("ready", _ready_text(options), _ready_text(others_options)),
        ]
        places: dict[str, Path] = {"ready": _TARGET}
        for key, here, there in values:
            if here != there and key not in differing:
                differing.add(key)
                at = (*places.get(key, _BACKEND), key)
                message = (
                    f"{key} is {_shown(here)} here and {_shown(there)} in {other.name}, which holds the same "
                    "number."
                )
                yield reservation.problem("B301", at, message, "Write the same in both.")


def _ready_text(options: ValueOptions) -> str | None:
    path = options.target.ready_path if options.target else ()
    return object_path_text(path) if path else None


def _shown(value: object) -> str:
    return "missing" if value is None else str(value)
