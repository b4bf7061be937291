"""What may happen to a cluster that is in order. `expected.txt` has what is said of each, by its name."""

from collections.abc import Callable
from typing import NamedTuple

from berth.core.jsonvalues import instant_text, parse_instant

from tests.live.project import Project
from tests.live.turns import (
    CRASHING,
    NO_CONFIG,
    NO_IMAGE,
    NO_ROOM,
    PULLING,
    STARTING,
    SWEEP,
    defaulted,
    edit,
    failed_job,
    failed_sweep,
    gone,
    in_peace,
    job,
    moved,
    new_namespace,
    new_sweep,
    no_namespace,
    not_created,
    other_site,
    override,
    pending,
    recorded,
    refuse_all,
    refused,
    relabeled,
    renewed,
    short,
    stray,
    suspended,
    swept,
    template,
    timetable,
    unpermitted,
    unready,
    unscaled,
    waits,
    without,
)
from tests.live.world import World

NOW = "2026-02-02T09:00:00Z"  # 10:00 in Zurich: the course is open since 07:30Z, starts 08:00Z, ends 12:00Z


def in_order(git: Project, now: str = NOW) -> World:
    """Five sessions have come, and 20 placeholders are left; the sweep came by three minutes ago."""
    world = World(git.objects["prod"])
    swept(world, instant_text(parse_instant(now) - 180))
    world.run("course")
    world.renew(now)
    world.scale("course-small", 20, "berth-scaler", "2026-02-02T08:40:00Z")
    for n in range(5):
        world.session(f"jupyter-{n}")
    return world


def without_code(world: World, *packages: str) -> None:
    """Remove the ConfigMaps of these packages, whatever they contain."""
    world.objects = [
        object_
        for object_ in world.objects
        if object_["kind"] != "ConfigMap" or not object_["metadata"]["name"].startswith(packages)
    ]


STRAY = {"name": "stray", "namespace": "berth", "labels": {"berth.dev/site": "uni"}}


class Case(NamedTuple):
    """What happens, and when somebody looks. `before`: the same was seen so many seconds earlier."""

    name: str
    happenings: tuple[Callable[[World], object], ...]
    now: str
    before: int

    def happen(self, world: World) -> None:
        for happening in self.happenings:
            happening(world)


def case(name: str, *happenings: Callable[[World], object], now: str = NOW, before: int = 0) -> Case:
    return Case(name, happenings, now, before)


