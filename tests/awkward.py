"""Texts that some YAML reader takes for something else, changes or refuses when they are written bare."""

from berth.schema.grammar import accepts, title

# fmt: off
WORDS = (
    "y", "n", "Y", "N", "yes", "no", "Yes", "NO", "on", "off", "On", "OFF", "true", "false", "True", "FALSE",
    "null", "Null", "NULL", "~", "", "=", "<<", "none", "nan", "inf",
)
NUMBERS = (
    "0", "1", "-1", "+1", "1.0", "1.", ".5", "-.5", "1e3", "1E3", "12e03", "25921e05", "1e+16", "0e0",
    "1_000", "1__0", "_1", "017", "08", "0900", "0o17", "0O17", "0x1F", "0b11", "0B11", "0.1.2", "1.10",
    ".inf", "-.INF", "+.inf", ".nan", ".NaN", "9223372036854775808", "1,000",
)
TIMES = (
    "17:30", "09:00", "1:30:00", "190:20:30", "24:00", "10:30.5", "2026-02-02", "2026-02-02T08:00:00Z",
    "2001-12-14 21:59:43.10 -5", "2026-2-2", "@daily", "*/5 * * * *", "0 9 * * 1-5",
)
MARKS = (
    "- a", "-", "--", "---", "--- a", "...", "? a", "?", ": a", ":", "a: b", "a:", "a :b", "a #b", "#", "# a",
    "%", "%YAML 1.1", "@", "`", "`a`", "!", "!!str 1", "!tag", "&a", "*a", "|", "|-", ">", ">2", "'", "''",
    '"', '""', '\\"', "it's", 'say "x"', "'a", '"a', "[", "[]", "[a]", "{", "{}", "{a: b}", "]", "}", ",",
    "a, b", "\\", "\\\\", "\\n", "\\x41", "\\u0041", "C:\\new", "a\\", "$(date)", "${HOME}", "{{ a }}",
    "{% if a %}",
)
SPACES = (
    " ", "  ", " a", "a ", "  a  ", "a  b", "\n", "\n\n", "a\n", "\na", "a\nb", "a\n\nb", "a \nb", "a\n b",
    "\t", "\ta", "a\t", "a\tb", "\r", "a\rb", "a\r\nb", "a\n---\nb", 'a"\nkind: Secret\n', "a: b\nc: d",
)
CHARACTERS = (
    "Überblick", "Zürich \u2014 Mathématiques", "日本語", "Ω", "café\u0301", "שלום", "न\u200dम", "\xa0a\xa0",
    "\U0001f680", "\U0001f469\u200d\U0001f3eb", "\U0001f1e8\U0001f1ed", "\U00020bb7", "\U0010fffd", "\ud7ff",
    "\ue000", "\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b[31m", "\x1f", "\x7f", "\x80", "a\x85b", "\x9f",
    "\xad", "a\u2028b", "a\u2029b", "\ufeff", "a\ufeffb", "\ufdd0", "\ufffd", "\ufffe", "\uffff",
    "\U0001fffe", "\U0010ffff", "\u200b", "\u200e", "\u202eabc", "\u2066", "\ufff9", "\U000e0001", "\u3000",
)
LONG = ("a" * 240, "word " * 60, "é" * 240, "\\" * 240, "a: b # " * 40, "\U0001f680" * 300, "k" * 1100)
# fmt: on

AWKWARD = (*WORDS, *NUMBERS, *TIMES, *MARKS, *SPACES, *CHARACTERS, *LONG)
TITLES = tuple(text for text in AWKWARD if accepts(title, text))
