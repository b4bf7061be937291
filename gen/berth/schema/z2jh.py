"""The values of the Zero to JupyterHub chart (z2jh): what session pods request, and where they may run.

The rules are those of the chart's `jupyterhub_config.py` and, for profiles, of KubeSpawner.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict

from berth.findings import ERROR, Problem, severity
from berth.quantity import canonical
from berth.quantity import parse as parse_amount
from berth.reading.document import parse
from berth.reading.source import Source
from berth.reading.text import SyntaxProblem
from berth.schema import grammar, validate
from berth.schema.base import Json, ListOf, Model, Parsed, Switch, field, wrong_type
from berth.schema.pod import Amounts, Placement, completed
from berth.schema.renkunames import slug
from berth.schema.report import TYPE, Refusal, Report, shown
from berth.schema.scheduling import PREFERRED, REQUIRED, NodeTerm, PreferredNodeTerm, Toleration
from berth.schema.types import Amount, AnyText, LabelKey, LabelValue, ResourceName

_CHART = "jupyterhub"  # the name of the chart, by which a chart that depends on it gives it values
PROFILE = "profile"
"""Label of the pods of a profile. Options of a profile have labels that begin with it: `profile-gpu`."""

MOST = 100  # classes of one file; more are a mistake, or nobody reserves them
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PURPOSE = {"key": "hub.jupyter.org/node-purpose", "operator": "In", "values": ["user"]}
_DEDICATED = tuple(
    {"key": key, "operator": "Equal", "value": "user", "effect": "NoSchedule"}
    for key in ("hub.jupyter.org/dedicated", "hub.jupyter.org_dedicated")
)
_POD_LABELS = {
    "app": "jupyterhub",
    "component": "singleuser-server",
    "app.kubernetes.io/component": "singleuser-server",
}


def _memory(value: Any) -> str:
    """Read bytes, or an amount of JupyterHub's: its K, M, G and T are powers of 1024."""
    if type(value) in (int, float):
        number = int(value)
    elif type(value) is not str:
        raise wrong_type(value, "amount of memory")
    else:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)([KMGT])", value, re.ASCII)
        if match is None:
            fix = "JupyterHub takes a number of bytes, or K, M, G or T at the end, which are powers of 1024."
            raise Refusal(f"{shown(value)} is not an amount of memory.", fix, TYPE)
        number = int(float(match[1]) * _UNITS[match[2]])
    return str(number) if number % 1024 else canonical(f"{number // 1024}Ki")


_Memory = Annotated[str, Parsed("amount of memory", _memory, {"type": ["string", "number"]})]
_Amounts = dict[ResourceName, Amount | None]
_Labels = dict[LabelKey, LabelValue | None]
# KubeSpawner takes a mapping wherever it takes a list, and sorts it by its keys.
_BY_KEY = Switch(lambda value: int(isinstance(value, dict)))


class _Theirs(Model):
    """Other keys are the chart's or KubeSpawner's business."""

    model_config = ConfigDict(extra="ignore")


class _PodConfig(Placement):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class Spawner(_Theirs):
    """Options of KubeSpawner by its names, as in `kubespawner_override`."""

    model_config = ConfigDict(alias_generator=None)

    image: AnyText | None = field(None)
    cpu_guarantee: Amount | None = field(None)
    cpu_limit: Amount | None = field(None)
    mem_guarantee: _Memory | None = field(None)
    mem_limit: _Memory | None = field(None)
    extra_resource_guarantees: _Amounts | None = field(None)
    extra_resource_limits: _Amounts | None = field(None)
    node_selector: _Labels | None = field(None)
    tolerations: Annotated[ListOf[Toleration] | dict[str, Toleration], _BY_KEY] | None = field(None)
    node_affinity_required: Annotated[ListOf[NodeTerm] | dict[str, NodeTerm], _BY_KEY] | None = field(None)
    node_affinity_preferred: (
        Annotated[ListOf[PreferredNodeTerm] | dict[str, PreferredNodeTerm], _BY_KEY] | None
    ) = field(None)
    extra_labels: dict[LabelKey, AnyText | None] | None = field(None)
    scheduler_name: AnyText | None = field(None)
    extra_pod_config: _PodConfig | None = field(None)

    def overridden(self, by: "Spawner") -> "Spawner":
        """Return the options with overrides: as in KubeSpawner, mappings are merged, others replaced."""
        changes: Json = {}
        for name in by.model_fields_set:
            own, new = getattr(self, name), getattr(by, name)
            if isinstance(own, dict) and isinstance(new, dict):
                new = {key: value for key, value in {**own, **new}.items() if value is not None}
            elif isinstance(own, _PodConfig) and isinstance(new, _PodConfig):
                new = own.model_copy(update={key: getattr(new, key) for key in new.model_fields_set})
            changes[name] = new
        return self.model_copy(update=changes)

    @property
    def resources(self) -> tuple[Amounts, Amounts]:
        """Return requests and limits, completed as the API server does. KubeSpawner leaves out 0."""
        requests = {"cpu": self.cpu_guarantee, "memory": self.mem_guarantee}
        limits = {"cpu": self.cpu_limit, "memory": self.mem_limit}
        return completed(
            {**_positive(requests), **_positive(self.extra_resource_guarantees or {})},
            {**_positive(limits), **_positive(self.extra_resource_limits or {})},
        )

    @property
    def placement(self) -> Json:
        """Return what restricts the nodes of a pod. `extra_pod_config` replaces the options of one meaning.

        Affinity to other pods is left out: placeholders do not have the labels of sessions.
        """
        terms = (
            (REQUIRED, {"nodeSelectorTerms": _dumped(self.node_affinity_required)}),
            (PREFERRED, _dumped(self.node_affinity_preferred)),
        )
        node = {key: value for key, value in terms if value not in ([], {"nodeSelectorTerms": []})}
        own = {} if self.extra_pod_config is None else self.extra_pod_config.dump()
        if "affinity" in own:
            node = own["affinity"].get("nodeAffinity", {})
        found: Json = {
            "nodeSelector": dict(self.node_selector or {}),
            "tolerations": _dumped(self.tolerations),
            "schedulerName": self.scheduler_name,
            **{key: own[key] for key in ("nodeSelector", "tolerations", "schedulerName") if key in own},
            "affinity": {"nodeAffinity": node} if node else {},
        }
        return {key: value for key, value in found.items() if value}


