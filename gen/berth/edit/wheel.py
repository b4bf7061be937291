"""Build a wheel of the Berth that runs, so that another machine can install the same."""

import io
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib import metadata, resources
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from berth.names import DISTRIBUTION
from berth.notation.refusal import CommandError
from berth.output.templates import built_in_folder

_TAG = "py3-none-any"
_WHEEL = f"Wheel-Version: 1.0\nGenerator: {DISTRIBUTION}\nRoot-Is-Purelib: true\nTag: {_TAG}\n"


def build_wheel() -> tuple[str, bytes]:
    """Return the file name of the wheel and its content, which is the same each time.

    https://packaging.python.org/en/latest/specifications/binary-distribution-format/ has the format.
    """
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError as error:
        raise CommandError("Berth runs without being installed; install it with pip") from error
    name = f"{DISTRIBUTION.replace('-', '_')}-{distribution.version}"
    package = Path(str(resources.files("berth")))
    files = {f"berth/{path}": content for path, content in _files(package).items()}
    files |= {f"berth/templates/{path}": content for path, content in _files(Path(built_in_folder())).items()}
    files[f"{name}.dist-info/WHEEL"] = _WHEEL.encode()
    for file in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        files[f"{name}.dist-info/{file}"] = (distribution.read_text(file) or "").encode()
    record = f"{name}.dist-info/RECORD"
    lines = [f"{path},{_hash(content)},{len(content)}\n" for path, content in sorted(files.items())]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    archive = io.BytesIO()
    with ZipFile(archive, "w", ZIP_DEFLATED) as wheel:
        for path, content in sorted(files.items()):
            wheel.writestr(ZipInfo(path), content, ZIP_DEFLATED)
    return f"{name}-{_TAG}.whl", archive.getvalue()


def _files(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _hash(content: bytes) -> str:
    return f"sha256={urlsafe_b64encode(sha256(content).digest()).rstrip(b'=').decode()}"
