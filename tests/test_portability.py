"""The package can be imported where modules that only POSIX systems have are missing."""

import subprocess
import sys

IMPORTS = """\
import importlib, pkgutil, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
import berth
for found in pkgutil.walk_packages(berth.__path__, "berth."):
    if found.name != "berth.__main__":
        importlib.import_module(found.name)
"""


def test_every_module_can_be_imported_without_posix_modules() -> None:
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
