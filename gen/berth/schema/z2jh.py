"""The values of the Zero to JupyterHub chart (z2jh): what session pods request, and where they may run.

The rules are those of the chart's `jupyterhub_config.py` and, for profiles, of KubeSpawner.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Annotated, Any, Literal, NamedTuple

from berth.findings import Finding, Origin, Path, Problem
from berth.quantity import canonical
from berth.quantity import parse as parse_amount
from berth.reading.source import Source
from berth.schema import grammar, validate
from berth.schema.basemodel import Json, ListOf, Model, Parsed, Switch, Whole, field
from berth.schema.documentproblems import DocumentProblems, Refusal, shown
from berth.schema.helmvalues import HelmValues, below, has_size, merged, read_values
from berth.schema.pod import Amounts, Placement
from berth.schema.renkunames import fitted, name_of
from berth.schema.scheduling import PREFERRED, REQUIRED, NodeTerm, PodToleration, PreferredNodeTerm
from berth.schema.types import INT32, Amount, AnyText, LabelKey, LabelValue, ResourceName

PROFILE = "profile"
"""Label of the pods of a profile. Options of a profile have labels that begin with it: `profile-gpu`."""

MOST = 100  # classes of one file; more are a mistake, or nobody reserves them
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PURPOSE = {"key": "hub.jupyter.org/node-purpose", "operator": "In", "values": ["user"]}
_DEDICATED = [
    {"key": key, "operator": "Equal", "value": "user", "effect": "NoSchedule"}
    for key in ("hub.jupyter.org/dedicated", "hub.jupyter.org_dedicated")
]
CHART: Json = {
    "fullnameOverride": "",
    "hub": {"concurrentSpawnLimit": 64},
    "singleuser": {"memory": {"guarantee": "1G"}},
    "scheduling": {"userPods": {"tolerations": _DEDICATED}},
}
"""Values of the chart itself, which null removes: the layer below all others."""

_MOST_BYTES = 2**63
DEFAULT_SPAWN_LIMIT = 100  # of JupyterHub, if nothing sets it
_POD_LABELS = {
    "app": "jupyterhub",
    "component": "singleuser-server",
    "app.kubernetes.io/component": "singleuser-server",
}


def _memory(value: Any) -> str:
    """Read bytes, or an amount of JupyterHub's: its K, M, G and T are powers of 1024."""
    size = value
    if type(value) is str:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)([KMGT])", value, re.ASCII)
        size = float(match[1]) * _UNITS[match[2]] if match else math.inf
    if not -_MOST_BYTES < size < _MOST_BYTES:
        fix = "Write a number of bytes, or K, M, G or T at its end, which are powers of 1024."
        raise Refusal(f"{shown(value)} is not an amount of memory of JupyterHub.", fix, "B013")
    number = int(size)
    return str(number) if number % 1024 else canonical(f"{number // 1024}Ki")


_Memory = Annotated[str, Parsed("amount of memory", _memory, {"type": ["string", "number"]}, int, float, str)]
_Amounts = dict[ResourceName, Amount | None]
_Labels = dict[LabelKey, LabelValue | None]


class _Theirs(Model, extra="ignore"):
    """Other keys are the chart's or KubeSpawner's business."""


class _PodClaim(_Theirs):
    name: AnyText


class _PodConfig(Placement, extra="ignore", populate_by_name=True):
    resource_claims: ListOf[_PodClaim] | None = field(None)


class Spawner(_Theirs, alias_generator=None):
    """Options of KubeSpawner by its names, as in `kubespawner_override`."""

    image: AnyText | None = field(None)
    cpu_guarantee: Amount | None = field(None)
    cpu_limit: Amount | None = field(None)
    mem_guarantee: _Memory | None = field(None)
    mem_limit: _Memory | None = field(None)
    extra_resource_guarantees: _Amounts | None = field(None)
    extra_resource_limits: _Amounts | None = field(None)
    node_selector: _Labels | None = field(None)
    tolerations: ListOf[PodToleration] | None = field(None)
    node_affinity_required: ListOf[NodeTerm] | None = field(None)
    node_affinity_preferred: ListOf[PreferredNodeTerm] | None = field(None)
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
        """Return requests and limits of the pod that KubeSpawner makes, which leaves out 0.

        A limit without a request is one too.
        """
        requests = {"cpu": self.cpu_guarantee, "memory": self.mem_guarantee}
        limits = {"cpu": self.cpu_limit, "memory": self.mem_limit}
        most = _positive({**limits, **(self.extra_resource_limits or {})})
        return {**most, **_positive({**requests, **(self.extra_resource_guarantees or {})})}, most

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
        placement: Json = {
            "nodeSelector": dict(self.node_selector or {}),
            "tolerations": _dumped(self.tolerations),
            "schedulerName": self.scheduler_name,
            **{key: own[key] for key in ("nodeSelector", "tolerations", "schedulerName") if key in own},
            "affinity": {"nodeAffinity": node} if node else {},
        }
        return {key: value for key, value in placement.items() if value}


