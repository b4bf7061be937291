"""`berth init`: a repository that passes its own checks at once, and `berth new` where somebody answers."""

import json
import os
import resource
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.edit import wheel
from berth.edit.scaffold import NAMESPACES, Starter, project_of, starter_files
from berth.schema.engine import ENGINES
from berth.version import VERSION

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project
from tests.console import ROOT
from tests.terminal import on_terminal

WHEEL = f".github/berth/kube_berth-{VERSION}-py3-none-any.whl"
ACTION = sorted(
    [
        *(f".github/berth/{name}.sh" for name in ("comment", "git", "install", "preview", "status")),
        *(f".github/berth/forks/{name}" for name in ("action.yml", "number.sh")),
        *(".github/berth/action.yml", ".github/berth/requirements.txt", WHEEL),
    ]
)
FILES = [
    ".gitattributes",
    *ACTION,
    ".github/workflows/berth.yaml",
    "README.md",
    "reservations/.schema.json",
    "reservations/calendars.yaml",
    "reservations/classes.yaml",
    "reservations/first-course.yaml",
    "reservations/site.yaml",
]
NEXT = """\
My Seats is a repository of reservations now. Next:
  cd '{folder}'
  berth render
  kubectl apply --recursive -f rendered/clusters/prod
  kubectl create job first-sweep --namespace berth --from=cronjob/berth-sweep
  kubectl get pods --namespace berth --watch
The first placeholders start on Mon 2026-01-12 08:30 (Europe/Zurich).
"""
NOW = ("--now", "2026-01-10")


def files(folder: Path) -> list[str]:
    return sorted(
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(folder).parts
    )


def spec(folder: Path, file: str) -> Any:
    return yaml.safe_load((folder / f"reservations/{file}.yaml").read_text("utf-8"))["spec"]


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "seats"
    folder.mkdir()
    return folder


@pytest.fixture
def started(berth: Berth, tmp_path: Path) -> Path:
    folder = tmp_path / "My Seats"
    told = berth("init", str(folder), *NOW, "--time-zone", "Europe/Zurich")
    assert (told.code, told.out) == (0, NEXT.format(folder=folder))
    return folder


def test_a_new_repository_passes_validate_with_strict(started: Path, berth: Berth) -> None:
    assert files(started) == FILES
    assert berth("-C", str(started), "validate", "--strict").code == 0


REQUESTS = [".github/ISSUE_TEMPLATE/seats.yml", ".github/workflows/berth-request.yaml"]


@tabled("edit")
def test_an_optional_part_is_written_with_its_flag(
    part: str, more: list[str], berth: Berth, empty: Path
) -> None:
    assert berth("init", str(empty), f"--{part}", *NOW).code == 0

    assert files(empty) == sorted([*FILES, *more])


def test_init_adds_a_request_form_with_the_classes_of_the_repository(berth: Berth, started: Path) -> None:
    form = started / REQUESTS[0]
    before = {path: (started / path).read_bytes() for path in FILES}
    assert berth("init", str(started), "--requests").code == 0
    assert files(started) == sorted([*FILES, *REQUESTS])
    assert {path: (started / path).read_bytes() for path in FILES} == before

    project.change(started, "classes", "name: small", "name: large")
    project.change(started, "first-course", "resourceClass: small", "resourceClass: large")
    assert "Wrote" not in berth("init", str(started), "--requests").out
    form.unlink()
    assert f"Wrote {REQUESTS[0]}." in berth("init", str(started), "--requests").out
    assert "        - large\n" in form.read_text("utf-8")
    assert "Wrote" not in berth("init", str(started), "--requests").out


@pytest.mark.parametrize("file", REQUESTS)
def test_a_file_of_another_author_stays_and_is_reported(berth: Berth, started: Path, file: str) -> None:
    (started / file).parent.mkdir(exist_ok=True)
    (started / file).write_text("name: ours\n")
    answer = berth("init", str(started), "--requests")

    assert (answer.code, answer.err.count(f"{file} stays")) == (0, 1)
    assert (started / file).read_text() == "name: ours\n"
    assert files(started) == sorted({*FILES, *REQUESTS})


