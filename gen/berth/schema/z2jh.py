"""The values of the Zero to JupyterHub chart (z2jh): what session pods request, and where they may run.

The rules are those of the chart's `jupyterhub_config.py` and, for profiles, of KubeSpawner.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict

from berth.findings import Finding, Origin, Path, Problem
from berth.quantity import canonical
from berth.quantity import parse as parse_amount
from berth.reading.source import Source
from berth.schema import grammar, validate
from berth.schema.basemodel import Json, ListOf, Model, Parsed, Switch, Whole, field, wrong_type
from berth.schema.documentproblems import RANGE, TYPE, DocumentProblems, Refusal, shown
from berth.schema.helmvalues import UNSEEN, HelmValues, below, merged, read_values
from berth.schema.pod import Amounts, Placement, completed
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
    "scheduling": {
        "userScheduler": {"enabled": True},
        "podPriority": {
            "enabled": False,
            "globalDefault": False,
            "defaultPriority": 0,
            "imagePullerPriority": -5,
            "userPlaceholderPriority": -10,
        },
        "userPlaceholder": {"enabled": True, "replicas": 0},
        "userPods": {"nodeAffinity": {"matchNodePurpose": "prefer"}, "tolerations": _DEDICATED},
    },
}
"""The chart's own values, as far as they matter here: the layer below all others."""

DEFAULT_SPAWN_LIMIT = 100  # of JupyterHub, if nothing sets it
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
            nearly = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)\s*([kmgt])(?:i?b|i)?", value.lower(), re.ASCII)
            if nearly is not None:
                fix = f'Did you mean "{nearly[1]}{nearly[2].upper()}"? {fix}'
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


class _PodClaim(_Theirs):
    name: AnyText


