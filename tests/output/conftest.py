"""An output folder."""

from pathlib import Path

import pytest

from tests.outputfolder import OLD, render


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder as a render left it."""
    folder = tmp_path / "rendered"
    render(folder, OLD)
    return folder
