"""`berth import z2jh`: classes that hold what the pods of KubeSpawner request, where these may run."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.cli.console import EXIT_BAD_INPUT
from berth.edit.classes import HubRequest, ImportedClasses, import_z2jh, why_not_replaced
from berth.pipeline import Pipeline
from berth.quantity import parse
from berth.reading.source import Source
from berth.schema.values import ResourceClass

from tests.answer import Berth
from tests.jupyterhub.record import HUBS
from tests.saying import lines

HERE = Path(__file__).parents[1] / "jupyterhub"
PODS = json.loads((HERE / "pods.json").read_text("utf-8"))
PROFILES = "profiles.yaml"  # a hub whose profiles have labels
VALUES = (HERE / PROFILES).read_bytes()
OPTIONS = HUBS[PROFILES]
SITE = b"apiVersion: berth.dev/v1alpha1\nkind: Site\nmetadata: {name: a}\nspec: {clusters: [{name: prod}]}\n"


def imported(*texts: str | bytes, **request: Any) -> ImportedClasses:
    """Import files that are layers: values.yaml, values1.yaml and so on."""
    files = [text if isinstance(text, bytes) else text.encode() for text in texts]
    sources = tuple(Source(f"values{i or ''}.yaml", text) for i, text in enumerate(files))
    return import_z2jh(HubRequest(sources, **request))


def classes(*values: str | bytes, **request: Any) -> dict[str, ResourceClass]:
    found = imported(*values, **request)
    assert found.findings == ()
    project = Pipeline(sources=[Source("a.yaml", SITE), Source("b.yaml", found.text.encode())])
    assert project.problems == []
    return project.declared.classes


def amounts(resources: dict[str, Any]) -> dict[str, int | None]:
    return {name: parse(str(amount)) for name, amount in resources.items()}


@pytest.mark.parametrize(("hub", "name"), [(hub, name) for hub, names in HUBS.items() for name in names])
def test_a_class_is_what_the_real_kubespawner_makes(hub: str, name: str) -> None:
    pod, made = PODS[hub][name], classes((HERE / hub).read_bytes())[name]
    limits = amounts(pod["resources"]["limits"])

    assert amounts(dict(made.requests)) == {**limits, **amounts(pod["resources"]["requests"])}
    assert amounts(dict(made.limits)) == limits
    assert json.loads(json.dumps(made.pod.placement)) == pod["placement"]


def _labels(one: ResourceClass) -> dict[str, str]:
    assert one.sessions is not None
    return (one.sessions.selector and one.sessions.selector.match_labels) or {}


@pytest.mark.parametrize("hub", HUBS)
def test_every_kind_of_session_is_a_class(hub: str) -> None:
    assert set(classes((HERE / hub).read_bytes())) == set(HUBS[hub])


@pytest.mark.parametrize("name", OPTIONS)
def test_a_class_recognizes_its_own_pods_alone(name: str) -> None:
    found = classes(VALUES)
    labels = PODS[PROFILES][name]["labels"].items()
    matching = {other for other, one in found.items() if _labels(one).items() <= labels}

    assert (matching, set(found)) == ({name}, set(OPTIONS))


def single(text: str) -> ResourceClass:
    (found,) = classes(text.encode()).values()
    return found


@pytest.mark.parametrize(
    ("values", "requests"),
    [
        ("singleuser: {}", {"memory": "1Gi"}),
        ("singleuser: {memory: {guarantee: 0.5G}}", {"memory": "512Mi"}),
        ("singleuser: {memory: {guarantee: 1536M}}", {"memory": "1536Mi"}),
        ("singleuser: {memory: {guarantee: 1000000001}}", {"memory": "1000000001"}),
        ("singleuser: {memory: {guarantee: null, limit: 2G}}", {"memory": "2Gi"}),
        ("singleuser: {cpu: {guarantee: 0, limit: 2}}", {"cpu": "2", "memory": "1Gi"}),
        ("jupyterhub: {singleuser: {cpu: {guarantee: 0.1}}}", {"cpu": "0.1", "memory": "1Gi"}),
        (
            "{a: {singleuser: {}}, b: {jupyterhub: {singleuser: {cpu: {limit: 1}}}}}",
            {"cpu": "1", "memory": "1Gi"},
        ),
        (
            "singleuser: {extraResource: {guarantees: {example.org/fpga: '1'}}}",
            {"memory": "1Gi", "example.org/fpga": "1"},
        ),
    ],
    ids=[
        "chart-default",
        "fraction",
        "mebibytes",
        "bytes",
        "limit-only",
        "zero",
        "umbrella-chart",
        "two-charts",
        "device",
    ],
)
def test_the_defaults_of_all_sessions_are_a_class(values: str, requests: dict[str, str]) -> None:
    assert dict(single(values).requests) == requests


@pytest.mark.parametrize(
    ("pods", "placed"),
    [
        ("nodeAffinity: {matchNodePurpose: ignore}", None),
        ("nodeAffinity: {matchNodePurpose: require}", "requiredDuringSchedulingIgnoredDuringExecution"),
        ("nodeAffinity: {}", "preferredDuringSchedulingIgnoredDuringExecution"),
    ],
    ids=["ignore", "require", "default"],
)
def test_the_purpose_of_nodes_is_that_of_sessions(pods: str, placed: str | None) -> None:
    found = single(f"scheduling: {{userPods: {{tolerations: [], {pods}}}}}").pod.placement

    assert list(found.get("affinity", {}).get("nodeAffinity", {})) == ([placed] if placed else [])
    assert "tolerations" not in found


def test_extra_pod_config_replaces_what_it_names() -> None:
    config = "{schedulerName: mine, nodeSelector: {b: c}, affinity: {podAffinity: {}}, dnsPolicy: None}"
    found = single(f"singleuser: {{nodeSelector: {{a: b}}, extraPodConfig: {config}}}").pod

    assert (found.scheduler_name, found.node_selector, found.affinity) == ("mine", {"b": "c"}, None)


def test_a_class_of_an_unlikely_size_has_the_finding_of_a_class() -> None:
    found = imported("singleuser: {memory: {guarantee: 4096}}", namespace="hub")
    project = Pipeline(sources=[Source("a.yaml", SITE), Source("b.yaml", found.text.encode())])

    assert lines(project.declared.problems) == ["B241 spec.requests.memory"]


def test_a_choice_that_changes_only_a_label_is_no_class_of_its_own() -> None:
    choices = "{a: {kubespawner_override: {extra_labels: {course: a}}}, b: {}}"
    options = f"{{course: {{choices: {choices}}}}}"

    assert list(
        classes(f"singleuser: {{profileList: [{{display_name: One, profile_options: {options}}}]}}".encode())
    ) == ["one"]


def test_profiles_in_a_mapping_are_profiles() -> None:
    profiles = "{b: {display_name: Two}, a: {display_name: One}}"

    assert list(classes(f"singleuser: {{profileList: {profiles}}}".encode())) == ["one", "two"]


def test_profiles_without_labels_get_labels_that_tell_them_apart() -> None:
    text = b"singleuser: {profileList: [{display_name: One}, {display_name: Two, slug: 2nd}]}"
    found = imported(text)

    assert found.unlabeled == (("One", "{profile: one}"), ("Two", '{profile: "2nd"}'))


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("singleuser: {memory: {limit: 1Gi}}", ("B013", "singleuser.memory.limit")),
        ("singleuser: {profileList: [{slug: a}]}", ("B011", "singleuser.profileList[0]")),
        ("jupyterhub: {singleuser: {nodeSelector: [a]}}", ("B013", "jupyterhub.singleuser.nodeSelector")),
        ("a: [", ("B003", "")),
        ("", ("B007", "")),
    ],
    ids=["kubernetes-unit", "no-name", "wrong-type", "not-yaml", "empty"],
)
def test_faulty_values_are_findings(values: str, place: tuple[str, str]) -> None:
    assert [(one.code, one.path) for one in imported(values).findings] == [place]


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("singleuser: {memory: {guarantee: null}}", ("B012", "singleuser")),
        (
            "singleuser: {profileList: [{display_name: A b}, {display_name: A-B}]}",
            ("B060", "singleuser.profileList[1]"),
        ),
        (
            "singleuser: {profileList: [{display_name: A, kubespawner_override: {mem_guarantee: null}}]}",
            ("B012", "singleuser.profileList[0]"),
        ),
    ],
    ids=["no-request", "same-name", "no-request-of-a-profile"],
)
def test_what_cannot_be_a_class_is_a_finding_at_its_profile(values: str, place: tuple[str, str]) -> None:
    found = imported(values)

    assert ([(one.code, one.path) for one in found.findings], found.text) == ([place], "")


def test_the_command_writes_one_file(berth: Berth, folder: Path) -> None:
    (folder / "values.yaml").write_bytes(VALUES)
    told = berth("import", "z2jh", "values.yaml", "--cluster", "prod", "--namespace", "hub")
    text = (folder / "reservations/jupyterhub-classes.yaml").read_text("utf-8")

    assert told.code == 0
    assert told.out.startswith("Wrote reservations/jupyterhub-classes.yaml.\n")
    assert text.count("cluster: prod\n") == text.count("namespaces: [hub]") == len(OPTIONS)
    assert berth("import", "z2jh", "values.yaml", "--cluster", "prod").code == 2  # the file exists


@pytest.mark.parametrize(
    "words",
    [
        ("z2jh", "values.yaml", "--suspend"),
        ("renku", "values.yaml", "--namespace", "hub"),
    ],
    ids=["flag-of-renku", "flag-of-z2jh"],
)
def test_a_command_that_cannot_be_followed(berth: Berth, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "values.yaml").write_bytes(VALUES)

    assert berth("import", *words).code == 2
    assert not (folder / "reservations/jupyterhub-classes.yaml").exists()


# Names


def named(slug: str | None, display_name: str = "One") -> str:
    profile = {"display_name": display_name, **({} if slug is None else {"slug": slug})}
    (name,) = classes(json.dumps({"singleuser": {"profileList": [profile]}}))
    return name


@pytest.mark.parametrize(
    ("slug", "display_name", "name"),
    [
        ("1524699", "One", "1524699"),
        ("null", "One", "null"),
        ("true", "One", "true"),
        ("1e3", "One", "1e3"),
        ("", "One", "one"),
        (None, "No", "no"),
        (None, "Größe: 4 GB", "groe-4-gb"),
        ("a" * 63, "One", "a" * 63),
    ],
)
def test_a_slug_of_any_kind_is_a_name(slug: str | None, display_name: str, name: str) -> None:
    assert named(slug, display_name) == name


@pytest.mark.parametrize("slug", ["数据科学", "🚀", "...", "a" * 64, "x-" * 100], ids=range(5))
def test_a_slug_that_cannot_be_a_name_has_always_the_same_one(slug: str) -> None:
    assert named(slug) == named(slug, "Another title") != named(f"{slug}é")


def test_a_long_combination_of_choices_is_a_name() -> None:
    override = {"kubespawner_override": {"cpu_guarantee": 2}}
    options = {"o" * 60: {"choices": {"c" * 60: override, "d" * 60: {}}}}
    profile = {"display_name": "p" * 60, "profile_options": options}

    assert len(classes(json.dumps({"singleuser": {"profileList": [profile]}}))) == 2


@pytest.mark.parametrize("slug", ["1524699", "true", "1e3"])
def test_a_slug_that_is_no_text_is_refused_with_its_profile(slug: str) -> None:
    profiles = f"[{{display_name: One}}, {{display_name: Second one, slug: {slug}}}]"
    (found,) = imported(f"singleuser: {{profileList: {profiles}}}").findings

    assert (found.code, found.path) == ("B013", "singleuser.profileList[1].slug")
    assert "Second one" in found.message


def test_an_error_in_a_profile_names_it() -> None:
    profiles = "{large: {display_name: Large, kubespawner_override: {mem_limit: 2Gi}}}"
    (found,) = imported(f"jupyterhub: {{singleuser: {{profileList: {profiles}}}}}").findings

    assert found.path == "jupyterhub.singleuser.profileList.large.kubespawner_override.mem_limit"
    assert '"Large"' in found.message


# What the chart makes of its values


@pytest.mark.parametrize(
    ("layers", "requests"),
    [
        (["singleuser: {memory: null}", "singleuser: {cpu: {limit: 1}}"], {"cpu": "1"}),
        (["singleuser: {memory: {guarantee: 2G}}", "singleuser: {memory: {limit: 4G}}"], {"memory": "2Gi"}),
        (
            ["singleuser: {memory: {guarantee: 2G}}", "singleuser: {memory: {guarantee: 3G}}"],
            {"memory": "3Gi"},
        ),
        (
            [
                "singleuser: {memory: {guarantee: 2G}, cpu: {limit: 1}}",
                "singleuser: {memory: {guarantee: null}}",
            ],
            {"cpu": "1"},
        ),
        (["hub: {config: {KubeSpawner: {mem_guarantee: 5G}}}"], {"memory": "5Gi"}),
        (["hub: {config: {Spawner: {mem_guarantee: 5G, cpu_guarantee: 1}}}"], {"memory": "5Gi", "cpu": "1"}),
    ],
    ids=["null-mapping", "merged", "later-wins", "null", "configured", "configured-for-every-spawner"],
)
def test_layers_and_configuration_count(layers: list[str], requests: dict[str, str]) -> None:
    (found,) = classes(*layers).values()

    assert dict(found.requests) == requests


def test_a_list_of_profiles_of_a_later_file_replaces_the_earlier() -> None:
    files = [f"singleuser: {{profileList: [{{display_name: {name}}}]}}" for name in ("One", "Two")]

    assert list(classes(*files)) == ["two"]


def test_profiles_in_the_configuration_of_kubespawner_are_profiles() -> None:
    assert list(classes("hub: {config: {KubeSpawner: {profile_list: [{display_name: One}]}}}")) == ["one"]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("c.KubeSpawner.profile_list = []", ["profile_list"]),
        ("c.Spawner.mem_limit='2G'\nc.KubeSpawner.tolerations.append({})", ["mem_limit", "tolerations"]),
        ("c.KubeSpawner.pre_spawn_hook = f\nif c.KubeSpawner.image == 1: pass", []),
        ("spawner.extra_labels = {}", []),
    ],
    ids=["profiles", "several", "other-options", "hook"],
)
def test_code_that_configures_what_is_imported_is_told(code: str, names: list[str]) -> None:
    found = imported(json.dumps({"singleuser": {}, "hub": {"extraConfig": {"a": code}}}))

    assert [(one.code, one.path) for one in found.findings] == (
        [("B261", "hub.extraConfig.a")] if names else []
    )
    assert all(name in found.findings[0].message for name in names)
    assert found.text


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: science, namespace: hubs}
spec: {values: {singleuser: {}}}
"""


