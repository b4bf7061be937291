"""What the last render came to, so that --check need only see that its input and its output are the same.

It lies in the user's own cache folder, one small file for each output folder: what lies in a project can be
committed, and may not vouch for itself. It is believed only if everything that a render depends on is the
same: input, templates and options byte for byte; Python; and the files of our code and of libraries, to which
nobody may have written since. Whatever is odd about it means that it is not there, and nothing is ever told
that a whole run would not tell.
"""
# pathlib would cost more than all that it could do here.
# ruff: noqa: PTH100, PTH103, PTH105, PTH116, PTH117, PTH120, PTH123

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import NamedTuple

from gen.finding import Finding
from gen.input.source import Source
from gen.output.templatefiles import built_in_folder, find_overrides

_LIBRARIES = ("jinja2", "tzdata", "yaml")  # each says its version in its first file


class Remembered(NamedTuple):
    fingerprint: str  # of the output, as in gen.output.fingerprint
    findings: tuple[Finding, ...]


def program(output: str, templates: str | None) -> str | None:
    """A digest of all that decides, beside its input, what a render says and writes: the two folders as they
    were given, our own code, Python and libraries. None where that cannot be said.
    """
    code = _below(os.path.dirname(os.path.abspath(__file__)), ".py")
    try:
        libraries = [spec.origin for name in _LIBRARIES if (spec := find_spec(name)) and spec.origin]
        stamps = [(path, *_stamp(path)) for path in (*code, *libraries)]
        texts = [
            (path, _content(path)) for path in (*_below(built_in_folder(), ".j2"), *_overrides(templates))
        ]
    except (OSError, ValueError):
        return None
    return _digest([repr((sys.version, output, templates, stamps, texts)).encode()])


def _below(folder: str, suffix: str) -> Iterator[str]:
    for path, folders, files in os.walk(folder):
        folders.sort()
        yield from (f"{path}/{name}" for name in sorted(files) if name.endswith(suffix))


def _stamp(path: str) -> tuple[int, ...]:
    """It changes whenever anybody writes to the file; to read all code would take as long as its import."""
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _overrides(folder: str | None) -> list[str]:
    if folder is None:
        return []
    names, findings = find_overrides(folder, built_in_folder())
    if findings:
        raise ValueError(findings)
    return [f"{folder}/{name}" for name in names]


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _digest(parts: Iterable[bytes]) -> str:
    from hashlib import sha256  # noqa: PLC0415 - only a render needs it

    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def _question(program: str, sources: Sequence[Source]) -> str:
    files = [part for source in sources for part in (os.fsencode(source.file), source.text)]
    return _digest([program.encode(), *files])


def keep(output: str, program: str, sources: Sequence[Source], remembered: Remembered) -> None:
    """Remember what these sources came to in the folder `output`. Where that cannot be, nothing happens."""
    import json  # noqa: PLC0415 - only who writes needs it

    question = _question(program, sources)
    text = f"{question}\n{remembered.fingerprint}\n"
    if remembered.findings:
        text += json.dumps(remembered.findings)
    place = _place(output)
    if place is None:
        return
    with suppress(OSError):
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        beside = f"{place}.{os.getpid()}"
        with open(beside, "wb") as file:
            file.write(f"{_digest([text.encode()])}\n{text}".encode())
        os.replace(beside, place)


def recall(output: str, program: str, sources: Sequence[Source]) -> Remembered | None:
    """What these very sources came to when they were rendered to the folder `output`, if it is known."""
    place = _place(output)
    try:
        digest, text = _content(place or "").decode().split("\n", 1)
        question, fingerprint, findings = text.split("\n", 2)
    except (OSError, ValueError):
        return None
    if digest != _digest([text.encode()]) or question != _question(program, sources):
        return None
    if not findings:
        return Remembered(fingerprint, ())
    import json  # noqa: PLC0415 - mostly nothing was found

    return Remembered(fingerprint, tuple([Finding(*one) for one in json.loads(findings)]))


def _place(output: str) -> str | None:
    """The file for an output folder: in BERTH_CACHE_DIR, or where the desktop's convention has caches."""
    home = os.environ.get("HOME")
    standard = os.environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else "")
    folder = os.environ.get("BERTH_CACHE_DIR", f"{standard}/berth" if standard else "")
    if not os.path.isabs(folder):
        return None
    return f"{folder}/{_digest([os.fsencode(os.path.realpath(output))])[:32]}"