@pytest.mark.parametrize("part", ["calendar", "report", "requests"])
def test_a_new_part_keeps_the_requirements_of_the_repository(berth: Berth, started: Path, part: str) -> None:
    """Here, a release of the package index, pinned by hash."""
    (started / WHEEL).unlink()
    requirements = started / ".github/berth/requirements.txt"
    requirements.write_text(f"kube-berth=={VERSION} --hash=sha256:{'0' * 64}\n")
    before = {path: (started / path).read_bytes() for path in FILES if path != WHEEL}
    assert berth("init", str(started), f"--{part}").code == 0

    assert not (started / WHEEL).exists()
    assert {path: (started / path).read_bytes() for path in before} == before


def test_init_adds_a_missing_action_to_a_repository(berth: Berth, started: Path) -> None:
    """As after an upgrade of Berth, for which somebody removed it."""
    before = {path: (started / path).read_bytes() for path in FILES}
    shutil.rmtree(started / ".github/berth")
    assert berth("init", str(started)).code == 0
    assert {path: (started / path).read_bytes() for path in FILES} == before

    answer = berth("init", str(started))
    assert (answer.code, ".github/berth/ stays" in answer.err) == (2, True)


def test_a_form_without_classes_is_not_written(berth: Berth, started: Path) -> None:
    for file in ("classes", "first-course"):
        (started / f"reservations/{file}.yaml").unlink()
    before = files(started)
    answer = berth("init", str(started), "--requests")

    assert (answer.code, "ResourceClass" in answer.err) == (2, True)
    assert files(started) == before


@pytest.mark.parametrize(("top", "is_told"), [("My Seats", False), (".", True)], ids=["top", "below"])
def test_init_below_the_top_of_a_git_repository_warns_about_workflows(
    berth: Berth, started: Path, top: str, is_told: bool
) -> None:
    subprocess.run(["git", "init", "--quiet", started.parent / top], check=True)
    answer = berth("init", str(started), "--requests")

    assert (answer.code, "top of the repository" in answer.err) == (0, is_told)


def test_a_repository_with_errors_gets_no_form(berth: Berth, started: Path) -> None:
    (started / "reservations/site.yaml").write_text("kind: Site\n")

    assert berth("init", str(started), "--requests").code == 1
    assert files(started) == FILES


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--time-zone", "Mars"), ("--cluster", "a b"), ("--source", "slurm"), ("--repository", "here")],
    ids=["zone", "cluster", "source", "repository"],
)
def test_a_wrong_value_is_reported_at_its_flag(flag: str, value: str, berth: Berth, tmp_path: Path) -> None:
    told = berth("init", str(tmp_path / "seats"), flag, value)

    assert (told.code, f"Invalid value for '{flag}': " in told.err) == (2, True), told.err
    assert not (tmp_path / "seats").exists()


def test_an_address_that_flux_cannot_read_gets_the_finding_b038(berth: Berth, tmp_path: Path) -> None:
    words = ("--engine", "flux", "--repository", "git@git.example.org:seats.git")
    told = berth("init", str(tmp_path / "seats"), *words)

    assert (told.code, told.out) == (1, "")
    assert "--repository: error[B038] " in told.err
    assert not (tmp_path / "seats").exists()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source", NAMESPACES)
