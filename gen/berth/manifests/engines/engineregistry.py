"""Every engine by its name in `engine`. A new engine is a module, its templates, and a line here.

`none` has no objects: people apply with kubectl, or by other means.
"""

from berth.manifests.engines import argocd, flux
from berth.manifests.engines.engineinterface import Engine

ENGINES: dict[str, Engine] = {"argocd": argocd, "flux": flux}
