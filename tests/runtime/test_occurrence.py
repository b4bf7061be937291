"""The main container: a real process that keeps the Job alive for as long as the scaler wants it to."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from berth.runtime.occurrence import CLOSED, LATE_SECONDS, STUCK_SECONDS, exit_code
from berth.runtime.scaler import _replace

from tests.runtime.observing import resident
from tests.runtime.programs import PACKAGE, start_main
from tests.runtime.world import at

FILE = PACKAGE / "occurrence.py"
END = at("10:00")
MOST_BESIDE = 1.5  # MiB above a bare interpreter, which has 7 in a slim image: together less than 9
MOST_LINES = 60
# What the interpreter itself has not loaded at its start, and this program has afterwards.
LOADED = """\
import runpy, sys
before = set(sys.modules)
import {}
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize(
    ("word", "now", "silence", "expected"),
    [
        pytest.param("", "09:00", 0, None, id="it-has-just-started"),
        pytest.param("", "09:00", STUCK_SECONDS - 1, None, id="the-scaler-may-start-slowly"),
        pytest.param("", "09:00", STUCK_SECONDS, 1, id="no-word-ever"),
        pytest.param(str(END), "09:59:59", 5, None, id="open"),
        pytest.param(str(END), "09:59:59", STUCK_SECONDS, 1, id="open-and-silent"),
        pytest.param(str(END), "10:00:59", 5, None, id="over-and-not-silent"),
        pytest.param(str(END), "10:00:00", LATE_SECONDS - 1, None, id="over-and-not-silent-for-long"),
        pytest.param(str(END), "10:00:00", LATE_SECONDS, 0, id="over-and-silent"),
        pytest.param(str(END), "23:00:00", 3, None, id="the-clock-has-jumped"),
        pytest.param(CLOSED, "09:00", 0, 0, id="closed"),
        pytest.param("clos", "09:00", LATE_SECONDS, None, id="nonsense"),
        pytest.param("-1", "09:00", LATE_SECONDS, None, id="no-instant"),
        pytest.param("1e9", "09:00", STUCK_SECONDS, 1, id="nonsense-and-silent"),
    ],
)
def test_it_stays_until_the_word_or_the_silence_says_otherwise(
    word: str, now: str, silence: float, expected: int | None
) -> None:
    assert exit_code(word, float(at(now)), silence) == expected


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    output, _ = process.communicate(timeout=20)
    return process.returncode, output


def say(share: Path, word: str) -> None:
    _replace(str(share / "until"), word)


def test_it_exits_0_once_everything_is_closed(tmp_path: Path) -> None:
    process = start_main(tmp_path)
    say(tmp_path, "9000000000")
    time.sleep(1.5)

    assert process.poll() is None

    say(tmp_path, CLOSED)

    assert ended(process) == (0, "")


def test_it_exits_0_if_the_scaler_is_silent_after_the_end(tmp_path: Path) -> None:
    say(tmp_path, "1000000000")

    assert ended(start_main(tmp_path, "o.LATE_SECONDS = 1.5")) == (0, "")


def test_it_stays_after_the_end_for_as_long_as_the_scaler_speaks(tmp_path: Path) -> None:
    process = start_main(tmp_path, "o.LATE_SECONDS = o.STUCK_SECONDS = 2.5")
    for _ in range(7):
        say(tmp_path, "1000000000")
        time.sleep(0.5)

    assert process.poll() is None
    assert ended(process) == (0, "")


@pytest.mark.parametrize("word", ["", "9000000000", "nonsense", "\xff"])
def test_it_exits_1_if_the_scaler_hangs(tmp_path: Path, word: str) -> None:
    if word:
        (tmp_path / "until").write_text(word, encoding="latin-1")

    assert ended(start_main(tmp_path, "o.STUCK_SECONDS = 1.5")) == (1, "")


def test_on_sigterm_it_exits_143(tmp_path: Path) -> None:
    say(tmp_path, "9000000000")
    process = start_main(tmp_path)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)

    assert ended(process) == (143, "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is resident")
def test_it_takes_hardly_more_memory_than_an_interpreter(tmp_path: Path) -> None:
    say(tmp_path, "9000000000")
    bare = memory_of("-c", "import time; time.sleep(60)", share=tmp_path)

    assert memory_of(str(FILE), share=tmp_path) - bare <= MOST_BESIDE


def memory_of(*arguments: str, share: Path) -> float:
    variables = {"BERTH_SHARE": str(share)}
    with subprocess.Popen([sys.executable, "-BSE", *arguments], env=variables) as process:
        time.sleep(1.5)
        mebibytes = resident(str(process.pid))
        process.kill()
    return mebibytes


def test_it_imports_four_modules_and_is_a_page_long() -> None:
    text = FILE.read_text("utf-8")
    imported = [line for line in text.splitlines() if "import " in line and not line.startswith(" ")]

    assert [line.partition("  #")[0] for line in imported] == [
        "import os",
        "import sys",
        "import time",
        "from _signal import SIGTERM, signal",
    ]
    assert len(text.splitlines()) <= MOST_LINES


def test_it_loads_nothing_else() -> None:
    """Nothing of ours but itself, and nothing of the network."""

    def loaded(what: str) -> set[str]:
        command = [sys.executable, "-BSE", "-c", LOADED.format(what)]
        found = subprocess.run(command, cwd=PACKAGE.parents[1], capture_output=True, text=True, check=True)
        return set(found.stdout.split())

    ours = {"berth", "berth.runtime", "berth.runtime.occurrence"}
    assert loaded("berth.runtime.occurrence") - loaded("os, _signal, sys, time") == ours


def test_the_scaler_replaces_the_word_as_a_whole(tmp_path: Path) -> None:
    say(tmp_path, "1000000000")
    with (tmp_path / "until").open(encoding="ascii") as old:
        say(tmp_path, CLOSED)

        assert old.read() == "1000000000"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("until", CLOSED)]
    with pytest.raises(OSError, match="No such file or directory"):
        say(tmp_path / "nowhere", CLOSED)
