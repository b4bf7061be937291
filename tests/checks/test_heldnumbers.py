"""Numbers of somebody else: which may be held, what they can be, and that reservations agree about one.

Most cases are in tests/cases/heldnumbers.yaml, which says how they are written.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.backends.backendinterface import backend_of
from berth.backends.value.numberpairs import check_pairs
from berth.checks.references import check_names_in_policies
from berth.core.jsonvalues import instant_of
from berth.findings import Problem
from berth.manifests.placed import placed
from berth.schema.declared import Declared

from tests.cases import tabled
from tests.checks.backendproblems import checked_reservation, project_of
from tests.checks.heldnumbers import API, EVERY, HPA, NODE_POOL, documents, held_site, holding
from tests.saying import Line, Value, codes, finding, lines, read, resource_class, site, valid, weekly

AT = "spec.backend"
ENTRY: Value = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
HELD = "spec.clusters.0.held"
OTHER: Value = {"unit": "units", "combine": "largest"}  # of a number that Berth does not know
CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases/heldnumbers.yaml").read_text("utf-8")
)
TARGETS, ENTRIES = CASES.pop("targets"), CASES.pop("entries")
EVERY_ENTRY = ("api", "web", "pool", "queue", "fleet")
OF_BACKEND, OF_SPEC = (
    ("otherwise", "unit", "combine"),
    ("resourceClass", "provisioning", "sessions", "suspend"),
)
SHORT = ("name", "target", "with", "count", "behavior", "days", "moved", "extra", "annotations")
OF_CASE = ("held", "kubernetes", "now", "holds", "says", "but")


def filled(value: Any, words: Value) -> Any:
    """Put in the words of a case: a text that is one alone becomes its value."""
    if isinstance(value, dict):
        return {key: filled(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    if isinstance(value, str) and value not in words:
        for word, instead in words.items():
            value = value.replace(word, str(instead))
        return value
    return words.get(value, value) if isinstance(value, str) else value


def every_case() -> Iterator[Any]:
    for what, cases in CASES.items():
        for number, case in enumerate(cases):
            words = [key for key in case if key.isupper()]
            plain = {key: item for key, item in case.items() if key not in words}
            for values in zip(*(case[word] for word in words), strict=True) if words else [()]:
                name = "-".join([what.replace(" ", "-"), str(number), *map(str, values)])
                yield pytest.param(filled(plain, dict(zip(words, values, strict=True))), id=name)


def without_null(value: Value) -> Value:
    return {key: item for key, item in value.items() if item is not None}


def entries(case: Value) -> list[Value]:
    named = [{"of": each} if isinstance(each, str) else each for each in case.get("held", EVERY_ENTRY)]
    return [without_null({**ENTRIES[each["of"]], **each, "of": None}) for each in named]


def reservation(name: str, case: Value) -> Value:
    assert {*case} <= {*OF_BACKEND, *OF_SPEC, *SHORT, *OF_CASE}
    target, _, path = case.get("target", "api").partition(" ")
    backend: Value = {key: case[key] for key in OF_BACKEND if key in case}
    if target != "none":
        backend["target"] = without_null(
            {**TARGETS[target], **({"path": path} if path else {}), **case.get("with", {})}
        )
    spec: Value = {key: case[key] for key in OF_SPEC if key in case}
    if "count" in case or "behavior" in case:
        count, behavior = case.get("count", 25), case.get("behavior", "none")
        spec["provisioning"] = {"placeholderCount": count, "scaleDownBehavior": behavior}
    days = [
        {
            **{"dayOfWeek": day, "startTime": start, "endTime": end},
            **({"placeholderCount": more[0]} if more and isinstance(more[0], int) else {}),
            **({"scaleDownBehavior": more[0]} if more and isinstance(more[0], str) else {}),
        }
        for day, start, end, *more in case.get("days", ())
    ]
    changes = {key: case[key] for key in ("moved", "extra") if key in case}
    recurrence = weekly(*days, **changes)
    document = holding(case.get("name", name), spec={**spec, "recurrence": recurrence})
    document["spec"]["backend"] = {"type": "value", **backend}
    document["metadata"]["annotations"] = case.get("annotations", {})
    return document


def full(place: str) -> str:
    code, path, *at_key = place.split()
    path = f"{AT}{path.rstrip('.')}" if path.startswith(".") else re.sub("^/", f"{HELD}.", path)
    return " ".join([code, path, *at_key])


@pytest.mark.parametrize("case", [*every_case()])
def test_each_case_gets_its_expected_findings(case: Value) -> None:
    held = held_site(*entries(case), **({"kubernetes": case["kubernetes"]} if "kubernetes" in case else {}))
    holds = case.get("holds", [case] if {*case} - {"held", "says"} or not {*case} & {"held"} else [])
    reservations = [reservation("abcd"[number], each) for number, each in enumerate(holds)]
    declared = read(*reservations, held, resource_class(), resource_class("huge"))
    now = instant_of(case["now"], "now") if "now" in case else None
    found = codes(declared.problems) or (problems(declared, now) if reservations else [])

    places = [each.split(" | ") for each in case.get("says", ())]
    expected = [finding(full(place), *texts) for place, *texts in places]
    assert [each for each in found if each.split()[0] != case.get("but")] == expected


def problems(declared: Declared, now: int | None = None) -> list[str]:
    assert declared.problems == []
    assert declared.site is not None
    found: list[Problem] = []
    for reservation in declared.reservations:
        checked = checked_reservation(reservation, declared)
        found += backend_of(reservation.holder).problems(checked)
    found += backend_of(declared.reservations[0].holder).problems_of_all(project_of(declared, now))
    return lines(found)


def alone(*reservations: Value, held: Sequence[Value] = ()) -> list[str]:
    return problems(read(*documents(*reservations, held=tuple(held))))


def asking(count: int) -> Value:
    return {"provisioning": {"placeholderCount": count}}


@tabled("checks")
def test_kinds_that_grant_permissions_or_run_code_cannot_be_held(api_version: str, kind: str) -> None:
    entry = {"apiVersion": api_version, "kind": kind, "plural": f"{kind.lower()}s", "namespaces": ["shop"]}
    target = {**API, "apiVersion": api_version, "kind": kind}

    assert codes(read(held_site(entry)).problems) == [f"B300 {HELD}.0.kind"]
    assert codes(read(*documents(holding(target=target))).problems) == [f"B300 {AT}.target.kind"]


def advice(problem: str) -> str:
    """Return what the only problem says to write, do or mean."""
    assert isinstance(problem, Line)
    return re.split(r"(?:Write|Add|Did you mean) ", problem.text)[-1].rstrip(".?")


def test_a_wrong_path_is_reported_with_the_allowed_paths() -> None:
    (problem,) = alone(holding(target={**API, "path": "spec.maxReplica"}, otherwise=1, **OTHER), held=[HPA])

    assert (problem, advice(problem)) == (
        f"B300 {AT}.target.path",
        "spec.minReplicas or spec.maxReplicas, or have spec.maxReplica added to paths of "
        "HorizontalPodAutoscaler in held of cluster prod",
    )


def test_a_missing_namespace_is_reported_with_the_existing_entry() -> None:
    quotas = ENTRIES["quota"]
    target = {**TARGETS["quota"], "namespace": "lab2", "path": "spec.hard.pods"}
    (problem,) = alone(holding(target=target, otherwise=1), held=[quotas])

    assert (problem, advice(problem)) == (
        f"B300 {AT}.target",
        "lab2 to namespaces of ResourceQuota in held of cluster prod, or name another target",
    )
    assert alone(holding(target=target, otherwise=1), held=[{**quotas, "namespaces": ["lab", "lab2"]}]) == []


@tabled("checks")
def test_the_recommended_entry_resolves_the_finding(target: Value) -> None:
    number = holding(target=target, otherwise=1, **(OTHER if target["kind"] == "Sandboxes" else {}))
    (problem,) = alone(number, held=[ENTRIES["queue"]])
    entry = yaml.safe_load(advice(problem).partition(" to held")[0].replace("PLURAL", "sandboxes"))

    assert alone(number, held=[entry]) == []


@pytest.mark.parametrize(
    ("combine", "overlap", "is_cap"),
    [("largest", "max", False), ("smallest", "min", True), ("sum", "sum", False)],
)
def test_the_field_combine_decides_overlap_and_cap(combine: str, overlap: str, is_cap: bool) -> None:
    (found,) = read(*documents(holding(target=TARGETS["fleet"], unit="units", combine=combine))).reservations

    assert (found.overlap, found.holder.is_cap) == (overlap, is_cap)


@pytest.mark.parametrize(
    ("unit", "key"),
    [*((word, word) for word in ("replicas", "runners", "cores", "units")), ("Gi", "units")],
)
def test_the_field_unit_decides_the_unit_of_a_number(unit: str, key: str) -> None:
    number = holding(target=TARGETS["fleet"], unit=unit, combine="largest")

    assert read(*documents(number)).reservations[0].holder.unit.key == key


@pytest.mark.parametrize("number", ["pool spec.limits.cpu", "pool spec.limits.nodes", "quota spec.hard.pods"])
@pytest.mark.parametrize("options", [{"otherwise": "500m"}, {"otherwise": "3Gi"}, {"unit": "Gi"}], ids=str)
def test_advice_on_a_plain_number_names_no_unit(number: str, options: Value) -> None:
    target, _, path = number.partition(" ")
    (problem,) = lines(
        read(*documents(holding(target={**TARGETS[target], "path": path}, **options))).problems
    )

    assert isinstance(problem, Line)
    assert not any(word in problem.text for word in ("Add unit", "name the"))


CLUSTERS = (
    {"name": "prod", "held": [HPA]},
    {"name": "lab", "held": [HPA]},
)


def in_two_clusters() -> Declared:
    there = holding("there", otherwise=4, spec={"resourceClass": "far"})
    return read(
        *(holding("zebra", otherwise=3), holding("here", otherwise=3), there, holding("ant", otherwise=3)),
        *(site(*CLUSTERS), resource_class(cluster="prod"), resource_class("far", cluster="lab")),
    )


def test_the_same_name_in_another_cluster_is_another_number() -> None:
    assert problems(in_two_clusters()) == []


def test_peers_of_a_number_are_sorted_and_in_the_same_cluster() -> None:
    declared = in_two_clusters()
    assert declared.site is not None
    peers = {
        reservation.name: place.peers
        for reservation in declared.reservations
        for place in placed(reservation, declared, declared.site)
    }

    assert peers == {
        "zebra": ("ant", "here"),
        "here": ("ant", "zebra"),
        "ant": ("here", "zebra"),
        "there": (),
    }


def test_counts_of_another_cluster_are_not_compared() -> None:
    """A reservation may hold the number in each of two clusters."""
    seats = [{"resourceClass": name, "placeholderCount": 20} for name in ("small", "far")]
    cap = {**API, "path": "spec.maxReplicas"}
    both = {"resourceClass": None, "provisioning": {"seats": seats}}
    declared = valid(
        holding("b", otherwise=1, spec=both),
        holding("a", cap, otherwise=30, spec={**asking(30), "recurrence": weekly({**ENTRY, "dayOfWeek": 2})}),
        site({"name": "prod", "held": [HPA]}, {"name": "dr", "held": [HPA]}),
        resource_class(cluster="prod"),
        resource_class("far", cluster="dr"),
    )

    assert lines(check_pairs(project_of(declared))) == []


# Targets of policies


def policy_problems(*, held: Sequence[Value] = EVERY, **match: Sequence[str]) -> list[str]:
    policy = {"name": "a", "match": match, "require": "refuse"}
    declared = valid(site({"name": "prod", "held": list(held)}, policies=[policy]))
    return lines(check_names_in_policies(project_of(declared)))


def test_classes_and_clusters_of_a_policy_must_exist() -> None:
    match, unless = (
        {"classes": [name], "clusters": [cluster]} for name, cluster in (("smal", "prod"), ("small", "prd"))
    )
    policy = {"name": "a", "match": match, "unless": unless, "require": "warn"}

    assert lines(check_names_in_policies(project_of(valid(site(policies=[policy]), resource_class())))) == [
        finding("B061 spec.policies.0.match.classes.0", "smal"),
        finding("B061 spec.policies.0.unless.clusters.0", "prd"),
    ]


@tabled("checks")
def test_a_policy_target_may_match_any_held_number(target: str) -> None:
    assert policy_problems(targets=[target]) == []


@tabled("checks")
def test_a_policy_target_that_matches_nothing_is_refused(target: str) -> None:
    place = "B061 spec.policies.0.match.targets.1"

    assert policy_problems(targets=["*", target]) == [finding(place, target)]
    assert policy_problems(targets=["*"], held=()) == ["B061 spec.policies.0.match.targets.0"]


@pytest.mark.parametrize(
    ("clusters", "is_held"),
    [([], True), (["prod"], True), (["prod", "dr"], True), (["dr"], False)],
    ids=["any", "prod", "both", "dr"],
)
@pytest.mark.parametrize("key", ["match", "unless"])
def test_a_policy_target_must_be_held_in_one_of_its_clusters(
    key: str, clusters: list[str], is_held: bool
) -> None:
    policy = {"name": "a", key: {"targets": ["*/shop/*"], "clusters": clusters}, "require": "refuse"}
    declared = valid(
        site({"name": "prod", "held": [HPA]}, {"name": "dr", "held": [NODE_POOL]}, policies=[policy])
    )

    found = lines(check_names_in_policies(project_of(declared)))

    assert found == ([] if is_held else [finding(f"B061 spec.policies.0.{key}.targets.0", "*/shop/*", "dr")])
