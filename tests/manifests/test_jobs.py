"""The pods of our own Jobs: the occurrence with its scaler, and the sweep."""

from pathlib import Path

import pytest

from tests.cli import project
from tests.manifests.parts import Object, of_cluster, of_part, pod_specs, small

CLASSES = project.CLASSES.replace(
    "{cpu: 250m}", "{cpu: 250m}\n  renkuId: 7\n  sessions: {source: SOURCE, namespaces: [there]}"
)
TOKEN = "  renku: {url: https://renku.example.org, tokenSecret: {name: renku-token, key: the.key}}\n"
TEMPLATE = "  sessions: {projectTemplate: 01JC3CB5426KC7P5STS5X3KSS8}\n"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # where clients look for it


def occurrence(
    folder: Path,
    behaviour: str = "maintain",
    source: str = "pods",
    site: str = project.SITE,
    template: str = "",
) -> Object:
    """The pod of an occurrence of `rest`, which is on the cluster lab."""
    rest = project.REST.replace("scaleDownBehavior: none", f"scaleDownBehavior: {behaviour}") + template
    found, parts = small(folder, classes=CLASSES.replace("SOURCE", source), rest=rest, site=site)
    (_, pod) = pod_specs(of_part(found, parts["rest/lab"]))
    return pod


def variables(container: Object) -> dict[str, str]:
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}


def test_only_the_scaler_has_a_token(tmp_path: Path) -> None:
    """Its volume is what Kubernetes mounts into every container of other pods."""
    pod = occurrence(tmp_path)
    (main,), (sidecar,) = pod["containers"], pod["initContainers"]

    assert pod["automountServiceAccountToken"] is False
    assert [one["mountPath"] for one in main["volumeMounts"]] == ["/berth/berth/runtime", "/share"]
    assert [one for one in sidecar["volumeMounts"] if one["name"] == "token"] == [
        {"name": "token", "mountPath": TOKEN_FOLDER, "readOnly": True}
    ]


@pytest.mark.parametrize(
    ("behaviour", "source", "site", "template", "mounted"),
    [
        ("maintain", "renku", project.SITE + TOKEN, TEMPLATE, True),
        ("reduce", "renku", project.SITE + TOKEN, TEMPLATE, True),
        ("maintain", "renku", project.SITE + TOKEN, "", False),
        ("maintain", "renku", project.SITE + TOKEN, "  sessions: {matchLabels: {a: b}}\n", False),
        ("none", "renku", project.SITE + TOKEN, TEMPLATE, False),
        ("maintain", "renku", project.SITE + "  renku: {url: https://renku.example.org}\n", TEMPLATE, False),
    ],
    ids=["maintain", "reduce", "no-template", "only-labels", "none", "no-token"],
)
def test_only_a_scaler_that_counts_by_project_template_mounts_the_renku_token(  # noqa: PLR0913, PLR0917
    tmp_path: Path, behaviour: str, source: str, site: str, template: str, mounted: bool
) -> None:
    pod = occurrence(tmp_path, behaviour, source, site, template)
    (main,) = pod["containers"]
    secret = {"secretName": "renku-token", "optional": True, "items": [{"key": "the.key", "path": "token"}]}

    assert "BERTH_RENKU_TOKEN_FILE" not in variables(main)
    assert "renku" not in {one["name"] for one in main["volumeMounts"]}
    volumes = [one for one in pod["volumes"] if "secret" in one]
    assert volumes == ([{"name": "renku", "secret": secret}] if mounted else [])
    (sidecar,) = pod["initContainers"]
    assert variables(sidecar).get("BERTH_RENKU_TOKEN_FILE") == ("/renku/token" if mounted else None)
    mounts = [one for one in sidecar["volumeMounts"] if one["name"] == "renku"]
    assert mounts == ([{"name": "renku", "mountPath": "/renku", "readOnly": True}] if mounted else [])


def test_volumes_of_a_pod_have_unique_names(tmp_path: Path) -> None:
    """With a token, and with all plugins: the API server refuses the pod otherwise."""
    text = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}, engine: none}")
    pods = [occurrence(tmp_path, "maintain", "renku", project.SITE + TOKEN, TEMPLATE)]
    pods += pod_specs(of_cluster(tmp_path, "prod", site=text))

    for pod in pods:
        names = [volume["name"] for volume in pod["volumes"]]
        assert len(names) == len(set(names)) > 2, names