@pytest.mark.parametrize(
    ("values", "request_", "namespace", "scheduler"),
    [
        (RELEASE, {}, "hubs", "science-user-scheduler"),
        (RELEASE, {"namespace": "b"}, "b", "science-user-scheduler"),
        ("singleuser: {}", {}, "jupyterhub", None),
        ("singleuser: {}", {"release": "a"}, "jupyterhub", "a-user-scheduler"),
        (
            "{singleuser: {}, scheduling: {userScheduler: {enabled: false}}}",
            {"release": "a"},
            "jupyterhub",
            None,
        ),
        ("singleuser: {extraPodConfig: {schedulerName: b}}", {"release": "a"}, "jupyterhub", "b"),
    ],
    ids=["release", "given", "unknown", "given-release", "off", "own"],
)
def test_a_class_has_the_namespace_and_the_scheduler_of_its_hub(
    values: str, request_: dict[str, str], namespace: str, scheduler: str | None
) -> None:
    (found,) = classes(values, **request_).values()

    assert found.sessions is not None
    assert (found.sessions.namespaces, found.pod.scheduler_name) == ((namespace,), scheduler)


# The command


def test_it_lists_the_classes_with_their_sizes(berth: Berth, folder: Path) -> None:
    (folder / "values.yaml").write_bytes(VALUES)
    told = berth("import", "z2jh", "values.yaml", "--cluster", "prod", "--release", "hub")

    assert told.code == 0
    rows = [line.split() for line in told.out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["CLASS", *OPTIONS]
    assert all(amount in told.out for amount in ("cpu 4, memory 7680Mi", "nvidia.com/gpu 1"))


def test_layers_and_a_prefix_are_given_on_the_command_line(berth: Berth, folder: Path) -> None:
    (folder / "a.yaml").write_text("x: {singleuser: {memory: {guarantee: 3G}}}\ny: {singleuser: {}}")
    (folder / "b.yaml").write_text("x: {singleuser: {cpu: {guarantee: 2}}}")
    told = berth("import", "z2jh", "a.yaml", "b.yaml", "--prefix", "x", "--cluster", "prod")

    assert (told.code, "cpu 2, memory 3Gi" in told.out) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        ("z2jh", "a.yaml", "--prefix", "x..y"),
        ("z2jh", "a.yaml", "--file", "a.yaml"),
        ("renku", "a.yaml", "b"),
    ],
    ids=["prefix", "file", "several-files"],
)
def test_what_cannot_be_followed_is_a_usage_error(berth: Berth, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "a.yaml").write_text("singleuser: {}")

    assert berth("import", *words).code == 2


