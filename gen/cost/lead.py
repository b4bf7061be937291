"""How long before its start a window must open at the least, so that its machines can be there. Pure.

Bounds for machines that the cloud has: what Karpenter and cluster-autoscaler take, and a usual boot.
"""

BATCH = 11  # seconds: Karpenter waits 10 for more pods, and plans
LAUNCH = 10  # until the next loop knows what was launched
BOOT = 120  # until a machine of AWS is a node that is ready
SCAN, PROVISION = 10, 15 * 60  # cluster-autoscaler: its interval, and how long it waits for a node


def karpenter(loops: int) -> int:
    """Seconds for so many loops that buy; nothing where nothing is bought."""
    return loops * (BATCH + LAUNCH) + BOOT if loops else 0


def cluster_autoscaler(loops: int) -> int:
    """It buys for all at once, whatever Karpenter's loops."""
    return SCAN + PROVISION if loops else 0
