"""Puts an edited file in the place of the old one, whole, with its permissions."""

import os
import stat
from pathlib import Path

from gen.edit.roundtrip import EditError


def write(file: str, text: str, expected: bytes | None) -> None:
    """`expected`: what must still stand there, None if there must be no file yet. Raises EditError."""
    path = Path(file)
    try:
        found = path.read_bytes() if path.exists() else None
        if found != expected:
            what = "there is a file already" if expected is None else "somebody else has changed it meanwhile"
            raise EditError(f"{file}: {what}; nothing was written")
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        beside.write_bytes(text.encode())
        if found is not None:
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except OSError as error:
        raise EditError(f"{file} cannot be written: {error.strerror}") from error
