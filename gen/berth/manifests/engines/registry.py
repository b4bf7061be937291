"""Every engine, by the name that the site gives it. Written out by hand."""

from berth.manifests.engines import argocd, flux, none
from berth.manifests.engines.base import Engine

ENGINES: dict[str, Engine] = {"argocd": argocd, "flux": flux, "none": none}
