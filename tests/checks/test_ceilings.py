"""Ceilings: what is open at once is what the cluster will hold, minute by minute, and no more is allowed."""

import json
from pathlib import Path
from random import Random

import pytest
from berth.checks.ceilings import Ceilings, PoolLoads, promised, window_steps
from berth.core.sessions import Match
from berth.core.target import full_count, target
from berth.core.timetable import TimetableOccurrence, TimetablePool
from berth.dates.expansion import Occurrence as Dated
from berth.dates.recurrence import expand
from berth.manifests.placed import placed
from berth.schema.values import Seats

from tests.cases import Case
from tests.checks.heldnumbers import API, HPA, NODE_POOL, holding
from tests.runtime.timetables import at
from tests.saying import (
    Value,
    document,
    finding,
    lines,
    reservation,
    resource_class,
    run,
    site,
    valid,
    weekly,
)
from tests.touching import CASES, scene

CORES = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "gpu", "path": "spec.limits.cpu"}
MOST = {**API, "path": "spec.maxReplicas"}
UNCOUNTED = TimetablePool("small", "", "none", match=Match(carries_over=True))


def dated(start: int, end: int, lead: int, seats: Seats) -> Dated:
    return Dated("a", f"a/{start}", start - lead, start, end, seats, "UTC", (), "")


def chosen(random: Random) -> list[Dated]:
    """Up to four occurrences with one lead, by start, most of which touch."""
    lead = random.randrange(4)
    spans = sorted((random.randrange(4, 16), random.randrange(1, 8)) for _ in range(random.randrange(5)))
    seats: list[Seats] = [(("small", random.randint(1, 3)),), (("huge", 5), ("small", 2)), (("huge", 1),)]
    return [
        dated(start * 60, (start + length) * 60, lead * 60, random.choice(seats)) for start, length in spans
    ]


def held(occurrences: list[Dated], now: int) -> int:
    """What the cluster's own function makes of them at a minute."""
    asked = [
        TimetableOccurrence(
            occurrence.id, occurrence.open, occurrence.start, occurrence.end, occurrence.seats
        )
        for occurrence in occurrences
    ]
    return target(asked, now * 60, full_count("small"))


def test_window_steps_equal_the_seats_that_the_cluster_holds_at_every_moment() -> None:
    random = Random(67)
    for _ in range(400):
        occurrences = chosen(random)
        found = window_steps(UNCOUNTED, occurrences)
        instants, changes = found[::2], found[1::2]

        assert instants == sorted(instants)
        for now in range(25):
            now_held = sum(change for at, change in zip(instants, changes, strict=True) if at <= now)
            assert now_held == held(occurrences, now)


@pytest.mark.parametrize("case", [one for one in CASES if "promised" in one], ids=lambda one: str(one["id"]))
def test_promised_seats_equal_the_values_computed_by_hand(case: Case) -> None:
    """Also in the steps, which ceilings add up."""
    told = scene(case)
    (pool,) = told.timetable.pools
    if pool.behavior == "none":
        pool = pool._replace(match=UNCOUNTED.match)
    occurrences = told.timetable.occurrences
    steps = window_steps(
        pool,
        [
            dated(occurrence.start, occurrence.end, occurrence.start - occurrence.open, occurrence.seats)
            for occurrence in occurrences
        ],
    )
    instants = {moment: at(moment) for moment in told.promised}

    assert told.promised == {moment: promised(pool, occurrences, now) for moment, now in instants.items()}
    assert told.promised == {
        moment: sum(
            change for minute, change in zip(steps[::2], steps[1::2], strict=True) if minute * 60 <= now
        )
        for moment, now in instants.items()
    }


def exceeded(*documents: Value | list[Value]) -> list[str]:
    """What the ceilings of the site say, with the file."""
    declared = valid(*documents)
    assert declared.site is not None
    ceilings = Ceilings(declared.site, declared.classes)
    loads = PoolLoads(
        (part, ceilings.loads(part, occurrences), occurrences)
        for one in declared.reservations
        for occurrences in (expand(one, declared.calendars).occurrences,)
        for part in placed(one, declared, declared.site)
    )
    found = ceilings.problems(loads)
    return lines(found, files=True)


