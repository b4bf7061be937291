"""Programs that take turns: each runs in a thread of its own, but only one at a time, and which one goes on
is said from outside. So every interleaving of their steps can be tried, and tried again.
"""

from collections.abc import Callable
from random import Random
from threading import Semaphore, Thread, local
from typing import Self

from berth.runtime.apiclient import Request, Response, Transport


class _Stopped(BaseException):
    """Ends a thread wherever it waits."""


class Player:
    """Does `step` again and again, for as long as it gets turns."""

    def __init__(
        self, name: str, step: Callable[[], object], failed: Callable[[BaseException], object]
    ) -> None:
        self.name = name
        self.steps = 0  # that are done
        self._step = step
        self._failed = failed
        self._go, self._back = Semaphore(0), Semaphore(0)
        self._is_over = False
        self._thread = Thread(target=self._play, daemon=True)
        self._thread.start()

    def turn(self) -> None:
        """Lets it go on until it pauses, or its step is done."""
        self._go.release()
        self._back.acquire()

    def finish(self) -> None:
        """Lets it go on until a step is done."""
        before = self.steps
        while self.steps == before:
            self.turn()

    def stop(self) -> None:
        self._is_over = True
        self._go.release()
        self._thread.join()

    def pause(self) -> None:
        self._back.release()
        self._go.acquire()
        if self._is_over:
            raise _Stopped

    def _play(self) -> None:
        _playing.player = self
        self._go.acquire()
        try:
            while not self._is_over:
                try:
                    self._step()
                except Exception as error:
                    self._failed(error)
                self.steps += 1
                self.pause()
        except _Stopped:
            pass


_playing = local()


def pause() -> None:
    """Of whoever plays in this thread; of nobody, nothing."""
    player: Player | None = getattr(_playing, "player", None)
    if player:
        player.pause()


def playing() -> str:
    """Who plays in this thread; nobody: an empty name."""
    player: Player | None = getattr(_playing, "player", None)
    return player.name if player else ""


def pausing(transport: Transport) -> Transport:
    """Return a transport that lets others play before and after each request."""

    def send(request: Request) -> Response:
        pause()
        answer = transport(request)
        pause()
        return answer

    return send


class Stage:
    """Players that take turns by chance."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.players: dict[str, Player] = {}
        self.errors: list[BaseException] = []

    def cast(self, name: str, step: Callable[[], object]) -> None:
        self.players[name] = Player(name, step, self.errors.append)

    def turn(self) -> None:
        self.players[self.random.choice(list(self.players))].turn()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for player in self.players.values():
            player.stop()
