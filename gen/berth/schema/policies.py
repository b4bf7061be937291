"""`policies` of a Site: which reservations need an approval, are refused, or are warned about."""

from typing import Annotated, Literal

from berth.backends.backendregistry import HOLDERS, BackendType
from berth.schema.basemodel import OR_MAPPING, ListOf, Model, Whole, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.seatholders import Holder
from berth.schema.types import AnyText, DnsLabel, Labels, Line, Notice, Price

APPROVAL, REFUSE, WARN = "approval", "refuse", "warn"
RESERVATION = "CapacityReservation"
Kind = Literal["CapacityReservation", "ResourceClass", "Calendar", "CloudCapacity", "Site"]


class MatchSpec(Model):
    """Which reservations, and which classes of them; what is empty restricts nothing."""

    names: ListOf[AnyText] = field((), "names of reservations; `*` stands for any text", "all")
    owners: ListOf[AnyText] = field((), "names or contacts of their owners; `*` stands for any text", "all")
    labels: Labels = field({}, "labels that the reservation has", "all")
    classes: ListOf[DnsLabel] = field((), "only seats of these classes", "all")
    clusters: ListOf[DnsLabel] = field((), "only seats in these clusters", "all")

    kinds: ListOf[Kind] = field((), "kinds of documents that change", "reservations")
    backends: ListOf[BackendType] = field((), "what holds the seats", "all")
    namespaces: ListOf[AnyText] = field(
        (), "namespaces of the sessions that count; `*` stands for any text", "all"
    )
    targets: ListOf[AnyText] = field(
        (),
        "objects of others whose numbers are held, as Kind/namespace/name, or Kind/name without a namespace; "
        "`*` stands for any text",
        "all, also without such an object",
    )

    @property
    def is_about_shared(self) -> bool:
        return any(kind != RESERVATION for kind in self.kinds)

    @property
    def holders(self) -> list[type[Holder]]:
        """Return the backends of the reservations that it can be about."""
        holders = [HOLDERS[name] for name in self.backends or HOLDERS]
        return [holder for holder in holders if holder.has_target or not self.targets]

    def check(self, report: DocumentProblems) -> None:
        """Report what no reservation can be, and what only reservations have in a policy about others."""
        if not self.holders:
            message = f"targets fits no reservation with backend {' or '.join(self.backends)}."
            report("B016", "backends", message, "Remove backends, or targets.", at_key=True)
        for name in ("owners", "labels", "classes", "clusters", "backends", "targets"):
            if self.is_about_shared and getattr(self, name):
                message = f"{name} fits no document of kind {', '.join(self.kinds)}."
                fix = "Remove it, or write a policy of its own."
                report("B016", name, message, fix, at_key=True)


class ConditionsSpec(Model):
    """All of them must hold."""

    seats_above: Annotated[int, Whole(0)] | None = field(
        None, "an occurrence has more seats than this, or more whole nodes", "any number"
    )
    hours_above: Annotated[int, Whole(0)] | None = field(
        None, "all dates to come together have more seat-hours than this, or node-hours", "any hours"
    )
    cost_above: Price | None = field(
        None, "the machines of its dates to come cost more than this, as `berth plan` has it", "any cost"
    )
    notice_below: Notice | None = field(
        None, "only changes: the first date that changes opens sooner than this, such as 48h or 7d", "any"
    )
    lead_above: Annotated[int, Whole(0)] | None = field(
        None, "an occurrence opens more than these minutes before its start", "any lead"
    )


class ApprovalSpec(Model):
    approval_by: Line = field(meaning="who must approve: `@user`, `@organization/team` or any name")


class PolicySpec(Model):
    """A rule of the site: what it requires where its conditions hold."""

    name: DnsLabel = field(meaning="name of the policy, unique in the site")
    match: MatchSpec = field(MatchSpec.model_construct(), "the reservations that it is about", "all")
    unless: MatchSpec | None = field(None, "reservations that it leaves out", "none")
    when: ConditionsSpec = field(
        ConditionsSpec.model_construct(), "conditions, all of which must hold", "always"
    )
    require: Annotated[Literal["refuse", "warn"] | ApprovalSpec, OR_MAPPING] = field(
        meaning="`refuse`, `warn` or `{approvalBy}`"
    )

    def check(self, report: DocumentProblems) -> None:
        if self.unless is not None and self.unless.is_blank:
            fix = "Add names, owners, labels, classes or clusters, or remove it."
            report("B011", "unless", "it leaves out nothing.", fix)
        is_about_shared = any(
            match is not None and match.is_about_shared for match in (self.match, self.unless)
        )
        if is_about_shared and not self.when.is_blank:
            message = "conditions are about reservations, and kinds names documents that all share."
            report("B016", "when", message, "Write a policy for each.", at_key=True)

    @property
    def effect(self) -> str:
        """Return APPROVAL, REFUSE or WARN."""
        return APPROVAL if isinstance(self.require, ApprovalSpec) else self.require

    @property
    def approver(self) -> str:
        """Return who must approve; empty if nobody must."""
        return self.require.approval_by if isinstance(self.require, ApprovalSpec) else ""
