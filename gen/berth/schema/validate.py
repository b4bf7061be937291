"""From a document's value to its model: validation by pydantic, the problems it finds, and a second pass.

The second pass asks the models for what their values say against each other (`Model.check`). It asks every
model in which nothing is faulty, also those of a faulty document, so that one run reports nearly everything.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from pydantic import ValidationError

from berth.findings import Path
from berth.notation.days import day
from berth.reading.scalar import ZeroPrefixedNumber, plain
from berth.schema import outline
from berth.schema.basemodel import Length, Model, Parsed, Unique, Whole, wrong_type
from berth.schema.counts import SEAT_WORDS, amount_advice, meant_counts
from berth.schema.documentproblems import (
    MOST,
    DocumentProblems,
    Refusal,
    article,
    choice,
    close,
    nearest,
    shown,
)
from berth.schema.grammar import accepts
from berth.schema.outline import Node, fields

M = TypeVar("M", bound=Model)
_KEY = "[key]"  # how pydantic's location ends where the key of a mapping is faulty
_FEW_DIGITS = re.compile(r"[-+]?[0-9]{1,9}", re.ASCII)
_TRUE, _FALSE = ("yes", "on", "y", "true"), ("no", "off", "n", "false")
# Keys that people write for one another; which of them is meant, the value tells.
_ENDS = ("to", "until", "endDate", "endTime", "end", "last", "lastDate")
_SYNONYMS = (
    ("from", "startDate", "startTime", "start", "begin", "since", "first", "firstDate"),
    _ENDS,
    ("date", "day", "on"),
    ("dayOfWeek", "daysOfWeek", "weekday", "weekdays", "day", "days"),
    ("placeholderCount", "seatCount", "seats", "count", "placeholders"),
)


def read(model: type[M], value: Any, report: DocumentProblems) -> M | None:
    """Return the model of a value; None if any error is reported."""
    read_value: M | None = read_as(model, value, report)
    return read_value


def read_as(hint: Any, value: Any, report: DocumentProblems) -> Any:
    """Return what any annotated type makes of a value; None if any error is reported."""
    node = _node(hint)
    try:
        typed = node.validate(value)
    except ValidationError:
        value = _without_nulls(node, value)
        typed = _validated(node, value, report)
        _examine_sound(node, value, report)
    else:
        _examine(node, typed, report)
    return None if report.errors else typed


def read_text(model: type[Model], key: str, text: str) -> Any:
    """Return what the text of a command line means for a key of a model. Raise Refusal as in a file.

    Blanks around a number are not part of it, as in YAML.
    """
    node = fields(model)[key].node
    takes_numbers = node.kind in (outline.WHOLE, outline.FLAG) or type(node.find(Parsed)) is Parsed
    value = plain(without_plus(text).strip()) if takes_numbers else text
    value = text if value is None else value
    try:
        return node.validate(value)
    except ValidationError as error:
        raise _refusal(dict(error.errors(include_url=False)[0]), node, value) from None


def without_plus(text: str) -> str:
    """Return the text of a command line, unless it is `+20`: that may mean 20, or 20 more than before."""
    if match := re.fullmatch(r"\s*\+([0-9]+)\s*", text, re.ASCII):
        number = match[1]
        fix = f"Write {number}, or the sum."
        raise Refusal(f"{shown(text)} may mean {number}, or {number} more than before.", fix, "B013")
    return text


def in_words(node: Node, value: Any) -> Any:
    """Return a value as a file has it, if it is not but has one reading; any other as it is."""
    if isinstance(value, dict | list):
        return value
    try:
        node.validate(value)
    except ValidationError as error:
        refusal = _refusal(dict(error.errors(include_url=False)[0]), node, value)
        if len(refusal.readings) == 1:
            return plain(next(iter(refusal.readings)))
    return value


_node = lru_cache(maxsize=256)(Node)


def _validated(node: Node, value: Any, report: DocumentProblems) -> Any:
    """Return what the type makes of a value; None after it is reported why that is refused."""
    try:
        return node.validate(value)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        for number, detail in enumerate(errors):
            if report.is_full and report.errors:
                report.left_out += len(errors) - number
                report.errors += len(errors) - number
                break
            _report(dict(detail), node, value, report)
        return None


def _without_nulls(node: Node, value: Any) -> Any:
    """Remove the keys of models that are null, wherever they are: a null key is one that is left out."""
    if node.kind == outline.UNION:
        return _without_nulls(node.branch(value), value)
    if node.kind == outline.LIST and type(value) is list:
        return [_without_nulls(node.item, item) for item in value]
    if node.kind == outline.MODEL and type(value) is dict:
        known = fields(node.type)
        return {
            name: _without_nulls(known[name].node, item) if name in known else item
            for name, item in value.items()
            if item is not None or name not in known
        }
    return value


def _report(error: dict[str, Any], node: Node, value: Any, report: DocumentProblems) -> None:
    """Report one error of pydantic's, in the words of the place where it is."""
    path: Path = ()
    rest = list(error["loc"])
    parents: list[tuple[Node, Any]] = []
    while rest:
        step = rest.pop(0)
        if node.kind == outline.UNION:
            node = node.branch(value)
            continue
        if step == _KEY and not rest:
            break
        parents.append((node, value))
        path = (*path, step)
        if error["type"] in ("extra_forbidden", "missing") and not rest:
            break
        if node.kind == outline.LIST:
            node, value = node.item, value[step]
        elif node.kind == outline.MAP:
            node, value = node.value, value[step]
        else:
            node, value = fields(node.type)[step].node, value[step]
    if error["type"] == "extra_forbidden":
        _unknown(path, *parents[-1], report)
    elif error["type"] == "missing":
        _missing(path, *parents[-1], report)
    elif error["type"] != "too_short" or len(value) < node.find(Length).minimum:
        at_key = error["loc"][-1:] == (_KEY,)
        report.refuse(_refusal(error, node, value), path, at_key=at_key)


