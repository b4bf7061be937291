"""docs/koordinator.md: its samples are good, and what it says is rendered and granted is."""

import re
import shutil
from typing import Any

import pytest
import yaml
from berth.backends.koordinator.koordinatorbackend import of_slots
from berth.backends.value.valueoptions import ValueOptions
from berth.schema.site import ClusterSpec

from tests.console import ROOT, blocks, printed
from tests.manifests.parts import Object, objects, of_kind
from tests.reference import fields_page
from tests.saying import ask

MANUAL = (ROOT / "docs/koordinator.md").read_text("utf-8")
SAMPLES: list[dict[str, Any]] = [
    sample for language, text in blocks(MANUAL) if language == "yaml" for sample in yaml.safe_load_all(text)
]
DOCUMENTS = [one for one in SAMPLES if "kind" in one]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Object]]:
    """The objects that become of its reservations, beside our examples, by reservation."""
    folder = tmp_path_factory.mktemp("manual")
    shutil.copytree(ROOT / "reservations", folder / "reservations")
    for text in (text for language, text in blocks(MANUAL) if language == "yaml"):
        if "\nkind:" in text:
            name = next(yaml.safe_load_all(text))["metadata"]["name"]
            (folder / "reservations" / f"manual-{name}.yaml").write_text(text)
    out = printed("berth validate --strict", folder)
    assert re.fullmatch(r"\d+ reservations (are valid|in order)\.\n", out), out
    assert printed("berth render", folder).startswith("rendered/: ")
    files = (folder / "rendered/clusters/gpu/reservations").glob("vision-*.yaml")
    return {file.stem: objects(file.read_text("utf-8")) for file in files}


ACCOUNT = ("ServiceAccount", "Role", "RoleBinding", "ClusterRoleBinding")
COUNTING = ("ServiceAccount", "Role", "RoleBinding", "RoleBinding", "ClusterRoleBinding")


def test_the_manual_shows_a_class_and_a_reservation_of_each_kind(rendered: dict[str, list[Object]]) -> None:
    assert [one["kind"] for one in DOCUMENTS].count("ResourceClass") == 3
    assert {name: [one["kind"] for one in found] for name, found in rendered.items()} == {
        "vision-course": ["ConfigMap", *COUNTING, "CronJob"],
        "vision-exam": ["ConfigMap", *ACCOUNT, "CronJob", "ConfigMap"],
        "vision-workshop": ["ConfigMap", *COUNTING, "CronJob"],
        "vision-lab": ["Reservation", "Reservation"],
        "vision-hackathon": ["ConfigMap", "Deployment", *COUNTING, "CronJob"],
    }


def test_the_site_block_is_valid_and_shows_the_defaults() -> None:
    (sample,) = (one for one in SAMPLES if "kind" not in one)
    (cluster,) = sample["clusters"]
    plain = {**cluster, "koordinator": {}}

    assert ask(ClusterSpec, cluster) == ask(ClusterSpec, plain)
    assert ask(ClusterSpec, cluster)[1] == []


def test_rendered_objects_have_the_names_in_the_manual(rendered: dict[str, list[Object]]) -> None:
    first, second = (one["metadata"]["name"] for one in rendered["vision-lab"])
    (_, snippet) = of_kind("ConfigMap", rendered["vision-exam"])

    assert re.fullmatch(r"example-university-vision-lab-gpu-seat-0-[0-9a-f]{8}", first)
    assert second == first.replace("-0-", "-1-")
    assert snippet["metadata"]["name"] == "vision-exam-session-affinity"
    for told in ("<site>-<reservation>-<class>-<n>-<hash>", "<reservation>-session-affinity"):
        assert f"`{told}`" in MANUAL


def test_the_manual_lists_the_granted_permissions() -> None:
    told = dict(re.findall(r"^\| `(berth-\w+)\.<site>`.*? \| ((?:`\w+`(?:, )?)+) \|$", MANUAL, re.M))

    assert {name: re.findall(r"\w+", verbs) for name, verbs in told.items()} == {
        name: rule["verbs"] for name, (rule,) in of_slots().items()
    }


def test_every_field_of_the_backend_is_shown_or_explained() -> None:
    """Except those that the page of fields explains completely."""
    page = fields_page()
    fields = set(re.findall(r"^\| `(?:spec\.)?backend\.(\w+)` \|", page, re.M))

    others = {field.alias for field in ValueOptions.model_fields.values()}  # docs/hold-a-number.md
    assert {name for name in fields if name not in MANUAL} - others <= {"type"}
    assert len(fields) > 5


HEALTH = {
    "nothing-yet": ({}, "Progressing"),
    "no-phase": ({"status": {}}, "Progressing"),
    "pending": ({"status": {"phase": "Pending"}}, "Progressing"),
    "available": ({"status": {"phase": "Available"}}, "Healthy"),
    "succeeded": ({"status": {"phase": "Succeeded"}}, "Healthy"),
    "failed": ({"status": {"phase": "Failed"}}, "Degraded"),
}


@pytest.mark.parametrize(("tree", "status"), HEALTH.values(), ids=HEALTH)
def test_the_argo_cd_script_returns_the_health_of_a_slot(tree: Object, status: str) -> None:
    manual = (ROOT / "docs/argocd.md").read_text("utf-8")
    (script,) = (text for language, text in blocks(manual) if language == "lua")

    assert run(script, tree)["status"] == status
    assert "`resource.customizations.health.scheduling.koordinator.sh_Reservation`" in manual


class Table(dict[str, Any]):
    """What Lua has instead of objects: a key that is not there is nil."""

    def __getattr__(self, name: str) -> Any:
        found = self.get(name)
        return Table(found) if type(found) is dict else found

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def run(script: str, tree: Object) -> Table:
    """A script of assignments and ifs, which are all that it may have, in Python's words."""
    lines, depth = [], 0
    for line in (line.strip() for line in script.splitlines()):
        words = re.sub(r"^local ", "", line).replace("~=", "!=").replace("nil", "None")
        words = words.replace("= {}", "= Table()").replace("elseif ", "elif ")
        assert re.fullmatch(r"(el)?if .* then|else|end|return \w+|[\w.]+ = .*", words), line
        depth -= words.startswith(("elif", "else", "end"))
        if words != "end":
            lines.append("    " * (depth + 1) + re.sub(r" then$", ":", re.sub(r"^else$", "else:", words)))
        depth += words.startswith(("if ", "elif", "else"))
    space: dict[str, Any] = {"Table": Table}
    exec("def health(obj):\n" + "\n".join(lines), space)
    table = space["health"](Table(tree))
    assert isinstance(table, Table)
    return table
