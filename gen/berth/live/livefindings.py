"""All findings of `berth status`: code, severity, a short text for the table, and the meaning.

An error is a broken promise: seats missing for longer than allowed, placeholders left over, an unreachable
cluster. Codes are stable and never reused. docs/status.md shows each finding.
"""

from collections.abc import Sequence
from typing import NamedTuple

from berth.findings import ERROR, NOTE, WARNING
from berth.output.findinglist import severity_text


class LiveRule(NamedTuple):
    """The severity and texts of a code."""

    severity: str
    brief: str  # for a cell of the table
    meaning: str


LIVE_RULES = {
    # reading a cluster
    "S001": LiveRule(ERROR, "unreachable", "A cluster cannot be read."),
    "S002": LiveRule(ERROR, "no context", "No kubeconfig context is known for a cluster."),
    "S003": LiveRule(WARNING, "nothing there", "A cluster has no object of the site."),
    "S004": LiveRule(NOTE, "sessions unknown", "Sessions cannot be listed: what is wanted is not known."),
    "S005": LiveRule(NOTE, "templates unknown", "Templates of projects are not looked up here."),
    # what a cluster has once
    "S010": LiveRule(WARNING, "code missing", "The ConfigMaps of the in-cluster code are missing."),
    "S011": LiveRule(NOTE, "other code", "The in-cluster code differs from this version of Berth."),
    "S012": LiveRule(WARNING, "sweep missing", "The sweep's CronJob is missing."),
    "S013": LiveRule(WARNING, "sweep suspended", "The sweep's CronJob is suspended."),
    "S014": LiveRule(WARNING, "sweep failing", "The sweep has not succeeded for ten minutes."),
    "S015": LiveRule(ERROR, "sweep broken", "The sweep cannot run, or its last run failed."),
    # git and the cluster
    "S020": LiveRule(ERROR, "not synced", "A pool should be open by git, but the cluster does not know it."),
    "S021": LiveRule(WARNING, "not synced", "A reservation is not in the cluster."),
    "S022": LiveRule(WARNING, "not synced", "What is in the cluster differs from git."),
    "S023": LiveRule(WARNING, "not in git", "A reservation in the cluster is not in git."),
    "S024": LiveRule(WARNING, "bad timetable", "A timetable in the cluster is malformed."),
    "S025": LiveRule(WARNING, "pool missing", "The Deployment of a pool is missing."),
    "S026": LiveRule(WARNING, "no CronJob", "A reservation has no CronJob, or a suspended one."),
    "S027": LiveRule(WARNING, "other namespace", "Objects of the site are left in another namespace."),
    # seats
    "S030": LiveRule(ERROR, "not served", "Seats are missing, and no pod serves the reservation."),
    "S031": LiveRule(ERROR, "seats missing", "Seats are missing, although a pod serves the reservation."),
    "S032": LiveRule(WARNING, "late", "Seats are missing, but still within the allowed time."),
    "S033": LiveRule(ERROR, "left over", "Placeholders or slots are left after the end."),
    "S034": LiveRule(NOTE, "closing", "Placeholders or slots are left, but still within the allowed time."),
    "S035": LiveRule(WARNING, "not served", "A pool is open, and no pod serves its reservation."),
    "S036": LiveRule(NOTE, "override", "An override is in force."),
    "S037": LiveRule(WARNING, "bad override", "An override is malformed."),
    "S038": LiveRule(NOTE, "settling", "Sessions left, and their seats are not requested again yet."),
    # placeholders
    "S040": LiveRule(WARNING, "no room", "Placeholders or slots wait for a node."),
    "S041": LiveRule(WARNING, "cannot start", "Placeholders cannot be made, or cannot start on their node."),
    "S042": LiveRule(WARNING, "not ready", "Seats are not ready, and the start is near."),
    "S043": LiveRule(ERROR, "not ready", "Seats are not ready after the start."),
    "S044": LiveRule(WARNING, "not kept", "The autoscaler does not keep a CapacityBuffer."),
    # our own Jobs
    "S050": LiveRule(WARNING, "pod in trouble", "A pod of Berth cannot run."),
    "S051": LiveRule(WARNING, "Job failed", "A Job of Berth has failed."),
    "S052": LiveRule(ERROR, "Job refused", "The API server refuses a Job of Berth, or the Job's pod."),
    # slots
    "S060": LiveRule(ERROR, "slots unknown", "Reservations of Koordinator cannot be listed."),
    "S061": LiveRule(
        ERROR, "no Koordinator", "The cluster has no Reservation resource: Koordinator is not installed."
    ),
    "S062": LiveRule(WARNING, "not looked at", "Koordinator's scheduler does not process slots."),
    "S063": LiveRule(
        ERROR, "unreadable", "A Reservation stops Koordinator's scheduler, which cannot read it."
    ),
    "S064": LiveRule(WARNING, "left over", "Slots are left of a reservation that is gone."),
    "S065": LiveRule(WARNING, "too short", "Slots end before their window does."),
    "S066": LiveRule(WARNING, "expired", "Slots without windows have expired, and are still in git."),
    "S067": LiveRule(ERROR, "over", "Slots without windows hold nothing any more."),
    "S069": LiveRule(ERROR, "overbooked", "Slots that no session can take: their node is overbooked."),
    # preflight
    "S070": LiveRule(ERROR, "not checked", "You lack a permission, so the preflight cannot prove something."),
    "S071": LiveRule(ERROR, "Job refused", "The API server would refuse a Job of Berth, or the Job's pod."),
    "S072": LiveRule(ERROR, "placeholder refused", "The API server would refuse a placeholder."),
    "S073": LiveRule(ERROR, "not permitted", "The account of a Job lacks a permission."),
    "S074": LiveRule(ERROR, "test Job failed", "The test Job did not succeed within the given time."),
    "S075": LiveRule(ERROR, "not applied", "A CronJob, timetable or Deployment is not in the cluster."),
    "S076": LiveRule(WARNING, "test Job left", "The test Job could not be deleted."),
    # Koordinator
    # what the pods may do, and what others did to Berth's objects
    "S083": LiveRule(ERROR, "not permitted", "The account of an open reservation lacks a permission."),
    "S084": LiveRule(WARNING, "sessions unread", "The pods of a reservation cannot read its sessions."),
    "S085": LiveRule(WARNING, "partly failing", "A pod that serves says that something does not work."),
    "S086": LiveRule(ERROR, "other site", "Another site has the same namespace."),
    "S087": LiveRule(WARNING, "wrong label", "A Deployment lacks the label of its reservation."),
    "S088": LiveRule(WARNING, "ignored", "A ConfigMap has the labels of a timetable or record, and is none."),
    # records
    "S081": LiveRule(WARNING, "bad record", "The record of a reservation is malformed."),
    "S082": LiveRule(NOTE, "no record", "A cluster has no record of an occurrence yet."),
}


class LiveFinding(NamedTuple):
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
        return LIVE_RULES[self.code].severity

    @property
    def brief(self) -> str:
        return LIVE_RULES[self.code].brief

    def line(self, *, color: bool) -> str:
        """Return the finding in one line."""
        kind = severity_text(self.severity, self.code, color=color)
        subject = f"{self.subject}: " if self.subject else ""
        return f"{self.cluster}: {kind} {subject}{self.message} {self.fix}"


def findings_json(findings: Sequence[LiveFinding]) -> list[dict[str, str]]:
    return [
        {"severity": finding.severity, "code": finding.code, "message": finding.message, "fix": finding.fix}
        for finding in findings
    ]
