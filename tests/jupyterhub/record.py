"""Let the real KubeSpawner make the pods that ours are compared with: `python -m tests.jupyterhub.record`.

It needs `pip install jupyterhub-kubespawner==7.1.0`, thirty packages that no other test needs, so its answer
is kept in pods.json. What the chart's jupyterhub_config.py hands to KubeSpawner is written out here.
"""

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import yaml

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "jupyterhub.md"

HUBS: dict[str, dict[str, dict[str, str]]] = {
    "profiles.yaml": {
        "course": {"profile": "course"},
        "large": {"profile": "large"},
        "gpu-16gb": {"profile": "gpu", "memory": "16gb"},
        "gpu-32gb": {"profile": "gpu", "memory": "32gb", "image": "flow"},
    },
    "research.yaml": {
        "shared-small-1-4-cpu-8-32-gb": {"profile": "shared-small-1-4-cpu-8-32-gb", "image": "rstudio"},
        "large-64-cpu-512-gb": {"profile": "large-64-cpu-512-gb"},
        "custom-01-none": {"profile": "Custom", "gpu": "01-none", "image--unlisted-choice": "a:1"},
        "custom-02-yes": {"profile": "Custom", "gpu": "02-yes", "image--unlisted-choice": "a:1"},
    },
    "teaching.yaml": {"jupyterhub": {}},
}
"""The files of values, and for each class what a user chooses to get a pod of it."""


class Person(NamedTuple):
    """A user, and what they choose."""

    options: Mapping[str, str] = MappingProxyType({})
    groups: tuple[str, ...] = ()
    server: str = ""
    auth_state: Mapping[str, str] = MappingProxyType({})


SECTIONS = {
    "By profile": Person({"profile": "intro"}),
    "By a choice in a profile": Person({"profile": "standard", "course": "intro"}),
    "By group": Person(groups=("intro", "others")),
    "By named server": Person(server="intro"),
    "By a hook": Person(auth_state={"context_label": "Intro"}),
}
"""The sections of docs/jupyterhub.md that show values of the chart, and who gets the label that they set."""

DEDICATED = [
    {"key": key, "operator": "Equal", "value": "user", "effect": "NoSchedule"}
    for key in ("hub.jupyter.org/dedicated", "hub.jupyter.org_dedicated")
]
KUBECONFIG = {
    "current-context": "none",
    "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
    "clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}],
    "users": [{"name": "none", "user": {}}],
}
PURPOSE = {
    "matchExpressions": [{"key": "hub.jupyter.org/node-purpose", "operator": "In", "values": ["user"]}]
}


def blocks(heading: str) -> list[Any]:
    """Return what the YAML blocks in a section of docs/jupyterhub.md say."""
    section = PAGE.read_text("utf-8")
    text = re.split(rf"^#+ {re.escape(heading)}$", section, maxsplit=1, flags=re.M)[1]
    text = re.split(r"^##+ ", text, maxsplit=1, flags=re.M)[0]
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)]


def config_of(values: dict[str, Any]) -> Any:
    """Return the configuration that the chart makes of its values."""
    from traitlets.config import Config  # noqa: PLC0415 - not among the packages of the tests

    while "singleuser" not in values and "hub" not in values:
        values = values.get("jupyterhub") or values["basehub"]
    said, hub = values.get("singleuser", {}), values.get("hub", {})
    wish = values.get("scheduling", {}).get("userPods", {}).get("nodeAffinity", {}).get("matchNodePurpose")
    affinity = said.get("extraNodeAffinity", {})
    image = said.get("image") or {"name": "quay.io/jupyterhub/k8s-singleuser-sample", "tag": "4.1.0"}
    config = Config()
    config.KubeSpawner.update(
        namespace="jupyterhub",
        common_labels={"app": "jupyterhub"},
        image=f"{image['name']}:{image['tag']}",
        node_selector=said.get("nodeSelector", {}),
        tolerations=[*DEDICATED, *said.get("extraTolerations", [])],
        node_affinity_required=[*affinity.get("required", []), *([PURPOSE] if wish == "require" else [])],
        node_affinity_preferred=[] if wish else [{"weight": 100, "preference": PURPOSE}],
        extra_labels=said.get("extraLabels", {"hub.jupyter.org/network-access-hub": "true"}),
        profile_list=said.get("profileList", []),
        mem_guarantee="1G",
    )
    for name, short in (("cpu", "cpu"), ("memory", "mem")):
        for kind, amount in said.get(name, {}).items():
            config.KubeSpawner[f"{short}_{kind}"] = amount
    config.KubeSpawner.update(hub.get("config", {}).get("KubeSpawner", {}))
    for code in hub.get("extraConfig", {}).values():
        exec(code, {"c": config})
    return config


async def pod(values: dict[str, Any], person: Person) -> dict[str, Any]:
    """Return the part of a person's pod that classes are about, as KubeSpawner makes it."""
    from jupyterhub.objects import Hub, Server  # noqa: PLC0415 - not among the packages of the tests
    from jupyterhub.orm import Spawner as Row  # noqa: PLC0415
    from jupyterhub.utils import maybe_future  # noqa: PLC0415
    from kubernetes_asyncio.client import ApiClient  # noqa: PLC0415
    from kubespawner import KubeSpawner  # noqa: PLC0415

    class User:
        name = escaped_name = "ada"
        id, url = 1, "/user/ada/"
        settings: ClassVar[dict[str, str]] = {}
        groups = tuple(SimpleNamespace(name=name) for name in person.groups)

        async def get_auth_state(self) -> Mapping[str, str]:
            return person.auth_state

    row = Row(name=person.server)
    hub = Hub(public_host="", ip="hub", port=8081, base_url="/hub/")
    spawner = KubeSpawner(config=config_of(values), user=User(), orm_spawner=row, hub=hub, _mock=True)
    spawner.server, spawner.user_options = Server(ip="0.0.0.0", port=8888, base_url="/"), dict(person.options)
    # The order is that of JupyterHub's User.spawn and KubeSpawner's start.
    await spawner.apply_group_overrides()
    await maybe_future(spawner.run_pre_spawn_hook())
    await spawner.load_user_options()
    made = ApiClient().sanitize_for_serialization(await spawner.get_pod_manifest())
    spec = made["spec"]
    return {
        "labels": made["metadata"]["labels"],
        "resources": spec["containers"][0]["resources"],
        "placement": {key: spec[key] for key in ("nodeSelector", "tolerations", "affinity") if key in spec},
    }


async def main() -> None:
    """Record the pods. KubeSpawner wants the address of an API server, but does not talk to it."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(KUBECONFIG, file)
    os.environ["KUBECONFIG"] = file.name
    found: dict[str, dict[str, Any]] = {}
    for hub, choices in HUBS.items():
        values = yaml.safe_load((HERE / hub).read_text("utf-8"))
        found[hub] = {name: await pod(values, Person(options)) for name, options in choices.items()}
    shown = {heading: blocks(heading)[0] for heading in SECTIONS}
    found["page"] = {
        heading: {"values": shown[heading], "labels": (await pod(shown[heading], person))["labels"]}
        for heading, person in SECTIONS.items()
    }
    (HERE / "pods.json").write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
