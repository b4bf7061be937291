"""What is told of a world of `tests.live.world`: a line for each pool and each finding, without sentences."""

import re
from pathlib import Path
from typing import Any

from berth.core.jsonvalues import instant_text, parse_instant
from berth.live.clusterfacts import ClusterLocation
from berth.live.earlier import NO_LOOKS, EarlierLooks
from berth.live.gather import gather_facts
from berth.live.judge import judge_cluster
from berth.live.poolstate import ClusterState, ClusterStatus
from berth.manifests import code

from tests.live.happenings import NOW, Case
from tests.live.project import Project
from tests.live.world import World

_VALUE = re.compile(
    r"kubectl --.*"  # a command is one value
    r'|"[^"]*"'
    r"|(?<![\w/.-])(?!in-cluster|non-negative)(?=\S*[\d/=]|\w+-\w|\w+[a-z][A-Z])[\w./=%\[\]-]+(?::[\w./-]+)*"
)


def expectations(file: str) -> dict[str, str]:
    """What a text file says of each case, by its name."""
    text = Path(__file__).with_name(file).read_text("utf-8")
    found = re.findall(r"^== (\S+)\n(.*?)(?=^==|\Z)", text, re.M | re.S)
    return {name: lines.rstrip("\n") + "\n" for name, lines in found}


def status(world: World, git: Project, now: str = NOW, earlier: EarlierLooks = NO_LOOKS) -> ClusterStatus:
    return judged(world, git, now, earlier)[0]


def looked(world: World, git: Project, at: str, earlier: EarlierLooks = NO_LOOKS) -> EarlierLooks:
    """What is remembered of a look at the world as it is."""
    return judged(world, git, at, earlier)[1]


def judged(world: World, git: Project, now: str, earlier: EarlierLooks) -> tuple[ClusterStatus, EarlierLooks]:
    place, cluster = ClusterLocation("prod", "berth", "admin@prod"), git.site.clusters[0]
    world.renew(now)
    facts = gather_facts(world.ask, cluster, git.site.name, parse_instant(now))
    look = ClusterState(place, git.site, git.expected["prod"], facts, parse_instant(now))
    look = look._replace(earlier=earlier)
    return judge_cluster(look, [one.name for one in code.of_cluster(cluster)])


def looked_before(case: Case, world: World, git: Project) -> EarlierLooks:
    """What is remembered of a look at the same world before the one of the case, if there was one."""
    at = instant_text(parse_instant(case.now) - case.before)
    return looked(world, git, at) if case.before else NO_LOOKS


def rows(found: ClusterStatus) -> list[tuple[Any, ...]]:
    """Pool, state, open, end, wanted, ready, pending, active."""
    return [
        (
            f"{pool.reservation}/{pool.resource_class}",
            pool.state,
            *(None if at is None else instant_text(at) for at in (pool.open, pool.end)),
            pool.wanted,
            pool.ready,
            pool.pending,
            pool.active,
        )
        for pool in found.pools
    ]


def values(text: str) -> str:
    """The numbers, times, names, paths and commands of a sentence, sorted."""
    return " ".join(sorted({one.rstrip(".:") for one in _VALUE.findall(text)}))


def told(found: ClusterStatus) -> str:
    """A line for each pool, then findings: of the cluster, then of its pools; what pools share, once."""
    lines = [" ".join("?" if one is None else str(one) for one in row) for row in rows(found)]
    findings = [*found.findings, *(finding for pool in found.pools for finding in pool.findings)]
    lines += [
        " ".join(
            filter(
                None,
                [
                    f"{finding.severity}[{finding.code}]",
                    finding.subject,
                    values(f"{finding.message} {finding.fix}"),
                ],
            )
        )
        for finding in dict.fromkeys(findings)
    ]
    return "".join(f"{line}\n" for line in lines)


def wordless(output: str) -> str:
    """What a command prints, where the sentence of each finding is no more than its values."""
    return re.sub(
        r"^((?:[\w-]+: )?(?:error|warning|note)\[S\d{3}\](?: [a-z][\w/.-]*(?=: ))?)[ :]*(.+)$",
        lambda found: f"{found[1]} {values(found[2])}".rstrip(),
        output,
        flags=re.M,
    )
