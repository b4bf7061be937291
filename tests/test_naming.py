"""Names of rendered objects."""

from gen.manifest import naming


def test_a_short_name_stays_as_it_is() -> None:
    assert naming.pool("data-science-101", "small") == "data-science-101-small"
    assert naming.cronjob("exam", 1) == "exam"
    assert naming.cronjob("exam", 2) == "exam-2"
    assert naming.priority_class("example") == "berth-example"


def test_a_long_name_is_cut_and_carries_a_hash_of_the_whole() -> None:
    one, other = naming.single("a" * 60), naming.single("a" * 61)

    assert one == "a" * 43 + "-11ee3912"
    assert one != other
    assert len(one) == naming.LONGEST


def test_a_cut_leaves_no_hyphen_before_the_hash() -> None:
    assert "--" not in naming.single("a" * 40 + "-" * 3 + "b" * 20)
