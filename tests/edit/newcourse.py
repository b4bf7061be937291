"""The words of `berth new` for a course that most tests write."""

from pathlib import Path

GIVEN = (
    *("--class", "small", "--seats", "10", "--from", "2026-02-02", "--until", "2026-02-15"),
    *("--behavior", "none"),
)


def once_on(date: str, name: str = "algebra") -> tuple[str, ...]:
    """The command for a course of one date."""
    given = ("--dates", date, "--class", "small", "--seats", "5", "--behavior", "none")
    return ("new", name, "09:00-13:00", *given)


def with_sessions(folder: Path) -> None:
    """Add sessions to class small, and class large beside it."""
    classes = folder / "reservations/classes.yaml"
    small = classes.read_text("utf-8").replace(
        "4Gi}\n", "4Gi}\n  sessions: {source: jupyterhub, namespaces: [hub]}\n", 1
    )
    large = small.partition("---\n")[0].replace("small", "large").replace("[hub]", "[large]")
    classes.write_text(f"{small}---\n{large}", "utf-8")