def _unknown(path: Path, parent: Node, value: Mapping[str, Any], report: DocumentProblems) -> None:
    name = str(path[-1])
    meant = _synonym(parent, value, name)
    advice = nearest(name, tuple(fields(parent.type)), "Known here:")
    is_date = isinstance(value[name], str) and accepts(day, value[name])
    if meant in ("to", "") and "date" in value and name in _ENDS and is_date:
        advice = f"Write a range as {{from: {value['date']}, to: {value[name]}}}."
    elif meant:
        advice = f"Write {meant}."
    report("B010", path, "unknown key.", advice, at_key=True)


def _synonym(node: Node, value: Mapping[str, Any], name: str) -> str:
    """Return the key that is meant by another word for it; empty if there is none, or it is there already."""
    for words in _SYNONYMS:
        if name in words:
            for word in words:
                known = fields(node.type).get(word)
                if known is not None and word not in value and _sound(known.node, value[name]) is not None:
                    return word
    return ""


def _sound(node: Node, value: Any) -> Any:
    """Return what a type makes of a value; None if it refuses it."""
    try:
        return node.validate(value)
    except ValidationError:
        return None


def _missing(path: Path, parent: Node, value: Mapping[str, Any], report: DocumentProblems) -> None:
    """Report a key that is missing, unless a misspelled one means it."""
    name = str(path[-1])
    if name not in _misspelled(parent, value):
        words = article(fields(parent.type)[name].node.words)
        report("B011", path[:-1], f"{name} is missing.", f"Add {name}: {words}.")


def _misspelled(node: Node, value: Mapping[str, Any]) -> set[str]:
    """Return the keys that are meant by unknown ones."""
    known = fields(node.type)
    unknown = islice((name for name in value if name not in known), MOST)
    meant = {_synonym(node, value, name) or "".join(close(name, tuple(known))[:1]) for name in unknown}
    return meant - {""}


def _refusal(error: dict[str, Any], node: Node, value: Any) -> Refusal:
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Refusal):
        return cause
    if error["type"] in ("too_short", "too_long"):
        return _length(error["type"] == "too_short", node, value)
    if node.kind == outline.UNION:
        node = node.branch(value)
    if node.kind == outline.CHOICE and type(value) is str:
        return Refusal(f"{shown(value)} is not {node.words}.", choice(value, node.choices), "B014")
    if node.kind == outline.WHOLE:
        return _not_whole(node, value)
    if node.kind == outline.FLAG and str(value).lower() in (*_TRUE, *_FALSE) and isinstance(value, str):
        meant = "true" if value.lower() in _TRUE else "false"
        return Refusal(f"{shown(value)} is text, not true or false.", f"Write {meant}.", "B013")
    if node.kind == outline.LIST:
        return _not_list(node, value)
    return wrong_type(value, node.words)


