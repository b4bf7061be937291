"""Backend `placeholder`: capacity is held by low-priority pause pods, opened and closed by Jobs."""

from collections.abc import Iterable
from typing import Any

from berth.backends.backendinterface import Backend, Manifest
from berth.manifests import deployments, rbac
from berth.manifests.placed import Placed
from berth.schema.values import Site


class PlaceholderBackend(Backend):
    pool_templates = (deployments.TEMPLATE,)

    def pools(self, site: Site, placed: Placed, common: dict[str, Any]) -> Iterable[Manifest]:
        return deployments.deployments(site, placed, common)

    def scaling_rules(self, placed: Placed) -> Iterable[rbac.Rule]:
        return rbac.of_deployments(placed, deployments.names(placed))


BACKEND = PlaceholderBackend()
