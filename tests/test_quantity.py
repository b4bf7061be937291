"""Quantities read as Kubernetes reads them."""

import pytest
from berth.quantity import NANO, add, canonical, parse, text

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
def test_quantities_that_kubernetes_refuses_give_none(written: str) -> None:
    assert parse(written) is None


@pytest.mark.parametrize(
    ("nanos", "told"),
    [(0, "0"), (96 * 2**30 * NANO, "96Gi"), (12 * NANO, "12"), (3 * NANO // 2, "1.5"), (NANO // 4, "0.25")],
)
def test_sums_are_formatted_for_readers(nanos: int, told: str) -> None:
    assert told == text(nanos)


CANONICAL = [
    ("0", "0"),
    ("0Gi", "0"),
    ("1", "1"),
    ("64", "64"),
    ("100", "100"),
    ("1000", "1k"),
    ("1500", "1500"),
    ("12e3", "12e3"),
    ("1e2", "100"),
    ("1.5e3", "1500"),
    ("1e-1", "100e-3"),
    ("1000m", "1"),
    ("40.5", "40500m"),
    ("0.5", "500m"),
    (".1u", "100n"),
    ("1k", "1k"),
    ("1000Ki", "1000Ki"),
    ("1024Mi", "1Gi"),
    ("1.5Gi", "1536Mi"),
    ("0.5Ki", "512"),
    ("1023.5Ki", "1048064"),
    ("1.1Gi", "1181116006400m"),
    ("1Ei", "1Ei"),
    ("9Ei", "9223372036854775807"),
    ("20E", "9223372036854775807"),
    ("-1024Mi", "-1Gi"),
    ("+2", "2"),
]


@pytest.mark.parametrize(("written", "told"), CANONICAL, ids=[written for written, _ in CANONICAL])
def test_an_amount_is_formatted_as_in_kubernetes(written: str, told: str) -> None:
    assert canonical(written) == told
    assert canonical(told) == told
    assert parse(told) == parse(written)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("1", "250m", "1250m"),
        ("750m", "0.25", "1"),
        ("4Gi", "160Mi", "4256Mi"),
        ("1Gi", "1G", "2073741824"),
        ("512Mi", "512Mi", "1Gi"),
        ("1G", "500M", "1500M"),
        ("0", "0", "0"),
        ("0", "64Mi", "64Mi"),
    ],
)
def test_a_sum_is_exact_and_formatted_as_in_kubernetes(first: str, second: str, expected: str) -> None:
    assert add(first, second) == add(second, first) == expected
    assert parse(expected) == (parse(first) or 0) + (parse(second) or 0)
