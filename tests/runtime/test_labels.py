"""The words that what is rendered and what runs must say alike."""

from berth.core import labels


def test_the_constants_are_the_contract_with_the_cluster_side() -> None:
    assert (labels.SITE, labels.RESERVATION, labels.CLASS, labels.TITLE, labels.ROLE) == (
        "berth.dev/site",
        "berth.dev/reservation",
        "berth.dev/resource-class",
        "berth.dev/title",
        "berth.dev/role",
    )
    assert (labels.TIMETABLE, labels.OCCURRENCE, labels.SWEEP) == ("timetable", "occurrence", "sweep")
