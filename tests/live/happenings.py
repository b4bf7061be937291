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
    all_of,
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
    happen: Callable[[World], object]
    now: str = NOW
    before: int = 0


CASES = [
    # permissions, and Leases
    Case("binding-gone", lambda w: unpermitted(w, "RoleBinding")),
    Case("role-gone-before-a-later-window", lambda w: unpermitted(w, "Role"), "2026-02-01T12:00:00Z"),
    Case("role-without-scale", lambda w: w.get("Role", "course")["rules"].pop()),
    Case("binding-of-another", lambda w: w.get("RoleBinding", "course").update(subjects=[])),
    Case("sweep-unbound", lambda w: w.vanish("RoleBinding", "berth-sweep")),
    Case("sessions-namespace-gone", no_namespace),
    Case("sessions-namespace-made-again", new_namespace),
    Case("renewed-lately", lambda w: renewed(w, "2026-02-02T08:59:05Z")),
    Case("renewed-long-ago", lambda w: renewed(w, "2026-02-02T08:58:29Z")),
    Case(
        "renewed-long-ago-and-too-few-seats",
        all_of(
            lambda w: renewed(w, "2026-02-02T08:00:00Z"),
            lambda w: w.scale("course-small", 4, "berth-scaler", "2026-02-02T08:00:00Z"),
        ),
    ),
    # what others did
    Case(
        "label-taken-from-a-deployment",
        lambda w: relabeled(w, "Deployment", "course-small", reservation=None),
    ),
    Case(
        "label-of-the-site-taken-from-a-deployment",
        lambda w: relabeled(w, "Deployment", "course-small", site=None),
    ),
    Case(
        "deployment-with-the-label-of-another",
        lambda w: relabeled(w, "Deployment", "course-small", reservation="other"),
    ),
    Case(
        "deployment-of-nobody",
        all_of(
            lambda w: w.apply_rendered({**w.get("Deployment", "course-small"), "metadata": STRAY}),
            lambda w: relabeled(w, "Deployment", "stray", reservation=None),
        ),
    ),
    Case(
        "record-that-plays-a-timetable",
        all_of(
            recorded,
            lambda w: relabeled(
                w, "ConfigMap", "course-record", role="timetable", reservation="course-record"
            ),
        ),
    ),
    Case(
        "record-that-plays-that-of-another",
        all_of(
            recorded,
            lambda w: relabeled(w, "ConfigMap", "course-record", reservation="other"),
        ),
    ),
    Case("another-site", other_site),
    Case("opened-while-its-cronjob-is-suspended", suspended, "2026-02-02T07:30:20Z"),
    # seats
    Case(
        "scaled-to-0-and-nobody-serves",
        all_of(gone, lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:50:00Z")),
    ),
    Case(
        "the-same-where-no-sweep-works",
        all_of(
            gone,
            lambda w: w.vanish("CronJob", "berth-sweep"),
            lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:59:50Z"),
        ),
    ),
    Case("nobody-serves-but-seats-stand", lambda w: w.vanish("Pod", "course-29500-abcde")),
    Case(
        "nobody-serves-nor-sweeps-but-seats-stand",
        all_of(lambda w: w.vanish("Pod", "course-29500-abcde"), lambda w: w.vanish("CronJob", "berth-sweep")),
    ),
    Case(
        "opened-a-moment-ago",
        all_of(lambda w: w.vanish("Pod", "course-29500-abcde"), unscaled),
        "2026-02-02T07:30:20Z",
    ),
    Case("opened-and-its-pod-is-at-work", unscaled, "2026-02-02T07:30:20Z"),
    Case("its-pod-has-never-scaled", unscaled),
    Case("its-pod-has-never-scaled-and-does-not", unscaled, before=10),
    Case("set-to-0-just-now", lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:59:55Z")),
    Case(
        "set-to-0-and-not-put-right",
        lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:59:00Z"),
        before=10,
    ),
    Case("a-session-left", lambda w: w.vanish("Pod", "jupyter-4")),
    Case("a-session-left-but-just-now", lambda w: w.vanish("Pod", "jupyter-4"), before=39),
    Case("a-session-left-and-its-seat-is-not-back", lambda w: w.vanish("Pod", "jupyter-4"), before=40),
    Case(
        "a-session-too-many",
        lambda w: w.scale("course-small", 21, "berth-scaler", "2026-02-02T08:59:00Z"),
    ),
    Case("set-to-100", lambda w: w.scale("course-small", 100, "kubectl", "2026-02-02T08:40:00Z")),
    Case(
        "set-to-100-and-not-put-right",
        lambda w: w.scale("course-small", 100, "kubectl", "2026-02-02T08:40:00Z"),
        before=10,
    ),
    Case("set-to-26-just-now", lambda w: w.scale("course-small", 26, "kubectl", "2026-02-02T08:59:00Z")),
    Case("closing", in_peace, "2026-02-02T12:05:59Z"),
    Case("left-after-the-end", in_peace, "2026-02-02T12:06:00Z"),
    Case(
        "left-where-nobody-sweeps",
        all_of(gone, lambda w: w.vanish("CronJob", "berth-sweep")),
        "2026-02-02T12:00:01Z",
    ),
    Case("its-deployment-is-missing-while-open", lambda w: w.vanish("Deployment", "course-small")),
    Case(
        "its-deployment-is-missing-before",
        lambda w: w.vanish("Deployment", "course-small"),
        "2026-02-02T07:00:00Z",
    ),
    # ready
    Case("no-room", lambda w: pending(w, 7, NO_ROOM)),
    Case("no-room-is-no-news-for-a-minute", lambda w: pending(w, 7, NO_ROOM, "2026-02-02T08:59:01Z")),
    Case("no-room-and-the-start-is-near", lambda w: pending(w, 7, NO_ROOM), "2026-02-02T07:56:00Z"),
    Case("starting-and-the-start-is-near", lambda w: pending(w, 7, STARTING), "2026-02-02T07:56:00Z"),
    Case("starting-and-the-start-is-not-so-near", lambda w: pending(w, 7, STARTING), "2026-02-02T07:54:59Z"),
    Case("starting-after-a-session-left", lambda w: pending(w, 1, STARTING, "2026-02-02T08:55:00Z")),
    Case("pulling-and-the-start-is-near", lambda w: pending(w, 7, PULLING), "2026-02-02T07:56:00Z"),
    Case("no-image", lambda w: pending(w, 20, NO_IMAGE)),
    Case("no-config", lambda w: pending(w, 1, NO_CONFIG)),
    Case("a-quota-refuses-them", lambda w: refused(w, "exceeded quota: team")),
    Case(
        "a-quota-refuses-them-and-the-start-is-near",
        lambda w: refused(w, "exceeded quota: team"),
        "2026-02-02T07:56:00Z",
    ),
    Case(
        "the-program-of-placeholders-ends",
        lambda w: unready(
            w, 20, containerStatuses=waits("placeholder", "CrashLoopBackOff")["containerStatuses"]
        ),
    ),
    Case("the-node-of-three-is-lost", lambda w: unready(w, 3)),
    Case("the-node-of-three-was-lost-just-now", lambda w: unready(w, 3), "2026-02-02T08:20:59Z"),
    Case("the-node-of-all-was-lost-a-minute-ago", lambda w: unready(w, 20), "2026-02-02T08:21:00Z"),
    Case(
        "the-node-of-most-was-lost-and-there-is-no-room-elsewhere",
        all_of(
            lambda w: pending(w, 18, NO_ROOM, "2026-02-02T08:59:29Z"),
            lambda w: short(w, "2026-02-02T08:59:00Z"),
        ),
    ),
    Case("most-are-not-made-and-nobody-says-why", lambda w: short(w, "2026-02-02T08:59:00Z")),
    Case("most-are-not-made-since-a-moment", lambda w: short(w, "2026-02-02T08:59:01Z")),
    Case(
        "most-are-not-made-as-the-count-was-raised-just-now",
        all_of(
            lambda w: short(w, "2026-02-02T08:55:00Z"),
            lambda w: w.get("ConfigMap", "course")["metadata"]["managedFields"].append(
                {"manager": "berth-override", "time": "2026-02-02T08:54:59Z", "fieldsV1": {}}
            ),
        ),
    ),
    Case("three-are-about-to-be-made", lambda w: w.scale("course-small", 20, "berth-scaler", NOW, ready=17)),
    # sync
    Case("reservation-missing", lambda w: without(w, "course"), "2026-02-01T09:00:00Z"),
    Case("reservation-missing-just-opened", lambda w: without(w, "course"), "2026-02-02T07:35:59Z"),
    Case("reservation-missing-while-open", lambda w: without(w, "course")),
    Case("timetable-missing-while-open", lambda w: w.vanish("ConfigMap", "course")),
    Case("timetable-malformed", lambda w: timetable(w, "{")),
    Case("timetable-of-tomorrow", lambda w: edit(w, '"version": 1', '"version": 9')),
    Case("timetable-without-its-key", lambda w: w.get("ConfigMap", "course").update(data={})),
    Case("times-differ", lambda w: edit(w, "2026-02-09T08:00:00Z", "2026-02-09T08:30:00Z")),
    Case("count-differs", lambda w: edit(w, '"small": 25}', '"small": 20}')),
    Case(
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
    Case("template-as-the-server-has-it", defaulted),
    Case("template-asks-for-less", lambda w: template(w, requests={"cpu": "500m", "memory": "4Gi"})),
    Case(
        "template-is-placed-elsewhere",
        lambda w: template(
            w,
            nodeSelector={"example.org/pool": "old"},
            tolerations=[{"key": "old", "operator": "Exists"}],
            priorityClassName="low",
        ),
    ),
    Case("template-is-another", lambda w: template(w, containers=[{"name": "x", "image": "pause:9"}])),
    Case(
        "template-and-times-differ",
        all_of(
            lambda w: edit(w, "2026-02-09T08:00:00Z", "2026-02-09T08:30:00Z"),
            lambda w: template(w, requests={"cpu": "1"}),
        ),
    ),
    Case("nothing-of-it", lambda w: w.collections.clear(), "2026-02-01T09:00:00Z"),
    Case("cronjob-missing", lambda w: w.vanish("CronJob", "course")),
    Case("cronjob-suspended", lambda w: w.get("CronJob", "course")["spec"].update(suspend=True)),
    # ours
    Case("code-missing", lambda w: without_code(w, "berth-core-", "berth-runtime-")),
    Case("code-of-another-version", lambda w: without_code(w, "berth-core-")),
    Case("sweep-missing", lambda w: w.vanish("CronJob", "berth-sweep")),
    Case("sweep-suspended", lambda w: w.get("CronJob", "berth-sweep")["spec"].update(suspend=True)),
    Case("sweep-failing", lambda w: swept(w, "2026-02-02T08:50:00Z")),
    Case("sweep-has-never-succeeded", lambda w: w.get("CronJob", "berth-sweep").update(status={})),
    Case("sweep-is-new", new_sweep),
    Case(
        "sweep-cannot-start",
        lambda w: w.pod("berth-sweep-1", SWEEP, "Pending", containerStatuses=NO_IMAGE["containerStatuses"]),
    ),
    Case("jobs-and-sweep-are-refused", refuse_all),
    Case("jobs-and-sweep-are-refused-and-it-opened-just-now", refuse_all, "2026-02-02T07:31:00Z"),
    Case(
        "a-job-was-refused-and-has-its-pod-now",
        all_of(
            lambda w: job(w, "course-29500", "occurrence", "2026-02-02T07:30:00Z", active=1),
            lambda w: not_created(w, "Job", "course-29500", "2026-02-02T07:30:01Z"),
        ),
    ),
    Case(
        "a-cronjob-is-refused",
        all_of(
            lambda w: w.vanish("Pod", "course-29500-abcde"),
            lambda w: not_created(w, "CronJob", "course", "2026-02-02T08:59:00Z"),
        ),
    ),
    Case(
        "a-cronjob-was-refused-last-week",
        lambda w: not_created(w, "CronJob", "course", "2026-01-26T07:30:00Z"),
    ),
    Case("the-last-sweep-failed", lambda w: failed_sweep(w, "2026-02-02T08:57:00Z")),
    Case("a-sweep-failed-before", lambda w: failed_sweep(w, "2026-02-02T08:52:00Z")),
    Case(
        "events-cannot-be-listed",
        all_of(
            refuse_all,
            lambda w: w.refused.update({"/api/v1/namespaces/berth/events": "HTTP 403: events is forbidden"}),
        ),
    ),
    Case(
        "pod-has-no-node", lambda w: w.run("course", "Pending", "course-2", conditions=NO_ROOM["conditions"])
    ),
    Case("sidecar-crashes", lambda w: w.run("course", name="course-2", initContainerStatuses=CRASHING)),
    Case(
        "sidecar-has-crashed",
        lambda w: w.run(
            "course",
            name="course-2",
            initContainerStatuses=[{"name": "scaler", "restartCount": 3, "state": {"running": {}}}],
        ),
    ),
    Case("pods-fail", lambda w: [w.run("course", "Failed", f"course-{n}") for n in range(2, 5)]),
    Case("pods-have-failed-twice", lambda w: [w.run("course", "Failed", f"course-{n}") for n in range(2, 4)]),
    Case("job-failed", lambda w: failed_job(w, "course-29500")),
    Case("left-in-the-namespace-of-before", moved),
    Case(
        "left-in-the-namespace-of-before-and-nobody-may-see-it",
        all_of(moved, lambda w: w.refused.update({"/apis/batch/v1/cronjobs": "HTTP 403: forbidden"})),
    ),
    # override
    Case("more", lambda w: override(w, "60", "2026-02-02T10:00:00Z")),
    Case(
        "kept",
        all_of(
            lambda w: override(w, "60", "2026-02-02T10:00:00Z"),
            lambda w: w.scale("course-small", 60, "berth-scaler", "2026-02-02T08:50:00Z"),
        ),
    ),
    Case(
        "less",
        all_of(
            lambda w: override(w, "3", "2026-02-02T10:00:00Z"),
            lambda w: w.scale("course-small", 3, "berth-scaler", "2026-02-02T08:50:00Z"),
        ),
    ),
    Case("over", lambda w: override(w, "60", "2026-02-02T09:00:00Z")),
    Case(
        "over-a-moment-ago",
        all_of(
            lambda w: override(w, "60", "2026-02-02T08:59:57Z"),
            lambda w: w.scale("course-small", 60, "berth-scaler", "2026-02-02T08:30:00Z"),
        ),
    ),
    Case(
        "over-and-more-are-wanted-again",
        all_of(
            lambda w: override(w, "3", "2026-02-02T08:59:57Z"),
            lambda w: w.scale("course-small", 3, "berth-scaler", "2026-02-02T08:30:00Z"),
        ),
    ),
    Case(
        "over-and-nobody-serves",
        all_of(
            gone,
            lambda w: override(w, "3", "2026-02-02T08:59:57Z"),
            lambda w: w.scale("course-small", 3, "berth-sweep", "2026-02-02T08:30:00Z"),
        ),
    ),
    Case(
        "over-with-nothing-open",
        all_of(
            gone,
            lambda w: override(w, "60", "2026-02-02T14:00:00Z"),
            lambda w: w.scale("course-small", 60, "berth-sweep", "2026-02-02T13:00:00Z"),
            lambda w: swept(w, "2026-02-02T13:55:03Z"),
        ),
        "2026-02-02T14:00:03Z",
    ),
    Case(
        "over-for-seven-minutes-with-nothing-open",
        all_of(
            gone,
            lambda w: override(w, "60", "2026-02-02T14:00:00Z"),
            lambda w: w.scale("course-small", 60, "berth-sweep", "2026-02-02T13:00:00Z"),
            lambda w: swept(w, "2026-02-02T14:05:03Z"),
        ),
        "2026-02-02T14:07:00Z",
    ),
    Case("of-a-class-that-it-has-not", stray),
    Case("out-of-all-measure", lambda w: override(w, "3000000000", "2026-02-02T10:00:00Z")),
    Case("malformed", lambda w: override(w, "-1", "2026-02-02T10:00:00Z")),
    # sessions
    Case("forbidden", lambda w: w.refused.update({"/api/v1/namespaces/hub/": "HTTP 403: pods is forbidden"})),
    Case(
        "forbidden-and-nothing-asked-for",
        all_of(
            lambda w: w.refused.update({"/api/v1/namespaces/hub/": "HTTP 403: pods is forbidden"}),
            lambda w: w.scale("course-small", 0, "kubectl", "2026-02-02T08:40:00Z"),
        ),
    ),
]
