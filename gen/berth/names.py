"""The names of Berth in places that others share: the package index, GitHub, a registry.

On the package index, `berth` belongs to somebody else. The repository is not published yet: its address is
one that nobody can own, so that no page leads to a stranger's code.
"""

DISTRIBUTION = "kube-berth"
CLUSTER_EXTRA = f"{DISTRIBUTION}[cluster]"
REPOSITORY = "<owner>/berth"