def test_a_file_without_a_key_of_the_chart_is_an_error(berth: Berth, folder: Path) -> None:
    (folder / "values.yaml").write_text("controller: {replicas: 2}\n")
    told = berth("import", "z2jh", "values.yaml", "--cluster", "prod")

    assert (told.code, told.out) == (1, "")
    assert "values.yaml:1:1: error[B260]" in told.err


def test_names_that_are_taken_get_the_namespace_of_the_hub(berth: Berth, folder: Path) -> None:
    for namespace in ("first", "second"):
        (folder / f"{namespace}.yaml").write_text("singleuser: {profileList: [{display_name: Small}]}")
        words = ("--namespace", namespace, "--cluster", "prod", "--file", f"reservations/{namespace}.yaml")
        assert berth("import", "z2jh", f"{namespace}.yaml", *words).code == 0

    assert (
        "name: first-small" in (folder / "reservations/first.yaml").read_text()
    )  # the project has a class small
    assert "name: second-small" in (folder / "reservations/second.yaml").read_text()


# After `berth init`


@pytest.fixture
def started(berth: Berth, tmp_path: Path) -> Path:
    new = tmp_path / "seats"
    assert berth("init", str(new), "--zone", "Europe/Zurich", "--now", "2026-01-10").code == 0
    (new / "values.yaml").write_bytes(VALUES)
    return new


