"""Every engine by its name in `engine`. A new engine is a module, its templates, and a line here."""

from berth.manifests.engines import argocd, flux, none
from berth.manifests.engines.engineinterface import Engine

ENGINES: dict[str, Engine] = {"argocd": argocd, "flux": flux, "none": none}
