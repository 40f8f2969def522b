"""Imports point to lower layers, without cycles; each library is imported where it is adapted; the
pure layers do no I/O. The layers are folders of `indexer/`, lowest first.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "indexer"
LAYERS = (
    ("defaults", "errors", "model", "recipe", "recipe_key", "recipe_names", "mappings"),
    ("text",),
    ("sketch",),
    ("joins",),
    ("clustering",),
    ("statistics",),
    ("similarity",),
    ("mail",),
    ("system",),
    ("sources", "extraction", "stores"),
    ("html",),
    ("jobs",),
    ("searching", "retrieval"),
    ("matching",),
    ("grouping",),
    ("indexing",),
    ("comparing",),
    ("operations",),
    ("deduplicating",),
    ("exports",),
    ("lab",),
    ("web",),
    ("cli",),
    ("spark", "__main__", "__init__"),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
DOMAIN, EDGES = LAYERS[0], LAYERS[9]
PURE = LAYER["mail"]
# One file adapts a library; a folder, with a slash, where a whole layer is about it.
ADAPTERS = {
    "opensearchpy": {"stores/engine/opensearch.py"},
    "botocore": {"stores/engine/aws.py"},
    "keyring": {"stores/engine/passwords.py"},
    "elasticsearch": {"stores/engine/elasticsearch.py"},
    "elastic_transport": {"stores/engine/elasticsearch.py"},
    "certifi": {"stores/engine/elasticsearch.py"},
    "urllib3": {"stores/engine/deadline.py"},
    "typing_extensions": {"stores/engine/deadline.py"},
    "starlette": {
        "web/access.py",
        "web/app.py",
        "web/downloads.py",
        "web/hits_table.py",
        "web/judge.py",
        "web/labelling_pages.py",
        "web/work_list_pages.py",
        "web/measurement.py",
        "web/original_pages.py",
        "web/request_body.py",
        "web/static_files.py",
    },
    "jinja2": {"html/page_file.py", "html/rendering.py"},
    "vl_convert": {"html/charts.py"},
    "uvicorn": {"web/listen.py"},
    "iscc_tika": {"extraction/native.py"},
    "tika": {"extraction/tika_server.py"},
    "charset_normalizer": {"extraction/plain.py"},
    "psutil": {"extraction/worker_process.py", "web/memory_limit.py"},
    "opentelemetry": {"system/traces.py"},
    "prometheus_client": {"operations/metrics.py"},
    "mmh3": {"sketch/permutations.py", "sketch/string_hashes.py"},
    "rapidfuzz": {"similarity/lcs.py"},
    "olefile": {"mail/outlook_message.py"},
    "rich": {"cli/"},
    "click": {"cli/", "spark/__main__.py", "spark/deduplicate.py"},
    "pyarrow": {
        "deduplicating/parquet_copies.py",
        "exports/parquet_pairs.py",
        "exports/parquet_tables.py",
        "sources/parquet_rows.py",
        "spark/arrow_rows.py",
    },
    "py4j": {"spark/work_folder.py"},
    "pyspark": {"spark/"},
    "fsspec": {"sources/remote.py"},
    "hansken": {"sources/hansken.py"},
    "requests": {"sources/hansken.py"},
    "bs4": {"text/markup.py"},
    "PIL": {"lab/synthesis/programs.py", "web/render_original.py"},
    "fpdf": {"comparing/redline_pdf.py"},
    "fontTools": {"comparing/redline_pdf.py"},
    "fontpkg_noto_sans": {"comparing/redline_pdf.py"},
    "mammoth": {"web/render_original.py"},
    "nh3": {"web/safe_html.py"},
    "ftfy": {"text/repair_unicode.py"},
    "spacy": {"text/dutch.py"},
    "unidecode": {"text/transliteration.py"},
    "emoji": {"text/transliteration.py"},
    "langchain_core": {"retrieval/langchain.py"},
    "llama_index": {"retrieval/llama_index.py"},
    "anyascii": {"text/transliteration.py"},
    "snowballstemmer": {"text/stems.py"},
    "stopwordsiso": {"text/stopwords.py"},
}
EVERYWHERE = {"numpy"}
# What can be swapped for another is imported by the module that chooses, and by no other.
SWAPPED = {
    "extraction.native": "extraction/extractors.py",
    "extraction.plain": "extraction/extractors.py",
    "extraction.tika_server": "extraction/extractors.py",
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
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> set[str]:
    """Every module that a file imports; `from a import b` counts as `a.b` when b is a module."""
    return set(imported(ast.walk(parsed(path))))


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


@pytest.mark.parametrize("path", FILES, ids=place)
def test_imports_point_to_lower_layers(path: Path) -> None:
    own = layer_of(path)
    for name in sorted(own_imports(path)):
        imported_layer = LAYER[name.split(".")[0]]
        is_beside = imported_layer == own and name.split(".")[0] != folder(path)
        allowed = imported_layer <= own and not (
            is_beside and folder(path) in EDGES and path.stem != "__init__"
        )
        assert allowed, (
            f"indexer/{place(path)} (layer {own}) imports indexer.{name} (layer {imported_layer}). "
            f"Move what it needs into {folder(path)}/ or a folder below it, or move the caller "
            f"into {name.split('.')[0]}/ or a folder above it. LAYERS in this test lists the "
            "folders, lowest first"
        )


def test_every_folder_has_a_layer() -> None:
    assert {folder(path) for path in FILES} == set(LAYER)


def test_contributors_read_of_every_folder() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = [name for name in LAYER if not name.startswith("__")]
    written = [f"`{name}/`" if (PACKAGE / name).is_dir() else f"`{name}`" for name in names]
    assert [name for name in written if name not in text] == []


@pytest.mark.parametrize("path", FILES, ids=place)
def test_nothing_imports_the_package_root(path: Path) -> None:
    names = {
        alias.name
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and node.module == "indexer"
        for alias in node.names
    }
    assert all(is_module(f"indexer.{name}") or name == "_kernel" for name in names)


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


@pytest.mark.parametrize("path", PURE_FILES, ids=place)
def test_pure_layers_do_no_input_or_output(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & OUTSIDE
    calls = {
        ast.unparse(node.func) for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)
    }
    assert not calls & {"open", "print", "input", "exec", "eval"}


@pytest.mark.parametrize("module", sorted(SWAPPED))
def test_alternatives_are_imported_by_the_module_that_chooses(module: str) -> None:
    edges = [path for path in FILES if folder(path) in EDGES]
    assert {place(path) for path in edges if module in own_imports(path)} == {SWAPPED[module]}
