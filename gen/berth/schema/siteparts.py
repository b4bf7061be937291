"""The parts of a `Site` that most sites leave out, imported when one has them."""

import re
from typing import Annotated, Literal

from berth.findings import Path
from berth.karpenter.versions import GATES, NEWEST, OLDEST
from berth.schema import grammar
from berth.schema.base import Model, Text, UniqueList, field
from berth.schema.pod import Tolerating, check_resources
from berth.schema.report import CONFLICT, MISSING, Refusal, Report, choice, shown
from berth.schema.types import AnyText, DnsName, Resources
from berth.schema.values import Renku

CONFIGURED = "B115"
OLD_KARPENTER = "B150"
_VERSION = r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,4})?"
_STOCK = "default-scheduler"


def _karpenter_version(text: str) -> tuple[int, int]:
    match = re.fullmatch(_VERSION, text, re.ASCII)
    if match is None:
        raise Refusal(f"{shown(text)} is not a version.", 'Write it as "1.14".', OLD_KARPENTER)
    found = int(match[1]), int(match[2])
    if found < OLDEST:
        message = f"Karpenter {text} does not have the API karpenter.sh/v1."
        raise Refusal(message, "Use Karpenter 1.0 or later.", OLD_KARPENTER)
    return found


def _gate(text: str) -> str:
    if text in GATES:
        return text
    raise Refusal(f"{shown(text)} is not a feature gate of Karpenter.", choice(text, GATES), OLD_KARPENTER)


Image = Annotated[str, Text("image", grammar.image)]


class ImagesSpec(Model):
    pause: Image | None = field(None, "image of the placeholders", "`registry.k8s.io/pause:3.10.1`")
    python: Image | None = field(None, "image of Berth's Jobs", "`python:3.13-slim` by digest")
    pull_secrets: UniqueList[DnsName] | None = field(None, "names of pull secrets in the namespace", "none")


class JobResources(Model):
    requests: Resources = field({}, "mapping (quantity for each key)")
    limits: Resources = field({}, "mapping (quantity for each key)")

    def check(self, path: Path, report: Report) -> None:
        check_resources(self.requests, self.limits, path, report)


class RuntimeSpec(Tolerating):
    image: Annotated[str, Text("image by digest", grammar.image_by_digest)] | None = field(
        None, "an image by digest that contains Berth's code, built from `Containerfile`", "ConfigMaps"
    )
    resources: JobResources | None = field(
        None,
        "`{requests, limits}` of each container of Berth's Jobs",
        "requests 10m and 32Mi, limit 64Mi; of the container that only waits, 1m, 12Mi and 32Mi",
    )


class TokenSecret(Model):
    name: DnsName = field(meaning="its name")
    key: Annotated[str, Text("key of a Secret", grammar.secret_key)] = field(meaning="the key of the token")


class RenkuSpec(Model):
    url: Annotated[str, Text("address of a web server", grammar.url)] = field(
        meaning="its address, without /api: http or https"
    )
    token_secret: TokenSecret | None = field(
        None,
        "a Secret in the namespace of Berth, wherever classes of Renku are; read when it is there",
        "no token",
    )

    @property
    def renku(self) -> Renku:
        secret = self.token_secret
        return Renku(self.url, "" if secret is None else secret.name, "" if secret is None else secret.key)


class KoordinatorSpec(Model):
    scheduler_name: DnsName = field("koord-scheduler", "name of Koordinator's scheduler there")
    allocate_policy: Literal["Restricted", "Aligned"] = field(
        "Restricted", "of every Reservation there: Restricted or Aligned"
    )
    colocation_profiles: bool = field(
        False, "whether its webhook may change session pods, for `sessionAffinity`"
    )

    def check(self, path: Path, report: Report) -> None:
        if self.scheduler_name == _STOCK:
            message = (
                f"{_STOCK} is Kubernetes' own scheduler, which does not know slots, unless Koordinator "
                "replaces it."
            )
            fix = "Write the name under which Koordinator's scheduler runs, mostly koord-scheduler."
            report(CONFIGURED, (*path, "schedulerName"), message, fix)


class KarpenterSpec(Model):
    version: Annotated[tuple[int, int], Text("version", _karpenter_version)] = field(
        NEWEST, "of Karpenter there", f'`"{NEWEST[0]}.{NEWEST[1]}"`'
    )
    gates: dict[Annotated[str, Text("gate", _gate)], bool] = field(
        {}, "its feature gates, true or false", "Karpenter's own"
    )


class Destination(Model):
    server: AnyText | None = field(None)
    name: AnyText | None = field(None)

    def check(self, path: Path, report: Report) -> None:
        if self.server is not None and self.name is not None:
            report(CONFLICT, path, "server and name are both given.", "Keep one of the two.")
        if self.server is None and self.name is None:
            report(MISSING, path, "it has neither server nor name.", "Add one of the two.")
