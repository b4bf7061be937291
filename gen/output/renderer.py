"""Which text does a template, ours or a user's, give for finished values? Quickly, where it is a plain one.

jinja2 is brought in for what is not, for a user's own templates, and when something is wrong.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from gen.finding import Finding
from gen.output.quicktemplate import Quick, quick
from gen.output.templatefiles import built_in_folder, read_template

if TYPE_CHECKING:
    from gen.output.template import JinjaRenderer  # dear, and needless for good templates


class Renderer:
    """Renders templates by name. Files in the folder `overrides` replace the built-in ones of the same name.

    Raises `TemplateError` at once for all overrides that can be seen to be wrong without values.
    """

    def __init__(self, overrides: str | None = None, built_in: str | None = None) -> None:
        self._overrides = overrides
        self._built_in = built_in or built_in_folder()
        self._quick: dict[str, Quick | None] = {}
        self._jinja = None if overrides is None else self._with_jinja()

    def render(self, name: str, values: Mapping[str, object], subject: str = "") -> str:
        """The text of one object. `subject` says in findings what was rendered. Raises `TemplateError`."""
        if name not in self._quick:
            self._quick[name] = self._read(name)
        render = self._quick[name]
        if render is not None:
            with suppress(Exception):  # whatever does not fit, jinja2 tells where and why
                return render(values)
        self._jinja = self._jinja or self._with_jinja()
        return self._jinja.render(name, values, subject)

    def _read(self, name: str) -> Quick | None:
        if name.startswith("/") or ".." in name.split("/"):
            raise ValueError(f"{name!r} is not the name of a template")
        path = self._jinja.path(name) if self._jinja else f"{self._built_in}/{name}"
        source = read_template(path, name)
        return None if isinstance(source, Finding) else quick(source)

    def _with_jinja(self) -> "JinjaRenderer":
        from gen.output.template import JinjaRenderer  # noqa: PLC0415 - takes a third of a small run

        return JinjaRenderer(self._overrides, self._built_in)
