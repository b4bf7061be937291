"""The engines' own objects of a site, by file, for tests."""

from pathlib import Path
from typing import Any

from berth.output import findinglist
from berth.output.folder import header
from berth.pipeline import Pipeline
from berth.rendering import engine_texts

from tests.generate import document, write
from tests.manifests.parts import Object, objects

HOME = {"url": "https://git.example.org/capacity.git", "revision": "main"}


def resource_class(name: str, cluster: str, *namespaces: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"cluster": cluster, "requests": {"cpu": "1"}}
    if namespaces:
        spec["sessions"] = {"source": "pods", "namespaces": list(namespaces)}
    return document("ResourceClass", name, spec)


def rendered(
    folder: Path, *classes: dict[str, Any], name: str = "uni", **spec: Any
) -> dict[str, list[Object]]:
    """By path; every file has our header."""
    where = folder / "reservations"
    where.mkdir(parents=True, exist_ok=True)
    for one in (
        document("Site", name, {"clusters": [{"name": "prod"}], "repository": HOME, **spec}),
        *classes,
    ):
        write(where, one)
    pipeline = Pipeline(str(folder))
    assert not pipeline.has_errors(), findinglist.text(pipeline.findings(), color=False)
    assert pipeline.site is not None
    found = {}
    for path, text in engine_texts(pipeline.site, pipeline.declared):
        assert text.startswith(header(name))
        assert path not in found
        found[path] = objects(text)
    return found
