"""A plan as JSON: kind Plan. Stable, and documented in README."""

from collections.abc import Mapping
from decimal import Decimal

from gen import report
from gen.cost.dates import OccurrencePlan
from gen.cost.ledger import Sum, Use
from gen.cost.plan import MonthPlan, Peak, Plan, ReservedPlan
from gen.cost.shop import TABLE
from gen.cost.standing import Machines
from gen.cost.values import Money, dollars
from gen.runtime.instant import instant_text

Answer = dict[str, object]


def as_json(plan: Plan, budget: Decimal | None) -> str:
    return report.document(
        "Plan",
        {
            "from": instant_text(plan.since),
            "until": instant_text(plan.until),
            "currency": "USD",
            "prices": {"table": TABLE if plan.from_table else None, "missing": list(plan.unpriced)},
            "peaks": [_peak(one) for one in plan.peaks],
            "occurrences": [_occurrence(one) for one in plan.occurrences],
            "reserved": [_reserved(one) for one in plan.reserved],
            "reservations": [
                {"name": name, "cluster": cluster, **_sum(own)} for (name, cluster), own in plan.reservations
            ],
            "classes": [
                {"name": name, "cluster": cluster, **_sum(own)} for (name, cluster), own in plan.classes
            ],
            "months": [_month(one, budget) for one in plan.months],
            "total": _sum(plan.total),
            "notPlanned": [{"name": one.subject, "reason": one.reason} for one in plan.unplanned],
            "leftOut": [{"cloudCapacity": name, "instanceType": kind} for name, kind in plan.unknown],
        },
    )


def money(amount: Money | None) -> str | None:
    """Text, so that no reader rounds it."""
    return None if amount is None else str(dollars(amount))


def hours(seconds: int) -> int | float:
    """Whole where they are whole."""
    whole, rest = divmod(seconds, 3600)
    return seconds / 3600 if rest else whole


def _machines(machines: Machines) -> list[Answer]:
    return [
        {
            "cloudCapacity": sort.capacity,
            "instanceType": sort.type,
            "capacityType": sort.capacity_type,
            "zone": sort.zone or None,
            "reservation": sort.reserved or None,
            "count": number,
        }
        for sort, number in machines
    ]


def _peak(one: Peak) -> Answer:
    return {
        "cluster": one.cluster,
        "at": instant_text(one.at),
        "seats": dict(one.seats),
        "machines": _machines(one.machines),
        "least": one.least,
        "most": one.most,
        "idle": one.idle,
        "withoutMachine": one.lacks,
    }


def _occurrence(one: OccurrencePlan) -> Answer:
    item = one.dated.occurrence
    return {
        "reservation": item.reservation,
        "id": item.id,
        "cluster": one.dated.cluster,
        "open": instant_text(item.open),
        "start": instant_text(item.start),
        "end": instant_text(item.end),
        "seats": dict(one.dated.seats),
        "machines": _machines(one.machines),
        "least": one.least,
        "most": one.most,
        "bought": one.bought,
        "idle": one.idle,
        "withoutMachine": [
            {"class": name, "seats": lack.count, "reason": lack.kind, "message": lack.message}
            for name, lack in one.lacks
        ],
        "loops": one.loops,
        "leadSeconds": {"karpenter": one.lead, "clusterAutoscaler": one.autoscaler_lead},
    }


def _use(use: Use) -> Answer:
    return {
        "hours": hours(use.paid),
        "usedHours": hours(use.used),
        "idleHours": hours(use.idle),
        "cost": money(use.money),
        "idleCost": money(use.idle_money),
    }


def _reserved(one: ReservedPlan) -> Answer:
    said = one.reserved.said
    return {
        "reservation": one.reserved.key,
        "cluster": one.cluster,
        "cloudCapacities": list(one.reserved.capacities),
        "instanceType": said.instance_type,
        "zone": said.zone,
        "count": said.count,
        "from": instant_text(one.since),
        "until": instant_text(one.until),
        **_use(one.use),
    }


def _sum(own: Sum) -> Answer:
    amounts: Mapping[str, Money] = dict(own.money)
    unpriced = {sort.capacity_type for sort in own.unpriced}
    return {
        "nodeHours": {kind: hours(seconds) for kind, seconds in own.seconds},
        "cost": {kind: None if kind in unpriced else money(amount) for kind, amount in amounts.items()}
        | {"sum": money(own.bought)},
    }


def _month(one: MonthPlan, budget: Decimal | None) -> Answer:
    return {
        "month": one.month,
        "machines": one.peak,
        **_sum(one.sum),
        "least": money(one.least),
        "most": money(one.most),
        "reserved": [{"reservation": key, **_use(use)} for key, use in one.paid],
        "budget": None if budget is None else str(budget),
    }
