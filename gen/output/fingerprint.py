"""One short text for all files of an output folder, to know later whether they are the same still."""

from gen.output.ownedtree import owned_files


class Fingerprint:
    """`add` each file once, in any order."""

    def __init__(self) -> None:
        from hashlib import sha256  # noqa: PLC0415 - as dear as reading 300 files

        self._sha256 = sha256
        self._files: list[bytes] = []

    def add(self, path: str, data: bytes) -> None:
        """`path` is relative to the output folder."""
        file = self._sha256(path.encode("utf-8", "surrogateescape") + b"\0")
        file.update(data)
        self._files.append(file.digest())

    def text(self) -> str:
        return self._sha256(b"".join(sorted(self._files))).hexdigest()


def fingerprint(folder: str) -> str:
    """Of what stands in the owned part of the folder now. Raises OSError."""
    found = Fingerprint()
    for path, data in owned_files(folder):
        found.add(path, data)
    return found.text()
