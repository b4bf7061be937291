"""The pods of our own Jobs: the occurrence with its scaler, and the sweep."""

from pathlib import Path

import pytest
from berth.manifests import code

from tests.cli import project
from tests.manifests.parts import Object, of_cluster, of_kind, of_part, pod_specs, small

CLASSES = project.CLASSES.replace(
    "{cpu: 250m}", "{cpu: 250m}\n  renkuId: 7\n  sessions: {source: SOURCE, namespaces: [there]}"
)
TOKEN = "  renku: {url: https://renku.example.org, tokenSecret: {name: renku-token, key: the.key}}\n"
TEMPLATE = "  sessions: {projectTemplate: 01JC3CB5426KC7P5STS5X3KSS8}\n"
CORE, RUNTIME = (code_map_.name for code_map_ in map(code.code_map, code.PACKAGES))
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # where clients look for it
LIMITS = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}
WAITING = {"requests": {"cpu": "1m", "memory": "12Mi"}, "limits": {"memory": "32Mi"}}


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


def sweep(folder: Path, cluster: str, site: str = project.SITE) -> Object:
    (found,) = of_kind("CronJob", of_cluster(folder, cluster, site=site))
    return found


def variables(container: Object) -> dict[str, str]:
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}


def test_no_probe_starts_a_process_or_keeps_a_pod_from_starting(tmp_path: Path) -> None:
    pod = occurrence(tmp_path)

    for one in (*pod["containers"], *pod["initContainers"]):
        assert not {"livenessProbe", "readinessProbe", "startupProbe"} & one.keys()


def test_who_only_waits_needs_little_and_both_are_as_safe(tmp_path: Path) -> None:
    pod = occurrence(tmp_path)
    (main,), (sidecar,) = pod["containers"], pod["initContainers"]

    assert (main["resources"], sidecar["resources"]) == (WAITING, LIMITS)
    for key in ("image", "imagePullPolicy", "securityContext"):
        assert main[key] == sidecar[key]


def test_only_the_scaler_has_a_token(tmp_path: Path) -> None:
    """Its volume is what Kubernetes mounts into every container of other pods."""
    pod = occurrence(tmp_path)
    (main,), (sidecar,) = pod["containers"], pod["initContainers"]
    (volume,) = (one for one in pod["volumes"] if one["name"] == "token")

    assert pod["automountServiceAccountToken"] is False
    assert [one["mountPath"] for one in main["volumeMounts"]] == ["/berth/berth/runtime", "/share"]
    assert [one for one in sidecar["volumeMounts"] if one["name"] == "token"] == [
        {"name": "token", "mountPath": TOKEN_FOLDER, "readOnly": True}
    ]
    assert volume["projected"]["sources"] == [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {
            "downwardAPI": {
                "items": [
                    {
                        "path": "namespace",
                        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                    }
                ]
            }
        },
    ]


def test_the_kubelet_gives_the_token_to_the_user_of_the_scaler(tmp_path: Path) -> None:
    """It makes the file readable for one user, that of the pod; a container of another could not read it."""
    pod = occurrence(tmp_path)

    assert pod["securityContext"]["runAsUser"] == 65532
    for one in (*pod["containers"], *pod["initContainers"]):
        assert "runAsUser" not in one["securityContext"]


def test_a_window_has_one_job_at_a_time(tmp_path: Path) -> None:
    """Two scalers would contradict each other."""
    site, parts = small(tmp_path)
    found = [one for part in parts.values() for one in of_kind("CronJob", of_part(site, part))]

    assert {one["spec"]["concurrencyPolicy"] for one in found} == {"Forbid"}


def test_the_shared_folder_keeps_no_node_from_being_drained(tmp_path: Path) -> None:
    """cluster-autoscaler leaves nodes alone whose pods have an emptyDir that nobody speaks for."""
    site, parts = small(tmp_path)
    (cronjob,) = of_kind("CronJob", of_part(site, parts["night/lab"]))

    assert cronjob["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["annotations"] == {
        "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "share",
    }


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
def test_the_scaler_of_a_project_template_has_the_token_and_nobody_else(  # noqa: PLR0913, PLR0917
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


def test_the_sweep_comes_every_five_minutes_and_cannot_hang(tmp_path: Path) -> None:
    found = sweep(tmp_path, "prod")
    spec = found["spec"]
    job = spec["jobTemplate"]["spec"]

    assert found["metadata"]["name"] == "berth-sweep"
    assert (spec["schedule"], spec["timeZone"], spec["suspend"]) == ("2-59/5 * * * *", "Etc/UTC", False)
    assert spec["concurrencyPolicy"] == "Replace"
    assert spec["startingDeadlineSeconds"] == 300  # the last one that was missed starts at once, and only it
    assert job["activeDeadlineSeconds"] == 290
    assert job["template"]["spec"]["restartPolicy"] == "Never"


def test_the_sweep_has_its_token_as_a_job_has_it(tmp_path: Path) -> None:
    """Short, renewed, and mounted by name: policies such as Kyverno's refuse one mounted by default."""
    ours = sweep(tmp_path, "prod")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    site, parts = small(tmp_path / "job")
    (cronjob,) = of_kind("CronJob", of_part(site, parts["night/lab"]))
    job = cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"]

    assert ours["automountServiceAccountToken"] is False
    mounts = ours["containers"][0]["volumeMounts"], job["initContainers"][0]["volumeMounts"]
    for both in ((ours["volumes"], job["volumes"]), mounts):
        first, second = ([one for one in some if one["name"] == "token"] for some in both)
        assert first == second != []


def test_each_volume_of_a_pod_has_a_name_of_its_own(tmp_path: Path) -> None:
    """With a token, and with all plugins: the API server refuses the pod otherwise."""
    text = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}, engine: none}")
    pods = [occurrence(tmp_path, "maintain", "renku", project.SITE + TOKEN, TEMPLATE)]
    pods += pod_specs(of_cluster(tmp_path, "prod", site=text))

    for pod in pods:
        names = [volume["name"] for volume in pod["volumes"]]
        assert len(names) == len(set(names)) > 2, names
