"""Every backend by its name in `backend.type`. A new backend is a module, its templates, and a line here."""

from berth.manifests.backends import koordinator, nodepool, placeholder
from berth.manifests.backends.base import Backend

BACKENDS: dict[str, Backend] = {
    "koordinator": koordinator,
    "nodePool": nodepool,
    "placeholder": placeholder,
}