def test_the_sample_of_init_gives_way_without_a_note(berth: Berth, started: Path) -> None:
    told = berth("-C", str(started), "import", "z2jh", "values.yaml", "--release", "hub")

    assert (told.code, told.err) == (0, "")
    assert not (started / "reservations/classes.yaml").exists()
    assert "resourceClass: course" in (started / "reservations/first-course.yaml").read_text()
    assert "--class course " in (started / "README.md").read_text()
    findings = json.loads(berth("-C", str(started), "validate", "--strict", "-o", "json").out)
    assert findings["items"] == []
    assert berth("-C", str(started), "render").code == 0


def test_nothing_is_told_when_the_site_names_the_values_then(berth: Berth, started: Path) -> None:
    assert berth("-C", str(started), "import", "z2jh", "values.yaml", "--release", "hub").code == 0
    site = started / "reservations/site.yaml"
    site.write_text(site.read_text().replace("name: prod", "name: prod\n      z2jh: values.yaml"))

    assert json.loads(berth("-C", str(started), "validate", "-o", "json").out)["items"] == []


def test_a_class_named_like_the_sample_takes_its_place(berth: Berth, started: Path) -> None:
    (started / "values.yaml").write_text("singleuser: {profileList: [{display_name: Small}]}")
    before = (started / "reservations/first-course.yaml").read_bytes()

    assert berth("-C", str(started), "import", "z2jh", "values.yaml").code == 0
    assert (started / "reservations/first-course.yaml").read_bytes() == before
    assert not (started / "reservations/classes.yaml").exists()


