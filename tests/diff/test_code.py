"""What is said of another version of the in-cluster code, which has other names in git."""

from pathlib import Path

import pytest
from berth.diff.manifests import compare_file
from berth.diff.risks import manifest_warnings
from berth.manifests import code
from berth.rendering import runtime_text

from tests.manifests.parts import small

PATH = "clusters/prod/runtime.yaml"


@pytest.fixture
def now(tmp_path: Path) -> str:
    site, _ = small(tmp_path)
    return runtime_text(site, site.clusters[0], ())


def earlier(text: str) -> str:
    """The same file of a version whose package `runtime` differs in one line."""
    (_, runtime) = map(code.code_map, code.PACKAGES)
    return text.replace(runtime.name, "berth-runtime-0123456789").replace(
        "  sweep.py: |\n", "  sweep.py: |\n    # earlier\n"
    )


def test_only_the_lines_that_differ_are_shown(now: str) -> None:
    assert earlier(now).count("# earlier") == 1
    file_change = compare_file(PATH, earlier(now), now)
    assert file_change is not None
    (one,) = file_change.objects
    differing = [line for line in one.lines(0) if not line.startswith("@@")]

    assert (one.kind, one.name, one.change) == ("ConfigMap", "berth-runtime", "changed")
    assert [line[0] for line in differing] == ["-", "+", "-"]


@pytest.mark.parametrize("after", ["another-version", "an-image", "an-image-in-place-of-quoted-text"])
def test_replaced_config_maps_of_code_cause_no_deletion_warning(now: str, after: str) -> None:
    if after == "an-image-in-place-of-quoted-text":
        now = now.replace("berth.dev/role: code", '"berth.dev/role": "code"')
    file_change = compare_file(PATH, now, earlier(now) if after == "another-version" else None)
    assert file_change is not None

    assert list(manifest_warnings([file_change], [], 0)) == []
