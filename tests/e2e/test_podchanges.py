"""What takes a remedy away still finds it in the code; without a cluster."""

import pytest
from berth.core.labels import PLUGINS
from berth.manifests.code import PACKAGES, code_map

from tests.e2e.podchanges import REMEDIES, Change


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(change, id=f"{name}-{number}")
        for name, changes in REMEDIES.items()
        for number, (kind, change) in enumerate(changes)
        if kind == "ConfigMap"
    ],
)
def test_a_removed_remedy_changes_exactly_one_package(change: Change) -> None:
    changed = []
    for code_map_ in map(code_map, (*PACKAGES, *PLUGINS)):
        found = {"data": dict(code_map_.files)}
        change(found)
        if found["data"] != dict(code_map_.files):
            changed.append(code_map_.name)

    assert len(changed) == 1
