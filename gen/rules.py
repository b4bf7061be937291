"""Every check that Berth makes: its code, how bad it is, and what it means. docs/findings.md shows each at
work.

Codes are stable and never used again for something else.
"""

from typing import NamedTuple

from gen.finding import ERROR, NOTE, WARNING


class Rule(NamedTuple):
    severity: str
    meaning: str


RULES = {
    # reading
    "B001": Rule(ERROR, "A file or folder cannot be read."),
    "B002": Rule(ERROR, "A file is not UTF-8 text."),
    "B003": Rule(ERROR, "A file is not YAML (or JSON)."),
    "B004": Rule(ERROR, "A key stands twice in one mapping."),
    "B005": Rule(ERROR, "YAML that is refused: tags, keys that are not text, aliases that lead nowhere."),
    "B006": Rule(ERROR, "A file is too large, too deep, or multiplies itself through aliases."),
    "B007": Rule(WARNING, "A file holds no document."),
    "B008": Rule(ERROR, "There is nothing to read."),
    # shape
    "B010": Rule(ERROR, "A key is unknown."),
    "B011": Rule(ERROR, "A key that is needed is missing."),
    "B012": Rule(ERROR, "A number is out of its range, or a list or text is too short or too long."),
    "B013": Rule(ERROR, "A value is of the wrong type."),
    "B014": Rule(ERROR, "A word is not among the allowed ones."),
    "B016": Rule(ERROR, "Two values contradict each other."),
    "B017": Rule(ERROR, "A date does not exist or is out of range."),
    "B018": Rule(ERROR, "A time of day is not one."),
    "B019": Rule(ERROR, "A name is not one that Kubernetes (or Renku) allows."),
    "B020": Rule(ERROR, "A label or annotation is not one that Kubernetes allows."),
    "B021": Rule(ERROR, "A time zone is unknown."),
    "B022": Rule(ERROR, "A quantity or resource is not one that Kubernetes allows."),
    "B023": Rule(ERROR, "A key is one that Berth sets itself."),
    "B024": Rule(ERROR, "A range ends before it begins."),
    "B025": Rule(ERROR, "A priority at which placeholders do not do their work."),
    "B026": Rule(WARNING, "A priority that many autoscalers ignore."),
    "B027": Rule(ERROR, "The files are for another version of Berth."),
    "B028": Rule(ERROR, "A window has no length."),
    "B029": Rule(WARNING, "A key has no effect here."),
    "B030": Rule(ERROR, "A `berth.dev/ignore` annotation cannot be understood."),
    "B031": Rule(WARNING, "Two entries of a reservation overlap: their seats add up."),
    "B032": Rule(NOTE, "A reservation narrows nothing: every session of its class counts for it."),
    "B033": Rule(WARNING, "Our own Jobs do not tolerate the taints of a class, so they make no room there."),
    "B034": Rule(ERROR, "An address is not that of a web server."),
    "B035": Rule(ERROR, "A reservation looks for its sessions where its class has none."),
    "B036": Rule(ERROR, "A class takes for sessions what nobody may list, such as Secrets."),
    "B037": Rule(NOTE, "Nothing is rendered that makes the engine apply the rest."),
    "B038": Rule(ERROR, "An option with which the engine would not work as Berth needs it."),
    "B039": Rule(WARNING, "Two clusters have one destination."),
    # dates
    "B040": Rule(ERROR, "A schedule entry never falls on a date."),
    "B041": Rule(WARNING, "The same, in a Renku payload."),
    "B042": Rule(ERROR, "A reservation has no occurrence at all."),
    "B043": Rule(WARNING, "The same, in a Renku payload."),
    "B044": Rule(ERROR, "A reservation has more than 2,000 occurrences."),
    "B045": Rule(ERROR, "An `except` hits nothing."),
    "B046": Rule(ERROR, "A `moved` hits nothing."),
    "B047": Rule(ERROR, "A `moved` does not say which of a date's occurrences it means."),
    "B048": Rule(ERROR, "One occurrence is moved twice."),
    "B049": Rule(ERROR, "Two occurrences have one id."),
    # across documents
    "B060": Rule(ERROR, "Two things have one name."),
    "B061": Rule(ERROR, "A ResourceClass is unknown."),
    "B062": Rule(ERROR, "A Calendar is unknown."),
    "B063": Rule(ERROR, "A cluster is unknown."),
    "B064": Rule(ERROR, "There is no Site."),
    "B065": Rule(ERROR, "There is more than one Site."),
    "B066": Rule(ERROR, "Two rendered objects would have one name."),
    "B067": Rule(ERROR, "More is open at once than a ceiling allows."),
    "B068": Rule(ERROR, "Sessions must be counted, but their class does not say how."),
    "B069": Rule(ERROR, "A document is of no known kind."),
    "B070": Rule(WARNING, "Seconds of a Renku payload are cut."),
    "B071": Rule(ERROR, "A name that Renku would not take, or that makes names too long."),
    "B072": Rule(ERROR, "A Renku payload's class is unknown."),
    "B073": Rule(ERROR, "A rendered ConfigMap would be too large."),
    # output and templates
    "B090": Rule(ERROR, "A file below clusters/ or gitops/ is not ours."),
    "B091": Rule(ERROR, "Something that is not ours stands where a file must be written."),
    "B092": Rule(ERROR, "The operating system refused to write or read the output."),
    "B093": Rule(ERROR, "Another render is at work in the same folder."),
    "B095": Rule(ERROR, "A template cannot be read."),
    "B096": Rule(ERROR, "A template is none, or breaks a rule of templates."),
    "B097": Rule(ERROR, "A template does not fit the values that it is given."),
    "B098": Rule(ERROR, "A template of your own replaces none of ours."),
    # Koordinator
    "B100": Rule(ERROR, "Seats are to be held by Koordinator, where the site says that there is none."),
    "B101": Rule(ERROR, "Nothing says whose pods may take a seat."),
    "B102": Rule(ERROR, "Every pod of the cluster may take a seat."),
    "B103": Rule(WARNING, "Nearly every pod of the cluster may take a seat."),
    "B104": Rule(ERROR, "An owner that no pod can match."),
    "B105": Rule(ERROR, "An allocate policy differs from that of the cluster: the two share no node."),
    "B106": Rule(ERROR, "Pre-allocation would never work as it is said."),
    "B107": Rule(ERROR, "A duration or instant that Koordinator's scheduler could not read."),
    "B108": Rule(ERROR, "A standing reservation would not end when it says."),
    "B109": Rule(WARNING, "A slot that stands ends, and the engine makes it again from git."),
    "B110": Rule(WARNING, "A slot has a priority, which is dangerous where preemption is on."),
    "B111": Rule(WARNING, "Affinity or spread of a slot is about pods of the namespace `default`."),
    "B112": Rule(ERROR, "A label or annotation that would make something else of a slot."),
    "B113": Rule(WARNING, "A label charges the capacity to a quota twice."),
    "B114": Rule(ERROR, "An annotation that Koordinator could not read."),
    "B115": Rule(WARNING, "A setting that works only where Koordinator is configured for it."),
    "B116": Rule(WARNING, "Slots that no session takes as it is."),
    "B117": Rule(WARNING, "Sessions of one class may take the seats of another."),
    "B118": Rule(ERROR, "Koordinator would refuse the placeholders of a class."),
    "B119": Rule(NOTE, "How session pods come to require their slots."),
    "B140": Rule(WARNING, "An autoscaler adds no nodes for slots."),
    "B141": Rule(WARNING, "Sessions are placed by a scheduler that does not know slots."),
    "B142": Rule(WARNING, "More slots on one node than a node takes pods."),
}


def severity(code: str) -> str:
    return RULES[code].severity
