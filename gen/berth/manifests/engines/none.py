"""Engine `none`: people apply with kubectl, or by other means. It has no objects."""

from berth.backends.backendinterface import Manifest


def of_cluster(*_: object) -> list[Manifest]:
    return []


def of_site(*_: object) -> dict[str, list[Manifest]]:
    return {}
