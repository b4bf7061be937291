"""Times as Kubernetes and Karpenter write them: durations of Go, `1h30m`, and fields of cron schedules."""

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

MAX_NANOSECONDS = 2**63 - 1  # what Go's time.Duration holds
_SECOND = 10**9
_UNITS = {  # in nanoseconds
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"[-+]?(?:0|(?:{_PART.pattern})+)")


def nanoseconds(text: str) -> int:
    """Parse a duration as time.ParseDuration does, which cuts off what is shorter than a nanosecond.

    Raise ValueError for what Go does not parse: days, a number without a unit, an empty text, more than
    292 years.
    """
    total = sum(int(Decimal(number) * _UNITS[unit]) for number, unit in _parts(text))
    if total > MAX_NANOSECONDS:
        raise ValueError(f"{text!r} is longer than Go's time.Duration")
    return -total if text.startswith("-") else total


def exact_seconds(text: str) -> Fraction:
    """Parse a duration without rounding and without a limit. Raise ValueError for a syntax error."""
    total = sum((Fraction(number) * _UNITS[unit] for number, unit in _parts(text)), Fraction(0))
    return (-total if text.startswith("-") else total) / _SECOND


def whole_seconds(text: str) -> int:
    """Parse a duration and cut off fractions of a second."""
    return int(exact_seconds(text))


def seconds_or_never(text: str) -> int | None:
    """Parse a duration as `whole_seconds` does; None is `Never`."""
    return None if text == "Never" else whole_seconds(text)


def format_minutes(minutes: int) -> str:
    """Format minutes as a NodePool's disruption budget takes them: `8h30m`, `2h`, `0m`."""
    hours, rest = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{rest}m" if rest or not hours else "")


def _parts(text: str) -> list[tuple[str, str]]:
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration")
    return _PART.findall(text)


def cron_field(values: Iterable[int]) -> str:
    """Return the field of a cron schedule with these values; three in a row become a range: `1,2,4-7`."""
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)
