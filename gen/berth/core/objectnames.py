"""Names of the objects that belong to a reservation, by which the cluster recognizes them.

Anybody who may write an object may change its labels, but nobody its name. An account of a reservation may
write its record, so no name of a record is that of a timetable.
"""

from berth.core.labels import RECORD

# CronJobs allow 52 characters (Kubernetes adds 11 for the Job); one limit serves for all kinds.
LONGEST = 52
RECORD_SUFFIX = f"-{RECORD}"


def fit(name: str) -> str:
    """Return the name, or its beginning and a hash of the whole if it is too long.

    A name that ends with a star is a pattern, and stays one: it matches every name that begins so, cut or
    not.
    """
    beginning = name[: LONGEST - 9].rstrip("-.")
    if name.endswith("*"):
        return name if len(name) < LONGEST - 8 else f"{beginning}*"
    if len(name) <= LONGEST:
        return name
    return f"{beginning}-{_digest(name)}"


def _digest(text: str, length: int = 8) -> str:
    from hashlib import sha256  # noqa: PLC0415 - few names need one

    return sha256(text.encode()).hexdigest()[:length]


def single(reservation: str) -> str:
    """Name what a reservation has once: timetable, ServiceAccount, Role, RoleBinding, first CronJob."""
    return fit(reservation)


def pool(reservation: str, resource_class: str) -> str:
    """Name the Deployment of a pool."""
    return fit(f"{reservation}-{resource_class}")


def record(reservation: str) -> str:
    """Name the ConfigMap with the record of occurrences, which the scaler writes."""
    return f"{single(reservation)}{RECORD_SUFFIX}"


def held(key: str) -> str:
    """Name the ConfigMap with what a number of somebody else was. A dot is in no name of a reservation.

    Nobody can choose a number whose note is that of another one.
    """
    return f"{_digest(key, 16)}.held"


def target(pool: str, said: str) -> str:
    """Name the immutable ConfigMap that says which number of somebody else a pool holds. `said`: its text."""
    return f"{pool}.{_digest(said)}.target"


def is_held(name: str) -> bool:
    """Return whether the ConfigMap of this name is a note about a number, whatever its labels."""
    return name.endswith(".held")


def is_written_by_pods(name: str) -> bool:
    """Return whether accounts of reservations may write the ConfigMap of this name: a record or a note."""
    return is_held(name) or name.endswith(RECORD_SUFFIX)


def is_timetable(name: str, reservation: str) -> bool:
    """Return whether the ConfigMap of this name is the timetable of the reservation, whatever its labels.

    Accounts of reservations may write their records and notes, and give them the labels of any reservation.
    """
    return name == single(reservation) and "." not in name and not is_written_by_pods(name)


def is_record(name: str, reservation: str) -> bool:
    """Return whether the ConfigMap of this name is the record of the reservation, whatever its labels."""
    return name == record(reservation)
