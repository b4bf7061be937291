"""The node labels that Karpenter v1.14 and its AWS provider know."""

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
NODEPOOL = "karpenter.sh/nodepool"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
REGISTERED = "karpenter.sh/registered"
INITIALIZED = "karpenter.sh/initialized"
AWS = "karpenter.k8s.aws/"
"""The domain of the labels of its AWS provider, with the slash."""
NODE_CLASS = f"{AWS}ec2nodeclass"
RESERVATION_ID = f"{AWS}capacity-reservation-id"
RESERVATION_TYPE = f"{AWS}capacity-reservation-type"
RESERVATION_INTERRUPTIBLE = f"{AWS}capacity-reservation-interruptible"

RESERVED, ON_DEMAND, SPOT = "reserved", "on-demand", "spot"
RESERVATION_LABELS = (RESERVATION_ID, RESERVATION_TYPE, RESERVATION_INTERRUPTIBLE)

_OF_INSTANCES = (
    "capacity-reservation-id capacity-reservation-type capacity-reservation-interruptible "
    "instance-hypervisor instance-encryption-in-transit-supported instance-category "
    "instance-capability-flex instance-family instance-generation instance-size instance-local-nvme "
    "instance-cpu instance-cpu-manufacturer instance-cpu-sustained-clock-speed-mhz instance-memory "
    "instance-ebs-bandwidth instance-network-bandwidth instance-gpu-name instance-gpu-manufacturer "
    "instance-gpu-count instance-gpu-memory instance-accelerator-name instance-accelerator-manufacturer "
    "instance-accelerator-count instance-tenancy placement-group-id placement-group-partition"
)
_CORE = (NODEPOOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE)

WELL_KNOWN = frozenset(
    (
        *_CORE,
        "node.kubernetes.io/windows-build",
        "topology.k8s.aws/zone-id",
        *(f"{AWS}{name}" for name in _OF_INSTANCES.split()),
    )
)
"""Labels that a node may get from its instance type. A pool that does not mention one allows every value."""

_RESTRICTED_DOMAINS = ("karpenter.sh", AWS.rstrip("/"))
_NORMALIZED = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": OS,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "topology.ebs.csi.aws.com/zone": ZONE,
}


def normalized(key: str) -> str:
    """Return the label that a deprecated or foreign name stands for."""
    return _NORMALIZED.get(key, key)


def restricted(key: str, well_known: frozenset[str] = WELL_KNOWN) -> bool:
    """Tell whether Karpenter ignores a pod that selects nodes by this label."""
    key = normalized(key)
    if key in well_known:
        return False
    domain = key.partition("/")[0] if "/" in key else ""
    return key == HOSTNAME or any(domain == own or domain.endswith(f".{own}") for own in _RESTRICTED_DOMAINS)
