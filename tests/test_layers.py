"""Imports point to lower layers, without cycles; each library is imported where it is adapted; the
pure layers do no I/O. The layers are packages of `indexer/`, lowest first.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from structure import parsed

PACKAGE = Path(__file__).parent.parent / "indexer"
LAYERS = (
    ("defaults", "errors", "model", "recipe", "mappings", "wording", "coding"),
    ("fingerprinting",),
    ("comparing",),
    ("system",),
    ("documents", "stores"),
    ("grouping",),
    ("searching",),
    ("jobs",),
    ("review",),
    ("lab",),
    ("cli",),
    ("spark", "__main__", "__init__"),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
DOMAIN, EDGES = LAYERS[0], LAYERS[4]
PURE = LAYER["comparing"]
# One file adapts a library; a folder, with a slash, where a whole layer is about it.
ADAPTERS = {
    "opensearchpy": {"stores/engine/opensearch.py"},
    "botocore": {"stores/engine/opensearch.py"},
    "keyring": {"stores/address.py"},
    "elasticsearch": {"stores/engine/elasticsearch.py"},
    "elastic_transport": {"stores/engine/elasticsearch.py"},
    "certifi": {"stores/engine/elasticsearch.py"},
    "urllib3": {"stores/engine/connections.py"},
    "typing_extensions": {"stores/engine/connections.py"},
    "msgspec": {"review/api/endpoints.py", "review/api/openapi.py"},
    "starlette": {
        "review/access.py",
        "review/app.py",
        "review/http.py",
        "review/exports/hits.py",
        "lab/evaluation/judge.py",
        "review/labelling.py",
        "review/middleware.py",
        "review/originals/pages.py",
    },
    "jinja2": {"review/rendering.py"},
    "vl_convert": {"review/charts.py"},
    "uvicorn": {"review/http.py"},
    "iscc_tika": {"documents/native.py"},
    "tika": {"documents/tika_server.py"},
    "charset_normalizer": {"documents/plain_text.py"},
    "psutil": {"documents/workers.py", "review/middleware.py"},
    "opentelemetry": {"system/logs.py"},
    "prometheus_client": {"jobs/metrics.py"},
    "mmh3": {"fingerprinting/hashing.py", "fingerprinting/schemes.py"},
    "rapidfuzz": {"comparing/words.py"},
    "olefile": {"documents/mail/outlook.py"},
    "rich": {"cli/"},
    "click": {"cli/", "spark/__main__.py", "spark/deduplicate.py"},
    "pyarrow": {
        "jobs/dedup_parquet.py",
        "review/exports/writers.py",
        "documents/containers.py",
        "spark/arrow_rows.py",
    },
    "py4j": {"spark/session.py"},
    "pyspark": {"spark/"},
    "fsspec": {"documents/remote.py"},
    "hansken": {"documents/hansken.py"},
    "requests": {"documents/hansken.py"},
    "bs4": {"fingerprinting/normalise.py"},
    "PIL": {"lab/synthesis/formats.py", "review/originals/render.py"},
    "fpdf": {"review/comparison_files.py"},
    "fontTools": {"review/comparison_files.py"},
    "fontpkg_noto_sans": {"review/comparison_files.py"},
    "mammoth": {"review/originals/render.py"},
    "nh3": {"review/originals/render.py"},
    "ftfy": {"fingerprinting/normalise.py"},
    "spacy": {"fingerprinting/tokens.py"},
    "unidecode": {"fingerprinting/normalise.py"},
    "emoji": {"fingerprinting/normalise.py"},
    "langchain_core": {"searching/langchain.py"},
    "llama_index": {"searching/llama_index.py"},
    "anyascii": {"fingerprinting/normalise.py"},
    "snowballstemmer": {"comparing/clauses/lexicon.py"},
    "stopwordsiso": {"fingerprinting/tokens.py"},
}
EVERYWHERE = {"numpy"}
# What can be swapped for another is imported by the module that chooses, and by no other.
SWAPPED = {
    "documents.native": "documents/extractors.py",
    "documents.plain_text": "documents/extractors.py",
    "documents.tika_server": "documents/extractors.py",
    "stores.engine.opensearch": "stores/__init__.py",
    "stores.engine.elasticsearch": "stores/__init__.py",
    "stores.sqlite.store": "stores/__init__.py",
}
OUTSIDE = {
    "asyncio",
    "datetime",
    "http",
    "importlib",
    "io",
    "logging",
    "multiprocessing",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "signal",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "urllib",
}
FILES = sorted(PACKAGE.rglob("*.py"))


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def layer_of(path: Path) -> int:
    return LAYER[folder(path)]


def folder(path: Path) -> str:
    """The folder of a file below the package, or the module at its top."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def walked(path: Path) -> list[ast.AST]:
    return list(ast.walk(parsed(path)))


