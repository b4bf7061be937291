"""Whatever stands wherever in what people say of clouds: it is told there, and reading goes on."""

import pytest

from tests.schema.clouds import MACHINES, NAMES, WHOLE
from tests.schema.junk import JUNK, changed, everything, judge, misspelt, places


def test_the_documents_themselves_are_good() -> None:
    assert everything(WHOLE) == []
    # No class names the machines.
    assert [problem.code for problem in everything([WHOLE[0], MACHINES])] == ["B158"]


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=NAMES)
def test_junk_at_any_place_is_told_there_or_does_no_harm(file: int) -> None:
    for path in places(WHOLE[file]):
        for junk in JUNK if path else JUNK[1:]:
            judge(file, [*WHOLE[:file], changed(WHOLE[file], path, junk), *WHOLE[file + 1 :]])


def test_junk_at_any_place_of_a_machine_is_told_there() -> None:
    for path in places(MACHINES):
        for junk in JUNK if path else JUNK[1:]:
            judge(1, [WHOLE[0], changed(MACHINES, path, junk)])


@pytest.mark.parametrize("file", range(len(WHOLE)), ids=NAMES)
def test_a_misspelt_key_at_any_place_is_told_there_or_does_no_harm(file: int) -> None:
    for path in places(WHOLE[file]):
        if path and isinstance(path[-1], str):
            judge(file, [*WHOLE[:file], misspelt(WHOLE[file], path), *WHOLE[file + 1 :]])
