"""What `berth plan` answers of the small project with clouds."""

from typing import Any

TEXT = """\
This is an estimate by the rules of Karpenter, for 2026-02-02 to 2026-02-24: 45.15 machine-hours, 27.08 of them on reserved machines. The others cost 6.94 USD.

Cluster peaks
CLUSTER  WHEN                  SEATS     MACHINES  WHICH
prod     Mon 2026-02-02 08:30  25 small  4         2 reserved m5.2xlarge, 2 on-demand m5.2xlarge

Dates
RESERVATION  DATES                              SEATS     MACHINES  WHICH                                          IDLE RESERVED  MACHINE H  COST  LOOPS  LEAD
course       2 from 2026-02-02 to 2026-02-24    25 small  4         2 reserved m5.2xlarge, 2 on-demand m5.2xlarge                 18.07      3.47  2      3 min
night        Sat 2026-02-07 22:00 to Sun 06:00  2 small   1         1 reserved m5.2xlarge                          1              9.02       0.00  1      3 min

Reserved machines
RESERVED              MACHINES      HOURS  USED H  IDLE H   IDLE SHARE  COST USD  IDLE USD
cr-0123456789abcdef0  2 m5.2xlarge  1344   27.08   1316.92  98%         403.20    395.08

Reservations, USD
RESERVATION  RESERVED H  ON-DEMAND H  COST
course       18.07       18.07        6.94
night        9.02                     0.00

Classes, USD
CLASS  RESERVED H  ON-DEMAND H  COST
small  27.08       18.07        6.94

Months, USD
MONTH    MOST MACHINES  RESERVED H  ON-DEMAND H  COST  PAID AHEAD  IDLE USD
2026-02  4              27.08       18.07        6.94  402.60      394.48
2026-03                                          0.00  0.60        0.60
all                     27.08       18.07        6.94

Prices in US dollars: from the files, else from on-demand prices of us-east-1 of 2026-01-19.
Not planned: bench (names no cloudCapacity).
"""  # noqa: E501 - as it is


def machines(kind: str, count: int, reservation: str | None = None) -> dict[str, Any]:
    return {
        "cloudCapacity": "general",
        "instanceType": "m5.2xlarge",
        "capacityType": kind,
        "zone": "us-east-1a",
        "capacityReservation": reservation,
        "count": count,
    }


def sums(reserved: float, on_demand: float, cost: str) -> dict[str, Any]:
    return {
        "machineHours": {"reserved": reserved, "on-demand": on_demand, "spot": 0},
        "cost": {"on-demand": cost, "spot": "0.00", "sum": cost},
    }


BLOCK = "cr-0123456789abcdef0"
ALL = sums(27.083333333333332, 18.066666666666666, "6.9376")
NIGHT: dict[str, Any] = {
    "reservation": "night",
    "id": "night/2026-02-07T22:00",
    "cluster": "prod",
    "open": "2026-02-08T02:00:00Z",
    "start": "2026-02-08T03:00:00Z",
    "end": "2026-02-08T11:00:00Z",
    "seats": {"small": 2},
    "machines": [machines("reserved", 1, BLOCK)],
    "bought": 1,
    "idle": 1,
    "withoutMachine": [],
    **sums(9.016666666666667, 0, "0.00"),
    "loops": 1,
    "leadSeconds": 141,
}
REST: dict[str, Any] = {
    "estimate": True,
    "from": "2026-02-02T07:30:00Z",
    "until": "2026-02-24T12:01:00Z",
    "currency": "USD",
    "prices": {"table": "on-demand prices of us-east-1 of 2026-01-19", "missing": []},
    "peaks": [
        {
            "cluster": "prod",
            "at": "2026-02-02T07:30:00Z",
            "seats": {"small": 25},
            "machines": [machines("on-demand", 2), machines("reserved", 2, BLOCK)],
            "idle": 0,
            "withoutMachine": 0,
        }
    ],
    "reserved": [
        {
            "capacityReservation": BLOCK,
            "cluster": "prod",
            "cloudCapacities": ["general"],
            "instanceType": "m5.2xlarge",
            "zone": "us-east-1a",
            "count": 2,
            "from": "2026-02-01T00:00:00Z",
            "until": "2026-03-01T00:00:00Z",
            "hours": 1344,
            "usedHours": 27.083333333333332,
            "idleHours": 1316.9166666666667,
            "cost": "403.20",
            "idleCost": "395.075",
        }
    ],
    "reservations": [
        {"name": "course", "cluster": "prod", **sums(18.066666666666666, 18.066666666666666, "6.9376")},
        {"name": "night", "cluster": "prod", **sums(9.016666666666667, 0, "0.00")},
    ],
    "classes": [{"name": "small", "cluster": "prod", **ALL}],
    "months": [
        {
            "month": "2026-02",
            "machines": 4,
            **ALL,
            "reserved": [
                {
                    "capacityReservation": BLOCK,
                    "hours": 1342,
                    "usedHours": 27.083333333333332,
                    "idleHours": 1314.9166666666667,
                    "cost": "402.60",
                    "idleCost": "394.475",
                }
            ],
            "budget": None,
        },
        {
            "month": "2026-03",
            "machines": 0,
            **sums(0, 0, "0.00"),
            "reserved": [
                {
                    "capacityReservation": BLOCK,
                    "hours": 2,
                    "usedHours": 0,
                    "idleHours": 2,
                    "cost": "0.60",
                    "idleCost": "0.60",
                }
            ],
            "budget": None,
        },
    ],
    "total": {
        **ALL,
    },
    "notPlanned": [{"name": "bench", "reason": "names no cloudCapacity"}],
    "leftOut": [],
    "zonesAssumed": [],
}
