"""`berth` in process, and the cluster that it asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from berth import cli

from tests.answer import Answer, Berth
from tests.live import project
from tests.live.api_server import ApiServer
from tests.live.happenings import in_order
from tests.live.sites import asking
from tests.live.world import World


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """The course in order."""
    with ApiServer(in_order(project.project())) as made:
        yield made


@pytest.fixture
def berth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Berth:
    """A command in process, in the project of the course."""
    project.write(tmp_path)

    def run(*arguments: str) -> Answer:
        code = cli.run(["-C", str(tmp_path), *arguments])
        return Answer(code, *capsys.readouterr())

    return run


class Live:
    """`berth` in process, asked about the cluster of `server` in the project of the course."""

    def __init__(self, berth: Berth, server: ApiServer, folder: Path) -> None:
        self.berth, self.server, self.folder = berth, server, folder

    @property
    def world(self) -> World:
        return self.server.world

    def __call__(self, command: str, *words: str) -> Answer:
        return self.berth(*asking(self.server, self.folder, command), *words)


@pytest.fixture
def live(berth: Berth, server: ApiServer, tmp_path: Path) -> Live:
    return Live(berth, server, tmp_path)
