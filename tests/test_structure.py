"""The layout and density of the package, as CONTRIBUTING.md describes them."""

from pathlib import Path

import pytest
import structure

ROOT = Path(__file__).parent.parent
PACKAGE = structure.Package(ROOT)
FACADE = {"__init__", "__main__"}


def test_few_modules_lie_at_the_top() -> None:
    top = {path.stem for path in PACKAGE.files if path.parent == PACKAGE.root}
    assert len(top - FACADE) <= 8


def test_import_chains_are_short() -> None:
    chain = PACKAGE.longest_chain()
    assert len(chain) <= 14, " -> ".join(chain)


def test_the_store_interface_is_narrow() -> None:
    assert structure.store_methods(PACKAGE)["Store"] <= 12


@pytest.mark.parametrize(
    "departures",
    [structure.long_lines, structure.nested, structure.participles, structure.questions],
)
def test_no_departure_from_the_style(departures) -> None:
    assert list(departures(PACKAGE)) == []


def test_no_folder_has_the_name_of_a_public_function() -> None:
    import indexer

    folders = {path.name for path in PACKAGE.root.rglob("*") if path.is_dir()}
    assert folders & set(indexer.__all__) == set()


def test_each_command_has_a_module_of_its_name() -> None:
    from indexer.cli.main import COMMANDS

    assert {
        name for name in COMMANDS if not (PACKAGE.root / "cli" / f"{name}.py").exists()
    } == set()
