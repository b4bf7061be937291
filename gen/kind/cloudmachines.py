"""Machines of a CloudCapacity: those that are reserved, and the types that the cloud sells."""

import re
from collections.abc import Iterable
from typing import Any

from gen.cloud import BLOCK, CloudReservation, InstanceType
from gen.finding import Path
from gen.kind import cloudtext, grammar
from gen.kind.calendar import ORDER
from gen.kind.different import Different
from gen.kind.nodeclass import MOST_TERMS, TAGS, TERM, refuse_beside
from gen.kind.price import PRICE
from gen.kind.resources import AMOUNT
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    MISSING,
    RANGE,
    Field,
    Fields,
    ListOf,
    Made,
    MapOf,
    Report,
    items,
)
from gen.kind.value import Flag, OneOf, Text, Whole
from gen.quantity import parse

INTERRUPTIBLE = "interruptible"
DEFAULT = "default"
_FORMS = ("id", "tags", "instanceMatchCriteria")


def _reservation(made: Made, path: Path, report: Report) -> None:
    if made["id"] is not None:
        term = {name: made[name] for name in (*_FORMS, "ownerID")}
        refuse_beside(term, "id", path, report)
    elif all(made[name] is None for name in _FORMS):
        message = "nothing says how Karpenter finds it."
        if made["ownerID"] is not None:
            message = "ownerID alone finds nothing."
        report(TERM, path, message, "Add id, tags or instanceMatchCriteria.")
    first, last = made["from"], made["until"]
    if type(first) is int and type(last) is int and last <= first:
        report(ORDER, (*path, "until"), "it ends before it begins.", "Write an instant after from.")
    if made["type"] == BLOCK:
        for name in ("from", "until"):
            if made[name] is None:
                message = f"a Capacity Block begins and ends: {name} is missing."
                report(MISSING, path, message, f"Add {name}: an instant such as 2026-02-01T11:30:00Z.")
    elif made["type"] is not INVALID and made["ultraServer"] is True:
        message = f"UltraServers are sold as Capacity Blocks, not as type {made['type']}."
        report(CONFLICT, (*path, "ultraServer"), message, f"Write type: {BLOCK}, or remove it.")


_INSTANT = Text("instant in UTC", cloudtext.instant)
_TYPE_NAME = Text("instance type", cloudtext.instance_type)
_ZONE = Text("zone", cloudtext.zone)

RESERVATION = Fields(
    {
        "id": Field(Text("id", cloudtext.reservation_id), None, "its id, alone", "none: then one of these"),
        "tags": Field(TAGS, None, "tags that it has, all of them; `*` is any value", "none"),
        "ownerID": Field(
            Text("account", cloudtext.account), None, "the account that shares it; never alone", "any"
        ),
        "instanceMatchCriteria": Field(OneOf(("open", "targeted")), None, "open or targeted", "any"),
        "instanceType": Field(_TYPE_NAME, meaning="type of its machines"),
        "zone": Field(_ZONE, meaning="where they are"),
        "count": Field(Whole(1, 100_000), meaning="how many machines"),
        "type": Field(
            OneOf((DEFAULT, BLOCK, INTERRUPTIBLE)), DEFAULT, "default, capacity-block or interruptible"
        ),
        "ultraServer": Field(Flag(), False, "only capacity-block: whether it is of UltraServers"),
        "from": Field(_INSTANT, None, "when it begins, in UTC; needed for capacity-block", "it is there"),
        "until": Field(_INSTANT, None, "when it ends, in UTC; needed for capacity-block", "it has no end"),
        "hourlyPrice": Field(PRICE, None, "of one machine, whether it runs or not", "not known"),
    },
    lambda made: CloudReservation(
        id=made["id"] or "",
        tags=tuple((made["tags"] or {}).items()),
        owner=made["ownerID"] or "",
        match=made["instanceMatchCriteria"] or "",
        instance_type=made["instanceType"],
        zone=made["zone"],
        count=made["count"],
        type=made["type"],
        ultra_server=made["ultraServer"],
        first=made["from"],
        until=made["until"],
        hourly_price=made["hourlyPrice"],
    ),
    agree=_reservation,
)


def terms(reservations: Iterable[CloudReservation]) -> list[dict[str, Any]]:
    """What selects them, each term once, in their order: several entries may be machines of one."""
    found: list[dict[str, Any]] = []
    for one in reservations:
        said = {
            "id": one.id,
            "tags": dict(one.tags),
            "ownerID": one.owner,
            "instanceMatchCriteria": one.match,
        }
        term = {key: value for key, value in said.items() if value}
        if term not in found:
            found.append(term)
    return found


class _Reservations(ListOf):
    """As many as one likes, selected by no more terms than an EC2NodeClass takes."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        checked = ListOf.check(self, value, path, report)
        many = len(terms(items(checked)))
        if many > MOST_TERMS:
            fix = f"Write at most {MOST_TERMS}: tags select several at once."
            return report(RANGE, path, f"it takes {many} terms to select these.", fix)
        return checked


def architecture_of(instance_type: str) -> str:
    """By AWS's way of naming: a g after the generation is Graviton, as in m7g and c6gn; -gb is Grace."""
    arm = re.match(r"a1\.|[a-z]+[0-9]+(g|[a-z]*-gb)", instance_type, re.ASCII)
    return "arm64" if arm else "amd64"


def _instance_type(made: Made, path: Path, report: Report) -> None:
    """No more is left for pods than there is."""
    whole = dict(items(_capacity(made)))
    for name, amount in items(made["allocatable"]):
        most = whole.get(name)
        if type(amount) is str and type(most) is str and (parse(amount) or 0) > (parse(most) or 0):
            message = f"{amount} is more than the machine has: {most}."
            report(CONFLICT, (*path, "allocatable", name), message, "Write what is left for pods.")


def _capacity(made: Made) -> Any:
    own = [(name, made[name]) for name in ("cpu", "memory") if made[name] not in (None, INVALID)]
    own += [(name, amount) for name, amount in items(made["gpus"])]
    return (*own, *([("pods", str(made["pods"]))] if type(made["pods"]) is int else ()))


_AMOUNTS = MapOf(grammar.resource_name, AMOUNT)
INSTANCE_TYPE = Fields(
    {
        "name": Field(_TYPE_NAME, meaning="as AWS names it"),
        "cpu": Field(AMOUNT, None, "of the machine", "the table's"),
        "memory": Field(AMOUNT, None, "of the machine", "the table's"),
        "gpus": Field(_AMOUNTS, (), "devices, by resource", "the table's"),
        "pods": Field(Whole(1, 10_000), None, "most pods on it", "the table's"),
        "zones": Field(Different(_ZONE, 1), (), "where it is sold", "wherever it is asked for"),
        "architecture": Field(OneOf(("amd64", "arm64")), None, "amd64 or arm64", "as its name says"),
        "onDemandPrice": Field(PRICE, None, "an hour", "the table's"),
        "spotPrice": Field(PRICE, None, "an hour", "not known"),
        "allocatable": Field(_AMOUNTS, (), "what of it is left for pods", "the table's"),
    },
    lambda made: InstanceType(
        name=made["name"],
        capacity=_capacity(made),
        allocatable=made["allocatable"],
        zones=made["zones"],
        architecture=made["architecture"] or architecture_of(made["name"]),
        on_demand=made["onDemandPrice"],
        spot=made["spotPrice"],
    ),
    agree=_instance_type,
)
RESERVATIONS, INSTANCE_TYPES = _Reservations(RESERVATION), ListOf(INSTANCE_TYPE)
