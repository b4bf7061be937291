"""Can the disruption budgets of a NodePool say all windows of those who may use it?"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.machines.windowbudgets import TooManyBudgets, WindowBudget, WindowBudgets
from berth.pipeline import Pipeline

from tests.checks.clouds import KARPENTER
from tests.clouddocuments import cloud
from tests.saying import Line, Value, finding, reservation, resource_class, site, weekly


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
    pipeline.items()
    return pipeline


def told(pipeline: Pipeline) -> list[str]:
    return [Line(f"{one.code} {one.path}", f"{one.message} {one.fix}") for one in pipeline.findings()]


TERM = weekly(endDate="2026-05-31", timeZone="Europe/Zurich")


def test_dates_that_fit_the_limit_get_exact_budgets(tmp_path: Path) -> None:
    pipeline = read(tmp_path, TERM)

    assert told(pipeline) == []
    assert pipeline.held == {
        "gpu": WindowBudgets(
            (
                WindowBudget("30 6 30 3 *", 270),
                WindowBudget("30 6 4,11,18,25 5 *", 270),
                WindowBudget("30 6 6,13,20,27 4 *", 270),
                WindowBudget("30 7 2,9,16,23 2,3 *", 270),
            ),
            exactly=True,
        )
    }


def test_dates_that_do_not_fit_get_budgets_by_weekday(tmp_path: Path) -> None:
    pipeline = read(tmp_path, TERM, own=48)

    assert told(pipeline) == []
    assert pipeline.held == {
        "gpu": WindowBudgets(
            (WindowBudget("30 6 * 3-5 1", 270), WindowBudget("30 7 2,9,16,23 2,3 *", 270)), exactly=False
        )
    }


def test_a_capacity_with_too_many_budgets_is_refused(tmp_path: Path) -> None:
    pipeline = read(tmp_path, TERM, own=49)

    assert told(pipeline) == [finding("B190 spec", "2", "1")]
    assert pipeline.held == {"gpu": TooManyBudgets(2)}


@pytest.mark.parametrize(
    "more", [{"suspend": True}, {"resourceClass": "other"}], ids=["suspended", "of-another-class"]
)
def test_suspended_reservations_and_other_classes_get_no_budget(tmp_path: Path, more: Value) -> None:
    assert read(tmp_path, TERM, **more).held == {"gpu": WindowBudgets((), exactly=True)}


def test_a_window_open_for_a_year_gets_a_permanent_budget(tmp_path: Path) -> None:
    whole = {
        "type": "once",
        "startDate": "2026-01-01",
        "endDate": "2027-06-30",
        "schedule": [{"startTime": "00:00", "endTime": "24:00"}],
    }
    pipeline = read(tmp_path, whole)

    assert pipeline.held == {"gpu": WindowBudgets((WindowBudget("", 0),), exactly=False)}
    assert [line for line in told(pipeline) if line.startswith("B190")] == []


def test_a_capacity_named_kustomization_is_refused(tmp_path: Path) -> None:
    assert told(read(tmp_path, TERM, name="kustomization")) == [
        finding("B066 metadata.name", "kustomization")
    ]
