"""Find the permissions that a change grants: rules of roles, subjects of bindings and mounted Secrets."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from berth.diff.manifests import REMOVED, FileChange, ObjectChange, objects
from berth.manifests.naming import EVERYWHERE as EVERYWHERE_ROLE
from berth.reading.document import parse
from berth.reading.source import Source

EVERYWHERE = "the whole cluster"
_mounted = re.compile(r"^ +secretName: [\"']?([\w.-]+)", re.MULTILINE).findall
RBAC = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_JOBS = "CronJob"  # whose pods may mount a Secret


class Permission(NamedTuple):
    """What an object allows that it did not allow before: one of RBAC, or pods that mount a Secret.

    `file` is relative to the output folder. `cluster` is empty if there is no other.
    """

    file: str
    kind: str
    name: str
    namespace: str  # empty: the whole cluster
    grants: tuple[str, ...]
    cluster: str = ""

    @property
    def where(self) -> str:
        return self.namespace or EVERYWHERE

    @property
    def place(self) -> str:
        """Return `berth`, or `berth in prod` where there are several clusters."""
        if not self.cluster:
            return self.where
        return f"{self.namespace} in {self.cluster}" if self.namespace else f"{EVERYWHERE} {self.cluster}"

    @property
    def meaning(self) -> str:
        """Say what it means to read a Secret or the sessions of the whole cluster; empty for all else."""
        if self.kind == _JOBS:
            return "A pod of Berth that is taken over can read it"
        texts = (f"{self.kind} {self.name}", *self.grants)
        if not any(text.startswith(f"ClusterRole {EVERYWHERE_ROLE}.") for text in texts):
            return ""
        if self.kind == "ClusterRole":
            return "Accounts bound to it can read these objects in every namespace, with their whole content"
        return "Each such account can read them in every namespace, with their whole content"


def new_permissions(
    files: Iterable[FileChange], known: Mapping[str, str], *, names_clusters: bool
) -> list[Permission]:
    """Return what each object allows for the first time, those of the whole cluster first.

    `known`: texts of files of the base whose permissions are not new either.
    Where several Jobs of a reservation mount a Secret, the first stands for all.
    """
    permissions = [
        Permission(file.path, item.kind, item.name, item.namespace, tuple(grants), cluster)
        for file in files
        for cluster in [file.path.removeprefix("clusters/").partition("/")[0] if names_clusters else ""]
        for others in [objects(known.get(file.path, ""))]
        for item in file.objects
        if item.change != REMOVED and (grants := _new_grants(item, others))
    ]
    once = {
        (one.file, one.grants, "" if one.kind == _JOBS else one.name): one for one in reversed(permissions)
    }
    return sorted(once.values(), key=lambda one: (bool(one.namespace), one))


def _new_grants(item: ObjectChange, others: Mapping[tuple[str, str, str], str]) -> list[str]:
    """Return what an object allows after a change, and neither before nor as it is among others, in words."""
    other = others.get((item.kind, item.name, item.namespace), "")
    before, known, after = (
        [f"mount secrets {name}" for name in dict.fromkeys(_mounted(text))]
        if item.kind == _JOBS
        else [*_grants(text)]
        if item.kind in RBAC
        else []
        for text in (item.before, other, item.after)
    )
    return [grant for grant in after if grant not in (*before, *known)]


def _grants(text: str) -> Iterator[str]:
    """Yield each permission in words, so that two of them can be compared: a rule may be split or merged."""
    documents, _ = parse(Source("", text.encode())) if text else ([], [])
    found: dict[tuple[str, ...], list[str]] = {}
    for document in documents:
        value: Any = document.value
        for subject in _items(value.get("subjects")):
            at = "/".join(str(subject[key]) for key in ("namespace", "name") if key in subject)
            role = next(iter(_items([value.get("roleRef")])), {})
            yield f"{role.get('kind')} {role.get('name')} to {subject.get('kind')} {at}"
        for rule in _items(value.get("rules")):
            names = [str(name) for name in rule.get("resourceNames") or [""]]
            urls = [str(url) for url in rule.get("nonResourceURLs") or ()]
            resources = [
                f"{resource}.{group}" if group else str(resource)
                for group, resource in product(rule.get("apiGroups") or [""], rule.get("resources") or ())
            ]
            for what, name in product([*resources, *urls], names):
                found.setdefault((what, name), []).extend(map(str, rule.get("verbs") or ()))
    for (what, name), verbs in found.items():
        yield from (f"{verb} {what}{f' {name}' if name else ''}" for verb in dict.fromkeys(verbs))


def _items(value: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
