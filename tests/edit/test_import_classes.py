"""`berth import z2jh`: the file that it writes, what it replaces, and what it refuses."""

import json
from pathlib import Path

import pytest
from berth.cli.console import EXIT_BAD_INPUT
from berth.edit.classes import why_not_replaced
from berth.reading.source import Source

from tests.answer import Berth
from tests.edit.hubvalues import HERE, OPTIONS, VALUES, imported
from tests.jupyterhub.record import HUBS, PREFIXES


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
        ("renku-classes", "a.yaml", "b"),
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
    assert berth("init", str(new), "--time-zone", "Europe/Zurich", "--now", "2026-01-10").code == 0
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
    assert berth("init", str(new), "--source", "renku", "--time-zone", "UTC", "--now", "2026-01-10").code == 0
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
        text = imported((HERE / hub).read_bytes(), cluster="prod", prefix=PREFIXES.get(hub, ())).text
        source = Source("a.yaml", text.encode())

        assert why_not_replaced(source, source) == ""
