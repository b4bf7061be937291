"""Decide which ConfigMaps of the in-cluster code no pod can need any more.

An engine does not prune them, because a pod of an old Job still mounts the code of its release.
"""

from collections.abc import Collection, Iterator, Mapping

from berth.core.objects import JsonObject

UNUSED_FOR = 600  # seconds since its creation: an engine may create it long before what names it


def unused_code_maps(created: Mapping[str, int], named: Collection[str], now: int) -> list[str]:
    """Return the names of the ConfigMaps to delete, sorted.

    `created` has the instant of creation of each ConfigMap with code. `named` are the ConfigMaps that
    CronJobs, Jobs and pods mount that are not finished.
    """
    return sorted(name for name, at in created.items() if name not in named and now >= at + UNUSED_FOR)


def mounted_config_maps(pod_spec: JsonObject) -> Iterator[str]:
    """Yield the names of the ConfigMaps that a pod mounts; Berth 0.1.0 has its code in projected volumes."""
    for volume in pod_spec.get("volumes") or ():
        for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
            if name := (source.get("configMap") or {}).get("name"):
                yield name
