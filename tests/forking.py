"""Run Berth as a program that starts at once: a server has imported it, and forks for each call.

A call is a process with its own words, environment, folder and streams. What only a process that starts from
nothing can show is in `tests/cli/test_process.py` and `.ci/package`.
"""

import atexit
import os
import select
import socket
import sys
from functools import cache
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
NO_ANSWER = 70  # an exit code that Berth does not have


@cache
def command() -> list[str]:
    """Return the words that run Berth. The first call starts a server, which ends with this process."""
    import subprocess  # noqa: PLC0415 - a call has no time for it
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    folder = TemporaryDirectory(prefix="berth-")
    address = f"{folder.name}/socket"
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forking", "serve", address],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def stop() -> None:
        server.communicate()
        folder.cleanup()

    atexit.register(stop)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return [sys.executable, "-SE", __file__, "call", address]


def call(address: str, words: list[str]) -> int:
    """Let the server run a command with the streams of this process, and return its exit code."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [b"."], [0, 1, 2])
        environment = [name + b"=" + value for name, value in os.environb.items()]
        parts = [os.fsencode(Path.cwd()), b"%d" % len(words), *map(os.fsencode, words), *environment]
        server.sendall(b"\0".join(parts))
        server.shutdown(socket.SHUT_WR)
        answer = server.recv(1)
    return answer[0] if answer else NO_ANSWER


def serve(address: str) -> None:
    """Answer calls until stdin ends."""
    from contextlib import redirect_stdout, suppress  # noqa: PLC0415
    from io import StringIO  # noqa: PLC0415

    from berth.cli import run  # noqa: PLC0415
    from berth.cli.group import COMMANDS, load  # noqa: PLC0415

    for name in COMMANDS:
        load(name)
    with redirect_stdout(StringIO()):  # imports what a command imports only when it runs
        run(["-C", str(ROOT), "render", "--check"])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while select.select([listener.fileno(), 0], [], [])[0] == [listener.fileno()]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                _answer(connection)
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # those that have ended
                    pass


def _answer(connection: socket.socket) -> NoReturn:
    code: object = NO_ANSWER
    try:
        _become(connection)
        from berth.cli import main  # noqa: PLC0415

        main()
    except SystemExit as done:
        code = done.code
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        connection.sendall(bytes([int(str(code or 0))]))
        os._exit(0)


def _become(connection: socket.socket) -> None:
    """Make this process the one that called."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    with connection.makefile("rb") as reader:
        folder, count, *texts = reader.read().split(b"\0")
    os.chdir(folder)
    words, environment = texts[: int(count)], texts[int(count) :]
    os.environb.clear()
    os.environb.update(text.partition(b"=")[::2] for text in environment)
    sys.argv = ["berth", *map(os.fsdecode, words)]
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - a number is not a path
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, errors="backslashreplace")  # noqa: SIM115


if __name__ == "__main__":
    action, address_given, *words_given = sys.argv[1:]
    if action == "call":
        sys.exit(call(address_given, words_given))
    serve(address_given)
