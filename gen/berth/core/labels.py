"""Labels and annotations of Berth's objects: the contract between rendered manifests and the cluster."""

SITE = "berth.dev/site"  # on every object of ours, and on every pod
RESERVATION = "berth.dev/reservation"
CLASS = "berth.dev/resource-class"
TITLE = "berth.dev/title"  # an annotation
ROLE = "berth.dev/role"  # of ConfigMaps and slots, and of Jobs and their pods: one of those below
TIMETABLE, OCCURRENCE, SWEEP, SLOT = "timetable", "occurrence", "sweep", "slot"
CODE = "code"  # the role of the ConfigMaps with the in-cluster code
PLUGINS = (
    "numbers",
    "pruning",
    "rehearsals",
    "renku",
    "slots",
)  # packages that only some clusters have
REHEARSAL = "berth.dev/rehearsal"  # of the record: how the rehearsals of its reservation stand
RECORD = "record"  # the role of a ConfigMap with the record of occurrences; also the end of its name
HELD = "held"  # the role of a ConfigMap with what a number of somebody else was before Berth holds it
TARGET = "target"  # the role of a ConfigMap that tells of such a number after its reservation has left git
AFFINITY = "session-affinity"  # the role of a ConfigMap that people read and no program
PERSISTENT = (
    "berth.dev/standing"  # "true" on slots that stand in git: no Job and no end of a window closes them
)

FIELD_MANAGER, SWEEP_FIELD_MANAGER = "berth-scaler", "berth-sweep"
BERTH_FIELD_MANAGERS = (FIELD_MANAGER, SWEEP_FIELD_MANAGER)
