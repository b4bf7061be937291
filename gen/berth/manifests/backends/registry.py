"""Every backend, by the name that a reservation gives it. Written out by hand."""

from berth.manifests.backends import koordinator, nodepool, placeholder
from berth.manifests.backends.base import Backend

BACKENDS: dict[str, Backend] = {
    "koordinator": koordinator,
    "nodePool": nodepool,
    "placeholder": placeholder,
}
