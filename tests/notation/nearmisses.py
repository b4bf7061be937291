"""Texts that are nearly valid, for properties of whatever reads them."""

from hypothesis import strategies as st

SEPARATORS = ",;/ .-_:|+&\u2013\u00a0\t"
WORDS = {"mon": "lun", "monday": "montag", "wed": "mer", "to": "bis", "to ": "-"}


@st.composite
def near_misses(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A valid text, or one with one change of a character, a separator or the language."""
    text = draw(texts)
    place = draw(st.integers(0, len(text) - 1))
    kind = draw(st.sampled_from(["drop", "double", "swap", "case", "separator", "language", "none"]))
    before, letter, after = text[:place], text[place], text[place + 1 :]
    if kind == "drop":
        return before + after
    if kind == "double":
        return before + letter * 2 + after
    if kind == "swap":
        return before + after[:1] + letter + after[1:]
    if kind == "case":
        return before + letter.swapcase() + after
    if kind == "separator":
        return before + draw(st.sampled_from(SEPARATORS)) + after
    for word, other in WORDS.items() if kind == "language" else ():
        text = text.replace(word, other, 1)
    return text
