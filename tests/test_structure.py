"""The layout and density of the package, as CONTRIBUTING.md describes them."""

from operator import le
from pathlib import Path

import pytest
import structure

ROOT = Path(__file__).parent.parent
FACADE = {"__init__", "__main__"}
# Ceilings: lower them when a change allows it, and do not raise them.
MODULES, LINES, DOORS, HIT_CLASSES = 314, 750, 8, 3
LINES_OF_BENCHMARKS = 7_000
# Files and functions that a flow enters; timers of a busy machine may add a function or two.
FLOWS = {"index": (49, 430), "group": (43, 429), "search": (39, 422), "similar": (42, 402)}
PRIVATE_WORDS, WORDS_OF_DOCUMENTATION = 1960, 676


@pytest.fixture(scope="module")
def package() -> structure.Package:
    return structure.Package(ROOT)


def test_few_modules_lie_at_the_top(package: structure.Package) -> None:
    top = {path.stem for path in package.files if path.parent == package.root}
    assert len(top - FACADE) <= 8


def test_import_chains_are_short(package: structure.Package) -> None:
    chain = package.longest_chain()
    assert len(chain) <= 20, " -> ".join(chain)


def test_modules_are_few_and_deep(package: structure.Package) -> None:
    sizes = package.lines()
    assert len(sizes) <= MODULES
    assert max(sizes.values()) <= LINES, max(sizes, key=lambda name: sizes[name])


def test_benchmarks_do_not_grow() -> None:
    files = (ROOT / "benchmarks").glob("*.py")
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files) <= LINES_OF_BENCHMARKS


def test_packages_have_few_doors(package: structure.Package) -> None:
    for name, doors in package.doors().items():
        assert len(doors) <= DOORS, (
            f"other packages import {len(doors)} modules of {name}/; merge what they need into "
            f"fewer modules, or move it to the package that needs it: {', '.join(doors)}"
        )


def test_a_hit_has_few_classes(package: structure.Package) -> None:
    classes = structure.hit_classes(package)
    assert len(classes) <= HIT_CLASSES, classes


def test_flows_enter_few_files_and_functions() -> None:
    for flow, counts in structure.flow_counts().items():
        assert all(map(le, counts, FLOWS[flow])), (flow, counts, FLOWS[flow])


def test_private_words_become_fewer(package: structure.Package) -> None:
    words = package.private_words()
    assert words.total() <= PRIVATE_WORDS, words.most_common()
    words = structure.documentation_words(ROOT)
    assert words.total() <= WORDS_OF_DOCUMENTATION, words.most_common()


def test_the_store_interface_is_narrow(package: structure.Package) -> None:
    assert structure.store_methods(package)["Store"] <= 12


@pytest.mark.parametrize(
    ("departures", "remedy"),
    [
        (structure.redefined, "give another name to"),
        (structure.long_lines, f"break lines over {structure.COLUMNS} columns"),
        (structure.nested, "name the inner comprehension of"),
        (structure.participles, "name classes by nouns"),
        (structure.fragments, "begin docstrings and their notes with a verb or a noun"),
        (structure.long_signatures, "make options that travel together a dataclass"),
    ],
)
def test_no_departure_from_the_style(package: structure.Package, departures, remedy: str) -> None:
    places = list(departures(package))
    assert not places, f"{remedy}: " + ", ".join(places)


def test_participles_are_recognised() -> None:
    names = ["Told", "_Made", "RowKept", "Indexed", "Embedding", "CommonWords"]
    matches = [name for name in names if structure.PARTICIPLES.match(name)]
    assert matches == ["Told", "_Made", "RowKept", "Indexed"]


def test_no_folder_has_the_name_of_a_public_function(package: structure.Package) -> None:
    import indexer

    folders = {path.name for path in package.root.rglob("*") if path.is_dir()}
    assert folders & set(indexer.__all__) == set()


def test_each_command_has_a_module_of_its_name(package: structure.Package) -> None:
    from indexer.cli.main import COMMANDS

    assert {
        name for name in COMMANDS if not (package.root / "cli" / f"{name}.py").exists()
    } == set()
