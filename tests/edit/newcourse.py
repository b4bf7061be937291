"""The words of `berth new` for a course that most tests write."""

GIVEN = (
    "--class",
    "small",
    "--seats",
    "10",
    "--from",
    "2026-02-02",
    "--until",
    "2026-02-15",
    "--behaviour",
    "none",
)


def once_on(date: str, name: str = "algebra") -> tuple[str, ...]:
    """The command for a course of one date."""
    given = ("--dates", date, "--class", "small", "--seats", "5", "--behavior", "none")
    return ("new", name, "09:00-13:00", *given)
