"""Labels by which the cluster side knows what is ours."""

from pathlib import Path

from tests.cli import project
from tests.manifests.parts import of_part, small

OWN = {"example.org/faculty": "1e3", "team": "on"}


def test_labels_and_annotations_of_authors_are_on_no_account_or_role(tmp_path: Path) -> None:
    """A label adds a role to others, and an annotation gives an account a role in the cloud."""
    own = "{name: course, labels: {example.org/own: x}, annotations: {eks.amazonaws.com/role-arn: admin}}"
    site, parts = small(tmp_path, course=project.COURSE.replace("{name: course}", own))
    guarded = [
        one["metadata"]
        for one in of_part(site, parts["course/prod"])
        if one["kind"] in ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    ]

    assert guarded
    for metadata in guarded:
        assert "example.org/own" not in metadata["labels"]
        assert "eks.amazonaws.com/role-arn" not in metadata.get("annotations", {})


def test_labels_of_a_reservation_reach_no_selector_and_no_pod(tmp_path: Path) -> None:
    """A new label would replace the pods in the middle of a class."""
    course = project.COURSE.replace(
        "{name: course}", '{name: course, labels: {example.org/faculty: "1e3", team: on}}'
    )
    _, plain = small(tmp_path / "plain")
    site, labelled = small(tmp_path / "labelled", course=course)

    for before, after in zip(
        of_part(site, plain["course/prod"]), of_part(site, labelled["course/prod"]), strict=True
    ):
        if after["kind"] == "CronJob":
            jobs = after["spec"]["jobTemplate"].pop("metadata"), before["spec"]["jobTemplate"].pop("metadata")
            assert jobs[0]["labels"] == {**jobs[1]["labels"], **OWN}
        assert {**after, "metadata": None} == {**before, "metadata": None}
