"""No engine: people, or something of their own, apply with kubectl. There is nothing to render."""

from berth.manifests.backends.base import Manifest


def of_cluster(*_: object) -> list[Manifest]:
    return []


def of_site(*_: object) -> dict[str, list[Manifest]]:
    return {}
