"""Where the API server has the objects of a kind."""

from berth.core.objects import CONFIG_MAP, ROLE, SLOT, ObjectKind


def test_the_core_group_has_a_path_of_its_own() -> None:
    assert CONFIG_MAP.path("berth") == "/api/v1/namespaces/berth/configmaps"
    assert ROLE.path("berth") == "/apis/rbac.authorization.k8s.io/v1/namespaces/berth/roles"


def test_what_is_of_the_cluster_is_in_no_namespace() -> None:
    path = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"

    assert (SLOT.path(""), SLOT.path("", "a")) == (path, f"{path}/a")


def test_names_are_quoted() -> None:
    kind = ObjectKind("Thing", "example.org/v2", "things")

    assert kind.path("a/b", "c?d") == "/apis/example.org/v2/namespaces/a%2Fb/things/c%3Fd"
