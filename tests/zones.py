"""Zones for tests that go through all of them."""

from functools import cache
from importlib.resources import files

from gen.zone import Zone, known, load


def zone(name: str) -> Zone:
    found = load(name)
    assert found is not None
    return found


def data(name: str) -> bytes:
    return (files("tzdata") / "zoneinfo" / name).read_bytes()


@cache
def distinct() -> tuple[str, ...]:
    """Zones that differ: of those with the same data one stands for all."""
    return tuple({data(name): name for name in known()}.values())
