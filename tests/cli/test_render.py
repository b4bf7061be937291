"""`berth render`: what stands where afterwards, and what --check says before."""

import json
from pathlib import Path

import pytest
from berth.manifests.clusterobjects import INVENTORY_HEAD, OBJECTS_HEAD
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.rendering import files

from tests.answer import Berth
from tests.cli import clouds, heldproject, project
from tests.cli.conftest import ROOT
from tests.live import project as live
from tests.live import slotproject
from tests.manifests.parts import objects, of_kind
from tests.outputfolder import content, files_in, write

ERROR = project.COURSE.replace("placeholderCount: 25", "placeholderCount: -3")
WARNING = project.REST.replace("schedule: [", 'schedule: [{startTime: "10:05", endTime: "10:10"}, ')
COURSE = "clusters/prod/reservations/course.yaml"
ALL = "rendered/: 9 written, 0 removed, 0 unchanged.\n"


def test_render_writes_a_file_for_each_reservation_and_cluster_and_one_base(
    berth: Berth, folder: Path
) -> None:
    assert berth("render") == (0, ALL, "")
    assert sorted(files_in(folder / "rendered")) == project.RENDERED
    assert berth("render") == (0, "rendered/: 0 written, 0 removed, 9 unchanged.\n", "")
    assert berth("render", "--check") == (0, "rendered/ is up to date.\n", "")


def test_check_lists_missing_different_and_stale_files_and_writes_nothing(berth: Berth, folder: Path) -> None:
    berth("render")
    output = folder / "rendered"
    (output / COURSE).unlink()
    write(output / "clusters/lab/base.yaml", (output / "clusters/lab/base.yaml").read_text() + "# edited\n")
    project.write(folder, rest=None)
    before = content(output)

    assert berth("render", "--check") == (
        4,
        "rendered/clusters/lab/base.yaml differs\n"
        "rendered/clusters/lab/inventory.yaml differs\n"
        "rendered/clusters/lab/reservations/rest.yaml stale\n"
        "rendered/clusters/prod/reservations/course.yaml missing\n"
        "4 files are not up to date. Run: berth render\n",
        "",
    )
    assert content(output) == before
    assert berth("render") == (
        0,
        "removed rendered/clusters/lab/reservations/rest.yaml\n"
        "rendered/: 3 written, 1 removed, 5 unchanged.\n",
        "",
    )

    (output / COURSE).unlink()

    assert berth("render", "--check") == (
        4,
        f"rendered/{COURSE} missing\n1 file is not up to date. Run: berth render\n",
        "",
    )


def test_check_creates_no_folder(berth: Berth, folder: Path) -> None:
    code, out, err = berth("render", "--check")

    assert (code, err) == (4, "")
    assert out == "".join(f"rendered/{path} missing\n" for path in project.RENDERED) + (
        "9 files are not up to date. Run: berth render\n"
    )
    assert not (folder / "rendered").exists()


@pytest.mark.parametrize("check", [(), ("--check",)], ids=["render", "check"])
def test_an_error_leaves_the_rendered_files_unchanged(
    berth: Berth, folder: Path, check: tuple[str, ...]
) -> None:
    berth("render")
    before = content(folder)
    project.write(folder, course=ERROR, night=None, extra=project.REST.replace("name: rest", "name: more"))

    code, out, err = berth("render", *check)

    assert (code, out) == (1, "")
    assert err == (
        "reservations/course.yaml:16:36: error[B012] spec.provisioning.placeholderCount: -3 is below 1. "
        "Write a whole number from 1 up.\n1 error.\n"
    )
    assert content(folder / "rendered") == {
        path.removeprefix("rendered/"): text for path, text in before.items() if path.startswith("rendered/c")
    }


def test_a_warning_stops_only_a_strict_run(berth: Berth, folder: Path) -> None:
    project.write(folder, rest=WARNING)

    code, out, err = berth("render", "--strict")

    assert (code, out, err.endswith("1 warning.\n")) == (1, "", True)
    assert not (folder / "rendered").exists()
    assert berth("render") == (0, ALL, err)


def test_findings_go_to_stderr_in_the_requested_form(berth: Berth, folder: Path) -> None:
    assert berth("render", "-o", "github") == (0, ALL, "")

    project.write(folder, course=ERROR)

    code, out, err = berth("render", "-o", "github")
    assert (code, out) == (1, "")
    assert err.startswith(f"::error file={folder}/reservations/")