def limited(**ceiling: object) -> Value:
    return site({"name": "prod", "ceilings": [ceiling]}, timeZone="Europe/Zurich")


def course(name: str, start: str, end: str, count: int = 25, **spec: object) -> Value:
    """On Mondays of February 2026, in UTC+1, with half an hour of lead."""
    entry = {"dayOfWeek": 1, "startTime": start, "endTime": end}
    return reservation(name, recurrence=weekly(entry), provisioning={"placeholderCount": count}, **spec)


def test_seats_up_to_the_ceiling_are_no_fault() -> None:
    both = [course("a", "09:00", "12:00"), course("b", "11:00", "13:00"), resource_class()]

    assert exceeded(*both, limited(seats={"small": 50}, requests={"cpu": "50"})) == []
    assert exceeded(*both, site()) == []


def test_seats_above_the_ceiling_are_reported_at_the_window_that_opened_last() -> None:
    both = [course("a", "09:00", "12:00"), course("b", "11:00", "13:00", 26), resource_class()]

    assert exceeded(*both, limited(seats={"small": 50})) == [
        finding("b.yaml B067 spec.provisioning", "b 26, a 25", "2026-02-02T09:30:00Z", "51", "50")
    ]


def test_a_window_that_ends_when_the_next_opens_does_not_overlap_it() -> None:
    both = [course("a", "09:00", "12:00"), course("b", "12:30", "13:00"), resource_class()]

    assert exceeded(*both, limited(seats={"small": 49})) == []
    assert exceeded(
        *both[:1], course("b", "12:29", "13:00"), resource_class(), limited(seats={"small": 49})
    ) == [finding("b.yaml B067 spec.provisioning", "a 25, b 25", "2026-02-02T10:59:00Z", "50", "49")]


def test_requests_are_summed_over_all_classes_of_the_cluster() -> None:
    small = resource_class(requests={"cpu": "250m", "memory": "1Gi"})
    huge = resource_class("huge", requests={"cpu": 1, "nvidia.com/gpu": 2})
    both = [
        course("a", "09:00", "12:00"),
        course("b", "11:00", "13:00", 3, resourceClass="huge"),
        small,
        huge,
    ]

    assert exceeded(*both, limited(requests={"cpu": "9.2", "memory": "24Gi", "nvidia.com/gpu": 6})) == [
        finding("b.yaml B067 spec.provisioning", "a 6.25, b 3", "2026-02-02T09:30:00Z", "9.25"),
        finding("a.yaml B067 spec.provisioning", "a 25Gi", "2026-02-02T07:30:00Z", "24Gi"),
    ]


def test_an_overhead_counts_for_a_ceiling() -> None:
    seats = [course("a", "09:00", "12:00"), resource_class(requests={"cpu": "1"}, overhead={"cpu": "250m"})]

    assert exceeded(*seats, limited(requests={"cpu": "31.25"})) == []
    assert exceeded(*seats, limited(requests={"cpu": "31"})) == [
        finding("a.yaml B067 spec.provisioning", "31.25", "31")
    ]


def test_a_ceiling_applies_on_its_dates_in_the_site_time_zone() -> None:
    night = [course("a", "22:00", "02:00"), resource_class()]

    # Until 1 February in Zurich, the windows of 2, 9, 16 and 23 February are not there yet.
    assert exceeded(*night, limited(seats={"small": 0}, until="2026-02-01")) == []
    assert exceeded(*night, limited(seats={"small": 0}, until="2026-02-02"))[0] == finding(
        "a.yaml B067 spec.provisioning", "2026-02-02T20:30:00Z", "25"
    )
    # From midnight in Zurich on, which is 23:00 in UTC, the window that is open then counts.
    assert exceeded(*night, limited(seats={"small": 0}, **{"from": "2026-02-24"})) == [
        finding("a.yaml B067 spec.provisioning", "a 25", "2026-02-23T23:00:00Z")
    ]
    assert exceeded(*night, limited(seats={"small": 0}, **{"from": "2026-02-25"})) == []


