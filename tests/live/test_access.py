"""How clusters are reached: contexts, kubeconfigs, logins."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cases import tabled
from tests.live import project
from tests.live.api_server import ApiServer, kubeconfig
from tests.live.conftest import Live
from tests.live.happenings import NOW, in_order
from tests.live.judged import wordless
from tests.live.sites import TEXT, asking, two

ROOT = Path(__file__).parents[2]


@tabled("live")
def test_the_context_has_the_name_of_the_cluster_or_is_given_by_the_flag(
    contexts: list[str], flags: list[str], told: str, live: Live
) -> None:
    file = kubeconfig(live.folder / "kubeconfig", dict.fromkeys(contexts, live.server.url))
    code, out, _ = live.berth("status", "--now", NOW, "--kubeconfig", str(file), *flags)

    assert code == (1 if told else 0)
    found = out.splitlines()[3:]
    assert [line[:18] for line in found] == (["prod: error[S001] "] if told else [])
    assert all(word in line for line in found for word in told.split())


def test_with_one_cluster_the_current_context_is_used(live: Live) -> None:
    file = kubeconfig(live.folder / "kubeconfig", {"mine": live.server.url}, current="mine")

    assert live.berth("status", "--now", NOW, "--kubeconfig", str(file)) == (0, TEXT, "")


def test_with_several_clusters_the_context_flag_must_name_its_cluster(live: Live) -> None:
    asked = two(live.server, live.folder)

    assert live.berth(*asked, "--context", "prod") == (
        2,
        "",
        'berth: --context: "prod" names none of the clusters prod, lab. Write CLUSTER=CONTEXT.\n',
    )
    assert live.berth(*asked, "--context", "lab=prod", "--cluster", "lab")[0] == 0


@pytest.mark.parametrize(
    ("text", "named"),
    [(None, "{}"), ("", "{}"), ("a: [", "{}"), ("a: 1", "prod")],
    ids=["missing", "empty", "no-yaml", "no-kubeconfig"],
)
def test_an_unusable_kubeconfig_is_reported(
    berth: Berth, tmp_path: Path, text: str | None, named: str
) -> None:
    file = tmp_path / "kubeconfig"
    if text is not None:
        file.write_text(text)
    code, out, _ = berth("status", "--now", NOW, "--kubeconfig", str(file))

    assert code == 1
    told = out.splitlines()[3]
    assert told.startswith("prod: error[S001] ")
    assert named.format(file) in told


def last(berth: Berth, *asked: str) -> str:
    code, out, _ = berth(*asked)
    assert code == 1
    return out.splitlines()[-1]


def test_a_refused_login_or_permission_is_reported_with_its_reason(berth: Berth, tmp_path: Path) -> None:
    with ApiServer(in_order(project.project()), token="secret") as server:
        nobody = asking(server, tmp_path)
        assert wordless(last(berth, *nobody)) == "prod: error[S001] 401"
        known = kubeconfig(tmp_path / "kubeconfig", {"prod": server.url}, token="secret")
        assert berth("status", "--now", NOW, "--kubeconfig", str(known)) == (0, TEXT, "")
        server.world.refused["/apis/apps/"] = "deployments.apps is forbidden"
        refused = last(berth, "status", "--now", NOW, "--kubeconfig", str(known))
        assert wordless(refused) == "prod: error[S001] 403"
        assert "deployments.apps is forbidden" in refused


def login(program: str) -> dict[str, Any]:
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable}
    return {"exec": {**command, "args": ["-c", program], "interactiveMode": "Never"}}


def test_a_login_program_runs_and_its_failure_is_reported(berth: Berth, tmp_path: Path) -> None:
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "secret"},
    }
    with ApiServer(in_order(project.project()), token="secret") as server:
        good = kubeconfig(
            tmp_path / "good", {"prod": server.url}, **login(f"print('''{json.dumps(answer)}''')")
        )
        assert berth("status", "--now", NOW, "--kubeconfig", str(good)) == (0, TEXT, "")
        bad = kubeconfig(
            tmp_path / "bad", {"prod": server.url}, **login("raise SystemExit('session is over')")
        )
        told = last(berth, "status", "--now", NOW, "--kubeconfig", str(bad))

    assert wordless(told) == "prod: error[S001] 1 401"
    assert "session is over" in told


def process(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The usual kubeconfigs are looked for when the client is imported: that takes a process."""
    words = [sys.executable, "-m", "berth", "-C", str(folder), "status", "--now", NOW]
    known = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(folder), **environment}
    return subprocess.run(words, env=known, capture_output=True, text=True, check=False)


def test_the_default_kubeconfigs_are_those_of_kubectl(server: ApiServer, tmp_path: Path) -> None:
    """The files of $KUBECONFIG together; else ~/.kube/config."""
    project.write(tmp_path)
    kubeconfig(tmp_path / "one", {"other": "http://127.0.0.1:9"})
    kubeconfig(tmp_path / "two", {"prod": server.url})
    (tmp_path / ".kube").mkdir()

    assert process(tmp_path, KUBECONFIG=f"{tmp_path}/one:{tmp_path}/two").stdout == TEXT
    kubeconfig(tmp_path / ".kube" / "config", {"prod": server.url})
    assert process(tmp_path).stdout == TEXT


def test_inside_a_cluster_the_service_account_of_the_pod_is_used(tmp_path: Path) -> None:
    """Here, where none is mounted, that is what is told."""
    project.write(tmp_path)
    done = process(tmp_path, KUBERNETES_SERVICE_HOST="127.0.0.1", KUBERNETES_SERVICE_PORT="9")

    assert done.returncode == 1
    assert wordless(done.stdout).splitlines()[-1] == (
        "prod: error[S001] ConfigException kubectl --namespace=berth get deployments"
    )
