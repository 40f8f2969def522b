"""Imports point to lower ranks, without cycles, and optional libraries are imported in the one file that adapts them."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "indexer"
RANKS = {
    0: ["errors", "model", "recipe", "mappings"],
    1: [
        "text",
        "sketch",
        "keys",
        "planning",
        "blocks",
        "schemes",
        "rescore",
        "measures",
        "align",
        "tiling",
        "suffixes",
        "families",
        "fold",
        "joining",
        "prefixes",
        "copies",
    ],
    2: ["fingerprinting"],
    3: ["sources", "extract", "stores"],
    4: [
        "stages",
        "ingest",
        "lookup",
        "results",
        "jobs",
        "documents",
        "signing",
        "overview",
        "checkup",
        "comparison",
        "installing",
        "collection",
        "verifying",
        "textpairs",
        "pairs",
        "grouping",
        "familyaccount",
        "removal",
    ],
    5: [
        "cli",
        "figures",
        "commands",
        "printing",
        "printing_families",
        "printing_sketches",
        "parquet",
        "terminal",
        "__main__",
        "__init__",
    ],
}
RANK = {name: rank for rank, names in RANKS.items() for name in names}
ADAPTERS = {
    "opensearchpy": {"stores/opensearch.py"},
    "elasticsearch": {"stores/elasticsearch.py"},
    "elastic_transport": {"stores/elasticsearch.py"},
    "iscc_tika": {"extract/native.py"},
    "tika": {"extract/server.py"},
    "charset_normalizer": {"extract/plain.py"},
    "psutil": {"extract/pool.py", "extract/worker.py"},
    "click": {"cli.py", "commands/options.py", "commands/families.py"},
    "pyarrow": {"parquet.py"},
    "bs4": {"text/markup.py"},
    "ftfy": {"text/mending.py"},
    "unidecode": {"text/transliteration.py"},
    "emoji": {"text/transliteration.py"},
    "anyascii": {"text/transliteration.py"},
    "stopwordsiso": {"text/stopwords.py"},
}
SIBLINGS = {"base", "_engine"}
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Every module that a file imports, dotted; `from indexer.x import y` counts as `indexer.x.y` too when y is a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{a.name}" for a in node.names if is_module(f"{node.module}.{a.name}")}
    return found


def is_module(dotted: str) -> bool:
    place = PACKAGE.parent.joinpath(*dotted.split("."))
    return place.with_suffix(".py").exists() or place.is_dir()


def top(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def inner(path: Path) -> set[str]:
    """The parts of the house that a file imports, as paths below the package."""
    return {name.removeprefix("indexer.") for name in imports(path) if name.startswith("indexer.")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    upward = {name for name in inner(path) if name != "_kernel" and RANK[name.split(".")[0]] > RANK[top(path)]}
    assert not upward


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_the_root(path: Path) -> None:
    roots = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module == "indexer"
        and any(not is_module(f"indexer.{a.name}") for a in node.names)
    ]
    assert all(alias.name == "_kernel" for node in roots for alias in node.names)


def test_every_module_has_a_rank() -> None:
    assert {top(path) for path in FILES} <= set(RANK)


def test_no_cycles() -> None:
    graph = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): inner(path)
        for path in FILES
        if path.name not in ("__init__.py", "__main__.py")
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"cycle: {' -> '.join((*trail, name))}"
        if name in graph and name not in done:
            for other in graph[name]:
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("library", sorted(ADAPTERS))
def test_library_is_adapted_in_one_place(library: str) -> None:
    users = {path.relative_to(PACKAGE).as_posix() for path in FILES for name in imports(path) if name.split(".")[0] == library}
    assert users <= ADAPTERS[library]


def test_edges_do_not_import_each_other() -> None:
    for path in FILES:
        if RANK[top(path)] != 3 or path.name == "__init__.py":
            continue
        edges = {name for name in inner(path) if RANK.get(name.split(".")[0]) == 3 and "." in name}
        strangers = {name for name in edges if name.split(".")[0] != top(path)}
        assert not strangers, f"{path.name} imports {strangers}"
