"""docs/why-did-my-placeholder-go.md names every reason for which the sweep lowers a pool."""

import ast

from tests.console import ROOT
from tests.pages import text_of

TEXT = " ".join(text_of("docs/why-did-my-placeholder-go.md").split())


def reasons(module: str, *functions: str) -> set[str]:
    """Return the texts in functions of a module, without docstrings and what joins them."""
    tree = ast.parse((ROOT / "gen/berth/core" / f"{module}.py").read_text("utf-8"))
    found: set[str | None] = set()
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        if function.name in functions:
            texts = (node.value for node in ast.walk(function) if isinstance(node, ast.Constant))
            found |= {text.strip(" ,") for text in texts if isinstance(text, str)}
            found -= {(ast.get_docstring(function, clean=False) or "").strip(" ,")}
    return {text for text in found if text}


def test_the_page_names_every_reason() -> None:
    named = reasons("decide", "_reason")

    assert len(named) >= 4
    assert sorted(reason for reason in named if reason not in TEXT) == []
