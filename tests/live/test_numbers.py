"""What is told of a window on a number of somebody else."""

import json

import pytest
from berth.core.jsonvalues import instant_text, parse_instant
from berth.core.labels import FIELD_MANAGER
from berth.findings import LiveFinding

from tests.cases import tabled
from tests.live import project
from tests.live.conftest import Live
from tests.live.judged import looked, status, told
from tests.live.numberproject import FILES, OPEN, OVER, TARGET, autoscaler, held_world, sale, sale_document
from tests.live.project import Project
from tests.live.world import World

PATCH = (
    "kubectl --context=admin@prod --namespace=shop patch horizontalpodautoscalers.autoscaling/web "
    """--type=json --patch='[{"op": "add", "path": "/spec/minReplicas", "value": %d}]'"""
)
ACTIVE = "sale/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z"


def seen_before(world: World, git: Project, now: str = OPEN) -> list[LiveFinding]:
    """The findings of a second look, a minute after the first."""
    earlier = looked(world, git, instant_text(parse_instant(now) - 60))
    return [finding for pool in status(world, git, now, earlier).pools for finding in pool.findings]


def codes(findings: list[LiveFinding]) -> list[str]:
    return [finding.code for finding in findings]


def test_a_held_number_has_no_finding() -> None:
    git = sale()
    (pool,) = status(held_world(git), git, OPEN).pools

    assert told(status(held_world(git), git, OPEN)) == f"{ACTIVE} 25 25 0 0\n"
    assert pool.number is not None
    assert pool.number.held is not None
    assert (pool.number.replicas, pool.number.held.before) == (25, 3)


@pytest.mark.parametrize("least", [None, 1, 3, 7], ids=["missing", "less", "as-before", "more"])
def test_at_rest_the_number_belongs_to_its_owner(least: int | None) -> None:
    git = sale(otherwise="3")
    world = held_world(git, least, "helm")
    world.objects = [one for one in world.objects if not one["metadata"]["name"].endswith(".held")]

    assert told(status(world, git, "2026-02-01T09:00:00Z")) == (
        f"sale/small scheduled 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z {least or 0} {least or 1} 0 0\n"
    )


@pytest.mark.parametrize("least", [3, 40], ids=["lower", "higher"])
@tabled("live")
def test_a_manager_that_sets_a_number_back_is_named_with_advice(
    manager: str, advice: str, least: int
) -> None:
    git = sale()
    world = held_world(git, least, manager)
    (finding,) = seen_before(world, git)

    assert told(status(world, git, OPEN)).splitlines()[1].startswith("warning[S032] sale/small")
    assert (finding.code, finding.severity) == ("S039", "error")
    assert manager in finding.message
    assert f"spec.minReplicas of HorizontalPodAutoscaler shop/web to {least}" in finding.message
    assert advice in finding.fix


def test_a_wrong_number_written_by_berth_gets_s030_that_refers_to_the_log() -> None:
    git = sale()
    (finding,) = seen_before(held_world(git, 24, FIELD_MANAGER), git)

    assert finding.code == "S030"
    assert "logs" in finding.fix


def test_a_number_that_was_never_set_gets_s030_with_a_command() -> None:
    git = sale()
    world = held_world(git, 3, "helm")
    world.objects = [one for one in world.objects if one["kind"] != "Pod"]
    world.get("CronJob", "berth-sweep")["status"] = {}

    (finding,) = [one for one in status(world, git, OPEN).pools[0].findings if one.code == "S030"]
    assert finding.fix.endswith(f"By hand: {PATCH % 25}")


def quota() -> tuple[World, Project]:
    """The window wants 25Gi of memory of a NodePool, and nobody sets it."""
    target = "{apiVersion: karpenter.sh/v1, kind: NodePool, name: shared, path: spec.limits.memory}"
    held = "held: [{apiVersion: karpenter.sh/v1, kind: NodePool}]"
    git = project.project(
        **{
            **FILES,
            "site": project.SITE.replace("{name: prod}", f"{{name: prod, {held}}}"),
            "course": sale_document(unit="Gi", otherwise="8Gi").replace(
                TARGET.replace("PATH", "spec.minReplicas"), target
            ),
        }
    )
    world = held_world(git)
    world.apply_rendered(
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "shared"},
            "spec": {"limits": {"memory": "8Gi"}},
        }
    )
    return world, git


