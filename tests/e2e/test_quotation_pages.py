"""The pages that quote the source documents: their commands print what stands below them."""

import re
import shutil
from pathlib import Path

import pytest
from command import ROOT, shell

FOLDER = ROOT / "docs" / "sources"
PAGES = ["000.md", "001.md", "002.md", "003.md", "004.md"]
COPIETJE = ROOT / "tests/data/copietje"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(COPIETJE / "case-2.0.db", tmp_path / "casename.db")
    expected = (COPIETJE / "expected-2.0.txt").read_text(encoding="utf-8").split("## ")[1]
    (tmp_path / "expected.txt").write_text(expected.partition("\n")[2], encoding="utf-8")
    blocks = re.findall(
        r"```console\n(.*?)```", (FOLDER / page).read_text(encoding="utf-8"), re.DOTALL
    )
    assert blocks
    for block in blocks:
        commands = ""
        shown = ""
        for prompt in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = prompt.partition("\n")
            commands += f"{command}\n"
            shown += output
        assert shell(commands, tmp_path) == shown


def test_every_source_document_has_its_page() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == PAGES