def test_every_source_and_engine_gives_a_project_without_warnings(
    source: str, engine: str, berth: Berth, empty: Path
) -> None:
    chosen = ("--source", source, "--engine", engine, "--cluster", "hub", "--namespace", "sessions")
    address = ("--repository", "https://git.example.org/seats.git")
    assert berth("init", str(empty), *chosen, *address, *NOW).code == 0

    answer = json.loads(berth("-C", str(empty), "validate", "-o", "json").out)
    assert {load["severity"] for load in answer["items"]} <= {"note"}
    assert spec(empty, "classes")["sessions"]["source"] == source
    assert spec(empty, "classes")["sessions"]["namespaces"] == ["sessions"]
    assert berth("-C", str(empty), "render").code == 0
    assert (empty / "rendered/clusters/hub").is_dir()
    assert (empty / f"rendered/gitops/{engine}").is_dir() == (engine != "none")


@pytest.mark.parametrize("name", ["2026", "1e3", "on", "null"])
def test_a_name_that_yaml_reads_as_another_type_is_quoted(name: str, berth: Berth, tmp_path: Path) -> None:
    folder = tmp_path / "seats" / name

    assert berth("init", str(folder), "--cluster", name, "--namespace", name).code == 0
    assert spec(folder, "site")["clusters"] == [{"name": name}]
    assert spec(folder, "classes")["sessions"]["namespaces"] == [name]


@tabled("edit")
def test_the_site_gets_the_address_of_the_git_remote(
    remote: str | None, url: str | None, berth: Berth, empty: Path
) -> None:
    subprocess.run(["git", "init", "--quiet", empty], check=True)
    if remote is not None:
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=empty, check=True)

    told = berth("init", str(empty), "--engine", "flux", *NOW)

    assert told.code == 0
    assert spec(empty, "site").get("repository") == (url and {"url": url, "revision": "main"})
    assert ("Add repository.url" in told.out) == (url is None)
    assert "  kubectl apply -f rendered/gitops/flux\n" in told.out


def test_the_remote_of_a_parent_folder_is_not_used(berth: Berth, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(
        ["git", "remote", "add", "origin", "https://git.example.org/a.git"], cwd=tmp_path, check=True
    )
    (tmp_path / "seats").mkdir()

    assert berth("init", str(tmp_path / "seats"), "--engine", "flux", *NOW).code == 0
    assert "repository" not in spec(tmp_path / "seats", "site")


@pytest.mark.parametrize(
    "time", ["12:00:00", "12:00:01", "12:00:59", "23:26:30", "23:27:30", "23:45:10", "23:57:59", "23:59:00"]
)
def test_the_demo_opens_in_two_minutes_for_half_an_hour(time: str) -> None:
    now = int(datetime.fromisoformat(f"2026-01-10T{time}Z").timestamp())
    starter = Starter("a", "prod", "pods", "default", "Europe/Zurich", "none", demo=True)
    pipeline = project_of(starter_files(starter, now))
    (demo,) = (item for item in pipeline.items() if item.reservation.name == "demo")
    (one,) = demo.expansion.occurrences

    assert 120 <= one.open - now < 180
    assert (one.start - one.open, one.end - one.start, one.seats) == (0, 1800, (("small", 2),))
    assert not pipeline.has_errors()


def test_the_demo_counts_only_pods_with_its_label(berth: Berth, tmp_path: Path) -> None:
    """Its sessions are pods with a label, in a namespace that every cluster has."""
    told = berth("init", str(tmp_path / "seats"), "--demo", "--now", "2026-01-10T12:00:30Z")

    assert (told.code, told.out.splitlines()[-1]) == (
        0,
        "The first placeholders start on Sat 2026-01-10 12:03 (UTC).",
    )
    assert spec(tmp_path / "seats", "classes")["sessions"] == {
        "source": "pods",
        "namespaces": ["default"],
        "selector": {"matchLabels": {"app": "session"}},
    }


def test_every_declaration_points_to_the_schema_beside_it(started: Path) -> None:
    for name in ("site", "classes", "first-course"):
        text = (started / f"reservations/{name}.yaml").read_text("utf-8")
        assert text.startswith("# yaml-language-server: $schema=.schema.json\n")


def test_the_workflow_installs_only_the_local_wheel_and_packages_pinned_by_hash(
    started: Path, tmp_path: Path
) -> None:
    """Whatever Berth was installed from: anybody could take a name that is not on the package index."""
    (tmp_path / "python").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "python").chmod(0o755)
    script = ["bash", ".github/berth/install.sh"]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(script, cwd=started, env=environment, check=True, capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    requirements = (started / ".github/berth/requirements.txt").read_text("utf-8")

    assert first.endswith(
        "install --quiet --disable-pip-version-check --require-hashes -r .github/berth/requirements.txt"
    )
    assert (second.endswith(WHEEL), "--no-deps" in second) == (True, True)
    assert "kube-berth" not in requirements


def test_the_wheel_has_the_code_of_the_running_berth(started: Path, tmp_path: Path) -> None:
    """Pip installs it where nothing is but what it needs, and it renders the same."""
    target = tmp_path / "site"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-compile")
    install = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(target), str(started / WHEEL)]
    subprocess.run(install, check=True)
    gen = ROOT / "gen/berth"
    there = {path.relative_to(gen) for path in gen.rglob("*.py")}
    assert {path.relative_to(target / "berth") for path in (target / "berth").rglob("*.py")} == there
    copy = tmp_path / "copy"
    environment = {**os.environ, "PYTHONPATH": str(target)}
    subprocess.run([target / "bin/berth", "init", copy], env=environment, check=True, capture_output=True)

    assert (copy / WHEEL).read_bytes() == (started / WHEEL).read_bytes()


