"""What happens to a cluster: one turn each, as the API server tells of it afterwards."""

from typing import Any

from tests.live.world import World

NO_ROOM = {
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/5 nodes are available: 5 Insufficient cpu.",
        }
    ]
}


def waits(container: str, reason: str, message: str = "") -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message} if message else {"reason": reason}}
    return {"containerStatuses": [{"name": container, "restartCount": 0, "state": state}]}


NO_IMAGE = waits("placeholder", "ImagePullBackOff", 'Back-off pulling image "pause:9"')
NO_CONFIG = waits("placeholder", "CreateContainerConfigError")
STARTING = waits("placeholder", "ContainerCreating")
# Scheduled, while the kubelet pulls what its class has under `images`.
PULLING = {
    **STARTING,
    "spec": {
        "nodeName": "gpu-1",
        "containers": [
            {"name": "placeholder", "volumeMounts": [{"name": "image-0", "mountPath": "/images/0"}]}
        ],
        "volumes": [{"name": "image-0", "image": {"reference": "quay.io/course:1"}}],
        "initContainers": [{"name": "image-1", "image": "quay.io/other:2"}],
    },
}
CRASHING = [{"name": "scaler", "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
SWEEP = {"berth.dev/site": "uni", "berth.dev/role": "sweep"}


def gone(world: World) -> None:
    """The pod, with its Job, and the CronJob."""
    world.vanish("Pod", "course-29500-abcde")
    world.vanish("CronJob", "course")


def unscaled(world: World) -> None:
    found = world.get("Deployment", "course-small")
    found["spec"]["replicas"], found["status"] = 0, {}
    del found["metadata"]["managedFields"][1:]
    found["metadata"]["managedFields"][0]["fieldsV1"] = {"f:spec": {"f:replicas": {}}}


def pending(world: World, number: int, status: dict[str, Any], since: str = "2026-02-02T07:30:05Z") -> None:
    world.wait("course", number, since, **status)
    world.scale("course-small", 20, "berth-scaler", "2026-02-02T07:30:03Z", ready=20 - number)


def unready(world: World, number: int, **status: Any) -> None:
    """So many that have a node do not run since 08:20Z."""
    since = {"lastTransitionTime": "2026-02-02T08:20:00Z"}
    ready = {"type": "Ready", "status": "False", **since}
    status.setdefault("spec", {"nodeName": "gpu-1"})
    world.wait("course", number, "2026-02-02T07:30:05Z", "Running", conditions=[ready], **status)
    world.scale("course-small", 20, "berth-scaler", "2026-02-02T08:50:00Z", ready=20 - number)


def refused(world: World, why: str, at: str = "2026-02-02T07:30:04Z") -> None:
    """No pod of the Deployment is made."""
    world.scale("course-small", 20, "berth-scaler", "2026-02-02T08:50:00Z", ready=0)
    failure = {"type": "ReplicaFailure", "status": "True", "lastTransitionTime": at}
    said = {"reason": "FailedCreate", "message": f'pods "course-small-x" is forbidden: {why}'}
    world.get("Deployment", "course-small")["status"]["conditions"] = [{**failure, **said}]


def short(world: World, since: str) -> None:
    """Most of the seats are not there."""
    world.scale("course-small", 20, "berth-scaler", since, ready=2)
    condition = {"type": "Available", "status": "False", "lastTransitionTime": since}
    world.get("Deployment", "course-small")["status"]["conditions"] = [condition]


def without(world: World, reservation: str) -> None:
    key = "berth.dev/reservation"
    world.objects = [
        object_
        for object_ in world.objects
        if (object_["metadata"].get("labels") or {}).get(key) != reservation
    ]


def timetable(world: World, text: str) -> None:
    world.get("ConfigMap", "course")["data"]["timetable.json"] = text


def edit(world: World, *pairs: str) -> None:
    """Old and new texts in turn."""
    text = world.get("ConfigMap", "course")["data"]["timetable.json"]
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    timetable(world, text)


def template(world: World, **spec: Any) -> None:
    """The pod spec of the Deployment, and `requests` of its container."""
    found = world.get("Deployment", "course-small")["spec"]["template"]["spec"]
    if requests := spec.pop("requests", None):
        found["containers"][0]["resources"]["requests"] = requests
    found.update(spec)


def defaulted(world: World) -> None:
    """As the API server has it: with defaults, and amounts in its own form."""
    template(
        world,
        requests={"cpu": "1000m", "memory": "4096Mi"},
        dnsPolicy="ClusterFirst",
        restartPolicy="Always",
        schedulerName="default-scheduler",
    )
    found = world.get("Deployment", "course-small")["spec"]["template"]
    found["metadata"]["creationTimestamp"] = None
    found["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] = "2026-02-01T08:00:00Z"
    found["spec"]["containers"][0]["terminationMessagePath"] = "/dev/termination-log"


def swept(world: World, at: str) -> None:
    world.get("CronJob", "berth-sweep")["status"] = {"lastSuccessfulTime": at}


def new_sweep(world: World) -> None:
    sweep = world.get("CronJob", "berth-sweep")
    sweep["status"], sweep["metadata"]["creationTimestamp"] = {}, "2026-02-02T08:55:00Z"


def failed_job(world: World, name: str) -> None:
    labels = {"berth.dev/site": "uni", "berth.dev/reservation": "course"}
    condition = {
        "type": "Failed",
        "status": "True",
        "reason": "DeadlineExceeded",
        "message": "It was too long",
    }
    metadata = {"name": name, "namespace": "berth", "labels": labels}
    world.apply_rendered({"kind": "Job", "metadata": metadata, "status": {"conditions": [condition]}})


QUOTA = (
    '(combined from similar events): Error creating: pods "x-" is forbidden: failed quota: team: must '
    "specify limits.cpu"
)


def job(world: World, name: str, role: str, created: str, **status: Any) -> None:
    """A Job of the course, or of the sweep."""
    labels = {"berth.dev/site": "uni", "berth.dev/role": role}
    if role == "occurrence":
        labels["berth.dev/reservation"] = "course"
    metadata = {"name": name, "namespace": "berth", "labels": labels, "creationTimestamp": created}
    world.apply_rendered({"kind": "Job", "metadata": metadata, "spec": {}, "status": status})


def failed_sweep(world: World, created: str) -> None:
    condition = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Too long"}
    job(world, "berth-sweep-29501", "sweep", created, conditions=[condition])


def not_created(world: World, kind: str, name: str, at: str) -> None:
    """As the controllers say it, every time they try."""
    who = {"kind": kind, "name": name, "namespace": "berth"}
    metadata = {"name": f"{name}.18a", "namespace": "berth"}
    said = {"involvedObject": who, "reason": "FailedCreate", "message": QUOTA, "lastTimestamp": at}
    world.apply_rendered({"kind": "Event", "metadata": metadata, "type": "Warning", **said})


def refuse_all(world: World) -> None:
    """The namespace refuses the pods of Jobs and of the sweep."""
    world.vanish("Pod", "course-29500-abcde")
    unscaled(world)
    job(world, "course-29500", "occurrence", "2026-02-02T07:30:00Z")
    not_created(world, "Job", "course-29500", "2026-02-02T08:59:00Z")
    job(world, "berth-sweep-29500", "sweep", "2026-02-02T08:57:00Z")
    not_created(world, "Job", "berth-sweep-29500", "2026-02-02T08:57:10Z")


def moved(world: World) -> None:
    """The namespace was another one before, and nothing prunes."""
    for kind, name in (("CronJob", "course"), ("CronJob", "berth-sweep"), ("Deployment", "course-small")):
        old = world.get(kind, name)
        world.apply_rendered({**old, "metadata": {**old["metadata"], "namespace": "seats", "uid": "old"}})


def override(world: World, target: str, until: str) -> None:
    text = f'{{"small": {{"target": {target}, "until": "{until}"}}}}'
    world.get("ConfigMap", "course")["metadata"]["annotations"]["berth.dev/override"] = text


def stray(world: World) -> None:
    """Of two classes, one of them misspelt: the other holds."""
    until = '"until": "2026-02-02T10:00:00Z"'
    text = f'{{"small": {{"target": 3, {until}}}, "smal": {{"target": 60, {until}}}}}'
    world.get("ConfigMap", "course")["metadata"]["annotations"]["berth.dev/override"] = text
    world.scale("course-small", 3, "berth-scaler", "2026-02-02T08:59:00Z")


def unpermitted(world: World, *kinds: str) -> None:
    """Roles or RoleBindings of the course are gone."""
    for kind in kinds:
        world.vanish(kind, "course")


def no_namespace(world: World) -> None:
    """The namespace of sessions is gone, with all that was in it."""
    world.objects = [object_ for object_ in world.objects if object_["metadata"].get("namespace") != "hub"]


def new_namespace(world: World) -> None:
    """It was made again."""
    no_namespace(world)
    world.apply_rendered({"kind": "Namespace", "metadata": {"name": "hub"}})


def renewed(world: World, at: str) -> None:
    """The pod of the course has renewed its Lease last at an instant."""
    world.silent.add("course-small")
    world.hold("course-small", at, "course-29500-abcde")


def recorded(world: World) -> None:
    """The pod of the course has written its record."""
    labels = {"site": "uni", "reservation": "course", "role": "record"}
    metadata: dict[str, object] = {"name": "course-record", "namespace": "berth"}
    metadata |= {"labels": {f"berth.dev/{key}": value for key, value in labels.items()}}
    world.apply_rendered({"kind": "ConfigMap", "metadata": metadata, "data": {"records.json": "[]"}})


def relabeled(world: World, kind: str, name: str, **labels: str | None) -> None:
    """`site`, `reservation` and `role`; None takes one away."""
    known = world.get(kind, name)["metadata"]["labels"]
    known.update({f"berth.dev/{key}": value for key, value in labels.items()})
    for key in [key for key, value in known.items() if value is None]:
        del known[key]


def other_site(world: World) -> None:
    """It has a CronJob in the namespace."""
    metadata = {"name": "theirs", "namespace": "berth", "labels": {"berth.dev/site": "other"}}
    world.apply_rendered({"kind": "CronJob", "metadata": metadata, "spec": {}})


def suspended(world: World) -> None:
    """The only CronJob of the course, whose pod has not come yet."""
    world.get("CronJob", "course")["spec"]["suspend"] = True
    world.vanish("Pod", "course-29500-abcde")
    unscaled(world)


def in_peace(world: World) -> None:
    del world