def _length(is_short: bool, node: Node, value: Any) -> Refusal:
    length = node.find(Length)
    if not is_short:
        what = "keys" if node.kind == outline.MAP else "items"
        return Refusal(f"there are {len(value)} {what}.", f"Write at most {length.maximum}.", "B012")
    if node.kind == outline.MAP:
        return Refusal("the mapping is empty.", "Write at least one key.", "B012")
    return Refusal("the list is empty.", "Write at least one item.", "B012")


def _not_whole(node: Node, value: Any) -> Refusal:
    bounds = node.find(Whole)
    fix = f"Write a {node.words}."
    if type(value) is int:
        if value < bounds.minimum:
            return Refusal(f"{shown(value)} is below {bounds.minimum}.", fix, "B012")
        if str(bounds.maximum) not in bounds.words:
            fix = f"Write at most {bounds.maximum}."
        return Refusal(f"{shown(value)} is above {bounds.maximum}.", fix, "B012")
    readings = meant_counts(value) if type(value) is str and node.words == SEAT_WORDS else {}
    if readings:
        fix = f"Write {' or '.join(readings)}."
    elif type(value) is str and node.words == SEAT_WORDS:
        fix = amount_advice(value) or fix
    if isinstance(value, str) and _FEW_DIGITS.fullmatch(value):
        without = "leading zeros" if isinstance(value, ZeroPrefixedNumber) else "quotes"
        fix = f"Write it without {without}: {int(value)}."
    return Refusal(f"{shown(value)} is not a {node.words}.", fix, "B013", readings=readings)


def _not_list(node: Node, value: Any) -> Refusal:
    fix = 'Write a list: begin each item with "- ".'
    is_short = isinstance(value, str | int) and len(str(value)) <= 60
    if is_short and node.item.kind != outline.MODEL:
        fix = f"Write a list: [{shown(value)}]."
    return Refusal(f"{shown(value)} is not a list.", fix, "B013")


def _examine_sound(node: Node, value: Any, report: DocumentProblems) -> None:
    """Ask the models in a value that may be faulty, as far as nothing in them is."""
    if node.kind not in (outline.MODEL, outline.LIST, outline.UNION):
        return
    if (typed := _sound(node, value)) is not None:
        _examine(node, typed, report)
    elif node.kind == outline.UNION:
        _examine_sound(node.branch(value), value, report)
    elif node.kind == outline.LIST and type(value) is list:
        for i, item in enumerate(value):
            _examine_sound(node.item, item, report.below(i))
    elif node.kind == outline.MODEL and type(value) is dict:
        own = fields(node.type)
        for name, known in own.items():
            if name in value:
                _examine_sound(known.node, value[name], report.below(name))
        _check_order(node.type, lambda key: _sound(own[key].node, value.get(key)), report)


def _check_order(model: type[Model], value_of: Callable[[str], Any], report: DocumentProblems) -> None:
    """Report a range of dates that ends before it begins; `value_of` returns None for what is not sound."""
    if keys := model.dates_in_order:
        first, last = map(value_of, keys)
        if first and last and last < first:
            message = f"the range ends on {last}, before it begins on {first}."
            report("B024", keys[1], message, f"Write the later date in `{keys[1]}`.")


def examine(model: Model, report: DocumentProblems) -> None:
    """Ask every model inside of a model, and then itself, what is wrong beyond its shape."""
    errors, own = report.whole.errors, fields(type(model))
    for name, known in own.items():
        if isinstance(value := getattr(model, known.attribute), Model | tuple):
            _examine(known.node, value, report.below(name))
    if report.whole.errors == errors:
        model.check(report)
    _check_order(type(model), lambda key: getattr(model, own[key].attribute), report)


def _examine(node: Node, value: Any, report: DocumentProblems) -> None:
    if isinstance(value, Model):
        examine(value, report)
    for i, item in enumerate(value if isinstance(value, tuple) else ()):
        if isinstance(item, Model):
            examine(item, report.below(i))
    if value and node.find(Unique):
        report.repeated("", value)
