"""The commands of the first page of the documentation run."""

import re
from pathlib import Path

from command import ROOT, shell

PAGE = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def test_the_commands_run(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    [block] = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    printed = shell(block, tmp_path)
    assert "12 documents: 12 indexed" in printed
    assert "6 documents in 2 groups" in printed
