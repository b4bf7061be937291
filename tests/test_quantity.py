"""Quantities read as Kubernetes reads them."""

import pytest

from gen.quantity import NANO, parse, text

READ = [
    ("0", 0),
    ("1", NANO),
    ("500m", NANO // 2),
    ("1.5", 3 * NANO // 2),
    (".5", NANO // 2),
    ("5.", 5 * NANO),
    ("+2", 2 * NANO),
    ("-1", -NANO),
    ("4Gi", 4 * 2**30 * NANO),
    ("1.5Ki", 1536 * NANO),
    ("2k", 2000 * NANO),
    ("1e3", 1000 * NANO),
    ("1E3", 1000 * NANO),
    ("1E", 10**18 * NANO),
    ("12e-1", 12 * NANO // 10),
    ("1n", 1),
    ("0.1n", 1),  # rounded up to a billionth
    ("9Ei", (2**63 - 1) * NANO),  # the largest there is
]


@pytest.mark.parametrize(("written", "nanos"), READ, ids=[written for written, _ in READ])
def test_a_quantity_is_read_in_billionths(written: str, nanos: int) -> None:
    assert nanos == parse(written)


@pytest.mark.parametrize(
    "written", ["", "1 Gi", "1gi", "1KI", "m", "1,5", "1e", "e3", "--1", "1_000", "0x10", "\u0661"]
)
def test_what_kubernetes_refuses_is_none(written: str) -> None:
    assert parse(written) is None


@pytest.mark.parametrize(
    ("nanos", "told"),
    [(0, "0"), (96 * 2**30 * NANO, "96Gi"), (12 * NANO, "12"), (3 * NANO // 2, "1.5"), (NANO // 4, "0.25")],
)
def test_sums_are_told_as_people_write_them(nanos: int, told: str) -> None:
    assert told == text(nanos)
