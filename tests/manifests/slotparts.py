"""Reservations of backend koordinator as values, made of those of the small project, for tests."""

from pathlib import Path
from typing import Any

from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotmapping import SlotMapping
from berth.backends.koordinator.slotoptions import SlotOptions
from berth.checks.project import Part
from berth.schema.site import KoordinatorSpec
from berth.schema.values import Cluster, Site

from tests.built import built
from tests.cli.project import EVENING
from tests.manifests.parts import small

KOORDINATOR = built(KoordinatorSpec, {})
SLOTS = SlotHolder(SlotOptions.model_construct())


def altered(slots: SlotHolder, **changes: Any) -> SlotHolder:
    return SlotHolder(slots.options.model_copy(update=changes))


def evening(
    folder: Path,
    slots: SlotHolder = SLOTS,
    koordinator: KoordinatorSpec = KOORDINATOR,
    seat: dict[str, Any] | None = None,
    **reservation: Any,
) -> tuple[Site, Part]:
    """The evening in prod, for which class `seat` is declared with sessions; `seat` changes the class."""

    site, parts = small(folder, evening=EVENING)
    part = parts["evening/prod"]
    standing = {"occurrences": (), "schedules": ()} if slots.options.standing else {}
    declared = part.placed.reservation.spec
    resolved = part.placed.reservation._fields
    spec = declared.model_copy(update={key: reservation.pop(key) for key in {*reservation} - {*resolved}})
    changes = dict(seat or {})
    if "reservation" in changes:
        changes["reservation"] = built(SlotMapping, changes["reservation"])
    placed = part.placed._replace(
        reservation=part.placed.reservation._replace(spec=spec, holder=slots, **reservation),
        cluster=with_koordinator(part.placed.cluster, koordinator),
        classes=tuple(resource_class.model_copy(update=changes) for resource_class in part.placed.classes),
    )
    return site, part._replace(placed=placed, **standing)


def with_koordinator(cluster: Cluster, koordinator: KoordinatorSpec = KOORDINATOR) -> Cluster:
    return cluster.model_copy(update={"koordinator": koordinator})
