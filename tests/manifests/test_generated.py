"""Projects made by chance: whatever `validate` accepts is rendered, and every reader sees the same in it."""

import re
from typing import NamedTuple

import pytest
import yaml
from berth import cli
from berth.checks.project import Part
from berth.core.timetable import parse_timetable
from berth.manifests import naming
from berth.manifests.clusterobjects import INVENTORY_HEAD, OBJECTS_HEAD
from berth.output.folder import header
from berth.plugins.pruning.inventory import parse_inventory
from berth.schema.values import Site
from ruamel.yaml import YAML

from tests import generate
from tests.manifests.parts import objects, of_kind, read
from tests.manifests.schemas import drop_refused
from tests.outputfolder import files_in

SEEDS = (1, 2)
SIZE = 12


class World(NamedTuple):
    site: Site
    parts: dict[str, Part]  # by file
    rendered: dict[str, str]


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"seed-{seed}")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("generated")
    generate.project(folder, request.param, SIZE)
    drop_refused(folder)
    assert cli.run(["-C", str(folder), "render"]) == 0
    site, found = read(folder)
    parts = {
        f"clusters/{part.placed.cluster.name}/reservations/{part.placed.reservation.name}.yaml": part
        for part in found
    }
    return World(site, parts, files_in(folder / "rendered"))


def test_every_part_and_every_cluster_has_its_files(world: World) -> None:
    assert len(world.parts) >= SIZE / 2
    assert sorted(world.rendered) == sorted(
        [
            *world.parts,
            "clusters/one/base.yaml",
            "clusters/one/runtime.yaml",
            "clusters/two/base.yaml",
            "clusters/two/inventory.yaml",
            "clusters/two/runtime.yaml",
            "gitops/argocd/one.yaml",
            "gitops/argocd/project.yaml",
        ]
    )


def test_files_have_our_header_and_no_tabs_or_trailing_spaces(world: World) -> None:
    for path, text in world.rendered.items():
        assert text.startswith(header("generated") + "---\napiVersion: "), path
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert not re.search(r"[\t\r\x0b\x0c\x85\u2028\u2029]| $", text, re.MULTILINE), path


def test_yaml_1_1_and_yaml_1_2_readers_agree(world: World) -> None:
    """The CronJobs of a file differ in name and schedule only, and are long: two of them will do."""
    reader = YAML(typ="safe", pure=True)
    for path, text in world.rendered.items():
        documents = text.split("\n---\n")[1:]
        jobs = [one for one in documents if "\nkind: CronJob\n" in one]
        for document in documents if len(jobs) < 3 else [*documents[: -len(jobs)], jobs[0], jobs[-1]]:
            assert reader.load(document) == yaml.load(document, yaml.CSafeLoader), path


def test_no_two_objects_of_a_cluster_have_the_same_name(world: World) -> None:
    for cluster in ("one", "two"):
        found = [
            (object_["kind"], object_["metadata"].get("namespace"), object_["metadata"]["name"])
            for path, text in world.rendered.items()
            if path.startswith(f"clusters/{cluster}/")
            for object_ in objects(text)
        ]

        assert len(found) == len(set(found)) > 0


def test_a_timetable_is_parsed_as_it_was_declared(world: World) -> None:
    for path, part in world.parts.items():
        if part.placed.reservation.holder.persistence:
            continue  # it has no windows, and no timetable of any
        found, *snippets = of_kind("ConfigMap", objects(world.rendered[path]))

        assert all(
            snippet["metadata"]["labels"]["berth.dev/role"] == "session-affinity" for snippet in snippets
        )
        timetable = parse_timetable(found["data"]["timetable.json"])
        rows = {(row.id, row.start, row.end) for row in timetable.occurrences}
        assert rows == {(one.id, one.start, one.end) for one in part.occurrences}, path
        assert [pool.resource_class for pool in timetable.pools] == [one.name for one in part.placed.classes]
        assert timetable.suspend == part.placed.reservation.suspend
        assert found["metadata"]["annotations"]["berth.dev/title"] == part.placed.reservation.title


def test_replicas_are_rendered_only_if_the_engine_ignores_them(world: World) -> None:
    for path in world.parts:
        for deployment in of_kind("Deployment", objects(world.rendered[path])):
            assert ("replicas" in deployment["spec"]) == path.startswith("clusters/one/")


def test_the_inventory_names_the_reservations_of_its_cluster(world: World) -> None:
    (found,) = objects(world.rendered["clusters/two/inventory.yaml"])
    here = [path for path in world.parts if path.startswith("clusters/two/")]

    names = sorted(world.parts[path].placed.reservation.name for path in here)
    assert found["data"]["reservations.txt"].splitlines() == [INVENTORY_HEAD, *names]


def test_the_inventory_lists_all_cron_jobs_not_named_as_their_reservation(world: World) -> None:
    (found,) = objects(world.rendered["clusters/two/inventory.yaml"])
    here = [path for path in world.parts if path.startswith("clusters/two/")]
    cronjobs = [one for path in here for one in of_kind("CronJob", objects(world.rendered[path]))]
    names = {cronjob["metadata"]["name"] for cronjob in cronjobs}
    firsts = {naming.single(world.parts[path].placed.reservation.name) for path in here}

    listed = parse_inventory("", found["data"]).objects
    assert found["data"]["objects.txt"].startswith(f"{OBJECTS_HEAD}\n")
    assert listed == frozenset(("CronJob", name) for name in names - firsts)