def test_files_that_berth_did_not_write_are_refused_and_kept(berth: Berth, folder: Path) -> None:
    berth("render")
    foreign = write(folder / "rendered/clusters/prod/mine.yaml", "mine\n")
    write(folder / "rendered/README.md", "mine\n")
    project.write(folder, course=project.COURSE.replace("25", "26"))
    before = content(folder / "rendered")

    told = (
        "rendered/clusters/prod/mine.yaml:1:1: error[B090] A file that does not begin with "
        "`# Rendered by berth` was not written by Berth, which owns clusters/. "
        "Move it away or delete it.\n1 error.\n"
    )
    assert berth("render") == berth("render", "--check") == (1, "", told)
    assert content(folder / "rendered") == before

    foreign.unlink()

    assert berth("render") == (0, "rendered/: 1 written, 0 removed, 8 unchanged.\n", "")


def test_a_change_of_a_reservation_changes_only_its_file(berth: Berth, folder: Path) -> None:
    """Added, changed or removed: twenty open pull requests do not conflict."""
    berth("render")
    before = files_in(folder / "rendered")
    path = "clusters/prod/reservations/more.yaml"

    for text in (project.COURSE, project.COURSE.replace("placeholderCount: 25", "placeholderCount: 2"), None):
        project.write(folder, more=text and text.replace("name: course", "name: more"))
        assert berth("render").code == 0
        after = files_in(folder / "rendered")

        assert {name: text for name, text in after.items() if name != path} == before
        assert (path in after) == (text is not None)


def test_the_inventory_of_a_cluster_without_pruning_lists_its_reservations(
    berth: Berth, folder: Path
) -> None:
    """A change of one touches its own file only; one that comes or goes, the inventory too."""
    berth("render")
    path, inventory = "clusters/lab/reservations/more.yaml", "clusters/lab/inventory.yaml"
    lists = []

    for text in (None, project.REST, project.REST.replace("placeholderCount: 1", "placeholderCount: 2")):
        before = files_in(folder / "rendered")
        project.write(folder, more=text and text.replace("name: rest", "name: more"))
        assert berth("render").code == 0
        after = files_in(folder / "rendered")

        lists.append(objects(after[inventory])[0]["data"]["reservations.txt"])
        assert {name for name in after if after[name] != before.get(name)} <= {path, inventory}
    assert lists == [
        f"{INVENTORY_HEAD}\n{names}" for names in ("night\nrest\n", *["more\nnight\nrest\n"] * 2)
    ]


def test_a_reservation_in_two_clusters_has_the_same_ids_in_both(berth: Berth, folder: Path) -> None:
    berth("render")
    for cluster, pool in (("prod", "night-small"), ("lab", "night-bench")):
        found = objects((folder / f"rendered/clusters/{cluster}/reservations/night.yaml").read_text())
        (timetable,) = (one["data"]["timetable.json"] for one in of_kind("ConfigMap", found))
        (deployment,) = of_kind("Deployment", found)

        assert [item["id"] for item in json.loads(timetable)["occurrences"]] == ["night/2026-02-07T22:00"]
        assert deployment["metadata"]["name"] == pool


def test_the_kustomization_key_of_the_site_adds_and_removes_kustomizations(
    berth: Berth, folder: Path
) -> None:
    project.write(folder, site=project.SITE + "  kustomization: true\n")

    assert berth("render") == (0, "rendered/: 11 written, 0 removed, 0 unchanged.\n", "")
    assert (folder / "rendered/clusters/lab/kustomization.yaml").read_text() == (
        "# Rendered by berth for site uni from reservations/. Edit those files and run: berth render\n"
        "---\n"
        "apiVersion: kustomize.config.k8s.io/v1beta1\n"
        "kind: Kustomization\n"
        "resources:\n"
        "  - base.yaml\n"
        "  - inventory.yaml\n"
        "  - reservations/night.yaml\n"
        "  - reservations/rest.yaml\n"
        "  - runtime.yaml\n"
    )

    project.write(folder)

    assert berth("render") == (
        0,
        "removed rendered/clusters/lab/kustomization.yaml\n"
        "removed rendered/clusters/prod/kustomization.yaml\n"
        "rendered/: 0 written, 2 removed, 9 unchanged.\n",
        "",
    )


