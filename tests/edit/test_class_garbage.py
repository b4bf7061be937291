"""Whatever stands wherever in values or in an answer of Renku: there are classes, or findings say why not."""

import json
from typing import Any

import pytest
from berth.edit.classes import ClassRequest, ImportedClasses, import_renku_classes, import_z2jh
from berth.reading.source import Source

from tests.schema.junk import changed, places

VALUES = {
    "singleuser": {
        "memory": {"guarantee": "1G"},
        "extraTolerations": [{"key": "a", "operator": "Exists"}],
        "profileList": [
            {
                "display_name": "Large",
                "slug": "large",
                "kubespawner_override": {"mem_guarantee": "2G", "extra_labels": {"a": "b"}},
                "profile_options": {"o": {"choices": {"c": {"kubespawner_override": {"cpu_limit": 2}}}}},
            }
        ],
    },
    "hub": {"config": {"KubeSpawner": {"cpu_limit": 1}}, "extraConfig": {"a": "b"}},
    "scheduling": {"userScheduler": {"enabled": False}, "podPriority": {"enabled": True}},
}
HELM = {
    "valueFiles": ["a.yaml"],
    "values": "singleuser: {}",
    "valuesObject": VALUES,
    "parameters": [{"name": "singleuser.cpu.limit", "value": "1"}],
}
DOCUMENTS: dict[str, Any] = {
    "values": VALUES,
    "flux": {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "hub", "namespace": "hub"},
        "spec": {"releaseName": "hub", "valuesFrom": [{"kind": "Secret", "name": "a"}], "values": VALUES},
    },
    "argocd": {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "hub"},
        "spec": {"destination": {"namespace": "hub"}, "source": {"path": "a", "helm": HELM}},
    },
    "argocd-sources": {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "hub"},
        "spec": {"sources": [{"ref": "a"}, {"helm": {"releaseName": "a", "values": "singleuser: {}"}}]},
    },
}
POOL = {
    "id": 1,
    "name": "Public pool",
    "remote": {"kind": "runai"},
    "cluster": {"id": "a"},
    "classes": [
        {
            "id": 2,
            "name": "small",
            "cpu": 0.5,
            "memory": 2,
            "gpu": 1,
            "tolerations": ["a-key"],
            "node_affinities": [{"key": "b-key", "required_during_scheduling": True}],
        }
    ],
}
PLAIN: tuple[Any, ...] = (None, True, -1, 1.5, "", "A b", [], ["x"], {}, {"x": "y"}, [[None]], "a\n\x1b" * 99)


def is_told(found: ImportedClasses) -> bool:
    """Tell whether there are classes or errors, each with a sentence and a place."""
    errors = [finding for finding in found.findings if finding.severity == "error" or finding.code == "B007"]
    return bool(found.classes) != bool(errors) and all(
        finding.message and finding.line for finding in found.findings
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_junk_in_hub_values_gives_either_classes_or_findings(name: str) -> None:
    document = DOCUMENTS[name]
    for place in places(document):
        for junk in PLAIN:
            text = json.dumps(changed(document, place, junk)).encode()
            assert is_told(import_z2jh(ClassRequest((Source("hub.yaml", text),)))), (place, junk)


@pytest.mark.parametrize("answer", [[POOL], {"error": {"code": 1, "message": "a"}}], ids=["pools", "error"])
def test_junk_in_an_answer_of_renku_gives_either_classes_or_findings(answer: Any) -> None:
    for place in places(answer):
        for junk in PLAIN:
            text = json.dumps(changed(answer, place, junk)).encode()
            request = ClassRequest((Source("pools.json", text),), pools=("Public pool",))
            imported_classes = import_renku_classes(request)
            assert is_told(imported_classes), (place, junk)