def test_quantities_are_reported_in_their_unit() -> None:
    world, git = quota()
    (short,) = status(world, git, OPEN).pools[0].findings
    (kept,) = status(world, git, OVER).pools[0].findings

    assert (short.code, "25 Gi" in short.message) == ("S032", True)
    assert (kept.code, "8 Gi" in kept.message) == ("S033", True)
    assert "unit" not in short.message + kept.message


def test_a_window_missing_in_the_cluster_is_reported_in_the_unit_of_the_number() -> None:
    world, git = quota()
    timetable = world.get("ConfigMap", "sale")["data"]
    timetable["timetable.json"] = json.dumps({**json.loads(timetable["timetable.json"]), "occurrences": []})
    messages = {finding.code: finding.message for finding in status(world, git, OPEN).pools[0].findings}

    assert "25 Gi" in messages["S020"]


@pytest.mark.parametrize(
    ("now", "code"), [(OPEN, "error[S030]"), ("2026-02-01T09:00:00Z", "warning[S022]")], ids=["open", "later"]
)
@pytest.mark.parametrize("what", ["object", "kind", "item", "number"])
def test_a_number_that_cannot_be_held_is_reported_before_the_window(now: str, code: str, what: str) -> None:
    other = {"unit": "replicas", "combine": "largest", "otherwise": "3"}
    git = sale("spec.metrics[name=queue].least", **other) if what == "item" else sale()
    world = held_world(git)
    world.objects = [one for one in world.objects if not one["metadata"]["name"].endswith(".held")]
    if what == "object":
        world.vanish("HorizontalPodAutoscaler", "web")
    elif what == "kind":
        world.refused["/apis/autoscaling"] = "HTTP 404: the server could not find the requested resource"
    elif what == "number":
        autoscaler(world, None, minReplicas="many")
    lines = told(status(world, git, now)).splitlines()

    assert [line.partition(" sale")[0] for line in lines[1:]] == [code]
    assert ("degraded" in lines[0]) == (now == OPEN)


def test_a_number_that_the_user_may_not_read_gets_a_note() -> None:
    git = sale()
    world = held_world(git)
    world.refused["/apis/autoscaling"] = "HTTP 403: horizontalpodautoscalers is forbidden"
    lines = told(status(world, git, OPEN)).splitlines()

    assert lines[0] == f"{ACTIVE} 25 ? 0 0".replace("active", "unknown")
    assert [line[:23] for line in lines[1:]] == ["note[S004] sale/small 4"]


def test_a_number_held_after_its_window_gets_s034_and_later_s033() -> None:
    git = sale()
    world = held_world(git)
    soon, late = (told(status(world, git, now)).splitlines() for now in ("2026-02-02T12:03:00Z", OVER))

    assert soon[1].startswith("note[S034] sale/small")
    assert soon[0].split()[4] == "3"
    assert late[1].startswith("error[S033] sale/small 2026-02-02T12:00:00Z 25 ")
    assert f" {PATCH % 3} " in late[1]


def test_a_held_note_is_recognized_by_its_name_with_any_role() -> None:
    """A pod may write any label of its own note."""
    git = sale()
    world = held_world(git)
    (note,) = [one for one in world.objects if one["metadata"]["name"].endswith(".held")]
    note["metadata"]["labels"]["berth.dev/role"] = "code"

    assert told(status(world, git, OVER)).splitlines()[1].startswith("error[S033] sale/small")


def test_a_held_number_gets_s033_when_its_reservation_has_left_git() -> None:
    """The ConfigMap of the target stays, and says which number it is."""
    git = sale()
    world = held_world(git)
    targets = [one for one in world.objects if one["metadata"]["name"].endswith((".target", ".held"))]
    others = [one for one in world.objects if one["kind"] == "HorizontalPodAutoscaler"]
    world.objects = [*targets, *others]
    left = git._replace(expected={"prod": git.expected["prod"]._replace(timetables={})})
    world.apply_rendered({**targets[0], "metadata": {**targets[0]["metadata"], "name": "forged.target"}})
    world.run("other")
    world.apply_rendered(next(one for one in git.objects["prod"] if one["kind"] == "CronJob"))

    (pool,) = status(world, left, OVER).pools
    assert (pool.reservation, pool.wanted, pool.replicas) == ("sale", 3, 25)
    assert "S033" in codes(list(pool.findings))