CASES = [
    # permissions, and Leases
    case("binding-gone", lambda w: unpermitted(w, "RoleBinding")),
    case("role-gone-before-a-later-window", lambda w: unpermitted(w, "Role"), now="2026-02-01T12:00:00Z"),
    case("role-without-scale", lambda w: w.get("Role", "course")["rules"].pop()),
    case("binding-of-another", lambda w: w.get("RoleBinding", "course").update(subjects=[])),
    case("sweep-unbound", lambda w: w.vanish("RoleBinding", "berth-sweep")),
    case("sessions-namespace-gone", no_namespace),
    case("sessions-namespace-made-again", new_namespace),
    case("renewed-lately", lambda w: renewed(w, "2026-02-02T08:59:05Z")),
    case("renewed-long-ago", lambda w: renewed(w, "2026-02-02T08:58:29Z")),
    case(
        "renewed-long-ago-and-too-few-seats",
        lambda w: renewed(w, "2026-02-02T08:00:00Z"),
        lambda w: w.scale("course-small", 4, "berth-scaler", "2026-02-02T08:00:00Z"),
    ),
    # what others did
    case(
        "label-taken-from-a-deployment",
        lambda w: relabeled(w, "Deployment", "course-small", reservation=None),
    ),
    case(
        "label-of-the-site-taken-from-a-deployment",
        lambda w: relabeled(w, "Deployment", "course-small", site=None),
    ),
    case(
        "deployment-with-the-label-of-another",
        lambda w: relabeled(w, "Deployment", "course-small", reservation="other"),
    ),
    case(
        "deployment-of-nobody",
        lambda w: w.apply_rendered({**w.get("Deployment", "course-small"), "metadata": STRAY}),
        lambda w: relabeled(w, "Deployment", "stray", reservation=None),
    ),
    case(
        "record-that-plays-a-timetable",
        recorded,
        lambda w: relabeled(w, "ConfigMap", "course-record", role="timetable", reservation="course-record"),
    ),
    case(
        "record-that-plays-that-of-another",
        recorded,
        lambda w: relabeled(w, "ConfigMap", "course-record", reservation="other"),
    ),
    case("another-site", other_site),
    case("opened-while-its-cronjob-is-suspended", suspended, now="2026-02-02T07:30:20Z"),
    # seats
    case(
        "scaled-to-0-and-nobody-serves",
        gone,
        lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:50:00Z"),
    ),
    case(
        "the-same-where-no-sweep-works",
        gone,
        lambda w: w.vanish("CronJob", "berth-sweep"),
        lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:59:50Z"),
    ),
    case("nobody-serves-but-seats-stand", lambda w: w.vanish("Pod", "course-29500-abcde")),
    case(
        "nobody-serves-nor-sweeps-but-seats-stand",
        lambda w: w.vanish("Pod", "course-29500-abcde"),
        lambda w: w.vanish("CronJob", "berth-sweep"),
    ),
    case(
        "opened-a-moment-ago",
        lambda w: w.vanish("Pod", "course-29500-abcde"),
        unscaled,
        now="2026-02-02T07:30:20Z",
    ),
    case("opened-and-its-pod-is-at-work", unscaled, now="2026-02-02T07:30:20Z"),
    case("its-pod-has-never-scaled", unscaled),
    case("its-pod-has-never-scaled-and-does-not", unscaled, before=10),
    case("set-to-0-just-now", lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:59:55Z")),
    case(
        "set-to-0-and-not-put-right",
        lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:59:00Z"),
        before=10,
    ),
    case("a-session-left", lambda w: w.vanish("Pod", "jupyter-4")),
    case("a-session-left-but-just-now", lambda w: w.vanish("Pod", "jupyter-4"), before=39),
    case("a-session-left-and-its-seat-is-not-back", lambda w: w.vanish("Pod", "jupyter-4"), before=40),
    case("a-session-too-many", lambda w: w.scale("course-small", 21, "berth-scaler", "2026-02-02T08:59:00Z")),
    case("set-to-100", lambda w: w.scale("course-small", 100, "kubectl", "2026-02-02T08:40:00Z")),
    case(
        "set-to-100-and-not-put-right",
        lambda w: w.scale("course-small", 100, "kubectl", "2026-02-02T08:40:00Z"),
        before=10,
    ),
    case("set-to-26-just-now", lambda w: w.scale("course-small", 26, "kubectl", "2026-02-02T08:59:00Z")),
    case("closing", in_peace, now="2026-02-02T12:05:59Z"),
    case("left-after-the-end", in_peace, now="2026-02-02T12:06:00Z"),
    case(
        "left-where-nobody-sweeps",
        gone,
        lambda w: w.vanish("CronJob", "berth-sweep"),
        now="2026-02-02T12:00:01Z",
    ),
    case("its-deployment-is-missing-while-open", lambda w: w.vanish("Deployment", "course-small")),
    case(
        "its-deployment-is-missing-before",
        lambda w: w.vanish("Deployment", "course-small"),
        now="2026-02-02T07:00:00Z",
    ),
    # ready
    case("no-room", lambda w: pending(w, 7, NO_ROOM)),
    case("no-room-is-no-news-for-a-minute", lambda w: pending(w, 7, NO_ROOM, "2026-02-02T08:59:01Z")),
    case("no-room-and-the-start-is-near", lambda w: pending(w, 7, NO_ROOM), now="2026-02-02T07:56:00Z"),
    case("starting-and-the-start-is-near", lambda w: pending(w, 7, STARTING), now="2026-02-02T07:56:00Z"),
    case(
        "starting-and-the-start-is-not-so-near", lambda w: pending(w, 7, STARTING), now="2026-02-02T07:54:59Z"
    ),
    case("starting-after-a-session-left", lambda w: pending(w, 1, STARTING, "2026-02-02T08:55:00Z")),
    case("pulling-and-the-start-is-near", lambda w: pending(w, 7, PULLING), now="2026-02-02T07:56:00Z"),
    case("no-image", lambda w: pending(w, 20, NO_IMAGE)),
    case("no-config", lambda w: pending(w, 1, NO_CONFIG)),
    case("a-quota-refuses-them", lambda w: refused(w, "exceeded quota: team")),
    case(
        "a-quota-refuses-them-and-the-start-is-near",
        lambda w: refused(w, "exceeded quota: team"),
        now="2026-02-02T07:56:00Z",
    ),
    case(
        "the-program-of-placeholders-ends",
        lambda w: unready(
            w, 20, containerStatuses=waits("placeholder", "CrashLoopBackOff")["containerStatuses"]
        ),
    ),
    case("the-node-of-three-is-lost", lambda w: unready(w, 3)),
    case("the-node-of-three-was-lost-just-now", lambda w: unready(w, 3), now="2026-02-02T08:20:59Z"),
    case("the-node-of-all-was-lost-a-minute-ago", lambda w: unready(w, 20), now="2026-02-02T08:21:00Z"),
    case(
        "the-node-of-most-was-lost-and-there-is-no-room-elsewhere",
        lambda w: pending(w, 18, NO_ROOM, "2026-02-02T08:59:29Z"),
        lambda w: short(w, "2026-02-02T08:59:00Z"),
    ),
    case("most-are-not-made-and-nobody-says-why", lambda w: short(w, "2026-02-02T08:59:00Z")),
    case("most-are-not-made-since-a-moment", lambda w: short(w, "2026-02-02T08:59:01Z")),
    case(
        "most-are-not-made-as-the-count-was-raised-just-now",
        lambda w: short(w, "2026-02-02T08:55:00Z"),
        lambda w: w.get("ConfigMap", "course")["metadata"]["managedFields"].append(
            {"manager": "berth-override", "time": "2026-02-02T08:54:59Z", "fieldsV1": {}}
        ),
    ),
    case("three-are-about-to-be-made", lambda w: w.scale("course-small", 20, "berth-scaler", NOW, ready=17)),
    # sync
    case("reservation-missing", lambda w: without(w, "course"), now="2026-02-01T09:00:00Z"),
    case("reservation-missing-just-opened", lambda w: without(w, "course"), now="2026-02-02T07:35:59Z"),
    case("reservation-missing-while-open", lambda w: without(w, "course")),
    case("timetable-missing-while-open", lambda w: w.vanish("ConfigMap", "course")),
    case("timetable-malformed", lambda w: timetable(w, "{")),
    case("timetable-of-tomorrow", lambda w: edit(w, '"version": 1', '"version": 9')),
    case("timetable-without-its-key", lambda w: w.get("ConfigMap", "course").update(data={})),
    case("times-differ", lambda w: edit(w, "2026-02-09T08:00:00Z", "2026-02-09T08:30:00Z")),
    case("count-differs", lambda w: edit(w, '"small": 25}', '"small": 20}')),
    case(
        "everything-differs",
        lambda w: edit(
            w,
            "2026-02-0",
            "2026-03-0",
            '"suspend": false',
            '"suspend": true',
            "maintain",
            "reduce",
            '"readyMinutes": 5',
            '"readyMinutes": 9',
        ),
    ),
    case("template-as-the-server-has-it", defaulted),
    case("template-asks-for-less", lambda w: template(w, requests={"cpu": "500m", "memory": "4Gi"})),
    case(
        "template-is-placed-elsewhere",
        lambda w: template(
            w,
            nodeSelector={"example.org/pool": "old"},
            tolerations=[{"key": "old", "operator": "Exists"}],
            priorityClassName="low",
        ),
    ),
    case("template-is-another", lambda w: template(w, containers=[{"name": "x", "image": "pause:9"}])),
    case(
        "template-and-times-differ",
        lambda w: edit(w, "2026-02-09T08:00:00Z", "2026-02-09T08:30:00Z"),
        lambda w: template(w, requests={"cpu": "1"}),
    ),
    case("nothing-of-it", lambda w: w.collections.clear(), now="2026-02-01T09:00:00Z"),
    case("cronjob-missing", lambda w: w.vanish("CronJob", "course")),
    case("cronjob-suspended", lambda w: w.get("CronJob", "course")["spec"].update(suspend=True)),
    # ours
    case("code-missing", lambda w: without_code(w, "berth-core-", "berth-runtime-")),
    case("code-of-another-version", lambda w: without_code(w, "berth-core-")),
    case("sweep-missing", lambda w: w.vanish("CronJob", "berth-sweep")),
    case("sweep-suspended", lambda w: w.get("CronJob", "berth-sweep")["spec"].update(suspend=True)),
    case("sweep-failing", lambda w: swept(w, "2026-02-02T08:50:00Z")),
    case("sweep-has-never-succeeded", lambda w: w.get("CronJob", "berth-sweep").update(status={})),
    case("sweep-is-new", new_sweep),
    case(
        "sweep-cannot-start",
        lambda w: w.pod("berth-sweep-1", SWEEP, "Pending", containerStatuses=NO_IMAGE["containerStatuses"]),
    ),
    case("jobs-and-sweep-are-refused", refuse_all),
    case("jobs-and-sweep-are-refused-and-it-opened-just-now", refuse_all, now="2026-02-02T07:31:00Z"),
    case(
        "a-job-was-refused-and-has-its-pod-now",
        lambda w: job(w, "course-29500", "occurrence", "2026-02-02T07:30:00Z", active=1),
        lambda w: not_created(w, "Job", "course-29500", "2026-02-02T07:30:01Z"),
    ),
    case(
        "a-cronjob-is-refused",
        lambda w: w.vanish("Pod", "course-29500-abcde"),
        lambda w: not_created(w, "CronJob", "course", "2026-02-02T08:59:00Z"),
    ),
    case(
        "a-cronjob-was-refused-last-week",
        lambda w: not_created(w, "CronJob", "course", "2026-01-26T07:30:00Z"),
    ),
    case("the-last-sweep-failed", lambda w: failed_sweep(w, "2026-02-02T08:57:00Z")),
    case("a-sweep-failed-before", lambda w: failed_sweep(w, "2026-02-02T08:52:00Z")),
    case(
        "events-cannot-be-listed",
        refuse_all,
        lambda w: w.refused.update({"/api/v1/namespaces/berth/events": "HTTP 403: events is forbidden"}),
    ),
    case(
        "pod-has-no-node", lambda w: w.run("course", "Pending", "course-2", conditions=NO_ROOM["conditions"])
    ),
    case("sidecar-crashes", lambda w: w.run("course", name="course-2", initContainerStatuses=CRASHING)),
    case(
        "sidecar-has-crashed",
        lambda w: w.run(
            "course",
            name="course-2",
            initContainerStatuses=[{"name": "scaler", "restartCount": 3, "state": {"running": {}}}],
        ),
    ),
    case("pods-fail", lambda w: [w.run("course", "Failed", f"course-{n}") for n in range(2, 5)]),
    case("pods-have-failed-twice", lambda w: [w.run("course", "Failed", f"course-{n}") for n in range(2, 4)]),
    case("job-failed", lambda w: failed_job(w, "course-29500")),
    case("left-in-the-namespace-of-before", moved),
    case(
        "left-in-the-namespace-of-before-and-nobody-may-see-it",
        moved,
        lambda w: w.refused.update({"/apis/batch/v1/cronjobs": "HTTP 403: forbidden"}),
    ),
    # override
    case("more", lambda w: override(w, "60", "2026-02-02T10:00:00Z")),
    case(
        "kept",
        lambda w: override(w, "60", "2026-02-02T10:00:00Z"),
        lambda w: w.scale("course-small", 60, "berth-scaler", "2026-02-02T08:50:00Z"),
    ),
    case(
        "less",
        lambda w: override(w, "3", "2026-02-02T10:00:00Z"),
        lambda w: w.scale("course-small", 3, "berth-scaler", "2026-02-02T08:50:00Z"),
    ),
    case("over", lambda w: override(w, "60", "2026-02-02T09:00:00Z")),
    case(
        "over-a-moment-ago",
        lambda w: override(w, "60", "2026-02-02T08:59:57Z"),
        lambda w: w.scale("course-small", 60, "berth-scaler", "2026-02-02T08:30:00Z"),
    ),
    case(
        "over-and-more-are-wanted-again",
        lambda w: override(w, "3", "2026-02-02T08:59:57Z"),
        lambda w: w.scale("course-small", 3, "berth-scaler", "2026-02-02T08:30:00Z"),
    ),
    case(
        "over-and-nobody-serves",
        gone,
        lambda w: override(w, "3", "2026-02-02T08:59:57Z"),
        lambda w: w.scale("course-small", 3, "berth-sweep", "2026-02-02T08:30:00Z"),
    ),
    case(
        "over-with-nothing-open",
        gone,
        lambda w: override(w, "60", "2026-02-02T14:00:00Z"),
        lambda w: w.scale("course-small", 60, "berth-sweep", "2026-02-02T13:00:00Z"),
        lambda w: swept(w, "2026-02-02T13:55:03Z"),
        now="2026-02-02T14:00:03Z",
    ),
    case(
        "over-for-seven-minutes-with-nothing-open",
        gone,
        lambda w: override(w, "60", "2026-02-02T14:00:00Z"),
        lambda w: w.scale("course-small", 60, "berth-sweep", "2026-02-02T13:00:00Z"),
        lambda w: swept(w, "2026-02-02T14:05:03Z"),
        now="2026-02-02T14:07:00Z",
    ),
    case("of-a-class-that-it-has-not", stray),
    case("out-of-all-measure", lambda w: override(w, "3000000000", "2026-02-02T10:00:00Z")),
    case("malformed", lambda w: override(w, "-1", "2026-02-02T10:00:00Z")),
    # sessions
    case("forbidden", lambda w: w.refused.update({"/api/v1/namespaces/hub/": "HTTP 403: pods is forbidden"})),
    case(
        "forbidden-and-nothing-asked-for",
        lambda w: w.refused.update({"/api/v1/namespaces/hub/": "HTTP 403: pods is forbidden"}),
        lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:40:00Z"),
    ),
]
