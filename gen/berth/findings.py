"""Findings: the problems that Berth reports, and all codes with their severities and meanings."""

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

ERROR, WARNING, NOTE = "error", "warning", "note"

At = TypeVar("At")

Path = tuple[str | int, ...]
"""Keys and 0-based list positions from the top of a document to a value."""


class Problem(NamedTuple):
    """A problem with one value of one document, without its line, which `berth.reading.place` finds later.

    `path` leads to the value, or to the parent of a missing value. With `at_key` the place is the key instead
    of the value. `message` and `fix` end in a full stop; `message` names the value.
    """

    code: str
    file: str
    index: int  # type: ignore[assignment] # of the document in the file, from 0; hides tuple.index
    path: Path
    message: str
    fix: str
    at_key: bool = False


class Fault(NamedTuple, Generic[At]):
    """A problem at a place that only its reader knows: a character, a line, a path in a recurrence."""

    code: str
    at: At
    message: str
    fix: str


class Origin(NamedTuple):
    """Where a declaration is: its file as shown to people, and the index of its document there."""

    file: str
    index: int = 0  # type: ignore[assignment] # hides tuple.index, which nobody misses

    def problem(self, code: str, path: Path, message: str, fix: str, *, at_key: bool = False) -> Problem:
        """Return a problem with the value at a path, which leads from the top of the document."""
        return Problem(code, self.file, self.index, path, message, fix, at_key)


class Finding(NamedTuple):
    """A problem with its place. Lines and columns count from 1, columns in characters.

    With line 0 it is not in a file: `file` is the option or argument that the value comes from.
    """

    file: str
    line: int
    column: int
    code: str
    severity: str
    path: str
    message: str
    fix: str

    def without_place(self) -> "Finding":
        """Return it without its line and column, which an edit above it changes."""
        return self._replace(line=0, column=0)


class FindingsError(Exception):
    """What was asked for is refused, or cannot be done, because of findings. There is at least one.

    `unchanged` is the file that would have been edited, if it is one.
    """

    def __init__(self, findings: Iterable[Finding], unchanged: str = "") -> None:
        self.findings = tuple(findings)
        self.unchanged = unchanged
        super().__init__(*self.findings)


class FilePlace(NamedTuple):
    """A line and column of a file, both from 1."""

    file: str
    line: int = 1
    column: int = 1

    def finding(self, code: str, message: str, fix: str, path: str = "") -> Finding:
        return Finding(*self, code, severity(code), path, message, fix)


