"""`backend` of a reservation: what holds its seats, and the options of that backend."""

from berth.backends.backendregistry import DEFAULT_HOLDER, HOLDERS, BackendType
from berth.schema.basemodel import Model, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.seatholders import Holder

_OPTIONS: dict[str, type[Model]] = {
    name: options for name, holder in HOLDERS.items() if (options := holder.options_model()) is not None
}
*_SOME, _LAST = HOLDERS


class _Type(Model):
    type: BackendType = field(
        DEFAULT_HOLDER.backend,
        f"what holds the capacity: {', '.join(_SOME)} or {_LAST}; the rest is for "
        f"{' and '.join(_OPTIONS)} only",
    )


class BackendSpec(*_OPTIONS.values(), _Type):  # type: ignore[misc] # the registry knows the models
    """The keys of all backends: what is misspelled or belongs to another one is told."""

    def check(self, report: DocumentProblems) -> None:
        for name, options in _OPTIONS.items():
            if name == self.type:
                options.check(self, report)
            else:
                self._refuse(name, options, report)

    def _refuse(self, name: str, options: type[Model], report: DocumentProblems) -> None:
        """Report the options of another backend."""
        for attribute, model_field in options.model_fields.items():
            if attribute in self.model_fields_set and getattr(self, attribute) is not None:
                message = f"type {self.type} takes no {model_field.alias}."
                fix = f"Remove it, or write type: {name}."
                report("B016", (str(model_field.alias),), message, fix, at_key=True)

    @property
    def holder(self) -> Holder:
        """Return what holds the seats."""
        return HOLDERS[self.type].of(self)
