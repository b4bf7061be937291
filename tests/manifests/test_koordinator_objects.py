"""The objects of a reservation that holds its seats by slots."""

import json
from pathlib import Path

import pytest
import yaml
from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotmapping import SlotMapping
from berth.backends.koordinator.slotobjects import pool_slots
from berth.backends.koordinator.slotoptions import Owner, SlotTaint
from berth.core.timetable import parse_timetable
from berth.plugins.slots.slotspec import SlotSpec as InCluster
from berth.plugins.slots.slotspec import slot_hash

from tests.awkward import AWKWARD
from tests.built import built, owner
from tests.manifests.parts import Object, of_kind, of_part
from tests.manifests.slotparts import KOORDINATOR, SLOTS, altered, evening

STANDING = altered(SLOTS, standing=True)
WITH_AFFINITY = altered(SLOTS, session_affinity=True)
PROFILES = KOORDINATOR.model_copy(update={"colocation_profiles": True})


def rendered(folder: Path, slots: SlotHolder = SLOTS, **changes: object) -> list[Object]:
    return of_part(*evening(folder, slots, **changes))  # type: ignore[arg-type] # whatever evening takes


def names(found: list[Object]) -> list[tuple[str, str]]:
    return [(one["kind"], one["metadata"]["name"]) for one in found]


def test_the_timetable_has_the_slot_as_it_was_declared(tmp_path: Path) -> None:
    site, part = evening(tmp_path, altered(SLOTS, with_placeholders=True))
    (timetable,) = of_kind("ConfigMap", of_part(site, part))
    (seat,) = part.placed.classes
    told = pool_slots(site, part.placed.cluster, part.placed.reservation, seat)
    (pool,) = parse_timetable(timetable["data"]["timetable.json"]).pools

    assert pool.holder.slots == InCluster(told["name"], told["hash"], told["object"], placeholders=True)


def test_labels_of_authors_change_no_slot_name_and_koordinator_labels_are_dropped(tmp_path: Path) -> None:
    own = (("team", "a"), ("koordinator.sh/priority", "x"), ("quota.scheduling.koordinator.sh/name", "q"))
    plain = rendered(tmp_path / "plain", STANDING)
    found = rendered(tmp_path / "own", STANDING, labels=own, annotations=own)

    assert names(found) == names(plain)
    for before, after in zip(plain, found, strict=True):
        for notes in ("labels", "annotations"):
            assert after["metadata"].pop(notes) == {**before["metadata"].pop(notes), "team": "a"}
        assert after == before


def test_a_suspended_reservation_has_no_standing_slots(tmp_path: Path) -> None:
    affinity = altered(STANDING, session_affinity=True)

    assert names(rendered(tmp_path, affinity, suspend=True)) == [("ConfigMap", "evening-session-affinity")]