def _positive(amounts: Mapping[str, str | None]) -> Amounts:
    return {name: amount for name, amount in amounts.items() if amount is not None and parse_amount(amount)}


def _dumped(items: Sequence[Model] | None) -> list[Json]:
    return [item.dump() for item in items or ()]


class _Choice(_Theirs, alias_generator=None):
    kubespawner_override: Spawner = field(Spawner.model_construct())


class _Option(_Theirs):
    choices: dict[str, _Choice] = field({})


class _Profile(_Theirs, alias_generator=None):
    display_name: AnyText
    slug: AnyText | None = field(None)
    kubespawner_override: Spawner = field(Spawner.model_construct())
    profile_options: dict[str, _Option] = field({})


_Profiles = Annotated[
    ListOf[_Profile] | dict[str, _Profile], Switch(lambda value: int(isinstance(value, dict)))
]


class _SpawnerConfig(Spawner):
    """Configuration of KubeSpawner in `hub.config`, which replaces what the chart makes of other values."""

    profile_list: _Profiles | None = field(None)


class _JupyterHubConfig(_Theirs, alias_generator=None):
    concurrent_spawn_limit: Annotated[int, Whole(0)] | None = field(None)


class _HubConfig(_Theirs, alias_generator=None):
    spawner: _SpawnerConfig = field(_SpawnerConfig.model_construct(), alias="Spawner")
    kube_spawner: _SpawnerConfig = field(_SpawnerConfig.model_construct(), alias="KubeSpawner")
    jupyterhub: _JupyterHubConfig | None = field(None, alias="JupyterHub")


class _CpuBounds(Model):
    guarantee: Amount | None = field(None)
    limit: Amount | None = field(None)


class _MemoryBounds(Model):
    guarantee: _Memory | None = field(None)
    limit: _Memory | None = field(None)


class _ResourceBounds(Model):
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
    extra_tolerations: ListOf[PodToleration] = field(())
    extra_node_affinity: _NodeTerms = field(_NodeTerms.model_construct())
    extra_labels: dict[LabelKey, AnyText | None] = field({})
    extra_pod_config: _PodConfig | None = field(None)
    profile_list: _Profiles | None = field(None)


class _Affinity(_Theirs):
    match_node_purpose: Literal["prefer", "require", "ignore"] | None = field("prefer")


class _UserPods(_Theirs):
    node_affinity: _Affinity = field(_Affinity.model_construct())
    tolerations: ListOf[PodToleration] = field(())


class _UserScheduler(_Theirs):
    enabled: bool = field(True)


_Priority = Annotated[int, Whole(-(2**31), INT32)]


class _PodPriority(_Theirs):
    enabled: bool = field(False)
    global_default: bool = field(False)
    default_priority: _Priority = field(0)
    image_puller_priority: _Priority = field(-5)
    user_placeholder_priority: _Priority = field(-10)


class _UserPlaceholder(_Theirs):
    enabled: bool = field(True)
    replicas: Annotated[int, Whole(0)] = field(0)


class _Scheduling(_Theirs):
    user_pods: _UserPods = field(_UserPods.model_construct())
    user_scheduler: _UserScheduler = field(_UserScheduler.model_construct())
    pod_priority: _PodPriority = field(_PodPriority.model_construct())
    user_placeholder: _UserPlaceholder = field(_UserPlaceholder.model_construct())


class _Hub(_Theirs):
    concurrent_spawn_limit: Annotated[int, Whole(0)] | None = field(None)
    config: _HubConfig = field(_HubConfig.model_construct())


