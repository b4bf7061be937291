"""`berth status`, whole: from a kubeconfig and HTTP to what it prints and exits with."""

import json

import pytest
from berth.cli import status as command
from berth.cli.status import as_text
from berth.core.jsonvalues import parse_instant
from berth.dates.moments import named

from tests.answer import Berth
from tests.live import project
from tests.live.api_server import ApiServer
from tests.live.conftest import Live
from tests.live.happenings import NOW
from tests.live.judged import status, wordless
from tests.live.sites import TEXT, asking, two
from tests.live.turns import edit, template, unscaled

WIDE = """\
RESERVATION  CLASS  CLUSTER  STATE   OPEN         WANTED  READY  PENDING  SESSIONS  REPLICAS  OPENS (UTC)       ENDS (UTC)        GIT     NOTE
course       small  prod     active  08:30-13:00  20      20     0        5         20        2026-02-02 07:30  2026-02-02 12:00  synced
"""  # noqa: E501 - as it is
BROKEN = """\
RESERVATION  CLASS  STATE     OPEN         WANTED  READY  PENDING  SESSIONS  NOTE
course       small  degraded  08:30-13:00  20      0      0        5         not synced, seats missing

prod: warning[S022] course 6 CronJob rendered/clusters/prod/reservations/course.yaml
prod: error[S030] course/small 0 20 argocd-controller kubectl --context=prod --namespace=berth logs --selector=berth.dev/reservation=course,berth.dev/role=occurrence --all-containers --tail=20
"""  # noqa: E501 - as it is
UNREACHABLE = """\
RESERVATION  CLASS  CLUSTER  STATE    OPEN                  WANTED  READY  PENDING  SESSIONS  NOTE
course       small  prod     active   08:30-13:00           20      20     0        5
night        bench  lab      unknown  Sat 2026-02-07 21:30  ?       ?      ?        ?         unreachable

lab: error[S001] kubectl --context=lab --namespace=seats get deployments
"""


def test_status_without_findings_prints_a_table_with_exit_code_0(live: Live) -> None:
    assert live("status") == (0, TEXT, "")
    assert live("status", "-o", "wide") == (0, WIDE, "")


def test_status_only_sends_get_requests(live: Live) -> None:
    live("status")

    assert {request.method for request in live.server.received} == {"GET"}


def test_owners_are_shown_in_the_wide_table_and_in_json(live: Live) -> None:
    asked = asking(live.server, live.folder)
    (file,) = live.folder.rglob("course.yaml")
    file.write_text(f"{file.read_text('utf-8').rstrip()}\n  owner: {{name: Physics}}\n", "utf-8")
    out, answer = (live.berth(*asked, "-o", form)[1] for form in ("wide", "json"))

    assert [line.split()[-2:] for line in out.splitlines()] == [["OWNER", "NOTE"], ["synced", "Physics"]]
    assert json.loads(answer)["items"][0]["owner"] == {"name": "Physics", "contact": None}


def test_an_error_is_printed_below_the_table_with_exit_code_1(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "pause", lambda _: None)
    unscaled(live.world)
    live.world.vanish("CronJob", "course")

    code, out, err = live("status")

    assert (code, wordless(out)) == (1, BROKEN)
    assert err.splitlines()[-1].endswith("/docs/no-seats.md")


def test_a_warning_exits_with_1_with_the_flag_strict(live: Live) -> None:
    live.world.vanish("CronJob", "course")

    assert [live("status", *flags)[0] for flags in ((), ("--strict",))] == [0, 1]


def test_json_output_is_a_status(live: Live) -> None:
    live.world.vanish("CronJob", "berth-sweep")
    live.world.vanish("CronJob", "course")
    code, out, _ = live("status", "-o", "json")
    answer = json.loads(out)
    found = [answer["items"][0].pop("findings"), answer["clusters"][0].pop("findings")]

    assert code == 0
    assert [[(one["severity"], one["code"]) for one in some] for some in found] == [
        [("warning", "S022")],
        [("warning", "S014")],
    ]
    assert all(list(one) == ["severity", "code", "message", "fix"] for some in found for one in some)
    assert answer == {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": "Status",
        "items": [
            {
                "reservation": "course",
                "class": "small",
                "cluster": "prod",
                "state": "active",
                "open": "2026-02-02T07:30:00Z",
                "end": "2026-02-02T12:00:00Z",
                "wanted": 20,
                "ready": 20,
                "pending": 0,
                "active": 5,
                "owner": None,
            }
        ],
        "clusters": [{"name": "prod", "context": "prod"}],
    }


