"""Who owns a file, by the paths of files and folders."""

from berth.checks.ownership import owner_of

OWNED = {"reservations/physics/": ("@physics",), "reservations/exam.yaml": ("@exams",)}


def test_a_folder_owns_what_is_in_it_and_a_file_itself_alone() -> None:
    files = ("physics/lab.yaml", "exam.yaml", "exam.yaml/a.yaml", "physics.yaml")

    assert [owner_of(f"reservations/{file}", OWNED) for file in files] == [("@physics",), ("@exams",), (), ()]