class LiveFinding(NamedTuple):
    """A problem in a cluster, or of a reservation or pool in it: `subject` is `course` or `course/small`."""

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


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once, sorted by file, line, column and code."""
    return sorted(set(findings))


# All codes. They never change their meaning. tests/cases/findings.md has a sample of each.


class Rule(NamedTuple):
    """The severity and meaning of a code; `brief` is for a cell of a table of clusters."""

    severity: str
    meaning: str
    brief: str = ""


RULES = {
    # reading
    "B001": Rule(ERROR, "A file or folder cannot be read, or is a link or a submodule."),
    "B002": Rule(ERROR, "A file is not UTF-8 text."),
    "B003": Rule(ERROR, "A file is not YAML (or JSON)."),
    "B004": Rule(ERROR, "A key appears twice in one mapping."),
    "B005": Rule(ERROR, "YAML that Berth refuses: tags, keys that are not text, undefined aliases."),
    "B006": Rule(ERROR, "A file is too large, too deeply nested, or expands too much through aliases."),
    "B007": Rule(WARNING, "A file that is not read, or contains no document."),
    "B008": Rule(ERROR, "There is no file to read."),
    # shape
    "B010": Rule(ERROR, "A key is unknown."),
    "B011": Rule(ERROR, "A required key is missing."),
    "B012": Rule(ERROR, "A number is out of range, or a list or text is too short or too long."),
    "B013": Rule(ERROR, "A value has the wrong type."),
    "B014": Rule(ERROR, "A value is not one of the allowed ones."),
    "B016": Rule(ERROR, "Two values contradict each other."),
    "B017": Rule(ERROR, "A date does not exist or is out of range."),
    "B018": Rule(ERROR, "A value is not a time of day."),
    "B019": Rule(ERROR, "A name, label or annotation that Kubernetes, Renku or Prometheus refuses."),
    "B021": Rule(ERROR, "A time zone is unknown."),
    "B022": Rule(
        ERROR, "A quantity or resource name is not valid in Kubernetes, or a seat requests nothing."
    ),
    "B023": Rule(ERROR, "A key that only Berth may set."),
    "B024": Rule(ERROR, "A range ends before it begins, or a window has no length."),
    "B025": Rule(ERROR, "A priority that prevents placeholders from working."),
    "B026": Rule(WARNING, "A priority that many autoscalers ignore."),
    "B027": Rule(ERROR, "The files require another version of Berth."),
    "B029": Rule(WARNING, "A key has no effect."),
    "B030": Rule(ERROR, "A `berth.dev/ignore` annotation cannot be parsed."),
    "B031": Rule(WARNING, "Two entries of a reservation overlap: their seats add up."),
    "B032": Rule(
        NOTE, "A reservation does not narrow its sessions: every session of its class counts for it."
    ),
    "B033": Rule(
        WARNING, "The Jobs of Berth do not tolerate the taints of a class, so they make no room there."
    ),
    "B035": Rule(ERROR, "A reservation looks for sessions in a namespace that its class does not have."),
    "B036": Rule(ERROR, "A class counts objects as sessions that Berth may not list, such as Secrets."),
    "B037": Rule(NOTE, "Berth renders no objects that make the engine apply the manifests."),
    "B038": Rule(ERROR, "An engine option that conflicts with how Berth works."),
    "B039": Rule(WARNING, "Two clusters have the same destination."),
    # dates
    "B040": Rule(WARNING, "A schedule entry matches no date."),
    "B042": Rule(WARNING, "A reservation has no occurrence."),
    "B044": Rule(ERROR, "A reservation has more than 2,000 occurrences."),
    "B045": Rule(ERROR, "An entry of `except` or `moved`, or a command, matches no occurrence."),
    "B047": Rule(ERROR, "A date has several occurrences, and an entry or a command does not say which one."),
    "B048": Rule(ERROR, "One occurrence is changed twice."),
    "B049": Rule(ERROR, "Two occurrences have the same id."),
    "B053": Rule(WARNING, "An entry of `moved` changes an occurrence that does not happen."),
    "B056": Rule(WARNING, "A calendar ends before a reservation that follows it begins, or begins after it."),
    "B057": Rule(WARNING, "Two reservations of one class and course overlap."),
    "B058": Rule(NOTE, "Neither the Site nor a reservation names a time zone, so its times are in UTC."),
    "B059": Rule(WARNING, "A moved or extra occurrence does not happen, because the site is closed."),
    # across documents
    "B060": Rule(ERROR, "Two objects of one kind have the same name."),
    "B061": Rule(ERROR, "No class, calendar, cluster, capacity or term has this name."),
    "B064": Rule(ERROR, "There is no Site, or more than one."),
    "B066": Rule(ERROR, "Two objects in a cluster would have the same name."),
    "B067": Rule(ERROR, "More is open at the same time than a ceiling allows."),
    "B068": Rule(ERROR, "Sessions must be counted, but the class does not say how."),
    "B069": Rule(ERROR, "A document has an unknown kind."),
    "B070": Rule(WARNING, "The seconds of a capacity reservation of Renku are cut."),
    "B072": Rule(ERROR, "No class has the id that a capacity reservation of Renku names."),
    "B073": Rule(ERROR, "A rendered ConfigMap would be too large."),
    "B074": Rule(WARNING, "A project template that cannot be determined, or only for some sessions."),
    "B075": Rule(WARNING, "Two classes recognize the same sessions, which count for one of them only."),
    "B076": Rule(
        WARNING, "An annotation or label that keeps the engine from removing or correcting objects."
    ),
    # what is nearly always a typo
    "B080": Rule(WARNING, "A window is longer than 14 hours, and nothing says that this is meant."),
    "B081": Rule(WARNING, "A new or changed date is in the past, on a holiday, or outside of its course."),
    "B082": Rule(WARNING, "More than 1,000 seats or nodes, and no ceiling limits them."),
    "B084": Rule(WARNING, "The last date is more than 18 months away."),
    # JupyterHub
    "B085": Rule(
        WARNING,
        "A class counts no session of its hub, or its placeholders differ from those in size or place.",
    ),
    "B087": Rule(
        WARNING, "Values of a hub or pools of Renku, with which classes are compared, cannot be read."
    ),
    # output
    "B090": Rule(ERROR, "Something in the place of the output was not written by Berth."),
    "B092": Rule(ERROR, "A file cannot be written, or another render is writing there."),
    # rehearsals
    "B130": Rule(
        ERROR,
        "A rehearsal whose date is gone, that is not over when the window opens, or is moved to the past.",
    ),
    "B132": Rule(WARNING, "A rehearsal has other seats than the date that it is for."),
    # Koordinator
    "B101": Rule(ERROR, "No pod may take a seat: nothing says which, or an owner that none can match."),
    "B102": Rule(ERROR, "Every pod of the cluster may take a seat."),
    "B103": Rule(WARNING, "Nearly every pod of the cluster may take a seat."),
    "B105": Rule(WARNING, "An allocate policy differs from that of the cluster."),
    "B106": Rule(ERROR, "A pre-allocation that can never work."),
    "B107": Rule(ERROR, "A time to live that Koordinator cannot parse, or by which a slot would not end."),
    "B109": Rule(WARNING, "A standing slot ends, and the engine creates it again from git."),
    "B111": Rule(WARNING, "Affinity or spread of a slot refers to pods of the namespace `default`."),
    "B112": Rule(ERROR, "A label or annotation that Koordinator would read otherwise, or not at all."),
    "B113": Rule(WARNING, "A label charges the capacity to a quota twice."),
    "B115": Rule(WARNING, "A setting that only works if Koordinator is configured for it."),
    "B116": Rule(WARNING, "Slots that no session can take."),
    "B117": Rule(WARNING, "Sessions of one class may take the seats of another."),
    "B118": Rule(ERROR, "Koordinator refuses or never places the devices of a class."),
    "B120": Rule(ERROR, "Session pods would have to use the slots of two pools, and can only use one."),
    "B121": Rule(ERROR, "A slot that holds nothing."),
    "B140": Rule(WARNING, "An autoscaler adds no nodes for these seats."),
    "B141": Rule(WARNING, "Sessions are scheduled by a scheduler that does not see slots."),
    # Karpenter
    "B143": Rule(WARNING, "A seat or slot is larger than the largest node."),
    "B151": Rule(ERROR, "A value that Karpenter or AWS refuses, or with which no node stays."),
    "B157": Rule(WARNING, "Cloud capacity in a cluster whose autoscaler is not Karpenter."),
    "B158": Rule(WARNING, "Cloud capacity or reserved machines that nothing uses, perhaps paid for."),
    "B161": Rule(ERROR, "A class and its cloud capacity are in different clusters."),
    "B162": Rule(ERROR, "Requirements that no machine can meet."),
    "B167": Rule(ERROR, "A window for which reserved machines are missing, or end before it."),
    "B169": Rule(WARNING, "A reservation of the cloud ends while a window is open."),
    "B170": Rule(ERROR, "Whole nodes cannot follow sessions."),
    "B172": Rule(WARNING, "Nodes are replaced during a window."),
    "B174": Rule(ERROR, "A limit of a cloud capacity that allows no node."),
    "B175": Rule(NOTE, "A limit that Karpenter enforces only approximately."),
    "B176": Rule(WARNING, "A Karpenter setting in a place where Karpenter does not read it."),
    "B180": Rule(WARNING, "Two clusters use the same reservation of the cloud."),
    "B190": Rule(ERROR, "More windows than the disruption budgets of a NodePool can express."),
    "B192": Rule(ERROR, "Whole nodes or a capacity buffer that an apply would reset during a window."),
    "B193": Rule(WARNING, "Seats wait for reserved machines instead of using another capacity."),
    # the plan of machines and money
    "B195": Rule(ERROR, "Seats find no machine because the limits of a CloudCapacity are reached."),
    "B196": Rule(WARNING, "Seats find no machine for another reason."),
    "B197": Rule(ERROR, "A month costs more than the budget."),
    "B198": Rule(WARNING, "A month cannot be compared with the budget, because a price is missing."),
    "B199": Rule(WARNING, "A window opens later than its machines may need."),
    # generic capacity
    "B200": Rule(ERROR, "A class names capacity of Karpenter and generic capacity."),
    # dates of reserved machines
    "B201": Rule(ERROR, "A reservation cannot take its dates from these machines."),
    # calendars of other programs
    "B205": Rule(ERROR, "An iCalendar file cannot be read."),
    "B206": Rule(WARNING, "An event is not imported, or closes no dates."),
    "B207": Rule(WARNING, "An event is not imported exactly."),
    "B208": Rule(WARNING, "A reservation was imported from an event that is gone or canceled."),
    "B209": Rule(ERROR, "Two reservations were imported from one event."),
    # what past dates propose
    "B210": Rule(NOTE, "Fewer seats would have been enough on past dates."),
    "B211": Rule(NOTE, "More people came than there were seats on past dates."),
    "B212": Rule(NOTE, "Seats were ready too late on past dates: a longer lead."),
    "B213": Rule(NOTE, "Seats were ready long before the start on past dates: a shorter lead."),
    "B214": Rule(NOTE, "No session counted on past dates."),
    "B215": Rule(NOTE, "Seats were missing in the last rehearsal."),
    # owners and policies
    "B230": Rule(ERROR, "A policy of the site refuses a reservation."),
    "B231": Rule(WARNING, "A policy of the site warns about a reservation."),
    "B232": Rule(NOTE, "A policy of the site requires an approval of a reservation."),
    "B233": Rule(WARNING, "A policy compares a cost that is not known."),
    # zones
    "B240": Rule(
        WARNING, "A time zone that is an offset and not a place, or a rule in UTC over a change of clocks."
    ),
    # amounts
    "B241": Rule(WARNING, "An amount that is probably meant in another unit."),
    # characters
    "B242": Rule(
        WARNING, "A character that looks like another, or is invisible, changes how a text is read."
    ),
    # JupyterHub and Renku
    "B260": Rule(
        ERROR,
        "Values of the JupyterHub chart are missing, elsewhere, or below keys that the chart does not have.",
    ),
    "B261": Rule(
        WARNING,
        "Code in the values of a JupyterHub, or an override for groups, sets what a class is made of.",
    ),
    "B262": Rule(WARNING, "Values of a JupyterHub keep sessions from taking the place of placeholders."),
    "B265": Rule(WARNING, "More people may come at the same time than a JupyterHub starts servers."),
    "B266": Rule(WARNING, "Renku has no class of a renkuId."),
    # what authors of reservations may not do
    "B270": Rule(ERROR, "A document that all share is in a file or folder of a reservation's owner."),
    "B271": Rule(ERROR, "A reservation ignores a finding that protects others."),
    "B272": Rule(WARNING, "A document has more problems than are listed."),
    # clusters of others
    "B280": Rule(ERROR, "Berth would own a Namespace that others use."),
    "B282": Rule(WARNING, "The platform of a cluster changes or does not support a value."),
    "B283": Rule(ERROR, "A cluster lacks a feature, or its version is too old for it."),
    "B285": Rule(NOTE, "Sessions attach volumes, and nobody says how many a node takes."),
    # requests by form
    "B295": Rule(
        ERROR,
        "A request does not have each heading of the issue form once, with one line below it.",
    ),
    # numbers of somebody else
    "B300": Rule(ERROR, "A number of somebody else's object that cannot or may not be held."),
    "B301": Rule(ERROR, "Reservations that hold one number and do not agree about it."),
    "B302": Rule(WARNING, "A window lets a number of somebody else be lower than outside of windows."),
    # device claims
    "B311": Rule(ERROR, "A backend that does not hold the devices that a class claims."),
    "B312": Rule(WARNING, "Placeholders keep devices that sessions cannot take from them."),
    "B314": Rule(WARNING, "A seat requests devices and claims devices, too."),
}

GUARDS = frozenset((*("B076", "B082", "B103", "B111", "B113", "B117"), *("B231", "B232", "B233", "B302")))
"""Warnings and notes that protect other people than the author: only the platform team can ignore them."""


LIVE_RULES = {
    # reading a cluster
    "S001": Rule(ERROR, "A cluster, or something that must be known of it, cannot be read.", "unreachable"),
    "S003": Rule(WARNING, "A cluster has no object of the site.", "nothing there"),
    "S004": Rule(NOTE, "Sessions, templates, a number or a limit cannot be read.", "partly unknown"),
    # what a cluster has once
    "S014": Rule(
        WARNING, "The sweep is missing or suspended, or has not succeeded for ten minutes.", "no sweep"
    ),
    "S015": Rule(ERROR, "The sweep cannot run, or its last run failed.", "sweep broken"),
    # git and the cluster
    "S020": Rule(ERROR, "An object that a window needs now or next is not in the cluster.", "not synced"),
    "S022": Rule(WARNING, "The cluster differs from git.", "not synced"),
    "S023": Rule(WARNING, "Something in the cluster is not in git.", "not in git"),
    "S024": Rule(WARNING, "A timetable, an override or a record is malformed.", "malformed"),
    # seats
    "S030": Rule(ERROR, "Seats are missing.", "seats missing"),
    "S032": Rule(WARNING, "Seats are missing or not ready, but still within the allowed time.", "late"),
    "S033": Rule(ERROR, "Placeholders or slots are left after the end.", "left over"),
    "S034": Rule(NOTE, "A number is about to change, within the allowed time.", "changing"),
    "S035": Rule(WARNING, "A pool is open, and no pod serves its reservation.", "not served"),
    "S036": Rule(NOTE, "An override is in force.", "override"),
    "S039": Rule(
        ERROR, "A number that a window holds is missing, refused, or set by somebody else.", "number lost"
    ),
    # placeholders and slots
    "S040": Rule(WARNING, "Placeholders or slots wait for a node.", "no room"),
    "S041": Rule(WARNING, "Placeholders cannot be made, or cannot start on their node.", "cannot start"),
    "S043": Rule(ERROR, "Seats are not ready after the start.", "not ready"),
    "S045": Rule(
        WARNING, "A rehearsal failed: seats of the occurrence to come were not ready.", "rehearsal failed"
    ),
    # pods of Berth
    "S050": Rule(WARNING, "A pod or a Job of Berth has failed, or cannot run.", "pod in trouble"),
    "S052": Rule(ERROR, "The API server refuses a Job, a pod or a placeholder.", "refused"),
    "S085": Rule(WARNING, "A pod that serves cannot do part of its work.", "partly failing"),
    # slots
    "S060": Rule(ERROR, "Reservations of Koordinator cannot be listed or used.", "no slots"),
    "S067": Rule(ERROR, "Slots that hold nothing for sessions.", "slots lost"),
    # before a window
    "S073": Rule(ERROR, "The account of a Job lacks a permission.", "not permitted"),
    "S074": Rule(ERROR, "The test Job did not succeed in time, or could not be deleted.", "test Job failed"),
    "S078": Rule(ERROR, "A limit of the cluster is below what the next windows need.", "no room"),
    "S079": Rule(WARNING, "The next windows need more than a limit leaves beside others.", "room taken"),
    # others
    "S086": Rule(ERROR, "Another site has the same namespace.", "other site"),
}
"""The codes of `berth status`. An error is a broken promise: seats missing too long, placeholders
left over, an unreachable cluster. docs/status.md shows each."""


def severity(code: str) -> str:
    return RULES[code].severity