def test_suspended_reservations_and_other_clusters_do_not_count() -> None:
    suspended = course("a", "09:00", "12:00", suspend=True)
    hub = resource_class("student", cluster="hub")
    other = course("b", "09:00", "12:00", resourceClass="student")
    two = site({"name": "prod", "ceilings": [{"requests": {"cpu": "1"}}]}, {"name": "hub"})

    assert exceeded(suspended, other, resource_class(cluster="prod"), hub, two) == []


def test_classes_and_resources_without_a_ceiling_do_not_count() -> None:
    course_of_huge = course("a", "09:00", "12:00", resourceClass="huge")
    huge = resource_class("huge", requests={"memory": "1Gi"})

    assert (
        exceeded(course_of_huge, resource_class(), huge, limited(seats={"small": 0}, requests={"cpu": 0}))
        == []
    )


def test_a_reservation_with_several_classes_is_named_once_with_their_sum() -> None:
    seats = [{"resourceClass": name, "placeholderCount": 2} for name in ("small", "huge")]
    both = reservation(resourceClass=None, provisioning={"seats": seats})

    assert exceeded(both, resource_class(), resource_class("huge"), limited(requests={"cpu": 3})) == [
        finding("a.yaml B067 spec.provisioning", "course 4", "2026-02-02T07:30:00Z")
    ]


@pytest.mark.parametrize(
    ("dates", "codes"), [(["2026-02-30"], {"B017"}), (["2026-02-03"], {"B067"})], ids=["faulty", "sound"]
)
def test_a_faulty_calendar_prevents_ceiling_findings(
    tmp_path: Path, dates: list[str], codes: set[str]
) -> None:
    documents = (
        limited(seats={"small": 0}),
        resource_class(),
        document("Calendar", "holidays", {"dates": dates}),
        reservation(recurrence=weekly(calendars=["holidays"])),
    )
    found = run(tmp_path, {f"{i}.json": json.dumps(one) for i, one in enumerate(documents)})

    assert {line.partition("[")[2][:4] for line in found} - {"B032"} == codes


def standing(name: str, count: int, **backend: object) -> Value:
    spec = {"type": "koordinator", "standing": True, **backend}
    return reservation(name, recurrence=None, backend=spec, provisioning={"placeholderCount": count})


def where_koordinator_is(**ceiling: object) -> Value:
    return site({"name": "prod", "ceilings": [ceiling], "koordinator": {}}, timeZone="Europe/Zurich")


HUB = {"source": "jupyterhub", "namespaces": ["hub"], "selector": {"matchLabels": {"size": "small"}}}


def test_standing_slots_count_together_with_every_open_window() -> None:
    both = [course("a", "09:00", "12:00"), standing("lab", 5), resource_class(sessions=HUB)]

    assert exceeded(*both, where_koordinator_is(seats={"small": 30})) == []
    assert exceeded(*both, where_koordinator_is(seats={"small": 29})) == [
        finding("a.yaml B067 spec.provisioning", "a 25, lab 5", "2026-02-02T07:30:00Z", "29")
    ]


def test_standing_slots_alone_are_reported_without_a_time() -> None:
    assert exceeded(
        standing("lab", 5), resource_class(sessions=HUB), where_koordinator_is(requests={"cpu": "4"})
    ) == [finding("a.yaml B067 spec.provisioning", "lab 5", "4")]


def test_standing_slots_count_until_they_expire() -> None:
    def until(expires: str) -> list[str]:
        return exceeded(
            standing("lab", 5),
            course("a", "09:00", "12:00"),
            resource_class(sessions=HUB, reservation={"spec": {"expires": expires}}),
            where_koordinator_is(seats={"small": 29}),
        )

    assert until("2026-02-02T07:30:00Z") == []
    assert until("2026-02-02T07:30:01Z") == [
        finding("b.yaml B067 spec.provisioning", "a 25, lab 5", "2026-02-02T07:30:00Z", "29")
    ]


