"""`resourceClaims` of a class: what is understood, and that everything else is refused."""

from tests.cases import tabled
from tests.saying import Value, lines, read, resource_class, site


def told(*claims: Value) -> list[str]:
    return lines(read(site(), resource_class(resourceClaims=list(claims))).problems)


@tabled("schema")
def test_invalid_claims_are_refused(claims: list[Value], problems: list[str]) -> None:
    assert told(*claims) == problems
