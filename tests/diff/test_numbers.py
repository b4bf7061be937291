"""What a change of a reservation does that holds a number of somebody else's object."""

import contextlib
import io
import json
import shutil
from typing import Any

import pytest
from berth import cli

from tests.cases import tabled
from tests.cli import project
from tests.cli.heldproject import EXAM, LONGER, SITE
from tests.diff.conftest import Pair, results, ruled, warns

OPEN, BEFORE = "2026-02-12T09:00:00Z", "2026-02-02T09:00:00Z"
API = "spec.minReplicas of HorizontalPodAutoscaler shop/api"
TO_WEB = ("name: api\n", "name: web\n")


def with_exam(pair: Pair, site: str, exam: str) -> Pair:
    """Write the reservation on both sides."""
    pair.put("site.yaml", site)
    pair.put("exam.yaml", exam)
    return pair


@pytest.fixture
def held(pair: Pair) -> Pair:
    return with_exam(pair, SITE, EXAM)


def warnings(pair: Pair, at: str) -> list[str]:
    return [item["message"] for item in pair.change(at)["warnings"] if item["code"] == "number-changed"]


def test_permissions_on_objects_of_others_state_their_scope(pair: Pair) -> None:
    scaled = "{apiVersion: apps/v1, kind: Deployment, namespaces: [web]}"
    site = SITE.replace("namespaces: [shop]}]", f"namespaces: [shop]}}, {scaled}]")
    (pair.now / "reservations/site.yaml").write_text(site, "utf-8")
    (pair.now / "reservations/exam.yaml").write_text(EXAM, "utf-8")
    granted = [line for line in pair.diff().out.splitlines() if "Role berth-" in line and "held" in line]

    for where, text in (("shop", "every field"), ("web", "nothing else")):
        roles = [line for line in granted if line.startswith(f"+ {where} in prod: Role ")]
        assert roles
        assert all(text in line for line in roles)


def test_permissions_name_their_cluster_if_there_are_several(pair: Pair) -> None:
    """One line for each, so that nobody takes two clusters for one."""
    entry = SITE[SITE.index("held: ") : SITE.index("    - {name: lab")].strip()
    site = SITE.replace("namespace: seats}", f"{entry}}}")
    (pair.now / "reservations/site.yaml").write_text(site, "utf-8")
    lines = [line for line in pair.diff().out.splitlines() if line.startswith("+ shop in ")]
    found = {item["cluster"] for item in pair.change()["permissions"] if item["namespace"] == "shop"}

    assert len(lines) == len({*lines}) > 0
    assert found == {"prod", "lab"}
    assert {line.removeprefix("+ shop in ").partition(":")[0] for line in lines} == found


def open_now(pair: Pair) -> list[str]:
    return [item["message"] for item in pair.change(OPEN)["warnings"] if item["code"] == "open-now"]


def test_peaks_of_a_class_add_only_its_seats(held: Pair) -> None:
    """Only the seats of the class are added up: neither replicas nor what another number counts."""
    seats = EXAM[EXAM.index("---\n") + 4 : EXAM.index("  backend:")].replace("name: exam", "name: lab")
    seats = seats.replace("placeholderCount: 40", "placeholderCount: 40, scaleDownBehavior: none")
    held.put("lab.yaml", seats)
    held.edit("exam.yaml", "placeholderCount: 40", "placeholderCount: 60")
    assert [peak for peak in held.change()["peaks"] if "api" in peak["what"]] == []

    held.edit("lab.yaml", "placeholderCount: 40", "placeholderCount: 41")
    (peak,) = [peak for peak in held.change()["peaks"] if "api" in peak["what"]]
    assert (peak["what"], peak["before"], peak["after"]) == ("seats of api", "40", "41")
    assert peak["holders"] == [{"reservation": "lab", "amount": "41"}]
    assert "peak seats of api in prod 40" in held.diff("-o", "markdown").out


