"""Several things at once that may hang: each has the same time, and none waits for another."""

import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")


def together(tasks: Mapping[str, Callable[[], T]], seconds: float) -> dict[str, T | Exception]:
    """What each answered or raised; TimeoutError for one that took longer. What hangs is left to itself and
    ends with the process.
    """
    answers: dict[str, T | Exception] = {}
    done = threading.Condition()

    def act(name: str, task: Callable[[], T]) -> None:
        try:
            answer: T | Exception = task()
        except Exception as error:
            answer = error
        with done:
            answers[name] = answer
            done.notify()

    for name, task in tasks.items():
        threading.Thread(target=act, args=(name, task), daemon=True).start()
    with done:
        done.wait_for(lambda: len(answers) == len(tasks), seconds)
        late = TimeoutError(f"no answer within {seconds:g} s")
        return {name: answers.get(name, late) for name in tasks}