def test_a_sample_that_somebody_uses_stays(berth: Berth, started: Path) -> None:
    new = ("new", "algebra", "09:00-10:00", "--dates", "2026-02-02", "--seats", "5", "--class", "small")
    assert berth("-C", str(started), *new).code == 0
    told = berth("-C", str(started), "import", "z2jh", "values.yaml")

    assert told.code == 0
    assert (started / "reservations/classes.yaml").exists()
    assert "algebra" in told.out


def test_the_sample_of_renku_gives_way_too(berth: Berth, tmp_path: Path) -> None:
    new = tmp_path / "seats"
    assert berth("init", str(new), "--source", "renku", "--zone", "UTC", "--now", "2026-01-10").code == 0
    pools = [{"name": "A pool", "classes": [{"id": 3, "name": "large", "cpu": 2, "memory": 4, "gpu": 0}]}]
    (new / "pools.json").write_text(json.dumps(pools))

    assert berth("-C", str(new), "import", "renku-classes", "pools.json").code == 0
    assert json.loads(berth("-C", str(new), "validate", "-o", "json").out)["items"] == []


def test_values_in_the_folder_of_reservations_are_to_be_removed(berth: Berth, folder: Path) -> None:
    (folder / "reservations/values.yaml").write_text("singleuser: {}")
    told = berth("import", "z2jh", "reservations/values.yaml", "--cluster", "prod")

    assert (told.code, "Remove reservations/values.yaml" in told.out) == (0, True)