def _positive(amounts: Mapping[str, str | None]) -> Amounts:
    return {name: amount for name, amount in amounts.items() if amount is not None and parse_amount(amount)}


def _dumped(items: Sequence[Model] | Mapping[str, Model] | None) -> list[Json]:
    ordered = [items[key] for key in sorted(items)] if isinstance(items, Mapping) else items or ()
    return [one.dump() for one in ordered]


class _Choice(_Theirs):
    model_config = ConfigDict(alias_generator=None)

    kubespawner_override: Spawner = field(Spawner.model_construct())


class _Option(_Theirs):
    choices: dict[str, _Choice] = field({})


class _Profile(_Theirs):
    model_config = ConfigDict(alias_generator=None)

    display_name: AnyText
    slug: AnyText | None = field(None)
    kubespawner_override: Spawner = field(Spawner.model_construct())
    profile_options: dict[str, _Option] = field({})


class _CpuBounds(_Theirs):
    guarantee: Amount | None = field(None)
    limit: Amount | None = field(None)


class _MemoryBounds(_Theirs):
    guarantee: _Memory | None = field("1Gi")
    limit: _Memory | None = field(None)


class _ResourceBounds(_Theirs):
    guarantees: _Amounts = field({})
    limits: _Amounts = field({})


class _NodeTerms(_Theirs):
    required: ListOf[NodeTerm] = field(())
    preferred: ListOf[PreferredNodeTerm] = field(())


class _Image(_Theirs):
    name: AnyText | None = field(None)
    tag: AnyText | None = field(None)


class _SingleUser(_Theirs):
    image: _Image = field(_Image.model_construct())
    cpu: _CpuBounds = field(_CpuBounds.model_construct())
    memory: _MemoryBounds = field(_MemoryBounds.model_construct())
    extra_resource: _ResourceBounds = field(_ResourceBounds.model_construct())
    node_selector: _Labels = field({})
    extra_tolerations: ListOf[Toleration] = field(())
    extra_node_affinity: _NodeTerms = field(_NodeTerms.model_construct())
    extra_labels: dict[LabelKey, AnyText | None] = field({})
    extra_pod_config: _PodConfig | None = field(None)
    profile_list: Annotated[ListOf[_Profile] | dict[str, _Profile], _BY_KEY] | None = field(None)


class _Affinity(_Theirs):
    match_node_purpose: Literal["prefer", "require", "ignore"] = field("prefer")


class _UserPods(_Theirs):
    node_affinity: _Affinity = field(_Affinity.model_construct())
    tolerations: ListOf[Toleration] | None = field(None)


class _Scheduling(_Theirs):
    user_pods: _UserPods = field(_UserPods.model_construct())


class Values(_Theirs):
    """The values of the chart."""

    singleuser: _SingleUser = field(_SingleUser.model_construct())
    scheduling: _Scheduling = field(_Scheduling.model_construct())

    @property
    def spawner(self) -> Spawner:
        """Return what holds for every session, as the chart configures KubeSpawner."""
        said, pods = self.singleuser, self.scheduling.user_pods
        purpose = NodeTerm.model_validate({"matchExpressions": [_PURPOSE]})
        wish = pods.node_affinity.match_node_purpose
        preferred = [PreferredNodeTerm(weight=100, preference=purpose)] if wish == "prefer" else []
        dedicated = pods.tolerations
        if dedicated is None:
            dedicated = tuple(Toleration.model_validate(one) for one in _DEDICATED)
        image = ":".join(filter(None, (said.image.name, said.image.tag)))
        return Spawner.model_construct(
            image=image or None,
            cpu_guarantee=said.cpu.guarantee,
            cpu_limit=said.cpu.limit,
            mem_guarantee=said.memory.guarantee,
            mem_limit=said.memory.limit,
            extra_resource_guarantees=said.extra_resource.guarantees,
            extra_resource_limits=said.extra_resource.limits,
            node_selector=said.node_selector,
            tolerations=(*dedicated, *said.extra_tolerations),
            node_affinity_required=(
                *said.extra_node_affinity.required,
                *((purpose,) if wish == "require" else ()),
            ),
            node_affinity_preferred=(*said.extra_node_affinity.preferred, *preferred),
            extra_labels=said.extra_labels,
            extra_pod_config=said.extra_pod_config,
        )