HPA = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespaces: [shop]}"
AT_HPA = "spec.clusters[prod].held[HorizontalPodAutoscaler]"
AT_SHOP = "spec.clusters[prod].held[HorizontalPodAutoscaler shop]"
MAX = HPA.replace("shop]}", "shop], paths: [spec.maxReplicas]}")
BOTH = HPA.replace("shop]}", "shop], paths: [spec.minReplicas, spec.maxReplicas]}")
JOBS = HPA.replace("[shop]", "[jobs]")


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        pytest.param(
            HPA,
            HPA.replace("[shop]", "[shop, jobs]"),
            [(f"{AT_HPA}.namespaces", "shop", "shop, jobs")],
            id="namespaces",
        ),
        pytest.param(HPA, MAX, [(f"{AT_HPA}.paths", "", "spec.maxReplicas")], id="first-paths"),
        pytest.param(
            MAX,
            BOTH,
            [(f"{AT_HPA}.paths", "spec.maxReplicas", "spec.minReplicas, spec.maxReplicas")],
            id="more-paths",
        ),
        pytest.param(
            f"{HPA}, {JOBS}",
            f"{BOTH}, {JOBS}",
            [(f"{AT_SHOP}.paths", "", "spec.minReplicas, spec.maxReplicas")],
            id="one-of-a-kind",
        ),
        pytest.param(
            HPA,
            f"{HPA}, {{apiVersion: karpenter.sh/v1, kind: NodePool}}",
            [
                (
                    "spec.clusters[prod].held[NodePool]",
                    "",
                    '{"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}',
                )
            ],
            id="added",
        ),
        pytest.param(
            f"{HPA}, {JOBS}",
            f"{JOBS}, {HPA}",
            [
                (
                    "spec.clusters[prod].held",
                    "HorizontalPodAutoscaler shop, HorizontalPodAutoscaler jobs",
                    "HorizontalPodAutoscaler jobs, HorizontalPodAutoscaler shop",
                )
            ],
            id="order",
        ),
    ],
)
def test_held_kinds_of_a_site_are_compared_entry_by_entry(
    pair: Pair, before: str, after: str, fields: list[tuple[str, str, str]]
) -> None:
    for folder, entries in ((pair.was, before), (pair.now, after)):
        (folder / "reservations/site.yaml").write_text(SITE.replace(HPA, entries), "utf-8")
    (site,) = pair.change()["shared"]

    assert [(field["what"], field["before"], field["after"]) for field in site["fields"]] == fields


LIMITED = SITE.replace("    - name: prod\n", "    - name: prod\n      ceilings: [{seats: {api: 75}}]\n")


def peaks_of_api(pair: Pair) -> list[dict[str, Any]]:
    return [peak for peak in pair.change()["peaks"] if "api" in peak["what"]]


def test_a_peak_against_a_ceiling_adds_seats_and_numbers(pair: Pair) -> None:
    with_exam(pair, LIMITED, EXAM)
    seats = EXAM[EXAM.index("---\n") + 4 : EXAM.index("  backend:")].replace("name: exam", "name: lab")
    seats = seats.replace("placeholderCount: 40", "placeholderCount: 5, scaleDownBehavior: none")
    (pair.now / "reservations/lab.yaml").write_text(seats, "utf-8")
    (peak,) = peaks_of_api(pair)

    assert (peak["what"], peak["before"], peak["after"]) == ("seats and replicas of api", "40", "45")


def test_reservations_that_share_a_number_are_named(held: Pair) -> None:
    (held.now / "reservations/longer.yaml").write_text(LONGER, "utf-8")
    assert "otherwise 3, shared with exam: the largest counts: 40 replicas\n" in held.diff().out

    (held.was / "reservations/longer.yaml").write_text(LONGER, "utf-8")
    held.edit("exam.yaml", "placeholderCount: 40", "placeholderCount: 60")
    assert "    the number is shared with longer: the largest counts: 60 replicas\n" in held.diff().out

    (held.now / "reservations/exam.yaml").unlink()
    (held.now / "reservations/longer.yaml").write_text(f"{EXAM.split('---')[0]}---\n{LONGER}", "utf-8")
    assert warnings(held, OPEN) == []
    (shrinking,) = open_now(held)
    assert warns(shrinking, "api", "40 replicas now", "25 then")

    held.edit("longer.yaml", "2026-02-12", "2026-02-13")
    (warning,) = warnings(held, OPEN)
    assert warns(warning, API, "goes back to 3", "longer")


def cores(name: str, count: int, combine: str) -> str:
    exam = EXAM[EXAM.index("---\n") + 4 :].replace("name: exam", f"name: {name}")
    exam = exam.replace("    otherwise:", f"    combine: {combine}\n    otherwise:")
    return exam.replace("placeholderCount: 40", f"placeholderCount: {count}")


def with_cores(pair: Pair, combine: str, *names: str) -> Pair:
    """Write two reservations that share a number; `names`: those of the head. The base has both."""
    site = f"{SITE}---\n{EXAM.split('---')[0]}"
    for folder, known in ((pair.was, ("ca", "cb")), (pair.now, names)):
        (folder / "reservations/site.yaml").write_text(site, "utf-8")
        for name, count in (("ca", 32), ("cb", 96)):
            if name in known:
                (folder / f"reservations/{name}.yaml").write_text(cores(name, count, combine), "utf-8")
    return pair