@pytest.mark.parametrize(
    ("target", "limit", "is_exceeded"),
    [
        pytest.param(API, {"seats": {"small": 24}}, True, id="replicas-as-seats"),
        pytest.param(API, {"requests": {"cpu": "24"}}, True, id="replicas-are-pods"),
        pytest.param(API, {"seats": {"small": 25}, "requests": {"cpu": "25"}}, False, id="enough"),
        pytest.param(CORES, {"seats": {"small": 24}}, True, id="cores-as-seats"),
        pytest.param(CORES, {"requests": {"cpu": "1"}}, False, id="cores-are-no-pods"),
        pytest.param(MOST, {"seats": {"small": 24}}, True, id="most-replicas-as-seats"),
        pytest.param(MOST, {"requests": {"cpu": "1"}}, False, id="most-replicas-request-nothing"),
    ],
)
def test_held_numbers_count_as_seats_and_only_pods_count_as_requests(
    target: Value, limit: Value, is_exceeded: bool
) -> None:
    cluster = {"name": "prod", "ceilings": [limit], "held": [HPA, NODE_POOL]}
    found = exceeded(holding(target=target), resource_class(), site(cluster))

    assert found == (["a.yaml B067 spec.provisioning"] if is_exceeded else [])


@pytest.mark.parametrize(
    ("ceiling", "most"),
    [pytest.param({"seats": {"small": 60}}, 60, id="seats"),
     pytest.param({"requests": {"cpu": "60"}}, 60, id="requests")],
)  # fmt: skip
@pytest.mark.parametrize("is_suspended", [False, True], ids=["open", "suspended"])
def test_the_field_otherwise_counts_toward_a_ceiling(ceiling: Value, most: int, is_suspended: bool) -> None:
    """Also of a suspended reservation, whose number goes back to it."""

    def told(otherwise: int) -> list[str]:
        there = site({"name": "prod", "held": [HPA], "ceilings": [ceiling]})
        number = holding(otherwise=otherwise, spec={"suspend": is_suspended})
        return exceeded(number, there, resource_class())

    assert told(most) == []
    assert told(most + 1) == [finding("a.yaml B067 spec.backend.otherwise", "61", "60")]


@pytest.mark.parametrize("is_suspended", [False, True], ids=["open", "suspended"])
def test_only_the_floor_counts_as_requests_beside_a_cap(is_suspended: bool) -> None:
    spec: Value = {"provisioning": {"placeholderCount": 18}, "suspend": is_suspended}
    both = (
        holding("a", API, otherwise=18, spec=spec),
        holding("b", MOST, otherwise=18, spec=spec),
        resource_class(requests={"cpu": "500m"}),
    )

    def told(cores: str) -> list[str]:
        return exceeded(
            *both, site({"name": "prod", "held": [HPA], "ceilings": [{"requests": {"cpu": cores}}]})
        )

    assert told("9") == []
    assert told("8") == [finding("a.yaml B067 spec.backend.otherwise", "9", "8")]


def numbers(most: int, *reservations: Value, **ceiling: object) -> list[str]:
    """What a ceiling on seats says of reservations that hold numbers."""
    there = site({"name": "prod", "held": [HPA], "ceilings": [{"seats": {"small": most}, **ceiling}]})
    return exceeded(*reservations, there, resource_class())


def of_api(name: str, number: str, otherwise: int, **spec: object) -> Value:
    return holding(name, {**API, "name": number}, otherwise=otherwise, spec=spec)


@pytest.mark.parametrize("spec", [{}, {"suspend": True}], ids=["open", "suspended"])
def test_the_field_otherwise_is_summed_over_all_numbers(spec: Value) -> None:
    """Each alone is below it, and so is each window."""
    three = [of_api(name, name, 30) for name in ("a", "b")] + [of_api("c", "c", 30, **spec)]

    assert numbers(90, *three) == []
    assert numbers(89, *three) == [
        finding("c.yaml B067 spec.backend.otherwise", "a 30, b 30, c 30", "90", "89")
    ]
    assert len(numbers(89, *three, until="2026-01-01")) == 1  # before all windows
    assert len(numbers(89, *three, **{"from": "2027-01-01"})) == 1