def test_an_unreachable_cluster_does_not_hide_the_others(live: Live) -> None:
    code, out, err = live.berth(*two(live.server, live.folder))

    assert (code, wordless(out), err) == (1, UNREACHABLE, "")


def test_only_the_selected_clusters_and_pools_are_requested(live: Live) -> None:
    asked = two(live.server, live.folder)

    assert live.berth(*asked, "--cluster", "prod") == (0, TEXT, "")
    assert live.berth(*asked, "--cluster", "prod", "night")[:2] == (0, "No pools.\n")
    assert live.berth(*asked, "course")[1].splitlines()[:2] == [
        "RESERVATION  CLASS  CLUSTER  STATE   OPEN         WANTED  READY  PENDING  SESSIONS  NOTE",
        "course       small  prod     active  08:30-13:00  20      20     0        5",
    ]
    assert "course " not in live.berth(*asked, "--class", "bench")[1]


def test_invalid_input_is_reported_without_a_request(live: Live) -> None:
    asked = asking(live.server, live.folder)
    project.write(live.folder, {"course": project.COURSE.replace("25", "-1")})
    code, out, err = live.berth(*asked)

    assert (code, out) == (1, "")
    assert "error[B012]" in err
    assert live.world.asked == []


def test_watch_refuses_json_output(berth: Berth) -> None:
    assert berth("status", "--watch", "-o", "json") == (
        2,
        "",
        "berth: --watch shows a table. Leave out -o json, or leave out --watch.\n",
    )


def test_the_wide_table_shows_how_git_differs(live: Live) -> None:
    edit(live.world, "2026-02-09T08:00:00Z", "2026-02-09T08:30:00Z")
    lines = live("status", "-o", "wide").out.splitlines()

    assert lines[1].split("  ")[-2:] == ["1 occurrence differs", "not synced"]


def test_the_wide_table_shows_how_the_pod_template_differs(live: Live) -> None:
    template(live.world, requests={"cpu": "1", "memory": "1Gi"})
    asked = (*asking(live.server, live.folder), "-o", "wide")
    amount = 'spec.containers[0].resources.requests.memory is "1Gi", git has "4Gi"'

    assert live.berth(*asked).out.splitlines()[1].split("  ")[-2:] == [amount, "not synced"]

    edit(live.world, "2026-02-09T08:00:00Z", "2026-02-09T08:30:00Z")

    assert live.berth(*asked).out.splitlines()[1].split("  ")[-2:] == [
        f"1 occurrence differs; {amount}",
        "not synced",
    ]


def test_an_unreadable_answer_is_reported_in_one_line(live: Live) -> None:
    """As a proxy sends it that cannot reach the API server."""
    live.server.garbage = b"<html>\n<h1>502 Bad Gateway</h1>"
    code, out, _ = live("status")

    assert code == 1
    assert wordless(out).splitlines()[-1] == (
        "prod: error[S001] /h1 502 Gateway h1 kubectl --context=prod --namespace=berth get deployments"
    )


def test_findings_have_colors_on_a_terminal(server: ApiServer) -> None:
    git = project.project()
    server.world.vanish("CronJob", "course")
    found = status(server.world, git)
    text = as_text([found], lambda _: named("Europe/Zurich"), parse_instant(NOW), wide=False, color=True)

    assert text.splitlines()[1].split() == [
        *("course", "small", "\x1b[32mactive\x1b[0m", "08:30-13:00", "20", "20", "0", "5", "not", "synced")
    ]
    assert text.splitlines()[3].startswith("prod: \x1b[33mwarning[S022]\x1b[0m course: ")
