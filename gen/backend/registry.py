"""Every backend, by the name that a reservation gives it. Written out by hand."""

from gen.backend import koordinator, nodepool, placeholder
from gen.backend.base import Backend

BACKENDS: dict[str, Backend] = {
    "koordinator": koordinator,
    "nodePool": nodepool,
    "placeholder": placeholder,
}