def test_session_affinity_is_a_config_map_without_colocation_profiles(tmp_path: Path) -> None:
    taints = ({"key": "course", "value": "a", "effect": "NoSchedule"}, {"key": "lab", "effect": "NoExecute"})
    found = rendered(
        tmp_path, altered(WITH_AFFINITY, taints=tuple(built(SlotTaint, taint) for taint in taints))
    )
    snippet = found[-1]
    pod = json.loads(snippet["data"]["seat.yaml"])
    notes = {key.partition("/")[2]: json.loads(text) for key, text in pod["metadata"]["annotations"].items()}

    assert names(found)[-1] == ("ConfigMap", "evening-session-affinity")
    assert snippet["metadata"]["labels"]["berth.dev/role"] == "session-affinity"
    assert pod["spec"] == {"schedulerName": "koord-scheduler"}
    assert notes == {
        "reservation-affinity": {
            "reservationSelector": {
                "berth.dev/site": "uni",
                "berth.dev/reservation": "evening",
                "berth.dev/resource-class": "seat",
            },
            "tolerations": [
                {"key": "course", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
                {"key": "lab", "operator": "Exists", "effect": "NoExecute"},
            ],
        },
        "exact-match-reservation": {"resourceNames": ["cpu"]},
    }
    assert yaml.safe_load(snippet["data"]["seat.yaml"]) == pod


def test_colocation_profiles_select_exactly_the_owners(tmp_path: Path) -> None:
    owners = tuple(
        owner((("namespace", namespace),), {}, {"matchLabels": {"course": course}})
        for namespace, course in (("a", "x"), ("b", "y"), ("c", "x"))
    )
    slots = altered(WITH_AFFINITY, owners=owners, with_placeholders=True)
    notes = {"scheduling.koordinator.sh/reservation-restricted-options": '{"resources": ["memory"]}'}
    seat = {"reservation": {"metadata": {"annotations": notes}}}
    objects = of_kind("ClusterColocationProfile", rendered(tmp_path, slots, koordinator=PROFILES, seat=seat))
    first = objects[0]

    assert names(objects) == [
        ("ClusterColocationProfile", "berth-uni.evening-seat"),
        ("ClusterColocationProfile", "berth-uni.evening-seat.2"),
    ]
    assert first["spec"]["namespaceSelector"]["matchExpressions"][0]["values"] == ["a", "c"]
    assert [one["spec"]["selector"]["matchLabels"]["course"] for one in objects] == ["x", "y"]
    assert '["memory"]' in first["spec"]["annotations"]["scheduling.koordinator.sh/exact-match-reservation"]


NO_LABELS = {
    "controller": owner((), {"apiVersion": "", "kind": "Job", "name": "a", "uid": ""}, {}),
    "one-pod": owner((("namespace", "a"), ("name", "b")), {}, {"matchLabels": {"x": "y"}}),
    "a-namespace": owner((("namespace", "a"),), {}, {}),
    # It would match Reservations too, which the webhook may be told to change.
    "only-what-it-lacks": owner((), {}, {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}),
}


@pytest.mark.parametrize("one", NO_LABELS.values(), ids=NO_LABELS)
def test_owners_that_labels_do_not_distinguish_get_a_config_map(tmp_path: Path, one: Owner) -> None:
    by_label = owner((), {}, {"matchLabels": {"course": "x"}})
    slots = altered(WITH_AFFINITY, owners=(by_label, one))
    found = rendered(tmp_path, slots, koordinator=PROFILES)

    assert names(found)[-1] == ("ConfigMap", "evening-session-affinity")
    assert of_kind("ClusterColocationProfile", found) == []


ANYWHERE = owner((), {}, {"matchLabels": {"course": "x"}})
IN_ONE = owner((("namespace", "a"),), {}, {"matchLabels": {"course": "x"}})


@pytest.mark.parametrize(
    "owners",
    [(ANYWHERE,), (ANYWHERE, IN_ONE), (IN_ONE, ANYWHERE), (IN_ONE, ANYWHERE, IN_ONE)],
    ids=["alone", "first", "last", "between"],
)
def test_an_owner_in_any_namespace_gets_a_profile_for_all_namespaces(
    tmp_path: Path, owners: tuple[Owner, ...]
) -> None:
    slots = altered(WITH_AFFINITY, owners=owners)
    (found,) = of_kind("ClusterColocationProfile", rendered(tmp_path, slots, koordinator=PROFILES))

    assert "namespaceSelector" not in found["spec"]


@pytest.mark.parametrize("slots", [STANDING, WITH_AFFINITY], ids=["standing", "affinity"])
def test_awkward_texts_are_read_back_and_change_no_structure(tmp_path: Path, slots: SlotHolder) -> None:
    """Also what is checked and so never comes: values of labels, taints and selectors."""
    site, part = evening(tmp_path, slots, koordinator=PROFILES)
    plain = [names([one]) for one in of_part(site, part)]

    for text in AWKWARD:
        slot_holder = altered(
            slots,
            owners=(owner((("namespace", "a"),), {}, {"matchLabels": {"course": text}}),),
            taints=(built(SlotTaint, {"key": "k", "value": text, "effect": "NoSchedule"}),),
        )
        patch = {"annotations": {"a.b/c": text}}
        mapping = {"metadata": patch, "spec": {"template": {"metadata": {"annotations": {"x": text}}}}}
        classes = tuple(
            found.model_copy(update={"reservation": built(SlotMapping, mapping)})
            for found in part.placed.classes
        )
        reservation = part.placed.reservation._replace(holder=slot_holder)
        spec = reservation.spec.model_copy(update={"title": text})
        reservation = reservation._replace(spec=spec)
        placed = part.placed._replace(reservation=reservation, classes=classes)
        objects = of_part(site, part._replace(placed=placed))
        last = objects[-1]

        assert [[kind for kind, _ in names([one])] for one in objects] == [[one[0][0]] for one in plain]
        assert last["metadata"]["annotations"]["berth.dev/title"] == text, ascii(text)
        if slots.options.standing:
            assert last["metadata"]["annotations"]["a.b/c"] == text
            assert last["spec"]["taints"][0]["value"] == text
            assert last["spec"]["template"]["metadata"]["annotations"] == {"x": text}
            assert last["metadata"]["name"].endswith(slot_hash(shape_of(last)))
        else:
            assert last["spec"]["selector"]["matchLabels"] == {"course": text}


def shape_of(found: Object) -> Object:
    """The object of the slot that was rendered: without name, lifetime and title."""
    metadata, spec = found["metadata"], found["spec"]
    notes = {key: text for key, text in metadata["annotations"].items() if key != "berth.dev/title"}
    return {
        "metadata": {"labels": metadata["labels"], "annotations": notes},
        "spec": {key: value for key, value in spec.items() if key not in ("ttl", "expires")},
    }
