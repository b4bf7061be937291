"""Asks Kubernetes' own cron library whether schedules fire at the openings they are meant for."""

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

import tzdata

from tests.e2e.binaries import binary
from tests.e2e.errors import E2EError


def missed_opens(questions: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """For each question's `name` the `opens` at which none of its `schedules` fires.

    A question is `{"name": ..., "schedules": [{"schedule": "30 8 * * 1", "timeZone": "Europe/Zurich"}],
    "opens": ["2026-02-02T07:30:00Z"]}`.
    """
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    zones = {**os.environ, "ZONEINFO": f"{tzdata.__path__[0]}/zoneinfo"}  # the very zones that we render by
    command = [binary("cronfires")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, env=zones)
    if done.returncode:
        raise E2EError(done.stderr.strip())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {answer["name"]: answer["missed"] for answer in answers}
