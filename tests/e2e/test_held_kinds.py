"""A number that a window changes in objects of others, on a real API server without their controllers.

What the controllers do with it is shown elsewhere: those of Karpenter and Kueue run in stories. Only the
one for HorizontalPodAutoscalers, which is Kubernetes' own, is here.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import pytest
from berth.core.fields import field_value
from berth.notation.objectpath import parse_object_path
from berth.runtime.apiclient import ApiError
from berth.runtime.poolwrites import write_number

from tests.e2e.cluster import Cluster, KubectlError
from tests.e2e.direct import Direct, Object, RefusedError
from tests.e2e.fieldholding import HeldField, of_object
from tests.e2e.images import PAUSE

CRDS = Path(__file__).parent / "crds"
FILES = (
    "keda-scaledobject.yaml",
    "arc-autoscalingrunnerset.yaml",
    "arc-horizontalrunnerautoscaler.yaml",
    "karpenter-nodepool.yaml",
)
FLUX, HELM = "kustomize-controller", "helm"
HOLDERS = 60  # seconds in which the controller of autoscalers looks twice at each


class HeldKind(NamedTuple):
    """An object of the kind, what its owner may leave out of git, and what the API server refuses."""

    api: str
    kind: str
    plural: str
    path: str
    spec: Object
    raised: int
    too_many: int | None = None  # None: the API server takes any number
    namespaced: bool = True

    @property
    def name(self) -> str:
        return self.kind.lower()

    def url(self, namespace: str) -> str:
        where = f"namespaces/{namespace}/" if self.namespaced else ""
        return f"/apis/{self.api}/{where}{self.plural}/{self.name}"

    def held(self, namespace: str) -> HeldField:
        """Return its number, which Berth notes in the same namespace."""
        where = namespace if self.namespaced else ""
        return of_object(
            self.api, self.kind, self.plural, self.name, self.path, namespace=where, home=namespace
        )

    def document(self, spec: Object | None = None) -> Object:
        return {
            "apiVersion": self.api,
            "kind": self.kind,
            "metadata": {"name": self.name},
            "spec": self.spec if spec is None else spec,
        }

    def without(self) -> Object:
        """The object as it is in git when the field is left out."""
        spec = deepcopy(self.spec)
        del spec[self.path.split(".")[1]]  # `limits` as a whole: without the only key it may not stay
        return self.document(spec)


_TEMPLATE = {
    "metadata": {"labels": {"app": "hub"}},
    "spec": {
        "nodeSelector": {"e2e.berth.dev/held": "nowhere"},
        "containers": [{"name": "c", "image": PAUSE}],
    },
}
_CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
}
KINDS = (
    HeldKind(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        "spec.minReplicas",
        {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nothing"},
            "minReplicas": 2,
            "maxReplicas": 20,
            "metrics": [_CPU],
        },
        10,
        too_many=21,
    ),
    HeldKind(
        "apps/v1",
        "StatefulSet",
        "statefulsets",
        "spec.replicas",
        {
            "serviceName": "hub",
            "replicas": 0,
            "selector": {"matchLabels": {"app": "hub"}},
            "template": _TEMPLATE,
        },
        2,
    ),
    HeldKind(
        "keda.sh/v1alpha1",
        "ScaledObject",
        "scaledobjects",
        "spec.minReplicaCount",
        {
            "scaleTargetRef": {"name": "nothing"},
            "minReplicaCount": 0,
            "maxReplicaCount": 20,
            "triggers": [{"type": "cpu", "metadata": {"value": "70"}}],
        },
        10,
        too_many=21,
    ),
    HeldKind(
        "actions.github.com/v1alpha1",
        "AutoscalingRunnerSet",
        "autoscalingrunnersets",
        "spec.minRunners",
        {
            "githubConfigUrl": "https://github.com/example/course",
            "githubConfigSecret": "github",
            "minRunners": 0,
            "maxRunners": 20,
            "template": {"spec": {"containers": [{"name": "runner", "image": PAUSE}]}},
        },
        10,
    ),
    HeldKind(
        "actions.summerwind.dev/v1alpha1",
        "HorizontalRunnerAutoscaler",
        "horizontalrunnerautoscalers",
        "spec.minReplicas",
        {
            "scaleTargetRef": {"kind": "RunnerDeployment", "name": "course"},
            "minReplicas": 0,
            "maxReplicas": 20,
        },
        10,
    ),
    HeldKind(
        "karpenter.sh/v1",
        "NodePool",
        "nodepools",
        "spec.limits.cpu",
        {
            "limits": {"cpu": "16"},
            "template": {
                "spec": {
                    "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "none"},
                    "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
                    "taints": [{"key": "e2e.berth.dev/held", "effect": "NoSchedule"}],
                }
            },
        },
        64,
        namespaced=False,
    ),
)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@pytest.fixture(scope="module", autouse=True)
def _kinds(cluster: Cluster) -> None:
    cluster.define(*(CRDS / file for file in FILES))


@pytest.fixture
def direct(cluster: Cluster) -> Iterator[Direct]:  # noqa: ARG001 - it has to run
    made = Direct()
    yield made
    made.close()


@pytest.fixture
def url(direct: Direct, kind: HeldKind, namespace: str) -> Iterator[str]:
    """Of an object of the kind as its owner applies it with Flux."""
    where = kind.url(namespace)
    apply(direct, where, kind.document(), FLUX, force=True)
    yield where
    direct.delete(where)


@pytest.fixture
def held(url: str, kind: HeldKind, namespace: str) -> HeldField:  # noqa: ARG001 - the object has to be there
    return kind.held(namespace)


def apply(direct: Direct, url: str, document: Object, manager: str, *, force: bool = False) -> Object:
    """Server-side apply, as Flux does by force, and Helm 4 without it."""
    where = f"{url}?fieldManager={manager}&force={str(force).lower()}"
    return direct.ask("PATCH", where, document, "application/apply-patch+yaml")


def value(found: Object, kind: HeldKind) -> object:
    path = parse_object_path(kind.path)
    assert path is not None
    return field_value(found, path)


@every_kind
def test_the_number_goes_up_and_back_and_nothing_else_changes(
    direct: Direct, kind: HeldKind, url: str, held: HeldField
) -> None:
    before = direct.get(url)

    held.hold(kind.raised)
    raised = direct.get(url)
    held.release()

    assert value(raised, kind) == kind.raised
    assert direct.get(url)["spec"] == before["spec"]  # a quantity is written as before
    assert held.look().held is None


@every_kind
def test_a_write_to_an_old_version_is_a_conflict(
    direct: Direct, kind: HeldKind, url: str, held: HeldField
) -> None:
    (action,) = held.to_hold(held.look(), kind.raised)
    somebody = {"metadata": {"labels": {"by": "somebody"}}}
    direct.patch(url, somebody)

    for late in (action, action._replace(note=None)):  # before it is noted, and after that
        with pytest.raises(ApiError) as caught:
            write_number(held.api, held.namespace, late)
        assert caught.value.is_conflict()
    assert held.look().held is None


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.too_many is not None], ids=lambda kind: kind.name
)
def test_more_than_the_owner_allows_is_refused(kind: HeldKind, held: HeldField) -> None:
    assert kind.too_many is not None
    with pytest.raises(ApiError) as caught:
        held.hold(kind.too_many)
    assert caught.value.status == 422


def test_more_runners_than_the_owner_allows_are_taken(direct: Direct, namespace: str) -> None:
    """The listener then refuses to start, so the number must not be more than `maxRunners`."""
    (kind,) = (kind for kind in KINDS if kind.kind == "AutoscalingRunnerSet")
    where = kind.url(namespace)
    apply(direct, where, kind.document(), FLUX, force=True)

    assert kind.held(namespace).hold(21)
    assert value(direct.get(where), kind) == 21


@every_kind
def test_flux_writes_a_field_that_is_in_git(
    direct: Direct, kind: HeldKind, url: str, held: HeldField
) -> None:
    held.hold(kind.raised)

    after = apply(direct, url, kind.document(), FLUX, force=True)

    assert value(after, kind) == value(kind.document(), kind)


@every_kind
def test_flux_keeps_a_field_that_was_never_in_git(
    direct: Direct, kind: HeldKind, url: str, held: HeldField
) -> None:
    direct.delete(url)
    apply(direct, url, kind.without(), FLUX, force=True)
    held.hold(kind.raised)

    assert value(apply(direct, url, kind.without(), FLUX, force=True), kind) == kind.raised


@every_kind
def test_helm_4_fails_while_the_number_is_not_that_of_the_chart(
    direct: Direct, kind: HeldKind, url: str, held: HeldField
) -> None:
    """And works again when it is, or when the chart has none."""
    direct.delete(url)
    apply(direct, url, kind.document(), HELM)
    held.hold(kind.raised)

    with pytest.raises(RefusedError, match=" 409 "):
        apply(direct, url, kind.document(), HELM)
    held.release()
    apply(direct, url, kind.document(), HELM)


@every_kind
def test_helm_4_keeps_a_number_that_is_not_in_the_chart(
    direct: Direct, kind: HeldKind, url: str, held: HeldField
) -> None:
    direct.delete(url)
    apply(direct, url, kind.without(), HELM)
    held.hold(kind.raised)

    assert value(apply(direct, url, kind.without(), HELM), kind) == kind.raised


@every_kind
def test_what_leaves_git_between_windows_goes_back_to_the_default(
    direct: Direct, kind: HeldKind, url: str, held: HeldField
) -> None:
    """Nobody else has written the field yet, so the applier removes it; the first window sets it again."""
    left = value(apply(direct, url, kind.without(), FLUX, force=True), kind)

    assert left in (None, DEFAULTS.get(kind.kind))
    held.hold(kind.raised)
    assert value(direct.get(url), kind) == kind.raised


DEFAULTS: Mapping[str, object] = {"HorizontalPodAutoscaler": 1, "StatefulSet": 1}


class TestAutoscaler:
    """Kubernetes' own controller, without metrics."""

    @pytest.fixture
    def where(self, cluster: Cluster, namespace: str) -> str:
        """The URL of Deployments; `up` has one replica, and `off` none."""
        made = []
        for name, replicas in (("up", 1), ("off", 0)):
            labels = {"app": name}
            template = {**_TEMPLATE, "metadata": {"labels": labels}}
            spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
            metadata = {"name": name, "namespace": namespace}
            made.append({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
            target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
            scaler = {**KINDS[0].spec, "minReplicas": 1, "scaleTargetRef": target}
            made.append({**KINDS[0].document(scaler), "metadata": metadata})
        cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))
        return f"/apis/apps/v1/namespaces/{namespace}/deployments"

    def test_it_scales_up_without_metrics_but_not_from_zero(
        self, direct: Direct, cluster: Cluster, where: str, namespace: str
    ) -> None:
        for name in ("off", "up"):
            scaler = KINDS[0]
            of_object(
                scaler.api,
                scaler.kind,
                scaler.plural,
                name,
                scaler.path,
                namespace=namespace,
                home=namespace,
            ).hold(4)

        cluster.wait_for(
            lambda: direct.get(f"{where}/up")["spec"]["replicas"] == 4, HOLDERS, "the Deployment to be scaled"
        )
        assert direct.get(f"{where}/off")["spec"]["replicas"] == 0

    def test_its_minimum_may_not_be_zero_without_another_metric(
        self, cluster: Cluster, namespace: str
    ) -> None:
        """Kubernetes asks for an Object or External metric, and for a feature gate."""
        none = KINDS[0].document({**KINDS[0].spec, "minReplicas": 0})

        with pytest.raises(KubectlError, match=r"spec\.minReplicas"):
            cluster.apply(json.dumps(none), server_dry_run=True, namespace=namespace)
