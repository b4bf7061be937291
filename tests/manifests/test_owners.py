"""Who owns slots where a reservation does not say it: its sessions, told by labels and namespaces of pods."""

from berth.backends.koordinator.slotobjects import of_sessions
from berth.backends.koordinator.slotoptions import Owner

from tests.built import owner
from tests.cases import tabled
from tests.saying import Value, reservation, resource_class, site, valid

HUB: Value = {"source": "jupyterhub", "namespaces": ["hub", "lab"]}
SERVER = {"component": "singleuser-server"}


def owners(sessions: Value | None, course: Value | None = None) -> tuple[Owner, ...]:
    one = reservation(backend={"type": "koordinator"}, sessions=course or {})
    declared = valid(one, site(), resource_class(sessions=sessions, renkuId=5))
    return of_sessions(declared.reservations[0], declared.classes["small"])


def in_namespace(name: str, labels: dict[str, str]) -> Owner:
    return owner((("namespace", name),), {}, {"matchLabels": labels})


def test_jupyterhub_sessions_own_slots_by_label_in_every_namespace_of_the_class() -> None:
    assert owners(HUB) == (in_namespace("hub", SERVER), in_namespace("lab", SERVER))
    assert owners({**HUB, "selector": {"matchLabels": {"size": "big"}}}) == tuple(
        in_namespace(name, {"size": "big", **SERVER}) for name in ("hub", "lab")
    )


def test_sessions_of_a_course_narrow_the_owners() -> None:
    course = {"namespaces": ["lab"], "matchLabels": {"course": "ml"}}

    assert owners(HUB, course) == (in_namespace("lab", {**SERVER, "course": "ml"}),)


def test_pods_own_slots_by_the_labels_of_their_class() -> None:
    pods = {"source": "pods", "namespaces": ["lab"], "selector": {"matchLabels": {"app": "desk"}}}

    assert owners(pods) == (in_namespace("lab", {"app": "desk"}),)


@tabled("manifests")
def test_sessions_without_pod_labels_have_no_owners(sessions: Value | None) -> None:
    assert owners(sessions) == ()
