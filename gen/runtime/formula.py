"""The formula: how many placeholders one occurrence asks for, by its behaviour, its sessions and the time."""


def placeholders(behaviour: str, count: int, active: int, window: tuple[int, int, int], now: int) -> int:
    """For `count` seats of which `active` sessions have taken some (or more).

    `window` is open, start and end in seconds. Before open and from end on nothing is asked for. `none`
    asks for all seats whoever is there, `maintain` for the seats that are free, `reduce` for a share of those
    that falls from 1 at the start to 0 at the end, rounded to the nearest, a half up.
    """
    opens, start, end = window
    if not opens <= now < end:
        return 0
    if behaviour == "none":
        return count
    spare = max(count - active, 0)
    if behaviour == "maintain" or now <= start:
        return spare
    return (2 * spare * (end - now) + (end - start)) // (2 * (end - start))
