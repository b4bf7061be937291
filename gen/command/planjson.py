"""A plan as JSON: kind Plan. Stable, and documented in README."""

from collections.abc import Mapping
from decimal import Decimal

from gen import report
from gen.core.instants import instant_text
from gen.cost.dates import OccurrencePlan
from gen.cost.jsonvalues import machines_json, money_json, use_json
from gen.cost.ledger import Sum
from gen.cost.plan import MonthPlan, Peak, Plan, ReservedPlan
from gen.cost.shop import TABLE
from gen.cost.values import Money
from gen.report import hours_json

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
            "zonesAssumed": [{"cloudCapacity": name, "zones": list(zones)} for name, zones in plan.assumed],
        },
    )


def _peak(one: Peak) -> Answer:
    return {
        "cluster": one.cluster,
        "at": instant_text(one.at),
        "seats": dict(one.seats),
        **({"nodes": dict(one.nodes)} if one.nodes else {}),
        "machines": machines_json(one.machines),
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
        **report.counts_json(one.dated.seats, nodes=one.dated.nodes),
        "machines": machines_json(one.machines),
        "least": one.least,
        "most": one.most,
        "bought": one.bought,
        "idle": one.idle,
        "withoutMachine": [
            {"class": name, "count": lack.count, "reason": lack.kind, "message": lack.message}
            for name, lack in one.lacks
        ],
        "loops": one.loops,
        "leadSeconds": {"karpenter": one.lead, "clusterAutoscaler": one.autoscaler_lead},
    }


def _reserved(one: ReservedPlan) -> Answer:
    said = one.reserved.said
    return {
        "capacityReservation": one.reserved.key,
        "cluster": one.cluster,
        "cloudCapacities": list(one.reserved.capacities),
        "instanceType": said.instance_type,
        "zone": said.zone,
        "count": said.count,
        "from": instant_text(one.since),
        "until": instant_text(one.until),
        **use_json(one.use),
    }


def _sum(own: Sum) -> Answer:
    amounts: Mapping[str, Money] = dict(own.money)
    unpriced = {sort.capacity_type for sort in own.unpriced}
    return {
        "machineHours": {kind: hours_json(seconds) for kind, seconds in own.seconds},
        "cost": {kind: None if kind in unpriced else money_json(amount) for kind, amount in amounts.items()}
        | {"sum": money_json(own.bought)},
    }


def _month(one: MonthPlan, budget: Decimal | None) -> Answer:
    return {
        "month": one.month,
        "machines": one.peak,
        **_sum(one.sum),
        "least": money_json(one.least),
        "most": money_json(one.most),
        "reserved": [{"capacityReservation": key, **use_json(use)} for key, use in one.paid],
        "budget": None if budget is None else str(budget),
    }
