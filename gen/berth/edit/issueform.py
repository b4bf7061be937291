"""Write the issue form by which people ask for seats, with the site's classes and time zones as choices."""

import re
from collections.abc import Iterable, Iterator, Mapping

from berth.edit.prompts import FORM, NOTES, Prompt
from berth.output.yamltext import quote
from berth.schema.declared import Declared
from berth.schema.values import ResourceClass, Site

ISSUE_FORM = ".github/ISSUE_TEMPLATE/seats.yml"
MARK = "# Written by berth init --requests. Run it again when classes or time zones change.\n"
_HEAD = """\
name: Ask for seats
description: Seats for a course or an exam. A pull request with all its dates follows.
title: "Seats for "
body:
  - type: markdown
    attributes:
      value: |
        The answer to this issue lists every date, or says what to correct. Everybody who can read this
        repository can read what you write here.
"""
_UTC = "UTC"


def issue_form(declared: Declared, site: Site | None) -> str:
    """Return the form for a site."""
    zones = [
        site.zone if site else _UTC,
        *(reservation.recurrence.zone for reservation in declared.reservations),
    ]
    choices = {
        "class": sorted(declared.classes),
        "time-zone": [zones[0], *sorted({*zones[1:]} - {zones[0]})],
    }
    helps = {
        "class": "; ".join(_shape(resource_class) for _, resource_class in sorted(declared.classes.items()))
    }
    if declared.terms:
        helps["from"] = f"{FORM['from'].help} Terms: {', '.join(declared.terms_by_date())}."
    elements = (_element(key, prompt, choices.get(key, []), helps) for key, prompt in FORM.items())
    return MARK + _HEAD + "".join(elements)


def is_refreshable(text: bytes, form: str) -> bool:
    """Tell whether a text is the form but for classes and time zones, so that nobody has edited it."""
    return _without_choices(text.decode("utf-8", "replace")) == _without_choices(form)


def _without_choices(form: str) -> str:
    form = _options.sub("", form)
    return _class_help.sub(r"\1\n", form)


_options = re.compile(r"(?<=options:\n)(?: +- .*\n)+")
_CLASS_SHAPE = r"[a-z0-9.-]+(?:: [\d.]\S* \S+(?:, [\d.]\S* \S+)*)?"
_class_help = re.compile(
    rf"""( description: )["']?{re.escape(FORM["class"].text)} {_CLASS_SHAPE}(?:; {_CLASS_SHAPE})*["']?\n"""
)


def _shape(resource_class: ResourceClass) -> str:
    amounts = ", ".join(f"{amount} {resource}" for resource, amount in resource_class.requests)
    return f"{resource_class.name}: {amounts}" if amounts else resource_class.name


def _element(key: str, prompt: Prompt, choices: Iterable[str], helps: Mapping[str, str]) -> str:
    return "".join(f"  {line}\n" for line in _lines(key, prompt, [*choices], helps.get(key) or prompt.help))


def _lines(key: str, prompt: Prompt, choices: list[str], advice: str) -> Iterator[str]:
    kind = "dropdown" if choices else "textarea" if key == NOTES else "input"
    yield f"- type: {kind}"
    yield f"  id: {prompt.field}"
    yield "  attributes:"
    yield f"    label: {quote(prompt.heading)}"
    yield f"    description: {quote(f'{prompt.text} {advice}'.rstrip())}"
    if choices:
        yield "    options:"
        yield from (f"      - {quote(choice)}" for choice in choices)
        if key == "time-zone":
            yield "    default: 0"
    elif prompt.example:
        yield f"    placeholder: {quote(prompt.example)}"
    yield "  validations:"
    yield f"    required: {str(not prompt.optional).lower()}"