@pytest.mark.parametrize(("combine", "most", "word"), [("sum", 128, "together"), ("largest", 96, "largest")])
def test_the_level_of_a_shared_number_is_reported_for_a_new_reservation(
    pair: Pair, combine: str, most: int, word: str
) -> None:
    with_cores(pair, combine, "ca", "cb")
    (pair.was / "reservations/cb.yaml").unlink()
    (added,) = pair.change()["reservations"]
    (growing,) = open_now(pair)

    for text in (added["holds"]["after"], pair.diff().out, pair.diff("-o", "markdown").out):
        assert f"{most} replicas" in text.partition("shared with ca: ")[2].split("\n")[0]
        assert word in text.partition("shared with ca: ")[2].split("\n")[0]
    assert warns(growing, "api grows", "32 replicas now", f"{most} then")


@tabled("diff")
def test_a_reservation_that_leaves_a_shared_number_reports_the_remaining_level(
    combine: str, left: list[str], levels: list[str] | None, pair: Pair
) -> None:
    with_cores(pair, combine, *left)
    told, back = open_now(pair), warnings(pair, OPEN)

    assert len(told) == (2 - len(left) if levels else 0)
    assert all(warns(text, "api", *levels or ()) for text in told)
    assert len(back) == (0 if left else 2)
    assert not any("may still set" in text or "sets" in text for text in (*told, *back))


@pytest.mark.parametrize("at", [pytest.param(OPEN, id="in-a-window"), pytest.param(BEFORE, id="between")])
def test_a_class_that_moves_to_another_cluster_moves_its_number(pair: Pair, at: str) -> None:
    entry = SITE[SITE.index("held: ") : SITE.index("    - {name: lab")].strip()
    site = SITE.replace("namespace: seats}", f"namespace: seats, {entry}}}")
    with_exam(pair, site, EXAM).edit("exam.yaml", "cluster: prod", "cluster: lab")
    told, back = open_now(pair), warnings(pair, OPEN)

    assert [field["what"] for field in pair.change(at)["reservations"][0]["fields"]] == ["clusters"]
    assert warns(told[0], "api in prod closes", "40 replicas now", "3 then")
    assert warns(told[1], "api in lab opens", "3 now", "40 replicas then")
    assert len(told) == 2
    assert [warns(text, "In prod", API, "goes back to 3", "middle of a window") for text in back] == [True]
    assert warnings(pair, BEFORE) == []


def test_another_backend_resets_the_number(held: Pair) -> None:
    held.edit("exam.yaml", EXAM[EXAM.index("  backend:") :], "")

    (warning,) = warnings(held, OPEN)
    assert warns(warning, API, "goes back to 3")
    (other,) = [item["message"] for item in held.change(OPEN)["warnings"] if item["code"] == "backend"]
    assert warns(other, "backend", "HorizontalPodAutoscaler/shop/api")
    assert "created again" not in other


# Policies

SUSPENDED = ("  recurrence:\n", "  suspend: true\n  recurrence:\n")
TITLED = ("spec:\n  resourceClass: api\n", "spec:\n  title: Exam\n  resourceClass: api\n")
GROWN = ("placeholderCount: 40", "placeholderCount: 60")
AT_100, AT_101 = ("otherwise: 3", "otherwise: 100"), ("otherwise: 3", "otherwise: 101")
IN_SHOP, ABOVE_100 = "match: {targets: ['*/shop/*']}", "match: {backends: [value]}, when: {seatsAbove: 100}"
BUT_API = "match: {backends: [value]}, unless: {targets: [HorizontalPodAutoscaler/shop/api]}"


