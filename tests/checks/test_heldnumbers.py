"""Numbers of somebody else: which may be held, what they can be, and that reservations agree about one."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from berth.backends.backendinterface import CheckedReservation, backend_of
from berth.backends.value.numberpairs import check_pairs
from berth.checks.references import check_names_in_policies
from berth.core.jsonvalues import instant_of
from berth.findings import Problem
from berth.manifests.placed import placed
from berth.notation.objectpath import parse_object_path
from berth.schema.declared import Declared
from berth.schema.heldobjects import known_number

from tests.checks.heldnumbers import (
    API,
    DEPLOYMENT,
    EVERY,
    HPA,
    NODE_POOL,
    QUEUE,
    QUOTA,
    ROLLOUT,
    WEB,
    documents,
    held_site,
    holding,
)
from tests.saying import Line, Value, codes, finding, lines, read, resource_class, site, weekly

ENTRY: Value = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}


def without(value: Value, key: str) -> Value:
    return {name: item for name, item in value.items() if name != key}


AT = "spec.backend"
OTHER: Value = {"unit": "units", "combine": "largest"}  # of a number that Berth does not know
LENDING = "spec.resourceGroups[0].flavors[name=default].resources[name=memory].lendingLimit"
POOL: Value = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "shared"}
RUNNER_SETS: Value = {
    "apiVersion": "actions.github.com/v1alpha1",
    "kind": "AutoscalingRunnerSet",
    "namespaces": ["shop"],
}
RUNNERS: Value = {**without(RUNNER_SETS, "namespaces"), "namespace": "shop", "name": "runners"}
RESOURCE_QUOTA: Value = {
    "apiVersion": "v1", "kind": "ResourceQuota", "namespace": "lab", "name": "lab"
}  # fmt: skip
HELD = "spec.clusters.0.held"


def problems(declared: Declared, now: int | None = None) -> list[str]:
    assert declared.problems == []
    assert declared.site is not None
    found: list[Problem] = []
    for reservation in declared.reservations:
        checked = CheckedReservation(reservation, declared, declared.site)
        found += backend_of(reservation.holder).problems(checked)
    found += backend_of(declared.reservations[0].holder).problems_of_all(declared, declared.site, now)
    return lines(found)


def asking(count: int, **provisioning: Any) -> Value:
    return {"provisioning": {"placeholderCount": count, **provisioning}}


def alone(*reservations: Value, held: Sequence[Value] = ()) -> list[str]:
    return problems(read(*documents(*reservations, held=tuple(held))))


# What the Site lets reservations hold


@pytest.mark.parametrize(
    "held",
    [
        pytest.param([HPA], id="known"),
        pytest.param([{**HPA, "apiVersion": "autoscaling/v1"}], id="other-version-of-a-known-kind"),
        pytest.param([HPA, {**HPA, "namespaces": ["other"]}], id="one-kind-in-two-entries"),
        pytest.param([ROLLOUT], id="unknown-kind-with-plural"),
        pytest.param([{"apiVersion": "v1", "kind": "ResourceQuota", "plural": "resourcequotas",
                       "paths": ["spec.hard.*"], "namespaces": ["shop"]}], id="quota"),
        pytest.param([{**ROLLOUT, "scale": False, "paths": ["spec.pools[*].size"]}], id="unknown-with-paths"),
        pytest.param([{**HPA, "paths": ["spec.minReplicas"]}], id="fewer-paths-of-a-known-kind"),
        pytest.param([{**NODE_POOL, "scale": True}], id="node-pools-of-a-fixed-size"),
        pytest.param([{**NODE_POOL, "scale": False, "paths": ["spec.limits.cpu"]}], id="node-pool-limits"),
    ],
)  # fmt: skip
def test_a_site_lists_kinds(held: list[Value]) -> None:
    assert read(held_site(*held)).problems == []


@pytest.mark.parametrize(
    ("held", "place"),
    [
        pytest.param([HPA, HPA], f"B016 {HELD}.1", id="twice"),
        pytest.param([HPA, {**HPA, "apiVersion": "autoscaling/v1"}], f"B016 {HELD}.1", id="two-versions"),
        pytest.param([QUEUE, QUEUE], f"B016 {HELD}.1", id="twice-without-namespace"),
        pytest.param(
            [{**HPA, "namespaces": ["shop", "berth"]}], f"B300 {HELD}.0.namespaces.1", id="of-berth"
        ),
        pytest.param([{**HPA, "scale": True}], f"B016 {HELD}.0.scale", id="no-such-scale"),
        pytest.param([{**DEPLOYMENT, "scale": False}], f"B016 {HELD}.0.scale", id="whole-deployment"),
        pytest.param([{**HPA, "plural": "hpas"}], f"B016 {HELD}.0.plural", id="other-plural"),
        pytest.param([{**NODE_POOL, "namespaces": ["a"]}], f"B016 {HELD}.0.namespaces @key", id="of-cluster"),
        pytest.param([{**HPA, "namespaces": None}], f"B011 {HELD}.0", id="no-namespaces"),
        pytest.param([{**ROLLOUT, "plural": None}], f"B011 {HELD}.0", id="no-plural"),
        pytest.param([{**ROLLOUT, "scale": None}], f"B011 {HELD}.0", id="no-paths"),
        pytest.param([{**DEPLOYMENT, "paths": ["spec.paused"]}], f"B016 {HELD}.0.paths.0", id="not-by-scale"),
        pytest.param(
            [{**NODE_POOL, "scale": True, "paths": ["spec.limits.cpu"]}],
            f"B016 {HELD}.0.paths.0",
            id="limits-by-scale",
        ),
        *[
            pytest.param([{**HPA, "paths": [path]}], f"B300 {HELD}.0.paths.0", id=f"paths-{path}")
            for path in (
                "spec",
                "spec.a[*]",
                "status.a",
                "metadata.generation",
                "*.a",
                "spec.*.",
                "spec.**",
                "spec.template.spec.securityContext.runAsUser",
                "spec.jobTemplate.*",
                "spec.volumeClaimTemplates[*].*",
                "spec.metadata.a",
            )
        ],
    ],
)
def test_a_list_that_contradicts_itself_is_refused(held: list[Value], place: str) -> None:
    entries = [{key: value for key, value in each.items() if value is not None} for each in held]

    assert codes(read(held_site(*entries)).problems) == [place]


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        *[("v1", kind) for kind in ("Secret", "ConfigMap", "Node", "Pod", "ServiceAccount", "Namespace")],
        *[("rbac.authorization.k8s.io/v1", kind) for kind in ("Role", "ClusterRoleBinding")],
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
        *[("apps/v1", "DaemonSet"), ("batch/v1", "CronJob")],
        *[("argoproj.io/v1alpha1", "Application"), ("kustomize.toolkit.fluxcd.io/v1", "Kustomization")],
    ],
)
def test_what_gives_rights_or_runs_code_is_never_held(api_version: str, kind: str) -> None:
    entry = {"apiVersion": api_version, "kind": kind, "plural": f"{kind.lower()}s", "namespaces": ["shop"]}
    target = {**API, "apiVersion": api_version, "kind": kind}

    assert codes(read(held_site(entry)).problems) == [f"B300 {HELD}.0.kind"]
    assert codes(read(*documents(holding(target=target))).problems) == [f"B300 {AT}.target.kind"]


@pytest.mark.parametrize(
    ("target", "held", "place"),
    [
        pytest.param({"namespace": "other"}, [HPA], finding(f"B300 {AT}.target", "other"), id="namespace"),
        pytest.param({}, [QUEUE], finding(f"B300 {AT}.target", "HorizontalPodAutoscaler"), id="kind"),
        pytest.param(
            {"apiVersion": "autoscaling/v1"},
            [HPA],
            finding(f"B300 {AT}.target", "autoscaling/v2"),
            id="version",
        ),
    ],
)  # fmt: skip
def test_what_the_site_does_not_list_is_refused(target: Value, held: list[Value], place: str) -> None:
    assert alone(holding(target={**API, **target}), held=held) == [place]


@pytest.mark.parametrize(
    ("target", "entry", "is_allowed"),
    [
        *[pytest.param({**API, "path": f"spec.{path}"}, HPA, is_allowed, id=path)
          for path, is_allowed in (("maxReplicas", True), ("behavior.scaleUp.tolerance", False))],
        pytest.param({**API, "path": "spec.maxReplicas"}, {**HPA, "paths": ["spec.minReplicas"]}, False,
                     id="fewer"),
        *[pytest.param({**RUNNERS, "path": f"spec.{path}"}, RUNNER_SETS, is_allowed, id=path)
          for path, is_allowed in (("minRunners", True),
                                   ("template.spec.securityContext.runAsUser", False),
                                   ("listenerTemplate.spec.containers[0].securityContext.runAsUser", False))],
        pytest.param({**RUNNERS, "path": "spec.template.spec"}, {**RUNNER_SETS, "paths": ["spec.*.*"]}, False,
                     id="code-by-wildcards"),
        *[pytest.param({**POOL, "path": path}, NODE_POOL, is_allowed, id=path)
          for path, is_allowed in (('spec.limits["nvidia.com/gpu"]', True), ("spec.weight", False),
                                   ("spec.limits[0].cpu", False), ("spec.limits.cpu.a", False))],
        *[pytest.param({**QUOTA, "path": f"spec.resourceGroups[0].flavors{path}"}, QUEUE, is_allowed, id=path)
          for path, is_allowed in (("[0].resources[name=cpu].borrowingLimit", True),
                                   ("[0].resources.cpu.borrowingLimit", False),
                                   ("[0].resources[0].name", False))],
    ],
)  # fmt: skip
def test_only_numbers_that_the_site_allows_are_held(target: Value, entry: Value, is_allowed: bool) -> None:
    path = parse_object_path(target["path"])
    is_known = path and known_number(target["apiVersion"], target["kind"], path)
    number = holding(target=target, otherwise=1, **({} if is_known else OTHER))

    assert alone(number, held=[entry]) == ([] if is_allowed else [f"B300 {AT}.target.path"])


SHARES: Value = {
    "apiVersion": "example.org/v1",
    "kind": "Share",
    "plural": "shares",
    "paths": [f"spec.groups[*].parts[*].{key}" for key in ("quota", "limit")],
}


@pytest.mark.parametrize(
    ("group", "part", "is_allowed"),
    [
        pytest.param("name=default", "name=cpu", True, id="names"),
        pytest.param("0", "1", True, id="indexes"),
        pytest.param("name=default", "quota=10", False, id="own-key"),
        pytest.param("name=default", "limit=10", False, id="another-number"),
        pytest.param("quota=10", "name=cpu", False, id="own-key-further-up"),
        pytest.param("parts=cpu", "name=cpu", False, id="on-the-way"),
    ],
)
def test_no_item_is_selected_by_what_windows_change(group: str, part: str, is_allowed: bool) -> None:
    """After the first write the path would lead nowhere, or to the number of somebody else."""
    path = f"spec.groups[{group}].parts[{part}].quota"
    target = {**{key: SHARES[key] for key in ("apiVersion", "kind")}, "name": "team", "path": path}

    found = alone(holding(target=target, otherwise=1, **OTHER), held=[SHARES])

    assert found == ([] if is_allowed else [f"B300 {AT}.target.path"])


@pytest.mark.parametrize(("part", "is_allowed"), [("name=cpu", True), ("size=5Gi", False), ("size=5", False)])
def test_where_any_key_may_be_held_no_item_is_selected_by_an_amount(part: str, is_allowed: bool) -> None:
    target = {**{key: SHARES[key] for key in ("apiVersion", "kind")}, "name": "team"}
    target["path"] = f"spec.groups[0].parts[{part}].quota"

    found = alone(
        holding(target=target, otherwise=1, **OTHER),
        held=[{**SHARES, "paths": ["spec.groups[*].parts[*].*"]}],
    )

    assert found == ([] if is_allowed else [f"B300 {AT}.target.path"])


@pytest.mark.parametrize(
    ("item", "wrong", "advised"),
    [
        ("flavors[name=default]", "flavors[nam=default]", "flavors[name=NAME]"),
        ("resourceGroups[0]", "resourceGroups[name=a]", "resourceGroups[0]"),
        ("flavors[name=default]", "flavors[quota=10Gi]", "flavors[name=NAME]"),
    ],
)
def test_items_of_known_lists_are_named_by_the_key_that_they_have(
    item: str, wrong: str, advised: str
) -> None:
    target = {**QUOTA, "path": QUOTA["path"].replace(item, wrong)}
    problems = read(*documents(holding(target=target, unit="Gi"))).problems

    assert lines(problems) == [finding(f"B300 {AT}.target.path", advised)]


def test_which_key_names_the_items_of_other_lists_is_not_known() -> None:
    entry = {"apiVersion": "example.org/v1", "kind": "Fleet", "plural": "fleets", "namespaces": ["shop"]}
    target = {**WEB, "apiVersion": "example.org/v1", "kind": "Fleet", "path": "spec.flavors[id=a].size"}

    number = holding(target=target, otherwise=1, **OTHER)

    assert alone(number, held=[{**entry, "paths": ["spec.flavors[*].size"]}]) == []
    one = {**entry, "paths": ["spec.flavors[name=a].size"]}
    assert alone(number, held=[one]) == [f"B300 {AT}.target.path"]


def advice(problem: str) -> str:
    """Return what the only problem says to write, do or mean."""
    assert isinstance(problem, Line)
    return re.split(r"(?:Write|Add|Did you mean) ", problem.text)[-1].rstrip(".?")


def test_the_paths_that_may_be_held_are_told() -> None:
    (problem,) = alone(holding(target={**API, "path": "spec.maxReplica"}, otherwise=1, **OTHER), held=[HPA])

    assert (problem, advice(problem)) == (
        f"B300 {AT}.target.path",
        "spec.minReplicas or spec.maxReplicas, or have spec.maxReplica added to paths of "
        "HorizontalPodAutoscaler in held of cluster prod",
    )


CPU_QUOTA = QUOTA["path"].replace("=memory", "={}")
LEAST, LARGEST = "spec.minReplicas", "spec.maxReplicas"


@pytest.mark.parametrize("written", ["memroy", "Memory", "cpus", "gpu", "hugepages-2mi"])
@pytest.mark.parametrize(
    ("target", "path"),
    [(POOL, "spec.limits.{}"), (RESOURCE_QUOTA, 'spec.hard["requests.{}"]')],
    ids=["limit", "quota"],
)
def test_a_resource_that_nobody_knows_is_refused(target: Value, path: str, written: str) -> None:
    """Keys that are missing are added, so that the window would do nothing."""
    number = holding(target={**target, "path": path.format(written)}, otherwise=1)

    assert codes(read(*documents(number)).problems) == [f"B300 {AT}.target.path"]


@pytest.mark.parametrize(
    ("target", "resource"),
    [
        *[
            ({**POOL, "path": 'spec.limits["{}"]'}, name)
            for name in (
                *("cpu", "pods", "nodes", "nvidia.com/gpu", "nvidia.com/gpus", "example.org/Memory"),
                *("vpc.amazonaws.com/pod-eni", "storage", "hugepages-64Ki"),
            )
        ],
        *[({**QUOTA, "path": CPU_QUOTA}, name) for name in ("cpu", "gpu", "amd.com/gpu", "credits")],
    ],
)
def test_other_resources_pass(target: Value, resource: str) -> None:
    amount = (
        {"unit": "Gi", "otherwise": "1Gi"} if resource in {"storage", "hugepages-64Ki"} else {"otherwise": 1}
    )
    number = holding(target={**target, "path": target["path"].format(resource)}, **amount)

    assert alone(number) == []


@pytest.mark.parametrize(("short", "target"), [("hpa", API), ("deploy", WEB), ("cq", QUOTA)])
def test_known_kinds_have_short_names(short: str, target: Value) -> None:
    unit: Value = {"unit": "Gi", "otherwise": "1Gi"} if target is QUOTA else {"otherwise": 1}
    entries = [{**each, "kind": short} if each["kind"] == target["kind"] else each for each in EVERY]

    assert alone(holding(target={**target, "kind": short}, **unit), held=entries) == []
    assert alone(holding(target=target, **unit), held=entries) == []


def test_a_missing_namespace_is_added_to_the_entry_that_is_there() -> None:
    quotas = {**without(RESOURCE_QUOTA, "name"), "namespaces": ["lab"], "plural": "resourcequotas"}
    quotas = {**without(quotas, "namespace"), "paths": ["spec.hard.*"]}
    target = {**RESOURCE_QUOTA, "namespace": "lab2", "path": "spec.hard.pods"}
    (problem,) = alone(holding(target=target, otherwise=1), held=[quotas])

    assert (problem, advice(problem)) == (
        f"B300 {AT}.target",
        "lab2 to namespaces of ResourceQuota in held of cluster prod, or name another target",
    )
    assert alone(holding(target=target, otherwise=1), held=[{**quotas, "namespaces": ["lab", "lab2"]}]) == []


@pytest.mark.parametrize(
    "target",
    [
        pytest.param({**API}, id="known"),
        pytest.param({**POOL, "path": "spec.replicas"}, id="node-pool"),
        pytest.param({**RESOURCE_QUOTA, "path": 'spec.hard["requests.cpu"]'}, id="quota"),
        pytest.param({**RESOURCE_QUOTA, "kind": "Sandboxes", "apiVersion": "x.org/v1", "path": "spec.a[0].b"},
                     id="items"),
    ],
)  # fmt: skip
def test_the_entry_that_is_advised_is_one(target: Value) -> None:
    number = holding(target=target, otherwise=1, **(OTHER if target["kind"] == "Sandboxes" else {}))
    (problem,) = alone(number, held=[QUEUE])
    entry = yaml.safe_load(advice(problem).partition(" to held")[0].replace("PLURAL", "sandboxes"))

    assert alone(number, held=[entry]) == []


def test_an_unknown_kind_is_held_by_its_scale_alone() -> None:
    target = {**WEB, "apiVersion": "example.org/v1", "kind": "Fleet"}

    assert alone(holding(target=target, otherwise=1, **OTHER)) == []
    paused = {**target, "path": "spec.paused"}
    assert alone(holding(target=paused, otherwise=1, **OTHER)) == [f"B300 {AT}.target.path"]


@pytest.mark.parametrize("path", ["spec.replicas", "spec.cpu", "spec.maxRunners", "spec.memory"])
def test_nothing_is_read_from_the_words_of_a_path_that_nobody_knows(path: str) -> None:
    target = {**WEB, "apiVersion": "example.org/v1", "kind": "Fleet", "path": path}

    def unit(written: str) -> str:
        (found,) = read(*documents(holding(target=target, **{**OTHER, "unit": written}))).reservations
        return found.holder.unit.key

    assert codes(read(*documents(holding(target=target))).problems) == [f"B011 {AT}"]
    assert [unit(written) for written in ("replicas", "runners", "cores", "units", "Gi")] == [
        *("replicas", "runners", "cores", "units", "units")
    ]


@pytest.mark.parametrize(
    ("combine", "overlap", "is_cap"),
    [("largest", "max", False), ("smallest", "min", True), ("sum", "sum", False)],
)
def test_what_windows_make_of_another_number_is_said(combine: str, overlap: str, is_cap: bool) -> None:
    target = {**WEB, "apiVersion": "example.org/v1", "kind": "Fleet"}
    (found,) = read(*documents(holding(target=target, unit="units", combine=combine))).reservations

    assert (found.overlap, found.holder.is_cap) == (overlap, is_cap)


def test_overlap_is_not_for_numbers() -> None:
    faulty = holding(spec={"provisioning": {"placeholderCount": 1, "overlap": "sum"}})

    assert codes(read(*documents(faulty)).problems) == ["B016 spec.provisioning.overlap @key"]


def test_node_pools_of_berth_are_not_held() -> None:
    def told(name: str) -> list[str]:
        target = {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "name": name,
            "path": "spec.limits.cpu",
        }
        return alone(holding(target=target, otherwise=1))

    assert told("shared") == []
    assert told("example.course-small") == [f"B300 {AT}.target.name"]


# What a reservation says


@pytest.mark.parametrize(
    ("options", "place"),
    [
        pytest.param({"target": None}, f"B011 {AT}", id="no-target"),
        pytest.param({"target": without(API, "namespace")}, f"B300 {AT}.target", id="no-namespace"),
        pytest.param(
            {"target": {**QUOTA, "namespace": "a"}}, f"B300 {AT}.target.namespace @key", id="with-namespace"
        ),
        pytest.param({"target": {**WEB, "path": "spec.paused"}}, f"B300 {AT}.target.path", id="not-scale"),
        pytest.param({"target": {**API, "path": "spec..a"}}, f"B300 {AT}.target.path", id="no-path"),
        pytest.param({"target": {**API, "path": "status.a"}}, f"B300 {AT}.target.path", id="not-below-spec"),
        pytest.param({"target": {**API, "path": "spec"}}, f"B300 {AT}.target.path", id="spec-alone"),
        pytest.param({"target": {**API, "path": "spec.a[0]"}}, f"B300 {AT}.target.path", id="item-of-a-list"),
        pytest.param({"target": {**API, "ready": "spec.a"}}, f"B300 {AT}.target.ready", id="ready-of-spec"),
        pytest.param({"target": {**API, "kind": "scale"}}, f"B300 {AT}.target.kind", id="no-kind"),
        pytest.param({"target": {**API, "apiVersion": "v2/x"}}, f"B300 {AT}.target.apiVersion", id="version"),
        *[
            pytest.param({"otherwise": value}, f"B300 {AT}.otherwise", id=f"otherwise-{value!r}")
            for value in (-1, "3", "-3", "3.5", "3Gi", "3 Gi", "1e3", "", "three", 2**31)
        ],
        *[
            pytest.param({"otherwise": value}, f"B013 {AT}.otherwise", id=f"otherwise-{value!r}")
            for value in (3.0, True, [3])
        ],
        pytest.param({"unit": "Gi"}, f"B016 {AT}.unit @key", id="unit-of-replicas"),
        *[
            pytest.param(
                {"target": {**POOL, "path": path}, "unit": unit}, f"B016 {AT}.unit @key", id=f"{unit}-{path}"
            )
            for unit in ("k", "Ki")
            for path in ("spec.limits.cpu", 'spec.limits["nvidia.com/gpu"]', 'spec.limits["a/memory"]')
        ],
        pytest.param(
            {"target": {**QUOTA, "path": QUOTA["path"].replace("[name=memory]", "[0]")}, "unit": "k"},
            f"B016 {AT}.unit @key",
            id="quota-by-index",
        ),
        *[
            pytest.param({"target": QUOTA, "unit": value}, f"B300 {AT}.unit", id=f"unit-{value!r}")
            for value in ("Ti", "T", "", "m", "gi", "GB", ".5", "0", "e3", "Gi ")
        ],
        *[
            pytest.param({"target": QUOTA, "unit": "Gi", "otherwise": value}, f"B300 {AT}.otherwise",
                         id=f"in-Gi-{value!r}")
            for value in (3, "3", "3Mi", "1024Mi", "1Ti", "3.5Gi", "Gi", "9999999999Gi", f"{2**31}Gi")
        ],
    ],
)  # fmt: skip
def test_a_number_is_understood_whole_or_refused(options: dict[str, Any], place: str) -> None:
    backend = {key: value for key, value in {"target": API, **options}.items() if value is not None}
    declared = read(*documents(holding(**backend) if "target" in backend else _without_target()))

    assert codes(declared.problems) == [place]


@pytest.mark.parametrize("unit", ["", "k", "M", "G", "Ki", "Mi", "Gi"])
@pytest.mark.parametrize("number", [2**31, 9_999_999_999, 10**20], ids=["by-one", "ten-digits", "more"])
def test_no_number_is_larger_than_ceilings_can_add(unit: str, number: int) -> None:
    options = {"target": QUOTA, "unit": unit} if unit else {"target": API}

    def told(otherwise: int) -> list[str]:
        written = f"{otherwise}{unit}" if unit else otherwise
        return lines(read(*documents(holding(otherwise=written, **options))).problems)

    assert told(number) == [f"B300 {AT}.otherwise"]
    assert told(2**31 - 1) == []


def _without_target() -> Value:
    document = holding()
    del document["spec"]["backend"]["target"]
    return document


OF_CLASS = 'spec.hard["gold.storageclass.storage.k8s.io/{}"]'
CLAIMS = OF_CLASS.format("persistentvolumeclaims")
OF_BYTES = [
    pytest.param({**RESOURCE_QUOTA, "path": OF_CLASS.format("requests.storage")}, id="storage-of-a-class"),
    *[pytest.param({**POOL, "path": f"spec.limits.{key}"}, id=f"limit-{key}")
      for key in ("memory", "ephemeral-storage", "hugepages-2Mi")],
    pytest.param(QUOTA, id="quota-of-a-queue"),
    *[pytest.param({**RESOURCE_QUOTA, "path": f"spec.hard{key}"}, id=f"quota-{key}")
      for key in (".memory", '["requests.memory"]', '["limits.memory"]', '["requests.storage"]',
                  '["requests.ephemeral-storage"]')],
]  # fmt: skip


@pytest.mark.parametrize("target", OF_BYTES)
def test_an_amount_of_bytes_has_a_unit(target: Value) -> None:
    """Without one, a count of 64 would be 64 bytes."""
    without: list[Value] = [{}, {"otherwise": 8}, {"otherwise": "8Gi"}]
    for options in without:
        assert codes(read(*documents(holding(target=target, **options))).problems) == [f"B011 {AT}"]
    with_unit = read(*documents(holding(target=target, unit="Gi", otherwise="8Gi")))
    assert with_unit.problems == []


@pytest.mark.parametrize(
    "path",
    ["spec.limits.cpu", "spec.limits.nodes", "spec.hard.pods", CLAIMS],
    ids=["cpu", "nodes", "pods", "claims"],
)
@pytest.mark.parametrize("otherwise", ["500m", "3k", "3Gi"])
def test_advice_on_a_plain_number_names_no_unit(path: str, otherwise: str) -> None:
    target = {**(RESOURCE_QUOTA if "hard" in path else POOL), "path": path}
    in_text, with_unit = (
        lines(read(*documents(holding(target=target, **options))).problems)
        for options in ({"otherwise": otherwise}, dict[str, Any](unit="Gi"))
    )

    assert (in_text, with_unit) == ([f"B300 {AT}.otherwise"], [f"B016 {AT}.unit @key"])
    for problem in (*in_text, *with_unit):
        assert isinstance(problem, Line)
        assert not any(word in problem.text for word in ("Add unit", "name the"))


@pytest.mark.parametrize(("unit", "expected"), [("Ti", ("Gi", 1024)), ("T", ("G", 1000)), ("Gb", ("Gi",))])
def test_the_advice_on_a_unit_keeps_the_amount(unit: str, expected: tuple[object, ...]) -> None:
    problems = read(*documents(holding(target=QUOTA, unit=unit))).problems

    assert lines(problems) == [finding(f"B300 {AT}.unit", *expected)]


@pytest.mark.parametrize(
    ("count", "number", "unit"),
    [("64Gi", 64, "Gi"), ("512 Mi", 512, "Mi"), ("2Ti", 2048, "Gi"), ("3T", 3000, "G")],
)
def test_the_advice_on_a_count_with_a_unit_keeps_the_amount(count: str, number: int, unit: str) -> None:
    limit = {**POOL, "path": "spec.limits.memory"}
    asked: Value = {"provisioning": {"placeholderCount": count}}
    expected = finding("B013 spec.provisioning.placeholderCount", f"Write {number};", f" {unit} goes")

    assert codes(read(*documents(holding(target=limit, unit=unit, spec=asked))).problems) == [expected]
    spec = {"provisioning": {"placeholderCount": number}}
    assert alone(holding(target=limit, unit=unit, otherwise=f"1{unit}", spec=spec)) == []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="as-before"),
        pytest.param({"otherwise": 3}, id="number"),
        pytest.param({"target": WEB, "otherwise": 0}, id="deployment-of-zero"),
        pytest.param({"target": QUOTA, "unit": "Gi", "otherwise": "0Gi"}, id="quantity-of-zero"),
        pytest.param({"target": QUOTA, "unit": "Gi", "otherwise": "16Gi"}, id="quantity"),
        pytest.param(
            {
                "target": {**POOL, "path": "spec.limits.ephemeral-storage"},
                **{"unit": "G", "otherwise": "20G"},
            },
            id="disk",
        ),
    ],
)
def test_these_numbers_are_held(options: dict[str, Any]) -> None:
    assert alone(holding(**options)) == []


def test_whole_nodes_are_not_counted() -> None:
    provisioning = {"nodeCount": 3}

    assert codes(read(*documents(holding(spec={"provisioning": provisioning}))).problems) == [
        "B016 spec.provisioning.nodeCount @key"
    ]


def test_one_class_holds_one_number() -> None:
    seats = [{"resourceClass": name, "placeholderCount": 4} for name in ("small", "huge")]
    listed = holding(spec={"resourceClass": None, "provisioning": {"seats": seats}}, otherwise=3)

    assert problems(read(listed, held_site(), resource_class(), resource_class("huge"))) == [
        finding(f"B300 {AT}", "small", "huge")
    ]


KEDA: Value = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "namespaces": ["shop"]}
SCALED: Value = {**without(KEDA, "namespaces"), "namespace": "shop", "name": "api"}
RUNNER_AUTOSCALERS: Value = {
    "apiVersion": "actions.summerwind.dev/v1alpha1",
    "kind": "HorizontalRunnerAutoscaler",
    "namespaces": ["shop"],
}
BOUNDED = {
    "hpa": (API, "minReplicas", "maxReplicas"),
    "keda": (SCALED, "minReplicaCount", "maxReplicaCount"),
    "runners": (RUNNERS, "minRunners", "maxRunners"),
    "runner-autoscaler": (
        {**without(RUNNER_AUTOSCALERS, "namespaces"), "namespace": "shop", "name": "api"},
        "minReplicas",
        "maxReplicas",
    ),
}
SCALERS = (HPA, KEDA, RUNNER_SETS, RUNNER_AUTOSCALERS)
ABOVE_ZERO = [("hpa", "maxReplicas"), ("keda", "maxReplicaCount")]
FROM_ZERO = [
    *[
        ("hpa", "minReplicas"),
        ("keda", "minReplicaCount"),
        ("runners", "minRunners"),
        ("runners", "maxRunners"),
    ],
    *[("runner-autoscaler", "minReplicas"), ("runner-autoscaler", "maxReplicas")],
]


@pytest.mark.parametrize(("bounded", "key"), ABOVE_ZERO)
@pytest.mark.parametrize(
    "provisioning",
    [
        {"scaleDownBehavior": "maintain"},
        {"scaleDownBehavior": "reduce"},
        {"scaleDownBehavior": "buffer", "buffer": {"percent": 20, "minimum": 0}},
    ],
    ids=["maintain", "reduce", "empty-buffer"],
)
def test_an_autoscaler_takes_no_bound_of_zero(bounded: str, key: str, provisioning: Value) -> None:
    target = {**BOUNDED[bounded][0], "path": f"spec.{key}"}
    spec = {"provisioning": {"placeholderCount": 25, **provisioning}}

    assert alone(holding(target=target, spec=spec), held=SCALERS) == [
        "B300 spec.provisioning.scaleDownBehavior"
    ]
    assert alone(holding(target=WEB, spec=spec, otherwise=0)) == []


@pytest.mark.parametrize(
    ("bounded", "key", "is_refused"),
    [*((*each, True) for each in ABOVE_ZERO), *((*each, False) for each in FROM_ZERO)],
)
def test_a_bound_of_zero_outside_of_windows_is_what_its_schema_says(
    bounded: str, key: str, is_refused: bool
) -> None:
    number = holding(target={**BOUNDED[bounded][0], "path": f"spec.{key}"}, otherwise=0)

    assert codes(read(*documents(number, held=SCALERS)).problems) == (
        [f"B300 {AT}.otherwise"] if is_refused else []
    )


@pytest.mark.parametrize(
    ("version", "is_refused"), [(None, False), ("1.36", True), ("1.37", False), ("1.40", False)]
)
def test_a_minimum_of_zero_is_refused_where_kubernetes_is_known_to_be_too_old(
    version: str | None, is_refused: bool
) -> None:
    """Since 1.37 it needs an object or external metric alone, and of other clusters nobody knows."""
    site = held_site(HPA, **({"kubernetes": version} if version else {}))
    lowered = holding(spec=asking(25, scaleDownBehavior="maintain"), otherwise=0)
    places = [f"B300 {AT}.otherwise", "B300 spec.provisioning.scaleDownBehavior"]

    assert problems(read(lowered, site, resource_class())) == (places if is_refused else [])
    asked = holding(spec=asking(25, scaleDownBehavior="maintain"), otherwise=1)
    (only,) = problems(read(asked, site, resource_class()))
    assert only.partition(":")[0] == (places[1] if is_refused else f"B302 {AT}.otherwise")


def test_a_window_that_lowers_a_number_is_a_warning() -> None:
    entry = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00", "placeholderCount": 2}
    cap = {**API, "path": "spec.maxReplicas"}

    assert alone(holding(otherwise=25)) == []
    assert alone(holding(otherwise=26)) == [finding(f"B302 {AT}.otherwise", 25, 26)]
    assert alone(holding(otherwise=3, spec={"recurrence": weekly(entry)})) == [f"B302 {AT}.otherwise"]
    assert alone(holding(target=cap, otherwise=60)) == [finding(f"B302 {AT}.otherwise", 25, 60)]


GROUPS = "spec.resourceGroups[0].flavors[name=default].resources[name=cpu]"
ANY_NUMBER: Value = {
    "apiVersion": "example.org/v1",
    "kind": "Budget",
    "plural": "budgets",
    "namespaces": ["shop"],
    "paths": ["spec.*", "spec.hard.*"],
}
BUDGET: Value = {"apiVersion": "example.org/v1", "kind": "Budget", "namespace": "shop", "name": "a"}
CAPS = [
    ({**API, "path": "spec.maxReplicas"}, HPA),
    ({**RUNNERS, "path": "spec.maxRunners"}, RUNNER_SETS),
    ({**POOL, "path": "spec.limits.cpu"}, NODE_POOL),
    *[
        ({**QUOTA, "path": f"{GROUPS}.{name}"}, QUEUE)
        for name in ("nominalQuota", "borrowingLimit", "lendingLimit")
    ],
]
FLOORS = [
    (API, HPA),
    (WEB, DEPLOYMENT),
    ({**RUNNERS, "path": "spec.minRunners"}, RUNNER_SETS),
]


@pytest.mark.parametrize(("target", "held"), CAPS, ids=lambda each: each.get("path", each["kind"]))
def test_a_cap_that_a_window_may_lower_is_a_warning(target: Value, held: Value) -> None:
    """It takes something away from all others who are below it."""
    provisioning = {"provisioning": {"placeholderCount": 1}}

    assert alone(holding(target=target, spec=provisioning), held=[held]) == [finding(f"B302 {AT}", 1)]
    assert alone(holding(target=target, spec=provisioning, otherwise=1), held=[held]) == []


@pytest.mark.parametrize("combine", ["largest", "smallest", "sum"])
@pytest.mark.parametrize("path", ["spec.size", "spec.quota"])
def test_whether_another_number_is_a_cap_is_not_known(path: str, combine: str) -> None:
    target: Value = {**BUDGET, "path": path}
    options: Value = {"unit": "units", "combine": combine}

    assert alone(holding(target=target, **options), held=[ANY_NUMBER]) == [finding(f"B302 {AT}", 25)]
    assert alone(holding(target=target, otherwise=25, **options), held=[ANY_NUMBER]) == []


@pytest.mark.parametrize(("target", "held"), FLOORS, ids=lambda each: each.get("path", each["kind"]))
def test_a_floor_is_held_without_otherwise(target: Value, held: Value) -> None:
    assert alone(holding(target=target), held=[held]) == []


@pytest.mark.parametrize(
    "provisioning",
    [
        {"scaleDownBehavior": "maintain"},
        {"scaleDownBehavior": "reduce"},
        {"scaleDownBehavior": "buffer", "buffer": {"percent": 20, "minimum": 0}},
    ],
    ids=["maintain", "reduce", "buffer"],
)
def test_a_window_that_may_take_a_number_away_is_a_warning(provisioning: Value) -> None:
    spec = {"provisioning": {"placeholderCount": 25, **provisioning}}

    assert alone(holding(target=WEB, otherwise=1, spec=spec)) == [finding(f"B302 {AT}.otherwise", 0, 1)]
    assert alone(holding(target=WEB, spec=spec)) == [f"B302 {AT}"]


@pytest.mark.parametrize(
    ("behavior", "expected"), [("none", ["B029 spec.sessions"]), ("maintain", [])], ids=["none", "maintain"]
)
def test_sessions_are_narrowed_only_where_they_count(behavior: str, expected: list[str]) -> None:
    provisioning = {"placeholderCount": 25, "scaleDownBehavior": behavior}
    spec = {"provisioning": provisioning, "sessions": {"matchLabels": {"a": "b"}}}

    assert alone(holding(target=WEB, otherwise=0, spec=spec)) == expected


def test_spare_replicas_below_what_is_there_otherwise_are_a_warning() -> None:
    buffer = {"scaleDownBehavior": "buffer", "buffer": {"percent": 20, "minimum": 3}}
    spec = {"provisioning": {"placeholderCount": 25, **buffer}}

    assert alone(holding(otherwise=3, spec=spec)) == []
    assert alone(holding(otherwise=4, spec=spec)) == [finding(f"B302 {AT}.otherwise", 3, 4)]


@pytest.mark.parametrize(
    ("combine", "counts", "other_days", "lowered"),
    [
        pytest.param("smallest", (9, 8), False, [], id="smallest"),
        pytest.param(
            "smallest", (9, 7), False, [finding(f"B302 {AT}.otherwise", 7, 8)], id="smallest-too-low"
        ),
        pytest.param("sum", (5, 5), False, [], id="sum-at-the-same-time"),
        pytest.param("largest", (5, 10), False, [], id="max-at-the-same-time"),
        pytest.param("sum", (5, 2), False, [finding(f"B302 {AT}.otherwise", 7, 8)], id="sum-too-low"),
        pytest.param("largest", (5, 7), False, [finding(f"B302 {AT}.otherwise", 7, 8)], id="max-too-low"),
        pytest.param("sum", (5, 10), True, [finding(f"B302 {AT}.otherwise", 5, 8)], id="sum-on-other-days"),
        pytest.param(
            "largest", (5, 10), True, [finding(f"B302 {AT}.otherwise", 5, 8)], id="max-on-other-days"
        ),
    ],
)
def test_a_shared_number_is_lowered_by_all_who_hold_it(
    combine: str, counts: tuple[int, int], other_days: bool, lowered: list[str]
) -> None:
    days = (weekly(ENTRY), weekly({**ENTRY, "dayOfWeek": 2}) if other_days else weekly(ENTRY))
    sharing = [
        holding(name, otherwise=8, combine=combine, spec={**asking(count), "recurrence": recurrence})
        for name, count, recurrence in zip("ab", counts, days, strict=True)
    ]

    assert alone(*sharing) == lowered


def test_what_lowered_a_number_in_the_past_is_no_warning() -> None:
    moved = [{"date": "2026-02-09", "to": {"date": "2026-02-10", "placeholderCount": 2}}]
    number = holding(otherwise=3, spec={**asking(25), "recurrence": weekly(moved=moved)})
    counting = holding(target=WEB, otherwise=3, spec=asking(25, scaleDownBehavior="maintain"))
    end = instant_of("2026-02-10T13:00:00Z", "now")

    def told(document: Value, now: int) -> list[str]:
        return problems(read(*documents(document)), now)

    assert told(number, end - 1) == [finding(f"B302 {AT}.otherwise", 2, 3)]
    assert told(number, end) == []
    assert told(counting, end) == [finding(f"B302 {AT}.otherwise", 0, 3)]
    assert told(counting, end + 366 * 86_400) == []


def test_an_author_cannot_ignore_that_a_number_is_lowered() -> None:
    ignoring = holding(otherwise=26)
    ignoring["metadata"]["annotations"] = {"berth.dev/ignore": "B302: it is meant"}

    assert codes(read(*documents(ignoring)).problems) == ["B271 metadata.annotations.berth.dev/ignore"]


# Reservations that hold one number


def two(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    both = [holding(name, **{"otherwise": 3, **options}) for name, options in (("a", first), ("b", second))]
    return alone(*both)


def test_reservations_that_agree_share_a_number() -> None:
    assert two({}, {}) == []


SUM: Value = {"combine": "sum"}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param({}, {"otherwise": 4}, [finding(f"B301 {AT}.otherwise", 3, 4)] * 2, id="otherwise"),
        pytest.param({"otherwise": None}, {"otherwise": None}, [f"B301 {AT}", f"B301 {AT}"], id="unknown"),
        pytest.param({}, SUM, [finding(f"B301 {AT}.combine", "sum")] * 2, id="combine"),
        pytest.param(SUM, SUM, [], id="both-add-up"),
        pytest.param(
            {"target": {**QUOTA, "path": LENDING}, "unit": "Gi", "otherwise": "3Gi"},
            {"target": {**QUOTA, "path": LENDING}, "unit": "Mi", "otherwise": "3Mi"},
            [f"B301 {AT}.otherwise", f"B301 {AT}.unit"] * 2,
            id="unit",
        ),
        pytest.param(
            {},
            {"target": {**API, "ready": "status.desiredReplicas"}},
            [finding(f"B301 {AT}.target.ready", "status.currentReplicas", "status.desiredReplicas")] * 2,
            id="ready",
        ),
        pytest.param({}, {"target": {**API, "ready": "status.currentReplicas"}}, [], id="ready-as-is-known"),
        pytest.param(
            {},
            {"target": WEB},
            [],
            id="other-number",
        ),
    ],
)
def test_each_disagreement_is_told_at_both(
    first: dict[str, Any], second: dict[str, Any], expected: list[str]
) -> None:
    assert two(first, second) == expected


def test_a_disagreement_of_many_is_told_once_in_each() -> None:
    sharing = [holding(name, otherwise=4 if name == "c" else 3) for name in "abcd"]

    assert alone(*sharing) == [
        finding(f"B301 {AT}.otherwise", other) for other in ("in c,", "in c,", "in a,", "in c,")
    ]


@pytest.mark.parametrize(
    ("first", "second", "is_doubtful"),
    [
        pytest.param("[0]", "[name=default]", True, id="index-and-key"),
        pytest.param("[name=default]", "[kind=gpu]", True, id="two-keys"),
        pytest.param("[0]", "[1]", False, id="two-indexes"),
        pytest.param("[name=default]", "[name=gpu]", False, id="two-values-of-a-key"),
    ],
)
def test_two_spellings_of_a_number_are_told_at_both(first: str, second: str, is_doubtful: bool) -> None:
    """Neither knows of the other then: each would give back what the other has set."""
    held = {**without(ROLLOUT, "scale"), "paths": ["spec.flavors[*].size"]}
    target = {**WEB, "apiVersion": ROLLOUT["apiVersion"], "kind": ROLLOUT["kind"]}
    here, there = ({**target, "path": f"spec.flavors{item}.size"} for item in (first, second))

    def told(other: Value) -> list[str]:
        both = (holding(name, each, otherwise=3, **OTHER) for name, each in (("a", here), ("b", other)))
        return alone(*both, held=[held])

    assert told(there) == ([f"B301 {AT}.target.path"] * 2 if is_doubtful else [])
    assert told({**there, "name": "other"}) == []


@pytest.mark.parametrize(
    ("target", "other"),
    [
        pytest.param({**POOL, "path": "spec.limits.memory"}, 'spec.limits["memory"]', id="key"),
        pytest.param(QUOTA, QUOTA["path"].replace("=memory", '="memory"'), id="selector"),
    ],
)
def test_two_quotings_of_a_number_are_one_number(target: Value, other: str) -> None:
    amount = {"unit": "Gi", "otherwise": "3Gi"}
    both = {"target": target, **amount}, {"target": {**target, "path": other}, **amount}

    assert two(*both) == []
    assert two(both[0], {**both[1], "otherwise": "4Gi"}) == [f"B301 {AT}.otherwise"] * 2


def test_sessions_count_for_nobody_who_shares() -> None:
    counting = {
        "target": WEB,
        "spec": {"provisioning": {"placeholderCount": 25, "scaleDownBehavior": "maintain"}},
    }

    assert two(counting, {"target": WEB}) == ["B301 spec.provisioning.scaleDownBehavior"]


BY_CLASS: Value = {"resourceClass": "small", "placeholderCount": 25}


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        pytest.param({"recurrence": weekly({**ENTRY, "scaleDownBehavior": "maintain"})},
                     "spec.recurrence.schedule.0", id="entry"),
        pytest.param({"recurrence": weekly(ENTRY, extra=[{**without(ENTRY, "dayOfWeek"), "date": "2026-02-05",
                                                          "scaleDownBehavior": "maintain"}])},
                     "spec.recurrence.extra.0", id="extra"),
        pytest.param({"resourceClass": None,
                      "provisioning": {"seats": [{**BY_CLASS, "scaleDownBehavior": "maintain"}]}},
                     "spec.provisioning.seats.0", id="class"),
        pytest.param({"resourceClass": None, "provisioning": {"seats": [BY_CLASS]},
                      "recurrence": weekly({**ENTRY, "seats": [{**BY_CLASS,
                                                                "scaleDownBehavior": "maintain"}]})},
                     "spec.recurrence.schedule.0.seats.0", id="class-of-an-entry"),
        pytest.param({"provisioning": {"placeholderCount": 25, "scaleDownBehavior": "maintain"}},
                     "spec.provisioning", id="reservation"),
    ],
)  # fmt: skip
def test_a_behavior_is_reported_where_it_is_written(spec: Value, place: str) -> None:
    spec = {"provisioning": {"placeholderCount": 25, "scaleDownBehavior": "none"}, **spec}

    assert alone(holding(target={**API, "path": "spec.maxReplicas"}, spec=spec)) == [
        f"B300 {place}.scaleDownBehavior"
    ]
    sharing = two({"target": WEB, "spec": spec}, {"target": WEB})
    assert sharing == [f"B301 {place}.scaleDownBehavior"]


def test_a_suspended_reservation_agrees_too() -> None:
    """It may be resumed by a change of one line, which must not break another reservation."""
    assert two({"spec": {"suspend": True}}, {"otherwise": 4}) == [f"B301 {AT}.otherwise"] * 2


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


def test_who_shares_is_sorted_whatever_the_order_of_files() -> None:
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


# The least and the largest number of one object

CROSSED = f"B301 {AT}.target.path"


def crossed(least: dict[str, Any], largest: dict[str, Any], bounded: str = "hpa") -> list[str]:
    target, low, high = BOUNDED[bounded]
    return [
        line
        for line in alone(
            holding("b", {**target, "path": f"spec.{low}"}, **least),
            holding("a", {**target, "path": f"spec.{high}"}, **largest),
            held=SCALERS,
        )
        if not line.startswith("B302")
    ]


@pytest.mark.parametrize("bounded", BOUNDED)
def test_a_least_number_above_the_largest_is_refused(bounded: str) -> None:
    told = crossed({"spec": asking(30), "otherwise": 3}, {"spec": asking(10), "otherwise": 5}, bounded)

    assert told == [finding(CROSSED, "30 by b", "10 by a", "Mon 2026-02-02 08:30")]
    assert crossed({"spec": asking(10)}, {"spec": asking(10)}, bounded) == []


def on_days(day: int) -> Value:
    return weekly({"dayOfWeek": day, "startTime": "09:00", "endTime": "13:00"})


def falling(first: int) -> Value:
    """An hour with another count, and then the rest of the morning."""
    hours = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "10:00", "placeholderCount": first}
    return weekly(hours, {"dayOfWeek": 1, "startTime": "10:00", "endTime": "13:00"})


def back_to_back() -> Value:
    times = [("09:00", "11:00"), ("11:00", "13:00")]
    return weekly(*({"dayOfWeek": 1, "startTime": since, "endTime": until} for since, until in times))


@pytest.mark.parametrize(
    ("least", "largest", "expected"),
    [
        pytest.param({"spec": {**asking(30), "recurrence": on_days(2)}, "otherwise": 3},
                     {"spec": asking(10), "otherwise": 60}, [], id="other-days"),
        pytest.param({"spec": {**asking(30), "recurrence": on_days(2)}, "otherwise": 3},
                     {"spec": asking(60), "otherwise": 20},
                     [finding(CROSSED, "30", "20", "Tue 2026-02-03 08:30")], id="above-otherwise"),
        pytest.param({"spec": {**asking(30), "recurrence": on_days(2)}}, {"spec": asking(10)}, [],
                     id="otherwise-not-said"),
        pytest.param({"spec": asking(30), "otherwise": 20}, {"spec": asking(60), "otherwise": 10},
                     [finding(CROSSED, "20", "10")], id="outside-of-windows"),
        pytest.param({"spec": asking(30)}, {"spec": {**asking(10), "recurrence": falling(100)}},
                     [finding(CROSSED, "30", "10", "Mon 2026-02-02 10:00")], id="largest-falls"),
        pytest.param({"spec": {**asking(30), "suspend": True}}, {"spec": asking(10)}, [], id="suspended"),
        pytest.param({"spec": {**asking(30), "suspend": True}, "otherwise": 20}, {"spec": asking(10)},
                     [finding(CROSSED, "20 by b", "10 by a", "Mon 2026-02-02 08:30")], id="least-suspended"),
        pytest.param({"spec": asking(30), "otherwise": 3},
                     {"spec": {**asking(60), "suspend": True}, "otherwise": 20},
                     [finding(CROSSED, "30 by b", "20 by a", "Mon 2026-02-02 08:30")],
                     id="largest-suspended"),
        pytest.param({"spec": {**asking(30), "suspend": True}, "otherwise": 20},
                     {"spec": {**asking(60), "suspend": True}, "otherwise": 10},
                     [finding(CROSSED, "20 by b", "10 by a", "outside")], id="both-suspended"),
        pytest.param({"spec": {**asking(30), "recurrence": back_to_back()}, "combine": "sum", "otherwise": 3},
                     {"spec": asking(30), "otherwise": 30}, [], id="leads-of-the-same-reservation"),
        pytest.param({"spec": asking(30, leadTimeMinutes=0)}, {"spec": asking(10)},
                     [finding(CROSSED, "Mon 2026-02-02 09:00")], id="opens-later"),
    ],
)  # fmt: skip
def test_a_least_number_is_compared_at_each_moment(
    least: dict[str, Any], largest: dict[str, Any], expected: list[str]
) -> None:
    assert crossed(least, largest) == expected


def test_reservations_that_share_a_largest_number_raise_it_together() -> None:
    cap = {**API, "path": "spec.maxReplicas"}

    def told(combine: str) -> list[str]:
        sharing = [holding(name, cap, otherwise=25, combine=combine, spec=asking(25)) for name in ("a", "b")]
        return alone(holding("c", API, otherwise=1, spec=asking(50)), *sharing)

    assert told("sum") == []
    assert told("largest") == [finding(CROSSED, "50 by c", "25 by b")]


def test_counts_of_another_cluster_are_not_compared() -> None:
    """A reservation may hold the number in each of two clusters."""
    seats = [{"resourceClass": name, "placeholderCount": 20} for name in ("small", "far")]
    cap = {**API, "path": "spec.maxReplicas"}
    both = {"resourceClass": None, "provisioning": {"seats": seats}}
    declared = read(
        holding("b", otherwise=1, spec=both),
        holding("a", cap, otherwise=30, spec={**asking(30), "recurrence": on_days(2)}),
        site({"name": "prod", "held": [HPA]}, {"name": "dr", "held": [HPA]}),
        resource_class(cluster="prod"),
        resource_class("far", cluster="dr"),
    )
    assert declared.problems == []
    assert declared.site is not None

    assert lines(check_pairs(declared, declared.site)) == []


def test_numbers_of_two_objects_are_not_compared() -> None:
    cap = {**API, "name": "other", "path": "spec.maxReplicas"}

    assert alone(holding("a", spec=asking(30)), holding("b", cap, otherwise=1, spec=asking(10))) == []


# Targets of policies

IN_SHOP = "HorizontalPodAutoscaler/shop"


def policy_problems(*, held: Sequence[Value] = EVERY, **match: Sequence[str]) -> list[str]:
    policy = {"name": "a", "match": match, "require": "refuse"}
    declared = read(site({"name": "prod", "held": list(held)}, policies=[policy]))
    assert declared.problems == []
    assert declared.site is not None
    return lines(check_names_in_policies(declared, declared.site))


@pytest.mark.parametrize(
    "target",
    [
        "*",
        "*/shop/*",
        f"{IN_SHOP}/*",
        f"{IN_SHOP}/api",
        "Horiz*",
        "*/api",
        "*r/s*p/*",
        "NodePool/*",
        "NodePool/a",
    ],
)
def test_a_target_of_a_policy_may_be_whatever_is_held(target: str) -> None:
    assert policy_problems(targets=[target]) == []


@pytest.mark.parametrize(
    "target",
    [
        IN_SHOP,
        f"{IN_SHOP}/",
        "HorizontalPodAutoscaler/api",
        "HorizontalPodAutoscalers/shop/*",
        "horizontalpodautoscaler/shop/*",
        "*/shops/*",
        "NodePool",
        "ScaledObject/shop/*",
    ],
)
def test_a_target_of_a_policy_that_fits_nothing_is_refused(target: str) -> None:
    place = "B061 spec.policies.0.match.targets.1"

    assert policy_problems(targets=["*", target]) == [finding(place, target)]
    assert policy_problems(targets=["*"], held=()) == ["B061 spec.policies.0.match.targets.0"]


@pytest.mark.parametrize(
    ("clusters", "is_held"),
    [([], True), (["prod"], True), (["prod", "dr"], True), (["dr"], False)],
    ids=["any", "prod", "both", "dr"],
)
@pytest.mark.parametrize("key", ["match", "unless"])
def test_a_target_of_a_policy_is_held_in_one_of_its_clusters(
    key: str, clusters: list[str], is_held: bool
) -> None:
    policy = {"name": "a", key: {"targets": ["*/shop/*"], "clusters": clusters}, "require": "refuse"}
    declared = read(
        site({"name": "prod", "held": [HPA]}, {"name": "dr", "held": [NODE_POOL]}, policies=[policy])
    )
    assert declared.problems == []
    assert declared.site is not None

    found = lines(check_names_in_policies(declared, declared.site))

    assert found == ([] if is_held else [finding(f"B061 spec.policies.0.{key}.targets.0", "*/shop/*", "dr")])
