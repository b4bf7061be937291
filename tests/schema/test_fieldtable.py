"""The pages of all keys are those that the models make."""

from berth.schema import describe

from tests.fieldtable import FIELDS


def test_the_page_of_fields_is_fresh() -> None:
    """After a change of models: python -m tests.fieldtable."""
    assert FIELDS.read_text("utf-8") == describe.fields_page()
