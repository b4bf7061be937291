"""Every engine, by the name that the site gives it. Written out by hand."""

from gen.engine import argocd, flux, none
from gen.engine.base import Engine

ENGINES: dict[str, Engine] = {"argocd": argocd, "flux": flux, "none": none}
