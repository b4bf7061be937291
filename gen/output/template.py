"""What jinja2 makes of a template: the definition of its text, and what is wrong with it.

Templates are read, held to `gen.output.templaterules` and compiled once. What is wrong with one becomes a
finding at its line, never a traceback.
"""

from collections.abc import Mapping

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from gen.finding import ERROR, Finding
from gen.output.templatefiles import TemplateError, find_overrides, read_template
from gen.output.templaterules import broken_rules
from gen.output.yamltext import block, literal, number, quote


class JinjaRenderer:
    """Renders templates by name, as `gen.output.renderer.Renderer` does."""

    def __init__(self, overrides: str | None, built_in: str) -> None:
        self._built_in = built_in
        self._environment = environment()
        self._compiled: dict[str, jinja2.Template] = {}
        self._overridden: dict[str, str] = {}  # paths by name
        if overrides is not None:
            self._override(overrides)

    def render(self, name: str, values: Mapping[str, object], subject: str = "") -> str:
        """The text of one object. `subject` says in findings what was rendered. Raises `TemplateError`."""
        template = self._compiled.get(name) or self._compile_built_in(name)
        try:
            return "".join(template.root_render_func(template.new_context(dict(values), shared=True)))
        except Exception as error:
            raise TemplateError([_failure(template, error, values, subject)]) from error

    def path(self, name: str) -> str:
        """Where the template lies that this name stands for."""
        return self._overridden.get(name, f"{self._built_in}/{name}")

    def _compile_built_in(self, name: str) -> jinja2.Template:
        compiled = _compile(self._environment, self.path(name), f"templates/{name}")
        if isinstance(compiled, list):
            raise TemplateError(compiled)
        self._compiled[name] = compiled
        return compiled

    def _override(self, folder: str) -> None:
        names, findings = find_overrides(folder, self._built_in)
        for name in names:
            path = f"{folder}/{name}"
            compiled = _compile(self._environment, path, path)
            if isinstance(compiled, list):
                findings += compiled
            else:
                self._compiled[name], self._overridden[name] = compiled, path
        if findings:
            raise TemplateError(findings)


class _Missing(jinja2.StrictUndefined):
    """A value that nobody gave. Even to write it into an error message is an error, and one that names it."""

    __repr__ = jinja2.StrictUndefined.__str__


def environment() -> SandboxedEnvironment:
    """Strict and sandboxed, with our filters and nothing else."""
    environment = SandboxedEnvironment(
        undefined=_Missing, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.globals.clear()
    environment.tests.clear()
    environment.filters = {"quote": quote, "number": number, "block": block, "literal": literal}
    return environment


def _compile(environment: SandboxedEnvironment, path: str, shown: str) -> jinja2.Template | list[Finding]:
    source = read_template(path, shown)
    if isinstance(source, Finding):
        return [source]
    try:
        tree = environment.parse(source)
        broken = broken_rules(tree, source)
        if broken:
            return [_unfit(shown, line, message, fix) for line, message, fix in broken]
        return jinja2.Template.from_code(environment, environment.compile(tree, shown, shown), {})
    except jinja2.TemplateSyntaxError as error:
        return [_unfit(shown, error.lineno, f"It is not a template: {error.message}", "Correct the line.")]
    except (RecursionError, SyntaxError):  # of jinja2's parser, and of Python for what jinja2 makes of it
        return [_unfit(shown, 1, "Its parts are nested too deeply.", "Make it simpler.")]


def _unfit(shown: str, line: int, message: str, fix: str) -> Finding:
    return Finding(shown, line, 1, "B096", ERROR, "", message, fix)


def _failure(
    template: jinja2.Template, error: Exception, values: Mapping[str, object], subject: str
) -> Finding:
    message = f"The values do not fit: {str(error).rstrip('.')}."
    fix = "Give quote and literal a text, number a number, block a mapping or a list."
    if isinstance(error, jinja2.UndefinedError):
        fix = f"Use a value that there is: {', '.join(sorted(values))}."
    return Finding(template.filename or "", _line(template, error), 1, "B097", ERROR, subject, message, fix)


def _line(template: jinja2.Template, error: Exception) -> int:
    """Where in the template it failed: jinja2 errors have no line, but the traceback passes through one."""
    line, step = 1, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == template.filename:
            line = template.get_corresponding_lineno(step.tb_lineno)
        step = step.tb_next
    return line
