"""How messages show a value, and which known words they suggest in place of an unknown one."""


def shown(value: object) -> str:
    """Return a value as a message shows it: text in quotes, the rest as YAML writes it; long ones are cut."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    cut = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:60])
    cut += "..." if len(text) > 60 else ""
    return f'"{cut}"' if type(value) is str else cut


def article(words: str) -> str:
    """Put `a` or `an` before a description that needs one."""
    if words.startswith(("text", "one of", "true", '"')):
        return words
    return ("an " if words[0] in "aeiou" else "a ") + words


def nearest(given: str, known: tuple[str, ...], otherwise: str) -> str:
    """Advise on an unknown word: the nearest known ones, or all of them."""
    if not known:
        return "Declare it, or remove it."
    found = close(given, known)
    return f"Did you mean {' or '.join(found)}?" if found else f"{otherwise} {', '.join(known)}."


def choice(given: str, known: tuple[str, ...]) -> str:
    """Advise on a word that must be one of the known ones."""
    return nearest(given, known, "Write one of" if len(known) > 1 else "Write")


def close(given: str, known: tuple[str, ...]) -> list[str]:
    """Return at most three known words that resemble this one, the nearest first."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a faulty file pays for it

    lowered = {name.lower(): name for name in known}
    return [lowered[n] for n in get_close_matches(given.lower(), list(lowered), n=3, cutoff=0.6)]
