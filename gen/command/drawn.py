"""`--chart FILE`: pictures go to files."""

from pathlib import Path

from gen.command.asked import UsageError


def save(name: str, picture: str) -> None:
    if not name.endswith(".svg"):
        raise UsageError(f"--chart {name}: charts are SVG. Name a file that ends in .svg.")
    try:
        Path(name).write_text(picture, "utf-8", newline="\n")
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"--chart {name}: {getattr(error, 'strerror', None) or error}.") from error
