"""Which kinds there are. The models of a kind are imported when such a document is read."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berth.schema.metadata import Document

KINDS = ("Site", "ResourceClass", "Calendar", "CloudCapacity", "CapacityReservation")


@cache
def document_of(kind: str) -> "type[Document]":
    """Return the model of the documents of a kind."""
    # ruff: noqa: PLC0415
    if kind == "Site":
        from berth.schema.site import SiteDocument

        return SiteDocument
    if kind == "ResourceClass":
        from berth.schema.resourceclass import ResourceClassDocument

        return ResourceClassDocument
    if kind == "Calendar":
        from berth.schema.calendar import CalendarDocument

        return CalendarDocument
    if kind == "CloudCapacity":
        from berth.schema.cloudcapacity import CloudDocument

        return CloudDocument
    from berth.schema.reservation import ReservationDocument

    return ReservationDocument