@pytest.mark.parametrize(
    ("policy", "both", "edits", "is_judged"),
    [
        # No date changes, and all dates to come count.
        ("match: {targets: [HorizontalPodAutoscaler/shop/web]}", [], [TO_WEB], True),
        ("match: {targets: ['*/shop/*']}", [], [TO_WEB], True),
        ("match: {targets: ['HorizontalPodAutoscaler/*']}", [], [TO_WEB], True),
        ("match: {targets: [HorizontalPodAutoscaler/shop/api]}", [], [TO_WEB], False),
        ("match: {targets: ['HorizontalPodAutoscaler/shop/x*']}", [], [TO_WEB], False),
        ("match: {backends: [value]}", [], [TO_WEB], True),
        ("match: {backends: [placeholder]}", [], [TO_WEB], False),
        (BUT_API, [], [GROWN], False),
        (BUT_API, [], [GROWN, TO_WEB], True),
        # A reservation that is suspended in a window gives the number back at once.
        (ABOVE_100, [], [AT_100], False),
        (ABOVE_100, [], [AT_101], True),
        (ABOVE_100, [], [AT_101, SUSPENDED], True),
        (ABOVE_100, [AT_101], [TITLED], False),
        (IN_SHOP, [SUSPENDED], [TITLED], False),
        (IN_SHOP, [SUSPENDED], [TITLED, TO_WEB], True),
        (IN_SHOP, [SUSPENDED], [TITLED, ("otherwise: 3", "otherwise: 9")], True),
    ],
)
def test_a_policy_applies_to_a_newly_held_number(
    held: Pair, policy: str, both: list[tuple[str, str]], edits: list[tuple[str, str]], is_judged: bool
) -> None:
    for before, after in both:
        held.edit("exam.yaml", before, after)
    shutil.copy(held.now / "reservations/exam.yaml", held.was / "reservations")
    ruled(held, f"{policy}, require: refuse", text=SITE)
    for before, after in edits:
        held.edit("exam.yaml", before, after)
    answer = held.diff("-o", "json")

    assert results(answer) == ([["p0", "exam", "refuse"]] if is_judged else [])
    assert answer.code == int(is_judged)


BACKEND = EXAM[EXAM.index("placeholderCount: 40}") :]
SEATS = "placeholderCount: 40, scaleDownBehavior: none}\n"


@pytest.mark.parametrize(
    ("reach", "before", "after"),
    [
        pytest.param("targets: [HorizontalPodAutoscaler/shop/api]", *TO_WEB, id="other-target"),
        pytest.param("targets: ['*/shop/*']", BACKEND, SEATS, id="no-target"),
        pytest.param("backends: [value]", BACKEND, SEATS, id="other-backend"),
    ],
)
def test_a_number_that_leaves_a_policy_is_judged_by_it(
    held: Pair, reach: str, before: str, after: str
) -> None:
    late = f"match: {{{reach}}}, when: {{noticeBelow: 9d}}, require: refuse"
    ruled(held, late, f"match: {{{reach}}}, require: warn", text=SITE)
    held.edit("exam.yaml", before, after)

    for at, code in ((BEFORE, 0), ("2026-02-10", 1), (OPEN, 1), ("2026-02-13", 0)):
        answer = held.diff("-o", "json", at=at)
        assert results(answer) == [["p0", "exam", "refuse"]] * code
        assert answer.code == code


def test_a_part_of_a_sum_that_leaves_a_policy_is_judged_with_the_whole_sum(pair: Pair) -> None:
    """40 and 25 of them are 65 at once."""
    first, second = (
        text.replace("    otherwise:", "    combine: sum\n    otherwise:") for text in (EXAM, LONGER)
    )
    with_exam(pair, SITE, first)
    pair.put("longer.yaml", second)
    late = "match: {targets: ['*/api']}, when: {noticeBelow: 9d, seatsAbove: 60}, require: refuse"
    ruled(pair, late, text=SITE)
    pair.edit("exam.yaml", *TO_WEB)

    assert results(pair.diff("-o", "json", at="2026-02-10")) == [["p0", "exam", "refuse"]]


def test_targets_match_reservations_only(held: Pair) -> None:
    ruled(held, 'match: {kinds: [Site], targets: ["*"]}, require: warn', text=project.SITE)

    assert "B016" in held.diff().out


@pytest.mark.parametrize(("most", "is_refused"), [(64, True), (65, False)])
def test_splitting_a_number_in_a_change_does_not_avoid_a_policy(
    held: Pair, most: int, is_refused: bool
) -> None:
    """The exam has 40 replicas, and the new reservation adds 25 at the same time."""
    adding = ("    otherwise:", "    combine: sum\n    otherwise:")
    held.put("exam.yaml", EXAM.replace(*adding))
    (held.now / "reservations/longer.yaml").write_text(LONGER.replace(*adding), "utf-8")
    policy = f"match: {{targets: ['*/shop/*']}}, when: {{seatsAbove: {most}}}, require: refuse"
    ruled(held, policy, text=SITE)

    assert results(held.diff("-o", "json")) == ([["p0", "longer", "refuse"]] if is_refused else [])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        cli.run(["-C", str(held.now), "validate", "-o", "json", "--now", BEFORE])
    codes = [item["code"] for item in json.loads(out.getvalue())["items"]]
    assert codes.count("B230") == (2 if is_refused else 0)
