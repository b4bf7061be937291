"""Render objects with jinja2 from the templates of Berth; each shows the shape of one object."""
# A render does not import pathlib otherwise, which is slow.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

import os
from collections.abc import Mapping

import jinja2

from berth.output.yamltext import block, literal, number, quote


def built_in_folder() -> str:
    """Return the folder of the templates: in a wheel in the package, in a checkout at its top."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "templates")
    return (
        inside
        if os.path.isdir(inside)
        else os.path.join(os.path.dirname(os.path.dirname(package)), "templates")
    )


_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(built_in_folder()),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    optimized=False,  # looking for constant expressions takes half of compiling, and there are few
    auto_reload=False,
)
_ENVIRONMENT.globals = {}  # which each rendering would copy, and no template uses
_ENVIRONMENT.filters = {"quote": quote, "number": number, "block": block, "literal": literal}


_OF_REPOSITORIES = _ENVIRONMENT.overlay(variable_start_string="{=", variable_end_string="=}")
"""Their text has `{{` for others: the expressions of GitHub."""


def render(template: str, values: Mapping[str, object]) -> str:
    """Return the text of one object."""
    return _ENVIRONMENT.get_template(template).render(values)


def repository_file(path: str, values: Mapping[str, object]) -> str:
    """Return the text of a file of a new repository."""
    return _OF_REPOSITORIES.get_template(f"repository/{path}").render(values)