class Session(NamedTuple):
    """The sessions of one profile, with a choice for each option that changes their size or place."""

    name: str
    title: str
    picked: tuple[
        tuple[str, str], ...
    ]  # what tells them apart: ("profile", "large"), ("profile-memory", "4gb")
    labels: dict[str, str]  # of their pods
    added: dict[str, str]  # those of them that the profile and its choices add
    spawner: Spawner
    images: tuple[str, ...] = ()  # that they may run, also by choices that change nothing else

    @property
    def phrase(self) -> str:
        return f'sessions of profile "{self.title}"' if self.picked else "sessions of the hub"


def read_values(source: Source) -> tuple[Values | None, list[Problem | SyntaxProblem]]:
    """Return the values in a file, and its problems; no values if there are errors."""
    documents, found = parse(source)
    if not documents:
        return None, list(found)
    value, report = documents[0].value, Report(source.file, documents[0].index)
    while isinstance(value, dict) and "singleuser" not in value:
        key = next((key for key in (_CHART, *value) if _has_chart(value.get(key), key)), None)
        if key is None:
            break
        report.prefix, value = (*report.prefix, key), value[key]
    made = validate.read(Values, value, report)
    problems: list[Problem | SyntaxProblem] = [*found, *report.closed()]
    return None if any(severity(one.code) == ERROR for one in problems) else made, problems


def _has_chart(value: Any, key: str) -> bool:
    """Tell whether the values below a key are those of the chart, or of a chart that depends on it."""
    return isinstance(value, dict) and (key == _CHART or _has_chart(value.get(_CHART), _CHART))


def sessions(values: Values) -> Iterator[Session]:
    """Yield the sessions that people can start. Without profiles there is one kind: `jupyterhub`."""
    usual, listed = values.spawner, values.singleuser.profile_list or ()
    profiles = [listed[key] for key in sorted(listed)] if isinstance(listed, dict) else listed
    if not profiles:
        yield _session("all sessions", (), usual, usual)._replace(images=_names([usual.image]))
    for profile in profiles:
        own = usual.overridden(profile.kubespawner_override)
        options = {
            name: option.choices
            for name, option in profile.profile_options.items()
            if any(_matters(own, choice) for choice in option.choices.values())
        }
        kind = slug(profile.slug or profile.display_name)
        other = [
            choice.kubespawner_override
            for name, option in profile.profile_options.items()
            if name not in options
            for choice in option.choices.values()
        ]
        for chosen in product(*options.values()):
            spawner, title = own, [profile.display_name]
            for choices, choice in zip(options.values(), chosen, strict=True):
                spawner = spawner.overridden(choices[choice].kubespawner_override)
                title.append(choice)
            picks = zip(options, chosen, strict=True)
            picked = ((PROFILE, kind), *((f"{PROFILE}-{slug(o)}", slug(c)) for o, c in picks))
            images = (spawner.image, *(spawner.overridden(by).image for by in other))
            yield _session(", ".join(title), picked, spawner, usual)._replace(images=_names(images))


def _matters(own: Spawner, choice: _Choice) -> bool:
    """Tell whether a choice changes the size of a pod or its place, not only its image or its labels."""
    other = own.overridden(choice.kubespawner_override)
    return (other.resources, other.placement) != (own.resources, own.placement)


def _session(title: str, picked: tuple[tuple[str, str], ...], spawner: Spawner, usual: Spawner) -> Session:
    labels, before = _fixed(spawner.extra_labels), _fixed(usual.extra_labels)
    added = {key: text for key, text in labels.items() if before.get(key) != text}
    name = "-".join(text for _, text in picked) or "jupyterhub"
    return Session(name, title, picked, {**labels, **_POD_LABELS}, added, spawner)


def _names(images: Iterable[str | None]) -> tuple[str, ...]:
    """Return each image once, without texts that only the hub can turn into the name of an image."""
    found = dict.fromkeys(one for one in images if one)
    return tuple(one for one in found if grammar.is_image(one))


def _fixed(labels: Mapping[str, str | None] | None) -> dict[str, str]:
    """Return the labels that are the same for everybody: KubeSpawner fills in `{username}` and others."""
    return {key: text for key, text in (labels or {}).items() if text is not None and "{" not in text}