def test_reservations_of_one_number_are_combined() -> None:
    both = {
        "course": sale_document(otherwise="3"),
        "more": sale_document("more", otherwise="3").replace("25", "40"),
    }
    git = project.project(**{**FILES, **both})
    world = held_world(git, 40)
    world.run("more", name="more-1")

    assert [(pool.reservation, pool.wanted) for pool in status(world, git, OPEN).pools] == [
        ("more", 40),
        ("sale", 40),
    ]


def test_a_number_that_another_reservation_wants_gets_no_finding() -> None:
    """One note says what it was for both."""
    longer = sale_document("more", otherwise="3").replace("25", "40").replace('"13:00"', '"23:00"')
    git = project.project(**{**FILES, "course": sale_document(otherwise="3"), "more": longer})
    world = held_world(git, 40)
    world.run("more", name="more-1")
    more, course = status(world, git, OVER).pools

    assert (more.wanted, course.wanted, course.state) == (40, 40, "scheduled")
    assert codes([*more.findings, *course.findings]) == []


def test_a_missing_role_in_the_namespace_of_the_object_gets_s073() -> None:
    git = sale()
    world = held_world(git)
    world.objects = [
        one for one in world.objects if one["kind"] != "Role" or one["metadata"]["namespace"] == "berth"
    ]
    lines = told(status(world, git, OPEN)).splitlines()

    assert sum(line.startswith("error[S073]") for line in lines) == 2  # of the sale, and of the sweep
    assert not any("S085" in line for line in lines)


TEXT = """\
RESERVATION  CLASS  STATE     OPEN         WANTED  READY  PENDING  SESSIONS  NOTE
sale         small  degraded  08:30-13:00  25      3      0        0         number lost

prod: error[S039] sale/small: argocd-controller has set spec.minReplicas of HorizontalPodAutoscaler shop/web to 3, and Berth holds 25 there. Add the field to ignoreDifferences of its Application, with RespectIgnoreDifferences=true.
"""  # noqa: E501 - as it is


def test_status_names_the_manager_that_sets_a_number_back(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berth.cli.status.pause", lambda _: None)
    git = sale()
    live.server.world = held_world(git, 3, "argocd-controller")
    live.world.renew(OPEN)
    live.world.get("CronJob", "berth-sweep")["status"] = {"lastSuccessfulTime": "2026-02-02T08:57:00Z"}
    project.write(live.folder, FILES)

    assert live("status")[:2] == (1, TEXT)
    wide = live("status", "-o", "wide").out.splitlines()
    assert "spec.minReplicas of HorizontalPodAutoscaler shop/web: 3, before 3" in wide[1]
    (item,) = json.loads(live("status", "-o", "json").out)["items"]
    assert item["number"] == {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "namespace": "shop",
        "name": "web",
        "path": "spec.minReplicas",
        "unit": "replica",
        "value": 3,
        "isHeld": True,
        "before": 3,
    }


def test_an_override_sets_the_number_and_names_the_value_after_it(live: Live) -> None:
    live.server.world = held_world(sale(otherwise="3"))
    project.write(live.folder, {**FILES, "course": sale_document(otherwise="3")})
    lines = live("override", "sale", "small=40", "--end", "+2h").out.splitlines()

    assert lines[:2] == [
        "prod: sale/small gets 40 replicas until Mon 2026-02-02 12:00 (2026-02-02T11:00:00Z).",
        "prod: Then spec.minReplicas of HorizontalPodAutoscaler shop/web is what its window wants, or 3 if "
        "none is open.",
    ]
    assert status(live.world, sale(otherwise="3"), OPEN).pools[0].wanted == 40
    cleared = live("override", "sale", "--clear").out
    assert cleared.startswith("prod: sale/small follows its timetable again.\n")


def test_an_override_outside_of_windows_holds_the_number() -> None:
    git = sale()
    world = held_world(git, 3)
    order = '{"small": {"target": 40, "until": "2026-02-02T19:00:00Z"}}'
    world.get("ConfigMap", "sale")["metadata"]["annotations"]["berth.dev/override"] = order

    (pool,) = status(world, git, OVER).pools
    assert (pool.wanted, pool.replicas) == (40, 3)
    assert "S033" not in codes(list(pool.findings))