@pytest.mark.parametrize("name", ["1524699", "null", "true", "1e3"])
def test_a_reservation_of_such_a_class_is_read_again(berth: Berth, started: Path, name: str) -> None:
    profiles = [{"display_name": "One", "slug": name}]
    (started / "values.yaml").write_text(json.dumps({"singleuser": {"profileList": profiles}}))
    assert berth("-C", str(started), "import", "z2jh", "values.yaml").code == 0
    new = ("new", "algebra", "09:00-10:00", "--dates", "2026-02-02", "--seats", "5", "--class", name)

    assert berth("-C", str(started), *new).code == 0
    assert f'resourceClass: "{name}"' in (started / "reservations/algebra.yaml").read_text()


@pytest.mark.parametrize(
    ("values", "path", "sessions"),
    [
        ("memory: {guarantee: 4G, limit: 2G}", "singleuser.memory.limit", "sessions of the hub"),
        ("cpu: {guarantee: 4, limit: 2}", "singleuser.cpu.limit", "sessions of the hub"),
        ("memory: {limit: 512M}", "singleuser.memory.limit", "sessions of the hub"),
        (
            "memory: {limit: 2G}, "
            "profileList: [{display_name: A, kubespawner_override: {mem_guarantee: 16G}}]",
            "singleuser.profileList[0].kubespawner_override.mem_guarantee",
            'sessions of profile "A"',
        ),
        (
            "memory: {limit: 2G}, profileList: [{display_name: A, profile_options: "
            "{o: {choices: {c: {kubespawner_override: {mem_guarantee: 16G}}}}}}]",
            "singleuser.profileList[0]",
            'sessions of profile "A, c"',
        ),
        (
            "extraResource: {guarantees: {a.b/c: '1'}, limits: {a.b/c: '2'}}",
            'singleuser.extraResource.limits["a.b/c"]',
            "sessions of the hub",
        ),
    ],
    ids=["memory", "cpu", "default-of-the-chart", "profile", "choice", "device"],
)
def test_a_request_that_its_limit_refuses_is_a_finding_at_the_value(
    berth: Berth, started: Path, values: str, path: str, sessions: str
) -> None:
    (started / "values.yaml").write_text(f"singleuser: {{{values}}}")
    before = {one: one.read_bytes() for one in started.rglob("*") if one.is_file()}
    told = berth("-C", str(started), "import", "z2jh", "values.yaml")

    assert (told.code, told.err.count("B016")) == (EXIT_BAD_INPUT, 1)
    assert told.err.startswith("values.yaml:1:")
    assert f"{path}: {sessions}: " in " ".join(told.err.split())
    assert {one: one.read_bytes() for one in started.rglob("*") if one.is_file()} == before