def test_the_field_otherwise_is_added_to_open_windows_of_others() -> None:
    both = course("a", "09:00", "12:00"), of_api("b", "b", 30, recurrence=weekly(), suspend=True)

    assert numbers(55, *both) == []
    assert numbers(54, *both) == [
        finding("a.yaml B067 spec.provisioning", "b 30, a 25", "otherwise", "55", "54")
    ]


@pytest.mark.parametrize("count", [25, 40], ids=["lower", "higher"])
def test_a_window_of_a_number_replaces_its_field_otherwise(count: int) -> None:
    number = of_api("a", "a", 30, provisioning={"placeholderCount": count})
    most = max(count, 30)

    assert numbers(most, number) == []
    place = "spec.backend.otherwise" if count < 30 else "spec.provisioning"
    assert numbers(most - 1, number) == [finding(f"a.yaml B067 {place}", most)]


def test_the_field_otherwise_counts_once_per_shared_number() -> None:
    morning, evening = (
        weekly({"dayOfWeek": 1, "startTime": start, "endTime": end})
        for start, end in (("08:00", "09:00"), ("19:00", "20:00"))
    )
    shared = [
        of_api("a", "api", 30, recurrence=morning),
        of_api("b", "api", 30, recurrence=evening),
        of_api("c", "api", 30, suspend=True),
    ]

    assert numbers(30, *shared) == []
    assert numbers(29, *shared) == ["c.yaml B067 spec.backend.otherwise"]


@pytest.mark.parametrize(
    ("target", "combine", "most", "place", "holders"),
    [
        pytest.param(API, None, 40, "b.yaml B067 spec.provisioning", "b 40", id="largest"),
        pytest.param(MOST, "smallest", 30, "b.yaml B067 spec.backend.otherwise", "b 30", id="smallest"),
        pytest.param(CORES, "sum", 65, "b.yaml B067 spec.provisioning", "b 40, a 25", id="sum"),
    ],
)
def test_simultaneous_windows_of_a_number_count_as_it_combines_them(
    target: Value, combine: str | None, most: int, place: str, holders: str
) -> None:
    both = [
        holding(
            name,
            target,
            otherwise=30,
            spec={"provisioning": {"placeholderCount": count}},
            **({"combine": combine} if combine else {}),
        )
        for name, count in (("a", 25), ("b", 40))
    ]

    def told(ceiling: int) -> list[str]:
        cluster = {"name": "prod", "held": [HPA, NODE_POOL], "ceilings": [{"seats": {"small": ceiling}}]}
        return exceeded(*both, site(cluster), resource_class())

    assert told(most) == []
    assert told(most - 1) == [finding(place, holders, most)]


def test_the_same_number_in_another_cluster_counts_only_there() -> None:
    clusters = [
        {"name": name, "held": [HPA], "ceilings": [{"seats": {name: 30}}]} for name in ("prod", "lab")
    ]
    classes = [resource_class(name, cluster=name) for name in ("prod", "lab")]
    both = [of_api(name, "api", 30, resourceClass=name) for name in ("prod", "lab")]

    assert exceeded(*both, *classes, site(*clusters)) == []


def test_cores_in_the_field_otherwise_do_not_count_as_pods() -> None:
    there = site({"name": "prod", "held": [NODE_POOL], "ceilings": [{"requests": {"cpu": "60"}}]})

    assert exceeded(holding(target=CORES, otherwise=61), there, resource_class()) == []


def test_a_ceiling_finding_names_the_unit_of_its_pools() -> None:
    number = of_api("b", "b", 30, recurrence=weekly(), suspend=True)

    assert numbers(29, number) == [finding("a.yaml B067 spec.backend.otherwise", "30 replicas of small")]
    assert numbers(54, course("a", "09:00", "12:00"), number) == [
        finding("a.yaml B067 spec.provisioning", "55 seats and replicas of small")
    ]
    assert numbers(24, course("a", "09:00", "12:00")) == [
        finding("a.yaml B067 spec.provisioning", "25 seats of small")
    ]
