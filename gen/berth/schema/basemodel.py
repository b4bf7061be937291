"""The base of all models, and the annotations that their fields are made of.

A field's type is a plain Python type with one of these in `Annotated`: what it accepts, how it is described
to people, and its part of the JSON Schema.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

from berth.reading.scalar import IN_QUOTES, ZeroPrefixedNumber
from berth.schema.documentproblems import DocumentProblems, Refusal, article, shown

# Pydantic would look for plugins in the metadata of every installed package, before the first validation.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

Json = dict[str, Any]
T = TypeVar("T")


class Model(BaseModel):
    """A mapping with known keys. A value that was read is never changed."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
        alias_generator=to_camel,
        protected_namespaces=(),
        arbitrary_types_allowed=True,
    )
    described: ClassVar[str] = "mapping"
    dates_in_order: ClassVar[tuple[str, str] | None] = None
    """The keys of the first and the last date of a range: asked even if another key is faulty."""

    def check(self, report: DocumentProblems) -> None:
        """Report what the values say against each other, and what is only warned about.

        It is asked once all that is inside is sound.
        """

    @property
    def is_blank(self) -> bool:
        """Tell whether nothing was written."""
        return self == type(self).model_construct()

    def dump(self) -> Json:
        """Return what was written, with the keys of the file and plain mappings and lists."""
        return self.model_dump(by_alias=True, exclude_none=True)


class Use(NamedTuple):
    """What the program does with a key of a reservation besides reading it."""

    resolved: str = ""
    """What later code has instead, such as the dates: `diff` and policies compare that. Empty: the key is
    plain, and `plainfields` yields it to `diff`, policies and the commands that write files."""

    name: str = ""
    """How `diff` names it; by default its path."""

    is_text: bool = False
    """Only people read it: no policy looks at it, and a reservation that has another one is the same."""


PLAIN = Use()


@dataclass
class Meaning:
    """What a key means, and its default in words where that cannot be shown as it is."""

    text: str
    default: Any
    words: str
    use: Use = PLAIN

    def __call__(self, schema: Json) -> None:
        """Describe the key in its JSON Schema, for editors."""
        words = self.words
        if not words and self.default not in (..., None, (), "", {}) and not isinstance(self.default, Model):
            words = shown(self.default)
        if words.count("`") == 2 and words[0] == words[-1] == "`":
            words = words[1:-1]
        parts = (self.text or schema.get("description", ""), words and f"Default: {words}")
        if any(parts):
            schema["description"] = ". ".join(filter(None, parts))


def field(
    default: Any = ..., meaning: str = "", words: str = "", *, alias: str | None = None, use: Use = PLAIN
) -> Any:
    """Declare a key: its default, its meaning, and the default in words where it cannot be shown as it is.

    `use`: what else the program does with it.
    """
    extra = Meaning(meaning, default, words, use)
    if default == {}:  # a mutable default would be copied deeply each time
        return Field(default_factory=dict, alias=alias, json_schema_extra=extra)
    return Field(default, alias=alias, json_schema_extra=extra)


