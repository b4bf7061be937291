"""Can the disruption budgets of a NodePool say all windows of those who may use it?"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gen.pipeline import Pipeline
from gen.plan.windows import Budgets, Held, TooMany
from tests.check.clouds import KARPENTER
from tests.saying import Value, reservation, resource_class, site, weekly
from tests.schema.test_cloudcapacity import cloud


def read(folder: Path, course: Value, own: int = 1, name: str = "gpu", **more: Any) -> Pipeline:
    """`own`: budgets that the capacity has already."""
    budgets = [{"nodes": "1"}] * own
    whole = [
        site(KARPENTER),
        resource_class(cloudCapacity=[name]),
        cloud(name, disruption={"budgets": budgets}),
        reservation(recurrence=course, **more),
    ]
    (folder / "reservations").mkdir()
    for i, one in enumerate(whole):
        (folder / "reservations" / f"{i}.yaml").write_text(yaml.safe_dump(one))
    pipeline = Pipeline(str(folder))
    for _ in pipeline.items():
        pass
    return pipeline


def told(pipeline: Pipeline) -> list[str]:
    return [f"{one.code} {one.path}: {one.message} {one.fix}" for one in pipeline.findings()]


TERM = weekly(endDate="2026-05-31", timeZone="Europe/Zurich")
FIX = "Let windows open and close at the same times, or give some classes another CloudCapacity."


def test_dates_that_fit_are_said_as_they_are(tmp_path: Path) -> None:
    pipeline = read(tmp_path, TERM)

    assert told(pipeline) == []
    assert pipeline.held == {
        "gpu": Budgets(
            (
                Held("30 6 30 3 *", 270),
                Held("30 6 4,11,18,25 5 *", 270),
                Held("30 6 6,13,20,27 4 *", 270),
                Held("30 7 2,9,16,23 2,3 *", 270),
            ),
            exactly=True,
        )
    }


def test_where_they_do_not_fit_what_is_held_beyond_them_is_told(tmp_path: Path) -> None:
    pipeline = read(tmp_path, TERM, own=48)

    assert told(pipeline) == [
        "B191 spec: date by date, the windows of its classes need more than the 2 disruption budgets that a "
        f"NodePool has room for: nodes are kept in like hours of other days too. {FIX}"
    ]
    assert pipeline.held == {
        "gpu": Budgets((Held("30 6 * 3-5 1", 270), Held("30 7 2,9,16,23 2,3 *", 270)), exactly=False)
    }


def test_where_nothing_fits_it_is_refused(tmp_path: Path) -> None:
    pipeline = read(tmp_path, TERM, own=49)

    assert told(pipeline) == [
        "B190 spec: the windows of its classes need 2 disruption budgets; a NodePool has room for 1. " + FIX
    ]
    assert pipeline.held == {"gpu": TooMany(2)}


@pytest.mark.parametrize(
    "more", [{"suspend": True}, {"resourceClass": "other"}], ids=["suspended", "of-another-class"]
)
def test_others_hold_nothing(tmp_path: Path, more: Value) -> None:
    assert read(tmp_path, TERM, **more).held == {"gpu": Budgets((), exactly=True)}


def test_what_is_open_for_a_year_is_held_always_and_that_is_no_surprise(tmp_path: Path) -> None:
    whole = {
        "type": "once",
        "startDate": "2026-01-01",
        "endDate": "2027-06-30",
        "schedule": [{"startTime": "00:00", "endTime": "24:00"}],
    }
    pipeline = read(tmp_path, whole)

    assert pipeline.held == {"gpu": Budgets((Held("", 0),), exactly=False)}
    assert [line for line in told(pipeline) if line.startswith("B19")] == []


def test_a_capacity_is_not_called_like_a_file_of_kustomize(tmp_path: Path) -> None:
    assert told(read(tmp_path, TERM, name="kustomization")) == [
        "B066 metadata.name: its file would be named kustomization.yaml, like that of kustomize. "
        "Rename the capacity."
    ]
