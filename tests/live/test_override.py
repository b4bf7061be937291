"""`berth override`: what it writes to the timetable, what it says, and what it refuses."""

import json

import pytest
from berth.core.timetable import Override, parse_overrides
from berth.live.overriding import annotation_text, overrides_in_force, with_changes

from tests.answer import Answer
from tests.cases import tabled
from tests.live import project
from tests.live.api_server import ApiServer, kubeconfig
from tests.live.conftest import Live
from tests.live.happenings import NOW
from tests.live.judged import wordless
from tests.live.sites import FILES
from tests.live.turns import override

TEN = "Mon 2026-02-02 13:00 (2026-02-02T12:00:00Z)"
SEATS = "seats, besides its sessions,"
FOLLOWS = "prod: Its pod follows within a minute; if none runs, the sweep follows within 6 minutes.\n"

BENCH_ONLY = "{placeholderCount: 3, scaleDownBehavior: none}"
BOTH = """
    scaleDownBehavior: none
    seats: [{resourceClass: bench, placeholderCount: 3}, {resourceClass: small, placeholderCount: 4}]"""


def order(live: Live, *words: str) -> Answer:
    return live("override", *words)


def total(seats: int) -> str:
    return f"With 5 sessions now, {seats} seats are held."


def annotation(server: ApiServer, name: str = "course") -> str | None:
    notes: dict[str, str] = server.world.get("ConfigMap", name)["metadata"]["annotations"]
    return notes.get("berth.dev/override")


@pytest.mark.parametrize("until", ["2026-02-02T12:00:00Z", "2026-02-02 13:00", "13:00", "+3h", "+180m"])
def test_an_override_sets_a_target_until_an_instant(live: Live, until: str) -> None:
    words = ("course", "--placeholders", "small=60", "--end", until)
    assert order(live, *words) == (
        0,
        f"prod: course/small gets 60 {SEATS} until {TEN}. {total(65)}\n{FOLLOWS}",
        "",
    )
    assert annotation(live.server) == '{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'
    assert (
        live.world.get("ConfigMap", "course")["metadata"]["managedFields"][-1]["manager"] == "berth-override"
    )


@pytest.mark.parametrize("words", [("small=60",), ("--placeholders", "60")], ids=["argument", "number"])
def test_a_target_is_an_argument_or_a_number_for_the_only_class(live: Live, words: tuple[str, ...]) -> None:
    assert order(live, "course", *words, "--end", "+3h").code == 0
    assert annotation(live.server) == '{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'


def test_status_shows_an_override_and_clear_removes_it(live: Live) -> None:
    order(live, "course", "small=20", "--end", "+3h")
    shown = live("status")

    assert (shown.code, wordless(shown.out).splitlines()[-1]) == (
        0,
        "prod: note[S036] course/small 20 2026-02-02T12:00:00Z",
    )
    for words in (["course"], ["course", "small"]):
        order(live, "course", "small=20", "--end", "+3h")
        cleared = order(live, *words, "--clear")
        assert cleared == (0, f"prod: course/small follows its timetable again.\n{FOLLOWS}", "")
        assert annotation(live.server) is None
    assert order(live, "course", "--clear") == (0, "prod: course is unchanged.\n", "")


def test_a_new_target_replaces_the_old_one(live: Live) -> None:
    words = ("course", "--end", "+3h")
    order(live, *words, "small=20")

    assert order(live, *words, "small=0").out == (
        f"prod: course/small gets 0 {SEATS} until {TEN}, instead of 20. {total(5)}\n{FOLLOWS}"
    )
    live.world.meddle = lambda: pytest.fail("nothing is to be written")
    assert order(live, *words, "small=0").out == "prod: course is unchanged.\n"


def test_a_write_drops_expired_overrides_and_keeps_those_of_other_classes() -> None:
    """What is over or malformed goes with the next write; the other classes keep theirs."""
    said = annotation_text({"a": Override(1, 100), "b": Override(2, 200), "c": Override(3, 300)})

    assert said is not None
    assert with_changes(overrides_in_force(said, 100), {"b": None, "d": Override(4, 400)}) == {
        "c": Override(3, 300),
        "d": Override(4, 400),
    }
    assert parse_overrides(said) == {"a": Override(1, 100), "b": Override(2, 200), "c": Override(3, 300)}
    assert overrides_in_force("{", 0) == {}
    assert annotation_text({}) is None


def test_an_override_reads_again_after_a_conflict(live: Live) -> None:
    meddled: list[None] = []

    def write() -> None:
        live.world.add(live.world.get("ConfigMap", "course"))

    def meddle() -> None:
        if not meddled:
            meddled.append(None)
            write()
            override(live.world, "9", "2026-02-02T11:00:00Z")

    live.world.meddle = meddle
    answer = order(live, "course", "small=60", "--end", "+3h")

    assert answer.out == (
        f"prod: course/small gets 60 {SEATS} until {TEN}, instead of 9. {total(65)}\n{FOLLOWS}"
    )
    live.world.meddle = write
    code, out, err = order(live, "course", "--clear")
    assert (code, out, wordless(err)) == (
        1,
        "",
        "prod: error[S001] 409 kubectl --context=prod --namespace=berth get deployments\n",
    )


def test_override_fails_if_the_site_has_no_timetable_there(live: Live) -> None:
    live.world.get("ConfigMap", "course")["metadata"]["labels"]["berth.dev/site"] = "another"
    answer = order(live, "course", "small=60", "--end", "+3h")

    assert answer[:2] == (1, "")
    assert answer.err.startswith("prod: ")


def test_override_writes_only_to_clusters_with_the_named_classes(live: Live) -> None:
    both = FILES["night"].replace("  resourceClass: bench\n", "").replace(BENCH_ONLY, BOTH)
    project.write(live.folder, {**FILES, "night": both})
    rendered = project.project(**{**FILES, "night": both}).objects["prod"]
    live.world.objects += [object_ for object_ in rendered if object_["metadata"]["name"] == "night"]
    for object_ in live.world.objects:
        object_["metadata"].setdefault("resourceVersion", "1")
        object_["metadata"].setdefault("managedFields", [])
    file = kubeconfig(live.folder / "kubeconfig", {"prod": live.server.url, "lab": "http://127.0.0.1:9"})
    asked = ("override", "--now", NOW, "--kubeconfig", str(file), "night", "--end", "+3h")

    assert live.berth(*asked, "small=9") == (
        0,
        f"prod: night/small gets 9 {SEATS} until {TEN}.\n{FOLLOWS}",
        "",
    )
    code, out, err = live.berth(*asked, "small=8", "bench=7")
    assert (code, out.splitlines()[0]) == (
        1,
        f"prod: night/small gets 8 {SEATS} until {TEN}, instead of 9.",
    )
    assert err.startswith("lab: error[S001]")
    assert json.loads(annotation(live.server, "night") or "") == {
        "small": {"target": 8, "until": "2026-02-02T12:00:00Z"}
    }


@tabled("live")
def test_invalid_arguments_are_refused_before_any_request(words: str, named: str, live: Live) -> None:
    code, out, err = order(live, *words.split())

    assert (code, out) == (2, "")
    assert err.startswith("berth: ")
    assert named in err
    assert live.world.asked == []


def test_an_unknown_reservation_and_an_unreadable_time_are_refused(live: Live) -> None:

    assert "curse" in order(live, "curse", "small=3", "--end", "+2h").err
    assert '"soon"' in order(live, "course", "small=3", "--end", "soon").err
