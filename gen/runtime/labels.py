"""The labels by which objects are known as ours: the contract between what is rendered and what runs."""

SITE = "berth.dev/site"  # on every object of ours, and on every pod
RESERVATION = "berth.dev/reservation"
CLASS = "berth.dev/resource-class"
TITLE = "berth.dev/title"  # an annotation
ROLE = "berth.dev/role"  # of timetables, of Jobs and their pods, and of slots: one of the four below
TIMETABLE, OCCURRENCE, SWEEP, SLOT = "timetable", "occurrence", "sweep", "slot"
STANDING = "berth.dev/standing"  # on slots that git holds, not windows
