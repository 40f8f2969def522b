"""Type checkers accept what the documentation promises: a store or the URL of one."""

import subprocess
import sys
from pathlib import Path

import public_types
import pytest
from page_blocks import blocks

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import nearfold
from indexer import group, index, match, open_store, search

page = search("sqlite:///x.db", "ferry")
print(page.total, [hit.title for hit in page.hits])
with_store = search(open_store("sqlite:///x.db"), "ferry")
index(["texts"], "sqlite:///x.db")
group(store="sqlite:///x.db")
print([pair.similarity for pair in match("sqlite:///x.db")])
print(nearfold.dedupe(["a", "b"]).kept, nearfold.__version__)
"""


@pytest.mark.long
def test_the_stub_is_what_the_modules_say() -> None:
    assert public_types.main(["--check"]) == 0, "run python tools/public_types.py"


@pytest.mark.long
def test_programs_of_the_documentation_have_types(tmp_path: Path) -> None:
    programs = {"promised": PROGRAM}
    for page in ("README.md", "docs/python.md"):
        examples = enumerate(blocks(page, "python"))
        programs |= {f"{Path(page).stem.lower()}_{n}": example for n, example in examples}
    for name, text in programs.items():
        (tmp_path / f"{name}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *sorted(map(str, tmp_path.glob("*.py")))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
