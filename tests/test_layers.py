"""Imports point to lower ranks, without cycles; libraries are imported where they are adapted; the
lower ranks are pure.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "indexer"
RANKS = {
    0: ["errors", "model", "recipe", "recipekeys", "mappings"],
    1: [
        "statistics",
        "alignment",
        "discounting",
        "lineage",
        "text",
        "sketch",
        "keys",
        "planning",
        "blocks",
        "schemes",
        "rescore",
        "measures",
        "families",
        "fold",
        "joining",
        "fields",
        "records",
        "sorting",
        "cursor",
        "regrouping",
        "batches",
        "figures",
        "duplicates",
    ],
    2: ["fingerprinting"],
    3: [
        "sources",
        "extract",
        "stores",
        "crashreport",
        "logs",
        "traces",
        "failpoints",
        "secret",
        "urls",
        "lastingfiles",
    ],
    4: [
        "indexing",
        "exports",
        "matching",
        "comparing",
        "labels",
        "ingest",
        "lookup",
        "results",
        "readings",
        "jobs",
        "jobhistory",
        "safekeeping",
        "repairing",
        "salvaging",
        "documents",
        "signing",
        "overview",
        "release",
        "checkup",
        "installing",
        "renewing",
        "collection",
        "scratch",
        "verifying",
        "pairs",
        "grouping",
        "familyaccount",
        "removal",
        "survey",
        "familyview",
        "snippets",
        "wholefile",
        "typefolding",
        "planting",
        "tuning",
        "studying",
        "evaluation",
    ],
    5: [
        "cli",
        "commands",
        "printing",
        "metrics",
        "terminal",
        "web",
        "spark",
        "__main__",
        "__init__",
    ],
}
RANK = {name: rank for rank, names in RANKS.items() for name in names}
ADAPTERS = {
    "opensearchpy": {"stores/opensearch.py"},
    "botocore": {"stores/_engine_aws.py"},
    "keyring": {"stores/_engine_secrets.py"},
    "elasticsearch": {"stores/elasticsearch.py"},
    "elastic_transport": {"stores/elasticsearch.py"},
    "urllib3": {"stores/_engine_deadline.py"},
    "typing_extensions": {"stores/_engine_deadline.py"},
    "starlette": {"web/app.py", "web/bodies.py", "web/judging.py", "web/measuring.py"},
    "jinja2": {"web/rendering.py"},
    "uvicorn": {"web/serving.py"},
    "iscc_tika": {"extract/native.py"},
    "tika": {"extract/server.py"},
    "charset_normalizer": {"extract/plain.py"},
    "psutil": {"extract/worker.py"},
    "opentelemetry": {"traces.py"},
    "prometheus_client": {"metrics.py"},
    "mmh3": {"sketch/permutations.py", "sketch/strings.py"},
    "rich": {
        "printing/accounts.py",
        "printing/comparisons.py",
        "printing/console.py",
        "printing/evaluations.py",
        "printing/exports.py",
        "printing/families.py",
        "printing/hits.py",
        "printing/labels.py",
        "printing/lookups.py",
        "printing/progress.py",
        "printing/sketches.py",
        "printing/state.py",
        "printing/studies.py",
        "printing/tuning.py",
        "printing/versions.py",
        "terminal.py",
    },
    "click": {
        "cli.py",
        "commands/comparing.py",
        "commands/draining.py",
        "commands/evaluating.py",
        "commands/judging.py",
        "commands/exporting.py",
        "commands/indexing.py",
        "commands/life.py",
        "commands/clusters.py",
        "commands/lazily.py",
        "commands/lookups.py",
        "commands/monitoring.py",
        "commands/sketching.py",
        "commands/options.py",
        "commands/families.py",
        "commands/searching.py",
        "commands/keeping.py",
        "commands/labels.py",
        "commands/serving.py",
        "commands/studying.py",
        "commands/synthesis.py",
        "commands/tuning.py",
        "commands/versions.py",
        "spark/__main__.py",
    },
    "pyarrow": {"exports/columnar.py", "exports/parquet.py", "sources/parquet.py", "spark/rows.py"},
    "py4j": {"spark/work.py"},
    "pyspark": {
        "spark/__main__.py",
        "spark/components.py",
        "spark/documents.py",
        "spark/families.py",
        "spark/grouping.py",
        "spark/joining.py",
        "spark/pairs.py",
        "spark/places.py",
        "spark/running.py",
        "spark/session.py",
        "spark/texts.py",
        "spark/verifying.py",
        "spark/work.py",
        "spark/writing.py",
    },
    "fsspec": {"sources/remote.py"},
    "hansken": {"sources/hansken.py"},
    "requests": {"sources/hansken.py"},
    "bs4": {"text/markup.py"},
    "PIL": {"planting/programs.py"},
    "ftfy": {"text/mending.py"},
    "spacy": {"text/dutch.py"},
    "unidecode": {"text/transliteration.py"},
    "emoji": {"text/transliteration.py"},
    "anyascii": {"text/transliteration.py"},
    "snowballstemmer": {"text/stems.py"},
    "stopwordsiso": {"text/stopwords.py"},
}
EVERYWHERE = {"numpy"}
SWAPPED = {"native", "server", "plain", "opensearch", "elasticsearch", "sqlite", "folder"}
CHOOSERS = {"extract/choosing.py", "sources/__init__.py", "stores/__init__.py"}
OUTSIDE = {
    "asyncio", "datetime", "http", "importlib", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets",
    "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib",
}  # fmt: skip
FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def imports(path: Path) -> set[str]:
    """Every module that a file imports, dotted; `from indexer.x import y` counts as `indexer.x.y`
    when y is a module.
    """
    return imported(ast.walk(parsed(path)))


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if is_module(name) else node.module for name in dotted}
    return found


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without what stands under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from at_run_time(child)


@cache
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
    upward = {
        name
        for name in inner(path)
        if name != "_kernel" and RANK[name.split(".")[0]] > RANK[top(path)]
    }
    assert not upward


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_the_root(path: Path) -> None:
    roots = [
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom)
        and node.module == "indexer"
        and any(not is_module(f"indexer.{a.name}") for a in node.names)
    ]
    assert all(alias.name == "_kernel" for node in roots for alias in node.names)


def test_every_module_has_a_rank() -> None:
    assert {top(path) for path in FILES} == set(RANK)


def test_no_cycles() -> None:
    graph = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): inner(
            path
        )
        for path in FILES
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
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in FILES
        for name in imports(path)
        if name.split(".")[0] == library
    }
    assert users == ADAPTERS[library]


def test_every_library_has_its_place() -> None:
    used = {name.split(".")[0] for path in FILES for name in imports(path)}
    assert used - set(sys.stdlib_module_names) == {"indexer"} | EVERYWHERE | set(ADAPTERS)


@pytest.mark.parametrize("module", RANKS[0])
def test_the_words_of_the_house_need_nothing_but_python(module: str) -> None:
    used = {name.split(".")[0] for name in imported(at_run_time(parsed(PACKAGE / f"{module}.py")))}
    assert used <= set(sys.stdlib_module_names) | {"indexer"}


PURE = [
    path for path in FILES if RANK[top(path)] <= 2 and top(path) != "mappings"
]  # which reads the package's own files


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_up_to_the_waist_nothing_touches_the_world(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & OUTSIDE
    calls = {
        ast.unparse(node.func) for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)
    }
    assert not calls & {"open", "print", "input", "exec", "eval"}


def test_what_can_be_swapped_is_imported_by_its_chooser_alone() -> None:
    edges = [path for path in FILES if RANK[top(path)] == 3]
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in edges
        for name in inner(path)
        if name.rpartition(".")[2] in SWAPPED
    }
    assert users == CHOOSERS


def test_edges_do_not_import_each_other() -> None:
    for path in FILES:
        if RANK[top(path)] != 3 or path.name == "__init__.py":
            continue
        edges = {name for name in inner(path) if RANK.get(name.split(".")[0]) == 3 and "." in name}
        strangers = {name for name in edges if name.split(".")[0] != top(path)}
        assert not strangers, f"{path.name} imports {strangers}"
