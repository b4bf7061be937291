"""docs/jupyterhub.md: its values label pods as it says, and its class is that of its profile.

After a change of these values: python -m tests.jupyterhub.record
"""

import json
import re

import pytest
import yaml

from tests.edit.hubvalues import imported
from tests.jupyterhub.record import HERE, PAGE, SECTIONS, blocks

PODS = json.loads((HERE / "pods.json").read_text("utf-8"))["page"]


@pytest.mark.parametrize("heading", SECTIONS)
def test_kubespawner_made_a_pod_with_the_values_that_the_page_shows(heading: str) -> None:
    assert PODS[heading]["values"] == blocks(heading)[0]


@pytest.mark.parametrize("heading", SECTIONS)
def test_the_pod_has_the_labels_that_a_reservation_names(heading: str) -> None:
    (shared,) = blocks("Label the pods of a course")
    (wanted,) = blocks(heading)[1:] or (shared,)

    assert wanted["sessions"]["matchLabels"].items() <= PODS[heading]["labels"].items()


def test_every_section_with_values_of_the_chart_is_tried() -> None:
    shown = re.findall(r"^### (By .+)$", PAGE.read_text("utf-8"), re.M)

    assert shown == list(SECTIONS)


def test_the_class_of_the_example_is_that_of_its_profile() -> None:
    (found, *_) = imported(json.dumps(blocks("By profile")[0])).classes
    page = re.search(r"^## An imported class\n.*?^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert page is not None

    shown = next(yaml.safe_load_all(page[1]))
    assert (shown["metadata"]["name"], shown["spec"]) == (found.name, found.spec)