class Values(_Theirs):
    """The values of the chart, merged over its own (`CHART`)."""

    fullname_override: AnyText | None = field(None)
    name_override: AnyText | None = field(None)
    hub: _Hub = field(_Hub.model_construct())
    singleuser: _SingleUser = field(_SingleUser.model_construct())
    scheduling: _Scheduling = field(_Scheduling.model_construct())

    @property
    def spawner(self) -> Spawner:
        """Return what holds for every session, as the chart configures KubeSpawner."""
        server, pods = self.singleuser, self.scheduling.user_pods
        purpose = NodeTerm.model_validate({"matchExpressions": [_PURPOSE]})
        wish = pods.node_affinity.match_node_purpose
        preferred = [PreferredNodeTerm(weight=100, preference=purpose)] if wish == "prefer" else []
        image = ":".join(filter(None, (server.image.name, server.image.tag)))
        spawner = Spawner.model_construct(
            image=image or None,
            cpu_guarantee=server.cpu.guarantee,
            cpu_limit=server.cpu.limit,
            mem_guarantee=server.memory.guarantee,
            mem_limit=server.memory.limit,
            extra_resource_guarantees=server.extra_resource.guarantees,
            extra_resource_limits=server.extra_resource.limits,
            node_selector=server.node_selector,
            tolerations=(*pods.tolerations, *server.extra_tolerations),
            node_affinity_required=(
                *server.extra_node_affinity.required,
                *((purpose,) if wish == "require" else ()),
            ),
            node_affinity_preferred=(*server.extra_node_affinity.preferred, *preferred),
            extra_labels=server.extra_labels,
            extra_pod_config=server.extra_pod_config,
        )
        for config in (self.hub.config.spawner, self.hub.config.kube_spawner):  # the stronger last
            own = {
                name: getattr(config, name) for name in config.model_fields_set & Spawner.model_fields.keys()
            }
            spawner = spawner.model_copy(update=own)
        return spawner

    @property
    def profiles(self) -> tuple[Path, Any]:
        """Return where the list of profiles is, and the list, or a mapping of them."""
        config = self.hub.config
        for name, part in (("KubeSpawner", config.kube_spawner), ("Spawner", config.spawner)):
            if part.profile_list:
                return ("hub", "config", name, "profile_list"), part.profile_list
        return ("singleuser", "profileList"), self.singleuser.profile_list or ()

    @property
    def spawn_limit(self) -> tuple[int, Path]:
        """Return how many servers may start at the same time (0: no limit), and where that is written."""
        own, of_chart = self.hub.config.jupyterhub, self.hub.concurrent_spawn_limit
        if own is not None and own.concurrent_spawn_limit is not None:
            return own.concurrent_spawn_limit, ("hub", "config", "JupyterHub", "concurrent_spawn_limit")
        return DEFAULT_SPAWN_LIMIT if of_chart is None else of_chart, ("hub", "concurrentSpawnLimit")


SCHEDULER = "-user-scheduler"
"""How the name of the chart's scheduler ends."""


class ProfileSession(NamedTuple):
    """The sessions of one profile, with a choice for each option that changes their size or place."""

    name: str
    title: str
    # what tells them apart: ("profile", "large"), ("profile-memory", "4gb")
    picked: tuple[tuple[str, str], ...]
    labels: dict[str, str]  # of their pods
    added: dict[str, str]  # those of them that the profile and its choices add
    spawner: Spawner
    images: tuple[str, ...] = ()  # that they may run, also by choices that change nothing else
    path: Path = ("singleuser",)  # of the profile

    @property
    def phrase(self) -> str:
        return f'sessions of profile "{self.title}"' if self.picked else "sessions of the hub"

    @property
    def requests(self) -> Amounts:
        return self.spawner.resources[0]

    @property
    def placement(self) -> Json:
        return self.spawner.placement

    @property
    def claims(self) -> tuple[str, ...]:
        """The names of the device claims of their pods."""
        config = self.spawner.extra_pod_config
        return () if config is None else tuple(claim.name for claim in config.resource_claims or ())


class Hub(NamedTuple):
    """A JupyterHub, as its values say."""

    values: Values
    sessions: tuple[ProfileSession, ...]
    written: HelmValues

    @property
    def user_scheduler(self) -> str:
        """Return the name of the chart's scheduler; empty if it has none, or the release is not known."""
        if not self.values.scheduling.user_scheduler.enabled:
            return ""
        release, full = self.written.release, self.values.fullname_override
        if full is None:  # the chart then uses the name of the release and its own
            own = self.values.name_override or "jupyterhub"
            full = release if own in release else release and f"{release}-{own}"
        full = full or release
        return full and f"{full}{SCHEDULER}"