class Parsed:
    """A value that may be written in several types, all if none are named; `read` raises Refusal."""

    def __init__(self, words: str, read: Callable[[Any], Any] | None, schema: Json, *types: type) -> None:
        self.words = words
        self.grammar = read
        self.schema = schema
        self.types = types

    def read(self, value: Any) -> Any:
        if self.types and type(value) not in self.types:
            raise wrong_type(value, self.words)
        return value if self.grammar is None else self.grammar(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        return {"description": self.words, **self.schema}


class Text(Parsed):
    """Text, or what `grammar` makes of it. `schema` are the keywords that an editor checks."""

    def __init__(self, words: str = "text", grammar: Callable[[str], Any] | None = None, **schema: Any):
        super().__init__(words, grammar, {"type": "string", **schema})

    def read(self, value: Any) -> Any:
        if type(value) is not str:
            raise self._not_text(value)
        return super().read(value)

    def _not_text(self, value: Any) -> Refusal:
        """Tell that a number or truth value may need quotes; the grammar knows whether they help."""
        if not isinstance(value, int | float | ZeroPrefixedNumber):
            return wrong_type(value, self.words)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            is_rewritten = isinstance(value, float) and isfinite(value)  # 1e3 may be a name; 1000.0 is none
            if self.grammar is not None and not is_rewritten:
                self.grammar(text)
        except Refusal as refusal:
            message = refusal.message.replace(shown(text), shown(text).strip('"'))
            return Refusal(message, refusal.fix, refusal.code, readings=refusal.readings)
        kind = "a truth value" if isinstance(value, bool) else "a number"
        message = f"{shown(value)} is {kind}, not {article(self.words)}."
        if isinstance(value, float) or len(text) > 60:  # 1e3 would not be shown as it is written
            return Refusal(message, f"{IN_QUOTES}.", "B013")
        return Refusal(message, f'{IN_QUOTES}: "{text}".', "B013")


class Whole:
    """A whole number; both bounds are allowed values."""

    def __init__(self, minimum: int, maximum: int | None = None, words: str = "") -> None:
        self.minimum = minimum
        self.maximum = maximum
        up = "up" if maximum is None else f"to {maximum}"
        self.words = words or f"whole number from {minimum} {up}"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.int_schema(strict=True, ge=self.minimum, le=self.maximum)


@dataclass(frozen=True)
class Length:
    """How many items a list may have, or keys a mapping."""

    minimum: int = 0
    maximum: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: Any = handler(source)
        bounds = {"min_length": self.minimum or None, "max_length": self.maximum}
        return {**schema, **{name: bound for name, bound in bounds.items() if bound is not None}}


class Unique:
    """No item of the list may be there twice: Kubernetes keeps a set, or takes only the first of two."""


@dataclass(frozen=True)
class Switch:
    """One of several types of a Union: `choose` tells from the value which, by its position.

    The last of them may be there for messages only: `hidden` of them are not in the JSON Schema.
    """

    choose: Callable[[Any], int]
    hidden: int = 0

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {f"<{i}>": handler.generate_schema(choice) for i, choice in enumerate(get_args(source))}
        return core_schema.tagged_union_schema(
            choices, lambda value: f"<{self.choose(value)}>", metadata={"hidden": self.hidden}
        )


class Lazy:
    """A model whose validator is built when the first such value is read.

    Most documents have few of the keys that there are, and a class costs more than reading its value. So a
    model may also be named by its module and its class, which is imported then:

        if TYPE_CHECKING:
            from berth.schema.scheduling import Affinity
        else:
            Affinity = lazy("berth.schema.scheduling", "Affinity")
    """

    def __init__(self, model: type[Model] | str, name: str = "") -> None:
        self._model = model
        self._name = name

    @property
    def model(self) -> type[Model]:
        if isinstance(self._model, type):
            return self._model
        model: type[Model] = getattr(import_module(self._model), self._name)
        self._model = model
        return model

    def _read(self, value: Any) -> Model:
        return self.model.model_validate(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        self.model.model_rebuild()
        return handler(self.model.__pydantic_core_schema__)


def lazy(module: str, name: str) -> Any:
    """Return the type of a field whose model is imported when a document has such a value."""
    return Annotated[Any, Lazy(module, name)]


OR_MAPPING = Switch(lambda value: int(isinstance(value, dict)))
"""Two ways to write one thing: the second of the two types is the mapping."""

ListOf = Annotated[tuple[T, ...], Strict(False)]
NonEmpty = Annotated[tuple[T, ...], Strict(False), Length(1)]
UniqueList = Annotated[tuple[T, ...], Strict(False), Unique()]
NonEmptyUnique = Annotated[tuple[T, ...], Strict(False), Length(1), Unique()]


def wrong_type(value: object, words: str) -> Refusal:
    """Refuse a value. `words`: what it should be, and after a colon how that is written."""
    what, _, how = words.partition(": ")
    return Refusal(f"{shown(value)} is not {article(what)}.", f"Write {how or article(what)}.", "B013")