def test_init_writes_nothing_if_berth_is_not_installed(
    berth: Berth, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel, "DISTRIBUTION", "kube-nothing")
    answer = berth("init", str(empty))

    assert (answer.code, "install it" in answer.err, files(empty)) == (2, True, [])


@pytest.mark.parametrize("name", [".gitattributes", ".github/berth/action.yml", "rendered/x"])
def test_an_existing_file_is_never_overwritten(berth: Berth, tmp_path: Path, name: str) -> None:
    file = tmp_path / "seats" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    told = berth("init", str(tmp_path / "seats"))
    assert (told.code, told.out) == (2, "")
    assert "exists; nothing was written." in told.err
    assert files(tmp_path / "seats") == [name]


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "there"])
def test_a_full_disk_gets_the_finding_b092_and_leaves_no_files(
    berth: Berth, tmp_path: Path, *, is_new: bool
) -> None:
    folder = tmp_path / "seats"
    if not is_new:
        folder.mkdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        told = berth("init", str(folder), *NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (told.code, told.out) == (1, "")
    assert "[B092]" in told.err
    assert folder.exists() is not is_new
    assert berth("init", str(folder), *NOW).code == 0


def test_an_existing_readme_is_kept(berth: Berth, empty: Path) -> None:
    (empty / "README.md").write_text("mine")

    assert berth("init", str(empty)).code == 0
    assert (empty / "README.md").read_text() == "mine"
    assert files(empty) == FILES


def test_init_asks_for_missing_options_on_a_terminal(tmp_path: Path) -> None:
    code, shown = on_terminal(
        tmp_path,
        ["init", "--cluster", "hub", *NOW],
        [
            ("Source of the sessions (jupyterhub, renku, pods) [jupyterhub]: ", "slurm\n"),
            ("Source of the sessions (jupyterhub, renku, pods) [jupyterhub]: ", "renku\n"),
            ("Namespace of the sessions [renku]: ", "\n"),
            ("Time zone [UTC]: ", "Mars\n"),
            ("Time zone [UTC]: ", "Europe/Zurich\n"),
            ("Engine that applies the manifests (argocd, flux, none) [none]: ", "argocd\n"),
            ("Address of the git repository: ", "\n"),
        ],
    )

    assert code == 0
    assert "Add repository.url" in shown
    assert spec(tmp_path, "site") == {
        "timeZone": "Europe/Zurich",
        "engine": "argocd",
        "calendars": ["university-holidays"],
        "clusters": [{"name": "hub"}],
    }


def test_init_writes_nothing_if_the_input_ends(tmp_path: Path) -> None:
    code, shown = on_terminal(tmp_path, ["init"], [("Name of the cluster [prod]: ", "\x04")])

    assert (code, "Nothing was written." in shown) == (2, True)
    assert files(tmp_path) == []


def test_new_asks_for_missing_options_on_a_terminal(started: Path) -> None:
    code, shown = on_terminal(
        started,
        ["new", "--lead", "10", *NOW],
        [
            ("Which name? (such as linear-algebra) ", "Algebra I\n"),
            ("Which name? (such as linear-algebra) ", "first-course\n"),
            ("Which name? (such as linear-algebra) ", "algebra\n"),
            ("On which weekdays, or which dates? (such as mon,wed) ", "\n"),
            ("without a file.\r\nOn which weekdays, or which dates? (such as mon,wed) ", "tue\n"),
            ("From when to when? (such as 09:00-13:00) ", "14:00-25:00\n"),
            ("From when to when? (such as 09:00-13:00) ", "14:00-16:00\n"),
            ("How many seats? (such as 25) ", "many\n"),
            ("[B013]\r\nHow many seats? (such as 25) ", "12\n"),
            ("First date, or which terms? (such as 2026-01-12) ", "2026-02-30\n"),
            ("[B017]\r\nFirst date, or which terms? (such as 2026-01-12) ", "spring\n"),
            ("[B061]\r\nFirst date, or which terms? (such as 2026-01-12) ", "03.02.2026\n"),
            ("Last date? (such as 2026-05-16) ", "2026-02-01\n"),
            ("[B024]\r\nLast date? (such as 2026-05-16) ", "2026-03-03\n"),
            ("Empty: count all. (such as\r\ncourse=algebra) ", "course\n"),
            ("Empty: count all. (such as\r\ncourse=algebra) ", "course=algebra\n"),
        ],
    )

    assert code == 0
    text = (started / "reservations/algebra.yaml").read_text("utf-8")
    assert '- {dayOfWeek: tue, startTime: "14:00", endTime: "16:00"}\n' in text
    assert text.endswith("  sessions:\n    matchLabels: {course: algebra}\n")
    assert "placeholderCount: 12\n    leadTimeMinutes: 10\n" in text
    assert "+ 12 small: Tue 14:00-16:00, 5 dates from 2026-02-03 to 2026-03-03" in shown


def test_new_asks_for_terms_by_their_names(started: Path) -> None:
    (started / "reservations/terms.yaml").write_text(
        "apiVersion: berth.dev/v1alpha1\nkind: Calendar\nmetadata: {name: terms}\n"
        "spec: {terms: [{name: spring, from: 2026-02-02, to: 2026-05-20}]}\n",
        "utf-8",
    )
    words = ["new", "algebra", "09:00-11:00", "--weekly", "mon", "--seats", "5", "--behavior", "none", *NOW]
    code, _ = on_terminal(started, words, [("which terms? (such as 2026-01-12; terms: spring) ", "spring\n")])

    assert code == 0
    assert "within: [spring]" in (started / "reservations/algebra.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("labels", "notes"),
    [((), ["B032"]), (("--match-labels", "course=algebra,example.org/term=2026"), [])],
    ids=["every-session", "its-own"],
)
def test_new_narrows_the_sessions_by_labels(
    labels: tuple[str, ...], notes: list[str], started: Path, berth: Berth
) -> None:
    course = ("09:00-13:00", "--dates", "2026-02-02", "--seats", "5", *labels)
    assert berth("-C", str(started), "new", "algebra", *course).code == 0

    items = json.loads(berth("-C", str(started), "validate", "-o", "json").out)["items"]
    assert [item["code"] for item in items if item["file"] == "reservations/algebra.yaml"] == notes