def test_a_finding_of_a_class_that_is_not_written_is_at_its_profile(berth: Berth, started: Path) -> None:
    values = "singleuser:\n  memory: {guarantee: 1}\n  profileList:\n  - {display_name: A}\n"
    (started / "values.yaml").write_text(values)
    told = berth("-C", str(started), "import", "z2jh", "values.yaml", "--strict")

    assert told.code != 0
    assert told.err.startswith("values.yaml:4:5: warning[B241]")
    assert "reservations/jupyterhub-classes.yaml:" not in told.err


# A second import

HUB = "singleuser:\n  profileList:\n  - {display_name: A, kubespawner_override: {mem_guarantee: 4G}}\n"
AGAIN = ("import", "z2jh", "values.yaml", "--cluster", "prod")
CLASSES = "reservations/jupyterhub-classes.yaml"


@pytest.fixture
def imported_once(berth: Berth, folder: Path) -> Path:
    (folder / "values.yaml").write_text(HUB)
    assert berth(*AGAIN).code == 0
    return folder


def test_a_second_import_updates_the_classes_and_shows_what_changed(
    berth: Berth, imported_once: Path
) -> None:
    (imported_once / "values.yaml").write_text(HUB.replace("4G", "8G"))
    told = berth(*AGAIN)

    assert told.code == 0
    assert told.out.startswith(f"Changed {CLASSES}.\n")
    assert "-  requests: {memory: 4Gi}\n+  requests: {memory: 8Gi}\n" in told.out
    assert "{memory: 8Gi}" in (imported_once / CLASSES).read_text()
    assert berth(*AGAIN).out.startswith(f"Unchanged: {CLASSES}.\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("spec:\n", "spec: # ours\n"),
        ("spec:\n", "spec:\n  volumes: 1\n"),
        ("  name: a\n", "  name: a\n  annotations: {berth.dev/ignore: 'B032: x'}\n"),
        ("ResourceClass", "Calendar"),
        ("requests:", "requests: ["),
        ("# A", "# Classes\n---\n# A"),
    ],
    ids=["comment", "key", "annotation", "kind", "no-yaml", "document"],
)
def test_a_file_that_somebody_has_changed_is_not_replaced(
    berth: Berth, imported_once: Path, old: str, new: str
) -> None:
    path = imported_once / CLASSES
    path.write_text(changed := path.read_text().replace(old, new, 1))
    told = berth(*AGAIN)

    assert told.code != 0
    assert CLASSES in told.err
    assert path.read_text() == changed


def test_a_file_without_any_class_that_is_imported_is_not_replaced(berth: Berth, imported_once: Path) -> None:
    before = (imported_once / CLASSES).read_bytes()
    (imported_once / "values.yaml").write_text(HUB.replace("display_name: A", "display_name: B"))

    assert berth(*AGAIN).code != 0
    assert (imported_once / CLASSES).read_bytes() == before


@pytest.mark.parametrize("other", [("--namespace", "other"), ("--cluster", "atlas")])
def test_the_classes_of_another_hub_are_not_replaced(
    berth: Berth, imported_once: Path, other: tuple[str, str]
) -> None:
    before = (imported_once / CLASSES).read_bytes()

    assert berth(*AGAIN, *other).code != 0
    assert (imported_once / CLASSES).read_bytes() == before


def test_every_file_that_an_import_writes_may_be_replaced_by_it() -> None:
    for hub in HUBS:
        text = imported((HERE / hub).read_bytes(), cluster="prod").text
        source = Source("a.yaml", text.encode())

        assert why_not_replaced(source, source) == ""
