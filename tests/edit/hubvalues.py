"""The values of the hubs of tests/jupyterhub, and what an import makes of values."""

import json
from pathlib import Path
from typing import Any

from berth.edit.classes import ClassRequest, ImportedClasses, classes_text, import_z2jh
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.values import ResourceClass

from tests.jupyterhub.record import HUBS

HERE = Path(__file__).parents[1] / "jupyterhub"
PODS = json.loads((HERE / "pods.json").read_text("utf-8"))
PROFILES = "profiles.yaml"  # a hub whose profiles have labels
VALUES = (HERE / PROFILES).read_bytes()
OPTIONS = HUBS[PROFILES]
SITE = b"apiVersion: berth.dev/v1alpha1\nkind: Site\nmetadata: {name: a}\nspec: {clusters: [{name: prod}]}\n"


def imported(*texts: str | bytes, **request: Any) -> ImportedClasses:
    """Import files that are layers: values.yaml, values1.yaml and so on."""
    files = [text if isinstance(text, bytes) else text.encode() for text in texts]
    sources = tuple(Source(f"values{i or ''}.yaml", text) for i, text in enumerate(files))
    return import_z2jh(ClassRequest(sources, **request))


def declared(found: ImportedClasses) -> dict[str, ResourceClass]:
    """Return the classes as they are read from the file that is written."""
    assert found.findings == ()
    text = classes_text(None, (), found.classes)[0]
    project = Pipeline(sources=[Source("a.yaml", SITE), Source("b.yaml", text.encode())])
    assert project.problems == []
    return project.declared.classes


def classes(*values: str | bytes, **request: Any) -> dict[str, ResourceClass]:
    return declared(imported(*values, **request))
