"""`backend`: what a course says of its slots, and what its fields say against each other."""

from typing import Any

from berth.backends.backendspec import BackendSpec
from berth.backends.koordinator.slotholder import SlotHolder
from berth.schema.seatholders import Holder

from tests.saying import ask, read, reservation, resource_class, site, told, weekly
from tests.schema.backends import backend


def made(**said: Any) -> Holder:
    found, problems = ask(BackendSpec, backend(**said))
    assert problems == []
    holder: Holder = found.holder
    return holder


NOTHING = SlotHolder(BackendSpec.model_construct(type="koordinator"))


def test_empty_fields_have_no_effect() -> None:
    assert made(taints=[], owners=None, standing=False) == NOTHING


def standing(**spec: Any) -> dict[str, Any]:
    made = {"recurrence": None, "provisioning": {"placeholderCount": 2}, **spec}
    return reservation(backend=backend(standing=True), **made)


def test_standing_slots_have_no_recurrence_and_no_behavior() -> None:
    (found,) = read(standing(), site(timeZone="Europe/Zurich"), resource_class()).reservations

    assert (found.recurrence.type, found.recurrence.zone, found.recurrence.schedule) == (
        "standing",
        "Europe/Zurich",
        (),
    )
    assert (found.behavior, found.lead, found.seats, found.holder.backend) == (
        "none",
        0,
        (("small", 2),),
        "koordinator",
    )


def test_a_recurrence_lead_or_behavior_of_standing_slots_is_reported() -> None:
    faulty = standing(
        recurrence=weekly(),
        provisioning={"placeholderCount": 2, "leadTimeMinutes": 0, "scaleDownBehavior": "reduce"},
    )

    assert told(faulty, site(), resource_class()) == [
        "a.yaml B016 spec.recurrence @key",
        "a.yaml B029 spec.provisioning.leadTimeMinutes @key",
        "a.yaml B029 spec.provisioning.scaleDownBehavior @key",
    ]


def test_a_lead_or_behavior_of_a_class_with_standing_slots_is_reported() -> None:
    seats = [{"resourceClass": "small", "placeholderCount": 2, "leadTimeMinutes": 5}]
    faulty = standing(resourceClass=None, provisioning={"seats": seats, "scaleDownBehavior": "reduce"})

    assert told(faulty, site(), resource_class()) == [
        "a.yaml B029 spec.provisioning.scaleDownBehavior @key",
        "a.yaml B029 spec.provisioning.seats.0.leadTimeMinutes @key",
    ]
    (found,) = read(faulty, site(), resource_class()).reservations
    assert (found.lead, found.behavior) == (0, "none")


def test_reservations_without_standing_slots_need_a_recurrence() -> None:
    missing = ["a.yaml B011 spec"]

    assert told(reservation(recurrence=None), site(), resource_class()) == missing
    assert told(reservation(recurrence=None, backend=backend()), site(), resource_class()) == missing
    assert (
        told(reservation(recurrence=None, backend=backend(standing=False)), site(), resource_class())
        == missing
    )
