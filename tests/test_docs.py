"""The documentation is true: every command, option and public name is in it, and its examples
run.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from engine_versions import BEGIN, END, MODULES, OF_THE_GATE, VERSIONS, read_counts, table
from page_blocks import blocks

import indexer
from indexer.cli.main import commands

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LAB = ROOT / "docs" / "lab"  # trials and measurements: linked from decisions, not in the navigation
COMMANDS_PAGE, INDEX = (
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("commands.md", "index.md")
)
_GROUP = click.Context(commands)
COMMANDS = {name: commands.get_command(_GROUP, name) for name in commands.list_commands(_GROUP)}
DOCS = "\n".join(
    path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
)


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    """`tools/docs.py` refuses a page that is not."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert {page for page in pages() if f": {page}\n" not in navigation} == set()


def pages() -> set[str]:
    """Return the pages of the site that belong into its navigation."""
    folder = ROOT / "docs"
    return {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.md") if path.parent != LAB
    }


def test_every_page_is_one_click_from_the_index() -> None:
    assert {page for page in pages() - {"index.md"} if f"]({page})" not in INDEX} == set()


def test_every_lab_page_is_linked_from_its_decision() -> None:
    for path in LAB.glob("*.md"):
        decision = (ROOT / "docs" / "decisions" / path.name).read_text(encoding="utf-8")
        assert f"(../lab/{path.name})" in decision, path.name


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 140


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_command_is_documented(command: str) -> None:
    assert f"nearfold {command}" in COMMANDS_PAGE
    listed, help = (COMMANDS[command].short_help, COMMANDS[command].help)
    assert " ".join((help or "").split()).startswith((listed or " ").removesuffix("."))


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_options_are_documented(command: str) -> None:
    options = {
        name
        for parameter in COMMANDS[command].params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
    }
    assert {name for name in options if name not in DOCS} == set()


@pytest.mark.parametrize("name", indexer.__all__)
def test_public_name_is_documented(name: str) -> None:
    assert re.search(rf"\b{name}\b", DOCS)


def test_python_blocks_run(tmp_path: Path) -> None:
    programs = [*blocks("README.md", "python"), *blocks("docs/python.md", "python")]
    assert len(programs) > 1
    for program in programs:
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            check=True,
            env={**os.environ, "NEARFOLD_README": str(tmp_path)},
        )


def test_pages_with_commands_are_read_by_a_test() -> None:
    tests = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__)
    )
    pages = [
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if re.search(r"^```(sh|console)", path.read_text(), re.M)
    ]
    assert len(pages) > 5
    assert [path.name for path in pages if path.name not in tests] == []


def test_links_inside_the_repository_exist() -> None:
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_pages_for_contributors_name_what_exists() -> None:
    paths = [path for path in ROOT.glob("[a-z]*/**/*.*") if path.is_file()]
    named = 0
    for page in ("CONTRIBUTING.md", "docs/development.md", "docs/sources.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        pattern = r"(?:`(\w+)(?:\(\))?` (?:of|in) )?`([\w/-]+\.(?:py|html|css|js|painless))`"
        for name, file in re.findall(pattern, text):
            if "NAME" in file or "of 7e40e727" in text.partition(f"`{file}`")[2][:15]:
                continue
            texts = [
                path.read_text("utf-8")
                for path in paths
                if f"/{path.as_posix()}".endswith(f"/{file}")
            ]
            assert any(re.search(rf"\b{name}\b", found) for found in texts), (
                f"{page}: {name} {file}"
            )
            named += 1
    assert named > 60


def test_command_reference_is_what_the_commands_say() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from cli_reference import PAGE, page
    finally:
        sys.path.pop(0)
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tools/cli_reference.py"


def test_api_reference_lists_the_public_names() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from api_reference import PAGE, page
    finally:
        sys.path.pop(0)
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tools/api_reference.py"


# docs/security.md and docs/engines.md

SECURITY, ENGINES = (
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("security.md", "engines.md")
)


def test_every_test_that_the_page_of_security_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", SECURITY))
    tests = {
        name
        for path in ROOT.glob("tests/**/test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    }
    assert named and named <= tests
    assert all((ROOT / path).is_file() for path in re.findall(r"`(tests/[\w/]+\.py)`", SECURITY))


def test_every_claim_of_the_page_of_security_names_its_test() -> None:
    tables = [
        table
        for table in re.findall(r"(?:^\|.*\n)+", SECURITY, re.MULTILINE)
        if table.splitlines()[0].endswith("| test |")
    ]
    assert len(tables) > 7
    unproven = [
        line
        for table in tables
        for line in table.splitlines()[2:]
        if "`test" not in line.split(" | ")[-1]
    ]
    assert unproven == []
    for section in ("Threat model", "Defaults", "Roles", "Reporting"):
        assert f"## {section}\n" in SECURITY


def test_the_table_of_versions_shows_the_recorded_counts() -> None:
    assert ENGINES.partition(BEGIN)[2].partition(END)[0].strip() == table()
    counts = read_counts()
    assert set(VERSIONS) - set(OF_THE_GATE) <= counts.keys() <= set(VERSIONS)
    assert not any(version["failed"] for version in counts.values())


def test_tests_that_need_a_module_exist() -> None:
    for line in MODULES.read_text(encoding="utf-8").splitlines():
        for name in line.partition(": ")[2].split():
            file, _, function = name.partition("::")
            assert f"def {function}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), name