def test_a_name_of_63_characters_is_rendered(berth: Berth, folder: Path) -> None:
    name = "n" * 62 + "x"
    project.write(folder, rest=project.REST.replace("name: rest", f"name: {name}"))

    assert berth("render") == (0, ALL, "")

    found = objects((folder / f"rendered/clusters/lab/reservations/{name}.yaml").read_text())
    assert [len(object_["metadata"]["name"]) for object_ in found] == [52] * 6


def test_removing_the_last_reservation_keeps_the_base(berth: Berth, folder: Path) -> None:
    """An emptied folder makes Argo CD delete the application and Flux prune nothing."""
    berth("render")
    project.write(folder, course=None, night=None, rest=None)

    assert berth("render").code == 0
    assert sorted(files_in(folder / "rendered")) == [
        "clusters/lab/base.yaml",
        "clusters/lab/inventory.yaml",
        "clusters/lab/runtime.yaml",
        "clusters/prod/base.yaml",
        "clusters/prod/runtime.yaml",
    ]
    (inventory,) = objects((folder / "rendered/clusters/lab/inventory.yaml").read_text())
    assert inventory["data"] == {
        "reservations.txt": f"{INVENTORY_HEAD}\n",
        "objects.txt": f"{OBJECTS_HEAD}\n",
    }


def test_a_timetable_above_200_kib_gets_the_finding_b073(berth: Berth, folder: Path) -> None:
    long = "a" * 210_000
    classes = project.CLASSES.replace(
        "{cpu: 250m}", "{cpu: 250m}\n  sessions: {source: pods, namespaces: [a]}"
    )
    text = project.REST + f"  sessions: {{matchAnnotations: {{note: {long}}}}}\n"
    project.write(folder, classes=classes, rest=text)

    code, out, err = berth("render")

    assert (code, out) == (1, "")
    assert err.startswith("reservations/rest.yaml:6:3: error[B073] spec.recurrence: ")
    assert not (folder / "rendered").exists()


@pytest.mark.parametrize("command", ["render", "validate"])
def test_five_years_of_daily_dates_get_the_finding_b073(berth: Berth, folder: Path, command: str) -> None:
    """Three years of them have room."""
    daily = project.REST.replace("type: dates", "type: daily").replace(
        "dates: [2026-02-03]", "startDate: 2026-01-01\n    endDate: LAST"
    )

    project.write(folder, rest=daily.replace("LAST", "2030-12-31"))
    answer = berth(command, "--now", "2029-12-31")

    assert (answer.code, (answer.out + answer.err).count("error[B073]")) == (1, 1)
    project.write(folder, rest=daily.replace("LAST", "2028-12-31"))
    assert berth(command).code == 0


def projects() -> dict[str, list[str]]:
    """The documents of this repository, and of a project for each way to hold seats."""
    ours = [path.read_text("utf-8") for path in sorted((ROOT / "reservations").rglob("*.yaml"))]
    karpenter = "{name: prod, autoscaler: karpenter, karpenter: {gates: {CapacityBuffer: true}}}"
    buffered = live.COURSE.replace("spec:\n", "spec:\n  backend: {type: capacityBuffer}\n")
    return {
        "repository": ours,
        "nodes": [clouds.STATIC, clouds.CLASSES, clouds.CLOUD, clouds.EXAM],
        "slots": [slotproject.SITE, slotproject.CLASS, slotproject.COURSE, slotproject.LAB],
        "buffers": [live.SITE.replace("{name: prod}", karpenter), live.CLASS, buffered],
        "numbers": [heldproject.SITE, heldproject.EXAM, project.CLASSES],
    }


@pytest.mark.parametrize("documents", projects().values(), ids=projects())
def test_nothing_is_rendered_if_any_document_has_a_fault(documents: list[str]) -> None:
    """Whatever document has the fault, and whatever names it."""
    texts = [text for file in documents for text in file.split("---\n")]
    for faulty in (None, *range(len(texts))):
        sources = [
            Source(f"reservations/{i:02}.yaml", f"{text}{'unknownKey: 1' * (i == faulty)}\n".encode())
            for i, text in enumerate(texts)
        ]
        pipeline = Pipeline(sources=sources)
        rendered = [*files(pipeline, pipeline.items())]

        assert pipeline.has_errors() is (faulty is not None), pipeline.findings()
        assert bool(rendered) is (faulty is None)
