"""Render objects with jinja2, from built-in templates and those of users.

A template is read and compiled once per run; one of a user is checked by `berth.output.templaterules` first,
the built-in ones by a test. A problem becomes a finding at its line. Files outside of the two folders are
never read: links out of them are refused.
"""
# A render does not import pathlib otherwise, which is slow.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH123

import os
from collections.abc import Iterable, Iterator, Mapping

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from berth.findings import Fault, FilePlace, Finding
from berth.output.yamltext import block, literal, number, quote

_SUFFIX = ".j2"


class TemplateError(Exception):
    """Templates that cannot be used, or not with these values; `findings` is never empty."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(*self.findings)


class Renderer:
    """Renders templates by name. Files in the folder `overrides` replace the built-in ones of the same name.

    Raises TemplateError at once for every override that is wrong whatever its values are.
    """

    def __init__(self, overrides: str | None = None, built_in: str | None = None) -> None:
        self._built_in = built_in or built_in_folder()
        self._environment = environment()
        self._compiled: dict[str, jinja2.Template] = {}
        if overrides is not None:
            self._override(overrides)

    def render(self, name: str, values: Mapping[str, object], subject: str = "") -> str:
        """Return the text of one object. `subject` says in findings what was rendered.

        Raises `TemplateError`.
        """
        template = self._compiled.get(name) or self._compile_built_in(name)
        try:
            return "".join(template.root_render_func(template.new_context(dict(values), shared=True)))
        except Exception as error:
            raise TemplateError([_failure(template, error, values, subject)]) from error

    def _compile_built_in(self, name: str) -> jinja2.Template:
        if name.startswith("/") or ".." in name.split("/"):
            raise ValueError(f"{name!r} is not the name of a template")
        path, shown = f"{self._built_in}/{name}", f"templates/{name}"
        compiled = _compile(self._environment, path, shown, is_checked=False)
        if isinstance(compiled, list):
            raise TemplateError(compiled)
        self._compiled[name] = compiled
        return compiled

    def _override(self, folder: str) -> None:
        names, findings = _overrides(folder, self._built_in)
        for name in names:
            path = f"{folder}/{name}"
            compiled = _compile(self._environment, path, path, is_checked=True)
            if isinstance(compiled, list):
                findings += compiled
            else:
                self._compiled[name] = compiled
        if findings:
            raise TemplateError(findings)


class _Missing(jinja2.StrictUndefined):
    """A missing value. Even formatting it for an error message raises an error that names it."""

    __repr__ = jinja2.StrictUndefined.__str__


def environment() -> SandboxedEnvironment:
    """Make a strict and sandboxed environment, with the filters of Berth only."""
    environment = SandboxedEnvironment(
        undefined=_Missing,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        optimized=False,  # looking for constant expressions takes half of compiling, and there are few
    )
    environment.globals.clear()
    environment.tests.clear()
    environment.filters = {"quote": quote, "number": number, "block": block, "literal": literal}
    return environment


def _compile(
    environment: SandboxedEnvironment, path: str, shown: str, *, is_checked: bool
) -> jinja2.Template | list[Finding]:
    source = read_template(path, shown)
    if isinstance(source, Finding):
        return [source]
    try:
        tree = environment.parse(source)
        broken = _broken_rules(tree, source) if is_checked else ()
        if broken:
            return [
                FilePlace(shown, fault.at).finding(fault.code, fault.message, fault.fix) for fault in broken
            ]
        return jinja2.Template.from_code(environment, environment.compile(tree, shown, shown), {})
    except jinja2.TemplateSyntaxError as error:
        return [
            _invalid(shown, error.lineno, f"The template is not valid: {error.message}", "Correct the line.")
        ]
    except (
        RecursionError,
        SyntaxError,
    ):  # from the parser of jinja2, or from Python for the compiled template
        return [_invalid(shown, 1, "Its parts are nested too deeply.", "Make it simpler.")]


def _broken_rules(tree: jinja2.nodes.Template, source: str) -> Iterable[Fault[int]]:
    from berth.output.templaterules import broken_rules  # noqa: PLC0415 - few projects have templates

    return broken_rules(tree, source)


def _invalid(shown: str, line: int, message: str, fix: str) -> Finding:
    return FilePlace(shown, line).finding("B096", message, fix)


def _failure(
    template: jinja2.Template, error: Exception, values: Mapping[str, object], subject: str
) -> Finding:
    message = f"The values do not fit the template: {str(error).rstrip('.')}."
    fix = "Give quote and literal a text, number a number, block a mapping or a list."
    if isinstance(error, jinja2.UndefinedError):
        fix = f"Use one of the values: {', '.join(sorted(values))}."
    place = FilePlace(template.filename or "", _line(template, error))
    return place.finding("B097", message, fix, subject)


def _line(template: jinja2.Template, error: Exception) -> int:
    """Return the line of the template at which it failed, from the traceback."""
    line, step = 1, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == template.filename:
            line = template.get_corresponding_lineno(step.tb_lineno)
        step = step.tb_next
    return line


def built_in_folder() -> str:
    """Return the folder of the built-in templates: in a wheel in the package, in a checkout at its top."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "templates")
    return (
        inside
        if os.path.isdir(inside)
        else os.path.join(os.path.dirname(os.path.dirname(package)), "templates")
    )


def _overrides(folder: str, built_in: str) -> tuple[list[str], list[Finding]]:
    """Return the names of the templates in a user's folder, sorted, and what is wrong with them.

    Other files and hidden files are ignored.
    """
    known = list(_names_in(built_in))
    names: list[str] = []
    findings: list[Finding] = []
    try:
        given = list(_names_in(folder))
    except OSError as error:
        fix = "Name a folder of templates that you may read after --templates."
        return [], [_unreadable(folder, f"{error.filename} cannot be read: {error.strerror}.", fix)]
    for name in given:
        shown = os.path.join(folder, name)
        if name not in known:
            findings.append(_overrides_nothing(name, shown, known))
        elif not _lies_within(shown, folder):
            findings.append(
                _unreadable(shown, f"{shown} leads out of {folder}.", "Copy the file into the folder.")
            )
        else:
            names.append(name)
    return names, findings


def read_template(path: str, shown: str) -> str | Finding:
    """Return the text of a template with line feeds and without a byte order mark, or why there is none."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except UnicodeDecodeError as error:
        return _unreadable(shown, f"Byte {error.start} is not UTF-8.", "Save the file as UTF-8.")
    except OSError as error:
        return _unreadable(shown, f"It cannot be read: {error.strerror}.", "Make it a readable file.")


def _unreadable(shown: str, message: str, fix: str) -> Finding:
    return FilePlace(shown).finding("B095", message, fix)


def _overrides_nothing(name: str, shown: str, known: list[str]) -> Finding:
    message = f"There is no template {name} to override."
    return FilePlace(shown).finding("B098", message, f"Name it as one of {', '.join(known)}.")


def _names_in(folder: str) -> Iterator[str]:
    for path, folders, files in os.walk(folder, onerror=_stop):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inner = os.path.relpath(path, folder)
        for name in sorted(files):
            if name.endswith(_SUFFIX) and not name.startswith("."):
                yield name if inner == "." else f"{inner}/{name}"


def _stop(error: OSError) -> None:
    raise error


def _lies_within(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder) + "/")
