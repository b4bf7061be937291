"""docs/why-did-my-placeholder-go.md names every reason for which scaler and sweep lower a pool."""

import ast

import pytest

from tests.console import ROOT
from tests.pages import text_of

TEXT = " ".join(text_of("docs/why-did-my-placeholder-go.md").split())
RAISES = {"opened", "sessions are unknown"}


def reasons(module: str, *functions: str) -> set[str]:
    """Return the texts in functions of a module, without docstrings and what joins them."""
    tree = ast.parse((ROOT / "gen/berth/core" / f"{module}.py").read_text("utf-8"))
    found: set[str | None] = set()
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        if function.name in functions:
            texts = (node.value for node in ast.walk(function) if isinstance(node, ast.Constant))
            found |= {text.strip(" ,") for text in texts if isinstance(text, str)}
            found -= {ast.get_docstring(function, clean=False)}
    return {text for text in found if text}


@pytest.mark.parametrize(
    "named",
    [reasons("target", "_reason", "_of_override", "_of_sessions"), reasons("decide", "_reason")],
    ids=["scaler", "sweep"],
)
def test_it_names_every_reason(named: set[str]) -> None:
    assert len(named) >= 4
    assert sorted(reason for reason in named - RAISES if reason not in TEXT) == []
