"""The files of pdf.js are those of its package, with their licences."""

import json
from pathlib import Path

import audit
import pdfjs

from indexer.review.originals.pages import PDFJS_VERSION

FOLDER = Path(pdfjs.TARGET)


def test_the_files_are_those_that_were_copied() -> None:
    assert "".join(pdfjs.digest_lines()) == (FOLDER / pdfjs.SUMS).read_text()


def test_its_version_is_stated_where_it_is_served_and_listed() -> None:
    assert f"pdfjsVersion = {PDFJS_VERSION}" in (FOLDER / "pdf.min.mjs").read_text()
    assert f"# pdf.js {PDFJS_VERSION}\n" in (FOLDER / "README.md").read_text()
    licences = (FOLDER.parents[3] / "docs" / "licences.md").read_text()
    assert f"| pdf.js {PDFJS_VERSION} |" in licences
    for name in FOLDER.glob("LICENSE*"):
        assert f"`{name.name}`" in (FOLDER / "README.md").read_text()


def test_the_bill_of_materials_lists_it(tmp_path: Path) -> None:
    bill = tmp_path / "bill.json"
    bill.write_text('{"components": [{"name": "numpy"}]}')
    audit._add_copied(bill)
    names = {
        part["name"]: part.get("version") for part in json.loads(bill.read_text())["components"]
    }
    assert names == {"numpy": None, "pdfjs-dist": PDFJS_VERSION}
    assert pdfjs.VERSION == PDFJS_VERSION


def test_no_script_of_it_needs_eval() -> None:
    for name in ("pdf.min.mjs", "pdf.worker.min.mjs"):
        text = (FOLDER / name).read_text()
        assert "new Function(" not in text
        assert "eval(" not in text
