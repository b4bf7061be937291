"""`berth import z2jh`: the file that it writes, what it replaces, and what it refuses."""

import json
from pathlib import Path

import pytest
from berth.cli.console import EXIT_BAD_INPUT

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project
from tests.edit.hubvalues import OPTIONS, VALUES


def test_the_command_writes_one_file_and_lists_the_classes_with_their_sizes(
    berth: Berth, folder: Path
) -> None:
    (folder / "values.yaml").write_bytes(VALUES)
    words = ("--cluster", "prod", "--namespace", "hub", "--release", "hub")
    told = berth("import", "z2jh", "values.yaml", *words)
    text = (folder / "reservations/jupyterhub-classes.yaml").read_text("utf-8")

    assert told.code == 0
    assert told.out.startswith("Wrote reservations/jupyterhub-classes.yaml.\n")
    assert text.count("cluster: prod\n") == text.count("namespaces: [hub]") == len(OPTIONS)
    rows = [line.split() for line in told.out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["CLASS", *OPTIONS]
    assert all(amount in told.out for amount in ("cpu 4, memory 7680Mi", "nvidia.com/gpu 1"))


@tabled("edit")
def test_an_option_of_another_source_is_a_usage_error(words: list[str], berth: Berth, folder: Path) -> None:
    (folder / "values.yaml").write_bytes(VALUES)

    assert berth("import", *words).code == 2
    assert not (folder / "reservations/jupyterhub-classes.yaml").exists()


def test_import_merges_values_files_and_lists_the_keys_that_it_does_not_read(
    berth: Berth, folder: Path
) -> None:
    (folder / "a.yaml").write_text("jupyterhub: {singleuser: {memory: {guarantee: 3G}}}\ny: {a: 1}")
    (folder / "b.yaml").write_text("jupyterhub: {singleuser: {cpu: {guarantee: 2}}}")
    told = berth("import", "z2jh", "a.yaml", "b.yaml", "--cluster", "prod")

    assert (told.code, "cpu 2, memory 3Gi" in told.out) == (0, True)
    assert "Not read: y.\n" in told.out


def test_a_file_without_a_key_of_the_chart_is_an_error(berth: Berth, folder: Path) -> None:
    (folder / "values.yaml").write_text("controller: {replicas: 2}\n")
    told = berth("import", "z2jh", "values.yaml", "--cluster", "prod")

    assert (told.code, told.out) == (1, "")
    assert "values.yaml:1:1: error[B260]" in told.err


def test_a_taken_class_name_gets_the_namespace_of_the_hub_as_a_prefix(berth: Berth, folder: Path) -> None:
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


def test_validate_reports_nothing_if_the_site_has_the_values_and_tolerations(
    berth: Berth, started: Path
) -> None:
    for sample in ("classes", "first-course"):  # as docs/jupyterhub.md says
        (started / f"reservations/{sample}.yaml").unlink()
    runtime = "runtime: {tolerations: [{operator: Exists}]}"
    project.change(started, "site", "name: prod", f"name: prod\n      z2jh: values.yaml\n      {runtime}")

    assert berth("-C", str(started), "import", "z2jh", "values.yaml", "--release", "hub").code == 0
    assert json.loads(berth("-C", str(started), "validate", "-o", "json").out)["items"] == []


@pytest.mark.parametrize("name", ["1524699", "null", "true", "1e3"])
def test_a_class_name_that_yaml_reads_as_another_type_is_quoted(
    berth: Berth, started: Path, name: str
) -> None:
    profiles = [{"display_name": "One", "slug": name}]
    (started / "values.yaml").write_text(json.dumps({"singleuser": {"profileList": profiles}}))
    assert berth("-C", str(started), "import", "z2jh", "values.yaml").code == 0
    new = ("new", "algebra", "09:00-10:00", "--dates", "2026-02-02", "--seats", "5", "--class", name)

    assert berth("-C", str(started), *new).code == 0
    assert f'resourceClass: "{name}"' in (started / "reservations/algebra.yaml").read_text()


@tabled("edit")
def test_an_unusable_profile_is_reported_by_name_and_nothing_is_written(
    values: str, place: str, berth: Berth, started: Path
) -> None:
    (started / "values.yaml").write_text(f"singleuser: {{{values}}}")
    before = {one: one.read_bytes() for one in started.rglob("*") if one.is_file()}
    told = berth("-C", str(started), "import", "z2jh", "values.yaml")

    assert told.code == EXIT_BAD_INPUT
    assert f"values.yaml, {place}" in told.err
    assert {one: one.read_bytes() for one in started.rglob("*") if one.is_file()} == before


def test_a_finding_about_an_unwritten_class_is_reported_at_its_profile(berth: Berth, started: Path) -> None:
    values = "singleuser:\n  memory: {guarantee: 1}\n  profileList:\n  - {display_name: A}\n"
    (started / "values.yaml").write_text(values)
    told = berth("-C", str(started), "import", "z2jh", "values.yaml", "--strict")

    assert told.code != 0
    assert told.err.startswith("values.yaml, a: warning[B241]")
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
    assert "-    memory: 4Gi\n+    memory: 8Gi\n" in told.out
    assert "memory: 8Gi\n" in (imported_once / CLASSES).read_text()
    assert berth(*AGAIN).out.startswith(f"Unchanged: {CLASSES}.\n")


@tabled("edit")
def test_a_second_import_keeps_the_edits_of_people(
    old: str, new: str, berth: Berth, imported_once: Path
) -> None:
    path = imported_once / CLASSES
    path.write_text(changed := path.read_text().replace(old, new, 1))
    if "cloud" in new:
        node = {"name": "a", "allocatable": {"cpu": 8, "memory": "32Gi"}}
        spec = {"cluster": "prod", "provider": "generic", "nodeStartMinutes": 2, "nodes": [node]}
        cloud = {"apiVersion": "berth.dev/v1alpha1", "kind": "CloudCapacity", "metadata": {"name": "a-cloud"}}
        (imported_once / "reservations/cloud.yaml").write_text(json.dumps({**cloud, "spec": spec}))
    (imported_once / "values.yaml").write_text(HUB.replace("4G", "8G"))
    told = berth(*AGAIN)

    assert told.code == 0, told.err
    assert path.read_text() == changed.replace("4Gi", "8Gi")


def test_a_new_profile_is_added_and_a_class_without_a_profile_is_reported(
    berth: Berth, imported_once: Path
) -> None:
    text = (imported_once / CLASSES).read_text()
    (imported_once / "values.yaml").write_text(HUB.replace("display_name: A", "display_name: B"))
    told = berth(*AGAIN)

    assert told.code == 0
    assert "Not imported any more, remove it: a.\n" in told.out
    assert (imported_once / CLASSES).read_text() == f"{text}---\n" + text.partition("\n")[2].replace(
        "# A", "# B"
    ).replace("name: a", "name: b")


@pytest.mark.parametrize("text", [b"a: [", b"\xff", b"a: \xc3"])
def test_an_unreadable_class_file_is_not_overwritten(berth: Berth, imported_once: Path, text: bytes) -> None:
    (imported_once / CLASSES).write_bytes(text)

    assert berth(*AGAIN).code == 2
    assert (imported_once / CLASSES).read_bytes() == text


@pytest.mark.parametrize("other", [("--namespace", "other"), ("--cluster", "atlas")])
def test_the_classes_of_another_hub_are_not_changed(
    berth: Berth, imported_once: Path, other: tuple[str, str]
) -> None:
    before = (imported_once / CLASSES).read_bytes()

    assert berth(*AGAIN, *other).code != 0
    assert (imported_once / CLASSES).read_bytes() == before