class _PodConfig(Placement):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    resource_claims: ListOf[_PodClaim] | None = field(None)


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
    tolerations: Annotated[ListOf[PodToleration] | dict[str, PodToleration], _BY_KEY] | None = field(None)
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
        """Return requests and limits, completed as the API server does."""
        return completed(*self.bounds)

    @property
    def bounds(self) -> tuple[Amounts, Amounts]:
        """Return requests and limits of the pod that KubeSpawner makes. It leaves out 0."""
        requests = {"cpu": self.cpu_guarantee, "memory": self.mem_guarantee}
        limits = {"cpu": self.cpu_limit, "memory": self.mem_limit}
        return (
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


def _dumped(items: Sequence[Model] | Mapping[str, Model] | None) -> list[Json]:
    ordered = [items[key] for key in sorted(items)] if isinstance(items, Mapping) else items or ()
    return [item.dump() for item in ordered]


class _Choice(_Theirs):
    model_config = ConfigDict(alias_generator=None)

    kubespawner_override: Spawner = field(Spawner.model_construct())


class _Option(_Theirs):
    choices: dict[str, _Choice] = field({})


class _Profile(_Theirs):
    model_config = ConfigDict(alias_generator=None)

    display_name: AnyText
    slug: AnyText | None = field(None)
    default: bool = field(False)
    kubespawner_override: Spawner = field(Spawner.model_construct())
    profile_options: dict[str, _Option] = field({})


_Profiles = Annotated[ListOf[_Profile] | dict[str, _Profile], _BY_KEY]


class _SpawnerConfig(Spawner):
    """Configuration of KubeSpawner in `hub.config`, which replaces what the chart makes of other values."""

    profile_list: _Profiles | None = field(None)


class _JupyterHubConfig(_Theirs):
    model_config = ConfigDict(alias_generator=None)

    concurrent_spawn_limit: Annotated[int, Whole(0)] | None = field(None)


class _HubConfig(_Theirs):
    model_config = ConfigDict(alias_generator=None)

    spawner: _SpawnerConfig = field(_SpawnerConfig.model_construct(), alias="Spawner")
    kube_spawner: _SpawnerConfig = field(_SpawnerConfig.model_construct(), alias="KubeSpawner")
    jupyterhub: _JupyterHubConfig | None = field(None, alias="JupyterHub")


class _CpuBounds(_Theirs):
    guarantee: Amount | None = field(None)
    limit: Amount | None = field(None)


class _MemoryBounds(_Theirs):
    guarantee: _Memory | None = field(None)
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
    extra_tolerations: ListOf[PodToleration] = field(())
    extra_node_affinity: _NodeTerms = field(_NodeTerms.model_construct())
    extra_labels: dict[LabelKey, AnyText | None] = field({})
    extra_pod_config: _PodConfig | None = field(None)
    profile_list: _Profiles | None = field(None)


class _Affinity(_Theirs):
    match_node_purpose: Literal["prefer", "require", "ignore"] | None = field(None)


class _UserPods(_Theirs):
    node_affinity: _Affinity = field(_Affinity.model_construct())
    tolerations: ListOf[PodToleration] = field(())


class _UserScheduler(_Theirs):
    enabled: bool = field(False)


_Priority = Annotated[int, Whole(-(2**31), INT32)]


class _PodPriority(_Theirs):
    enabled: bool = field(False)
    global_default: bool = field(False)
    default_priority: _Priority = field(0)
    image_puller_priority: _Priority = field(0)
    user_placeholder_priority: _Priority = field(0)


class _UserPlaceholder(_Theirs):
    enabled: bool = field(False)
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
        for config in self._configs:
            own = {
                name: getattr(config, name) for name in config.model_fields_set & Spawner.model_fields.keys()
            }
            spawner = spawner.model_copy(update=own)
        return spawner

    @property
    def _configs(self) -> tuple[_SpawnerConfig, _SpawnerConfig]:
        """Return the configurations of KubeSpawner, the stronger last."""
        return self.hub.config.spawner, self.hub.config.kube_spawner

    @property
    def profiles(self) -> tuple[Path, Any]:
        """Return where the list of profiles is, and the list, or a mapping of them."""
        config = self.hub.config
        for name, part in (("KubeSpawner", config.kube_spawner), ("Spawner", config.spawner)):
            if part.profile_list:
                return ("hub", "config", name, "profile_list"), part.profile_list
        return ("singleuser", "profileList"), self.singleuser.profile_list or ()

    @property
    def spawn_limit(self) -> int:
        """Return how many servers may start at the same time; 0 is no limit."""
        own = self.hub.config.jupyterhub
        limits = (None if own is None else own.concurrent_spawn_limit, self.hub.concurrent_spawn_limit)
        return next((limit for limit in limits if limit is not None), DEFAULT_SPAWN_LIMIT)

    @property
    def spawn_limit_path(self) -> Path:
        own = self.hub.config.jupyterhub
        if own is not None and own.concurrent_spawn_limit is not None:
            return ("hub", "config", "JupyterHub", "concurrent_spawn_limit")
        return ("hub", "concurrentSpawnLimit")

    def user_scheduler(self, release: str) -> str:
        """Return the name of the chart's scheduler; empty if it has none, or the release is not known."""
        if not self.scheduling.user_scheduler.enabled:
            return ""
        full = self.fullname_override
        if full is None:  # the chart then uses the name of the release and its own
            own = self.name_override or "jupyterhub"
            full = release if own in release else release and f"{release}-{own}"
        full = full or release
        return full and f"{full}{SCHEDULER}"


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
    is_default: bool = False  # the profile of people who choose none

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
        return self.values.user_scheduler(self.written.release)

    def amount_path(self, session: ProfileSession, resource: str) -> Path:
        """Return where a limit or guarantee of a session is written: the most special one.

        With choices of a profile, it is the profile: each of them may change the amount.
        """
        if len(session.picked) > 1:
            return session.path
        if resource in _OPTIONS:
            short, usual = _OPTIONS[resource], ("singleuser", resource)
            options: list[Path] = [(f"{short}_limit",), (f"{short}_guarantee",)]
            chart: list[Path] = [(*usual, "limit"), (*usual, "guarantee")]
        else:
            kinds = ("limits", "guarantees")
            options = [(f"extra_resource_{kind}", resource) for kind in kinds]
            chart = [("singleuser", "extraResource", kind, resource) for kind in kinds]
        config: Path = ("hub", "config")
        above = ((*session.path, "kubespawner_override"), (*config, "KubeSpawner"), (*config, "Spawner"))
        paths = [*((*parent, *option) for parent in above for option in options), *chart]
        return next((path for path in paths if _is_written(self.written.value, path)), session.path)


_OPTIONS = {"cpu": "cpu", "memory": "mem"}  # how KubeSpawner's options for them begin


def _is_written(value: Any, path: Path) -> bool:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return False
    return value is not None


class HubReading(NamedTuple):
    """The hub, unless there are errors, and all problems."""

    hub: Hub | None
    problems: tuple[Problem | Finding, ...]


def read_hub(files: Sequence[Source], prefix: Path = (), release: str = "") -> HubReading:
    """Read the values of the chart from files, as `read_values` does, and check them."""
    reading = read_values(files, prefix, release)
    written = reading.values
    if written is None:
        return HubReading(None, reading.problems)
    whole, report = merged(CHART, written.value), DocumentProblems(Origin(""))
    values = validate.read(Values, whole, report)
    problems = [_placed(problem, whole, written) for problem in report.closed()]
    problems += _hidden_in_code(whole, written)
    hub = None
    if values is not None:
        kinds = tuple(islice(_sessions(values), MOST + 1))
        hub = Hub(values, kinds, written)
        if len(kinds) > MOST:
            path = values.profiles[0]
            message = f"the profiles have more than {MOST} combinations of choices."
            problems.append(written.problem(RANGE, path, message, f"Have at most {MOST} of them."))
            hub = None
    return HubReading(hub, (*reading.problems, *problems))


def _placed(problem: Problem, whole: Json, written: HelmValues) -> Problem:
    """Return a problem of the merged values where they are written; it names the profile."""
    origin, path = written.place(problem.path)
    name = _profile(problem.path, whole)
    message = f"{name}: {problem.message}" if name else problem.message
    return origin.problem(problem.code, path, message, problem.fix, at_key=problem.at_key)


def _profile(path: Path, whole: Any) -> str:
    """Return which profile a path leads into, by its display name if it has one; empty if into none."""
    for depth, key in enumerate(path[:-1]):
        whole = whole.get(key) if isinstance(whole, dict) else None
        if key in ("profileList", "profile_list"):
            item = path[depth + 1]
            profile = (
                whole[item]
                if isinstance(whole, list) and isinstance(item, int) and item < len(whole)
                else below(whole, (item,))
            )
            name = profile.get("display_name") if isinstance(profile, dict) else None
            if isinstance(name, str) and name.strip():
                return f"profile {shown(name)}"
            return f"profile {item + 1}" if isinstance(item, int) else f"profile {shown(item)}"
    return ""


_in_code = re.compile(r"\bc\.(?:Kube)?Spawner\.(\w+)\s*(?:=(?!=)|\.(?:append|extend|update))").finditer


def _hidden_in_code(whole: Json, written: HelmValues) -> list[Problem]:
    """Report code of `hub.extraConfig` that configures what is read here."""
    code = below(whole, ("hub", "extraConfig"))
    parts = [((), code)] if isinstance(code, str) else [((key,), code[key]) for key in _mapping(code)]
    problems = []
    for key, text in parts:
        names = {match[1] for match in _in_code(text)} if isinstance(text, str) else set()
        known = sorted(names & _SpawnerConfig.model_fields.keys())
        if known:
            message = f"this code sets {', '.join(known)} of KubeSpawner, which cannot be seen here."
            fix = "Write it as values of the chart, or in hub.config.KubeSpawner."
            problems.append(written.problem(UNSEEN, ("hub", "extraConfig", *key), message, fix))
    return problems


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


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
            if any(_matters(own, choice) for choice in option.choices.values())
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
            picked = ((PROFILE, kind), *((_label(o), name_of(c, PROFILE)) for o, c in picks))
            images = (spawner.image, *(spawner.overridden(by).image for by in other))
            session = _session(", ".join(title), picked, spawner, usual)
            yield session._replace(images=_names(images), path=(*path, key), is_default=profile.default)


def _label(option: str) -> str:
    """Return the key of a label that tells the choices of an option apart."""
    return fitted(f"{PROFILE}-{name_of(option, PROFILE)}", option)


def _matters(own: Spawner, choice: _Choice) -> bool:
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
