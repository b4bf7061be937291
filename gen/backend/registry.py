"""Every backend, by the name that a reservation gives it. Written out by hand."""

from gen.backend import koordinator, placeholder
from gen.backend.base import Backend

BACKENDS: dict[str, Backend] = {"koordinator": koordinator, "placeholder": placeholder}
