"""The labels by which objects are known as ours: the contract between what is rendered and what runs."""

SITE = "berth.dev/site"  # on every object of ours, and on every pod
RESERVATION = "berth.dev/reservation"
CLASS = "berth.dev/resource-class"
TITLE = "berth.dev/title"  # an annotation
ROLE = "berth.dev/role"  # of timetables, and of Jobs and their pods: one of the three below
TIMETABLE, OCCURRENCE, SWEEP = "timetable", "occurrence", "sweep"