def read_hub(files: Sequence[Source], release: str = "") -> tuple[Hub | None, list[Problem | Finding]]:
    """Read the values of the chart from files, as `read_values` does, and check them."""
    written, problems = read_values(files, release)
    if written is None:
        return None, problems
    whole, report = merged(CHART, written.value), DocumentProblems(Origin(""))
    values = validate.read(Values, whole, report)
    for problem in report.closed():
        origin, path = written.place(problem.path)
        problems.append(
            origin.problem(problem.code, path, problem.message, problem.fix, at_key=problem.at_key)
        )
    problems += _unseen(whole, written)
    if values is None:
        return None, problems
    sessions = tuple(islice(_sessions(values), MOST + 1))
    if len(sessions) > MOST:
        message = f"the profiles have more than {MOST} combinations of choices."
        problems.append(written.problem("B012", values.profiles[0], message, f"Have at most {MOST} of them."))
        return None, problems
    return Hub(values, sessions, written), problems


_in_code = re.compile(r"\bc\.(?:Kube)?Spawner\.(\w+)\s*(?:=(?!=)|\.(?:append|extend|update))").finditer


def _unseen(whole: Json, written: HelmValues) -> Iterator[Problem]:
    """Yield what configures KubeSpawner in a way that is not read here: code, and overrides of groups."""
    code = below(whole, ("hub", "extraConfig"))
    for path, text in [((key,), code[key]) for key in code] if isinstance(code, dict) else [((), code)]:
        names = {match[1] for match in _in_code(text)} if isinstance(text, str) else set()
        known = ", ".join(sorted(names & _SpawnerConfig.model_fields.keys()))
        if known:
            fix = "Write it as values of the chart, or in hub.config.KubeSpawner."
            at = ("hub", "extraConfig", *path)
            yield written.problem(
                "B261", at, f"this code sets {known} of KubeSpawner, which is not read.", fix
            )
    for name in ("KubeSpawner", "Spawner"):
        at = ("hub", "config", name, "group_overrides")
        if has_size(below(whole, at)):
            fix = "Write a class by hand for the sessions of these groups."
            yield written.problem("B261", at, "sizes of sessions in it are not read.", fix)


def _sessions(values: Values) -> Iterator[ProfileSession]:
    """Yield the sessions that people can start. Without profiles there is one kind: `jupyterhub`."""
    usual = values.spawner
    path, listed = values.profiles
    keys = sorted(listed) if isinstance(listed, dict) else range(len(listed))
    if not listed:
        yield _session("all sessions", (), usual, usual)._replace(images=_names([usual.image]))
    for key in keys:
        profile = listed[key]
        own = usual.overridden(profile.kubespawner_override)
        options = {
            name: option.choices
            for name, option in profile.profile_options.items()
            if any(_changes_seat(own, choice) for choice in option.choices.values())
        }
        kind = name_of(profile.slug or profile.display_name, PROFILE)
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
            labels = ((fitted(f"{PROFILE}-{name_of(o, PROFILE)}", o), name_of(c, PROFILE)) for o, c in picks)
            picked = ((PROFILE, kind), *labels)
            images = (spawner.image, *(spawner.overridden(by).image for by in other))
            session = _session(", ".join(title), picked, spawner, usual)
            yield session._replace(images=_names(images), path=(*path, key))


def _changes_seat(own: Spawner, choice: _Choice) -> bool:
    """Tell whether a choice changes the size of a pod or its place, not only its image or its labels."""
    other = own.overridden(choice.kubespawner_override)
    return (other.resources, other.placement) != (own.resources, own.placement)


def _session(
    title: str, picked: tuple[tuple[str, str], ...], spawner: Spawner, usual: Spawner
) -> ProfileSession:
    labels, before = _fixed(spawner.extra_labels), _fixed(usual.extra_labels)
    added = {key: text for key, text in labels.items() if before.get(key) != text}
    name = fitted("-".join(text for _, text in picked) or "jupyterhub", title)
    return ProfileSession(name, title, picked, {**labels, **_POD_LABELS}, added, spawner)


def _names(images: Iterable[str | None]) -> tuple[str, ...]:
    """Return each image once, without texts that only the hub can turn into the name of an image."""
    names = dict.fromkeys(image for image in images if image)
    return tuple(image for image in names if grammar.is_image(image))


def _fixed(labels: Mapping[str, str | None] | None) -> dict[str, str]:
    """Return the labels that are the same for everybody: KubeSpawner fills in `{username}` and others."""
    return {key: text for key, text in (labels or {}).items() if text is not None and "{" not in text}
