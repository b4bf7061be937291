"""Everything that `berth status` can find wrong in a cluster: code, severity, a few words, and what it means.

An error is a promise that is broken now: seats that are missing for longer than our bounds, placeholders that
are left, a cluster that does not answer. Codes are stable and never used again for something else.
docs/status.md shows each.
"""

from typing import NamedTuple

from gen.finding import ERROR, NOTE, WARNING


class Rule(NamedTuple):
    severity: str
    brief: str  # for a cell of the table
    meaning: str


RULES = {
    # reading a cluster
    "S001": Rule(ERROR, "unreachable", "A cluster cannot be read."),
    "S002": Rule(ERROR, "no context", "No kubeconfig context is known for a cluster."),
    "S003": Rule(WARNING, "nothing there", "Nothing of the site is in a cluster."),
    "S004": Rule(NOTE, "sessions unknown", "Sessions cannot be listed: what is wanted is not known."),
    "S005": Rule(NOTE, "templates unknown", "Templates of projects are not looked up here."),
    # what a cluster has once
    "S010": Rule(WARNING, "code missing", "The ConfigMap of the in-cluster code is missing."),
    "S011": Rule(NOTE, "other code", "The in-cluster code is not that of this Berth."),
    "S012": Rule(WARNING, "sweep missing", "The sweep's CronJob is missing."),
    "S013": Rule(WARNING, "sweep suspended", "The sweep's CronJob is suspended."),
    "S014": Rule(WARNING, "sweep failing", "The sweep has not succeeded for ten minutes."),
    # git and the cluster
    "S020": Rule(ERROR, "not synced", "By git a pool is open, and the cluster does not know of it."),
    "S021": Rule(WARNING, "not synced", "A reservation is not in the cluster."),
    "S022": Rule(WARNING, "not synced", "What is in the cluster is not what git says."),
    "S023": Rule(WARNING, "not in git", "A reservation in the cluster is not in git."),
    "S024": Rule(WARNING, "bad timetable", "A timetable in the cluster cannot be understood."),
    "S025": Rule(WARNING, "pool missing", "The Deployment of a pool is missing."),
    "S026": Rule(WARNING, "no CronJob", "A reservation has no CronJob, or a suspended one."),
    # seats
    "S030": Rule(ERROR, "not served", "Seats are missing, and no pod serves the reservation."),
    "S031": Rule(ERROR, "seats missing", "Seats are missing, although a pod serves the reservation."),
    "S032": Rule(WARNING, "late", "Seats are missing, for no longer yet than they may."),
    "S033": Rule(ERROR, "left over", "Placeholders or slots are left after the end."),
    "S034": Rule(NOTE, "closing", "Placeholders or slots are left, for no longer yet than they may."),
    "S035": Rule(WARNING, "not served", "A pool is open, and no pod serves its reservation."),
    "S036": Rule(NOTE, "override", "An override is in force."),
    "S037": Rule(WARNING, "bad override", "An override cannot be understood."),
    "S038": Rule(NOTE, "settling", "Sessions left, and their seats are not asked for again yet."),
    # placeholders
    "S040": Rule(WARNING, "no room", "Placeholders or slots wait for a node."),
    "S041": Rule(WARNING, "cannot start", "Placeholders cannot be made, or cannot start on their node."),
    "S042": Rule(WARNING, "not ready", "Seats are not ready, and the start is near."),
    "S043": Rule(ERROR, "not ready", "Seats are not ready after the start."),
    # our own Jobs
    "S050": Rule(WARNING, "pod in trouble", "A pod of ours cannot run."),
    "S051": Rule(WARNING, "Job failed", "A Job of ours has failed."),
    # slots
    "S060": Rule(ERROR, "slots unknown", "Reservations of Koordinator cannot be listed."),
    "S061": Rule(ERROR, "no Koordinator", "The cluster knows no Reservations: Koordinator is not there."),
    "S062": Rule(WARNING, "not looked at", "Koordinator's scheduler does not look at slots."),
    "S063": Rule(ERROR, "unreadable", "A Reservation stops Koordinator's scheduler, which cannot read it."),
    "S064": Rule(WARNING, "left over", "Slots are left of a reservation that is gone."),
    "S065": Rule(WARNING, "too short", "Slots end before their window does."),
    "S066": Rule(WARNING, "expired", "What stood has expired, and is still in git."),
    "S067": Rule(ERROR, "over", "Slots that should stand hold nothing any more."),
    "S068": Rule(WARNING, "mixed policies", "Reservations of others share no node with slots."),
}


class Live(NamedTuple):
    """A finding about a cluster, or about a reservation or pool in it (`course`, `course/small`).

    `message` and `fix` are sentences that end in a full stop.
    """

    code: str
    cluster: str
    subject: str
    message: str
    fix: str

    @property
    def severity(self) -> str:
        return RULES[self.code].severity

    @property
    def brief(self) -> str:
        return RULES[self.code].brief