@cache
def imports(path: Path) -> set[str]:
    """Every module that a file imports; `from a import b` counts as `a.b` when b is a module."""
    return set(imported(walked(path)))


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if is_module(name) else node.module


@cache
def is_module(dotted: str) -> bool:
    if not dotted.startswith("indexer."):
        return False
    path = PACKAGE.parent.joinpath(*dotted.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def own_imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, without `indexer.` before them."""
    names = {name.removeprefix("indexer.") for name in imports(path) if name.startswith("indexer.")}
    return names - {"_kernel"}


def at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below a node, without what stands under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from at_run_time(child)


def test_imports_point_to_lower_layers() -> None:
    assert [wrong for path in FILES for wrong in wrong_imports(path)] == []


def wrong_imports(path: Path) -> Iterator[str]:
    own = layer_of(path)
    for name in sorted(own_imports(path)):
        imported_layer = LAYER[name.split(".")[0]]
        is_beside = imported_layer == own and name.split(".")[0] != folder(path)
        allowed = imported_layer <= own and not (
            is_beside and folder(path) in EDGES and path.stem != "__init__"
        )
        if not allowed:
            yield (
                f"indexer/{place(path)} (layer {own}) imports indexer.{name} (layer "
                f"{imported_layer}). Move what it needs into {folder(path)}/ or a folder below it, "
                f"or move the caller into {name.split('.')[0]}/ or a folder above it. LAYERS in "
                "this test lists the folders, lowest first"
            )


def test_every_folder_has_a_layer() -> None:
    assert {folder(path) for path in FILES} == set(LAYER)


def test_contributors_read_of_every_folder() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = [name for name in LAYER if not name.startswith("__")]
    written = [f"`{name}/`" if (PACKAGE / name).is_dir() else f"`{name}`" for name in names]
    assert [name for name in written if name not in text] == []


def test_nothing_imports_the_package_root() -> None:
    names = {
        (place(path), alias.name)
        for path in FILES
        for node in walked(path)
        if isinstance(node, ast.ImportFrom) and node.module == "indexer"
        for alias in node.names
    }
    allowed = {(path, name) for path, name in names if is_module(f"indexer.{name}")}
    assert {(path, name) for path, name in names - allowed if name != "_kernel"} == set()


def test_a_name_stays_the_same_where_it_is_imported() -> None:
    renamed = {
        f"{place(path)}: {alias.name} as {alias.asname}"
        for path in FILES
        for node in walked(path)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if alias.asname and (getattr(node, "module", "") or alias.name).startswith("indexer")
    }
    assert renamed == set()


def test_no_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for path in FILES:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        graph[".".join(parts).removesuffix(".__init__")] = own_imports(path)
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"cycle: {' -> '.join((*trail, name))}"
        if name in graph and name not in done:
            for imported in graph[name]:
                visit(imported, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("library", sorted(ADAPTERS))
def test_library_is_adapted_in_one_place(library: str) -> None:
    users = {
        place(path) for path in FILES if library in {name.split(".")[0] for name in imports(path)}
    }
    homes = ADAPTERS[library]
    strangers = {
        user for user in users if not any(user == home or user.startswith(home) for home in homes)
    }
    assert users and not strangers, (
        f"{sorted(strangers)} import {library}, which {sorted(homes)} adapt"
    )


def test_every_library_has_its_place() -> None:
    used = {name.split(".")[0] for path in FILES for name in imports(path)}
    assert used - set(sys.stdlib_module_names) == {"indexer"} | EVERYWHERE | set(ADAPTERS)


@pytest.mark.parametrize("module", DOMAIN)
def test_the_domain_model_imports_the_standard_library_alone(module: str) -> None:
    names = imported(at_run_time(parsed(PACKAGE / f"{module}.py")))
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names) | {"indexer"}


PURE_FILES = [path for path in FILES if layer_of(path) <= PURE and path.stem != "mappings"]


def test_pure_layers_do_no_input_or_output() -> None:
    imported_libraries = {
        (place(path), name.split(".")[0]) for path in PURE_FILES for name in imports(path)
    }
    assert {(path, name) for path, name in imported_libraries if name in OUTSIDE} == set()
    calls = {
        (place(path), node.func.id)
        for path in PURE_FILES
        for node in walked(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    outside = {"open", "print", "input", "exec", "eval"}
    assert {(path, name) for path, name in calls if name in outside} == set()


@pytest.mark.parametrize("module", sorted(SWAPPED))
def test_alternatives_are_imported_by_the_module_that_chooses(module: str) -> None:
    edges = [path for path in FILES if folder(path) in EDGES]
    assert {place(path) for path in edges if module in own_imports(path)} == {SWAPPED[module]}
