"""Writes the tables of every key and option into the documentation: `python -m tests.fieldtable`."""

from pathlib import Path

from berth.schema import describe

ROOT = Path(__file__).parents[1]
FIELDS = ROOT / "docs" / "reference" / "fields.md"
ENGINES = {"argocd": ROOT / "docs" / "argocd.md", "flux": ROOT / "docs" / "flux.md"}
BEGIN = "<!-- options: made by python -m tests.fieldtable -->\n"
END = "<!-- end of options -->\n"


def with_options(page: str, engine: str) -> str:
    """Return the page of an engine with its table of options as it is now."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{describe.options_table(engine)}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    FIELDS.parent.mkdir(exist_ok=True)
    FIELDS.write_text(describe.fields_page(), "utf-8")
    for name, manual in ENGINES.items():
        manual.write_text(with_options(manual.read_text("utf-8"), name), "utf-8")
