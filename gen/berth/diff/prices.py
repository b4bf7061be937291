"""The prices of machines that a change is judged by: nobody lowers a price and uses that in one change.

Of what the base has a price for, the higher price of base and head counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from berth.machines.instancetypes import ec2_types
from berth.machines.nodelabels import ON_DEMAND, SPOT
from berth.schema.cloudmachines import InstanceTypeSpec
from berth.schema.cloudvalues import CloudCapacity, GenericCapacity
from berth.schema.declared import Declared

_Key = tuple[str, str]
"""Capacity type, empty where there is one price alone, and instance type or shape."""
_Prices = Mapping[_Key, Decimal]


class JudgedPrices(NamedTuple):
    """The declarations of the head with the prices that count, and what is told of them."""

    declared: Declared
    texts: Mapping[str, Sequence[str]]  # by capacity


def judged_prices(before: Declared, after: Declared) -> JudgedPrices:
    """Return the head with the higher price of both sides, wherever the base has one."""
    was, now = _prices(before), _prices(after)
    counted = {name: _counted(was, name, prices) for name, prices in now.items()}
    declared = after._replace(
        clouds={name: _with_prices(cloud, counted[name]) for name, cloud in after.clouds.items()},
        generic={name: _with_shape_prices(cloud, counted[name]) for name, cloud in after.generic.items()},
    )
    return JudgedPrices(declared, {name: [*_texts(was, name, prices)] for name, prices in now.items()})


def _prices(side: Declared) -> dict[str, _Prices]:
    """Return the prices of each capacity."""
    sold: dict[str, _Prices] = {
        cloud.name: {
            (kind, one.name): price
            for one in cloud.instance_types
            for kind, price in ((ON_DEMAND, one.on_demand_price), (SPOT, one.spot_price))
            if price is not None
        }
        for cloud in side.clouds.values()
    }
    return sold | {
        capacity.name: {
            ("", shape.name): shape.hourly_price for shape in capacity.nodes if shape.hourly_price is not None
        }
        for capacity in side.generic.values()
    }


def _of_base(was: Mapping[str, _Prices], name: str, key: _Key) -> Decimal | None:
    """Return a price of the base: of the capacity, or of all where it does not know it; else the table's."""
    sides = [was[name]] if name in was else was.values()
    found = max((prices[key] for prices in sides if key in prices), default=None)
    row = ec2_types().get(key[1]) if key[0] == ON_DEMAND else None
    return Decimal(repr(row.price)) if found is None and row else found


def _counted(was: Mapping[str, _Prices], name: str, now: _Prices) -> dict[_Key, Decimal]:
    sides = [was[name]] if name in was else was.values()
    keys = {*now, *(key for prices in sides for key in prices)}
    both = {key: (_of_base(was, name, key), now.get(key)) for key in keys}
    return {key: max(price for price in pair if price is not None) for key, pair in both.items()}


def _texts(was: Mapping[str, _Prices], name: str, now: _Prices) -> Iterator[str]:
    for key in sorted({*now, *was.get(name, ())}):
        before, after, what = _of_base(was, name, key), now.get(key), " ".join(filter(None, key))
        if before is None:
            yield f"the price of {what} is new, {after} USD an hour: check it, the base has none"
        elif after is None or after < before:
            goes = "is removed" if after is None else f"goes to {after}"
            yield f"the price of {what} {goes}: policies and the budget count {before} in this change"


def _with_prices(cloud: CloudCapacity, prices: _Prices) -> CloudCapacity:
    sold = {one.name: one for one in cloud.instance_types}
    for kind, name in sorted(key for key in prices if key[0]):
        one = sold.get(name) or InstanceTypeSpec.model_construct(name=name)
        price = prices[kind, name]
        field = "on_demand_price" if kind == ON_DEMAND else "spot_price"
        sold[name] = one.model_copy(update={field: price})
    return cloud._replace(instance_types=tuple(sold.values()))


def _with_shape_prices(cloud: GenericCapacity, prices: _Prices) -> GenericCapacity:
    return cloud._replace(
        nodes=tuple(
            shape.model_copy(update={"hourly_price": prices.get(("", shape.name))}) for shape in cloud.nodes
        )
    )
