"""Print how the package is laid out: sizes, doors, imports between packages, private words, and
departures from the style.

    python3 tools/structure.py [--details] [FOLDER]
    .venv/bin/python tools/structure.py --flows     # and the files that each of four flows enters

FOLDER is a checkout of nearfold, this one by default, so that two can be compared. A door of a
package is a module that other packages import; use-cases that only commands, the API of the review
pages and the lazy names of the package root import do not count.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PARTICIPLES = re.compile(
    r"_?(?:[A-Z]\w*ed"
    r"|(?:[A-Z]\w*)?(?:Told|Made|Given|Found|Drawn|Seen|Lost|Kept|Held|Ran|Shown|Chosen|Written))$"
)
# Words with a private meaning, and what the field says instead (see docs/development.md).
PRIVATE_WORDS = (
    "place", "places", "least", "most", "fewest", "answer", "answers", "question", "questions",
    "reading", "readings", "share", "shares", "head", "heads", "lead", "leads", "shown", "side",
    "sides", "spell", "spells", "spelled", "screen", "hot", "survey", "figures", "letters", "signs",
    "beside", "sign", "signed", "signature", "told", "likeness",
)  # fmt: skip
PREPOSITIONS = "as|at|by|for|from|in|of|on|to|when|where|with"
FRAGMENTS = re.compile(
    rf"\A(?:what|whether|how|{PREPOSITIONS})\b|`[^`\n]+`:\s+(?:{PREPOSITIONS})\b", re.IGNORECASE
)
CODE_AND_ADDRESSES = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)\n]*\)|https?://\S+", re.DOTALL)
GENERATED_PAGES = {"api.md", "cli.md", "json.md"}
THOSE_OF = re.compile(r"\bthose\s+of\b", re.IGNORECASE)
TOKEN = re.compile(r"[A-Za-z][a-z]*|[A-Z]+(?![a-z])")
NOT_PACKAGES = {"cli", "__main__", "__init__", "indexer"}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
READ = (*COMPREHENSIONS, *DOCUMENTED, ast.Import, ast.ImportFrom)
COLUMNS = 100
PARAMETERS = 8


def _private_words(texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        words = map(str.lower, TOKEN.findall(text))
        counts.update(word for word in words if word in PRIVATE_WORDS)
        counts["those of"] += len(THOSE_OF.findall(text))
    return counts


def documentation_words(folder: Path) -> Counter[str]:
    """Count words with a private meaning in the prose of the documentation.

    Code, addresses of links and pages that tools write are left out.
    """
    pages = [*folder.glob("*.md"), *(folder / "docs").rglob("*.md")]
    return _private_words(
        CODE_AND_ADDRESSES.sub(" ", page.read_text(encoding="utf-8"))
        for page in pages
        if page.name not in GENERATED_PAGES
    )


class Package:
    """The modules below `FOLDER/indexer`, parsed, with the modules that each imports."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "indexer"
        self.files = sorted(self.root.rglob("*.py"))
        self.trees = {path: parsed(path) for path in self.files}
        self.names = {self.dotted(path): path for path in self.files}

    def dotted(self, path: Path) -> str:
        """Return the module's name, such as `indexer.stores.base`; a package has the name of its
        folder.
        """
        parts = path.relative_to(self.root.parent).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")

    @cache  # noqa: B019 (one package a run)
    def imports(self, name: str) -> frozenset[str]:
        """Return the modules of the package that a module imports, those inside functions and for
        types included.
        """
        return self._modules(name, self.walked(self.names[name]))

    @cache  # noqa: B019 (one package a run)
    def run_time_imports(self, name: str) -> frozenset[str]:
        """Return the modules of the package that are loaded with a module: those inside functions
        and under `if TYPE_CHECKING` are left out.
        """
        return self._modules(name, loaded(self.trees[self.names[name]]))

    def _modules(self, name: str, nodes: Iterable[ast.AST]) -> frozenset[str]:
        targets: set[str] = set()
        for node in nodes:
            targets.update(self._targets(node))
        return frozenset(targets - {name, "indexer"})

    def _targets(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in self.names)
        elif isinstance(node, ast.ImportFrom) and node.module in self.names:
            for alias in node.names:
                yield self.origin(node.module, alias.name)

    def origin(self, module: str, name: str) -> str:
        """Return the module that defines what a module has under a name: a module that only hands
        on what it imports is no door.
        """
        inner = f"{module}.{name}"
        if inner in self.names:
            return inner
        handed_on = self._handed_on(module).get(name)
        return self.origin(*handed_on) if handed_on else module

    @cache  # noqa: B019 (one package a run)
    def _handed_on(self, module: str) -> dict[str, tuple[str, str]]:
        """Return the module and the name behind each name that a module imports as a whole."""
        names = {}
        for node in loaded(self.trees[self.names[module]]):
            if isinstance(node, ast.ImportFrom) and node.module in self.names:
                names |= {
                    alias.asname or alias.name: (node.module, alias.name) for alias in node.names
                }
        return names

    def folder(self, name: str) -> str:
        """Return the folder of a module below `indexer`, or the module itself at the top."""
        return name.split(".")[1] if "." in name else name

    def doors(self) -> dict[str, dict[str, set[str]]]:
        """Return the doors of each package, each with the modules of other packages behind it."""
        users: dict[str, set[str]] = {}
        for name in self.names:
            for imported in self.imports(name):
                if self.folder(name) != self.folder(imported):
                    users.setdefault(imported, set()).add(name)
        doors: dict[str, dict[str, set[str]]] = {}
        for door, modules in sorted(users.items()):
            is_top = self.names[door].parent == self.root
            if not is_top and any(map(self._counts, modules)):
                doors.setdefault(self.folder(door), {})[door] = modules
        return doors

    def _counts(self, name: str) -> bool:
        return self.folder(name) not in NOT_PACKAGES and not name.startswith("indexer.review.api")

    def lines(self) -> dict[str, int]:
        """Return the number of lines of each module that holds more than a docstring."""
        return {
            name: line_count(path)
            for name, path in self.names.items()
            if len(self.trees[path].body) > 1
        }

    def private_words(self) -> Counter[str]:
        """Count words with a private meaning, in names and in prose."""
        return _private_words(path.read_text(encoding="utf-8") for path in self.files)

    def longest_chain(self) -> list[str]:
        """Return the longest chain of modules, each loading the next; ties by name."""

        @cache
        def longest(name: str) -> tuple[str, ...]:
            tails = (longest(imported) for imported in sorted(self.run_time_imports(name)))
            return (name, *max(tails, key=len, default=()))

        return list(
            max((longest(name) for name in sorted(self.names) if name != "indexer"), key=len)
        )

    def edges(self) -> Counter[tuple[str, str]]:
        """Count the imports that lead from one folder to another."""
        pairs: Counter[tuple[str, str]] = Counter()
        for name in self.names:
            if name == "indexer":
                continue
            for imported in self.imports(name):
                if self.folder(name) != self.folder(imported):
                    pairs[self.folder(name), self.folder(imported)] += 1
        return pairs

    @cache  # noqa: B019 (one package a run)
    def walked(self, path: Path) -> tuple[ast.AST, ...]:
        """Return every node of a module that structure is read from: no names and constants."""
        return tuple(node for node in ast.walk(self.trees[path]) if isinstance(node, READ))

    def nodes(self) -> Iterator[tuple[Path, ast.AST]]:
        """Yield every such node of every module."""
        for path in self.trees:
            for node in self.walked(path):
                yield path, node

    def classes(self) -> Iterator[tuple[Path, ast.ClassDef]]:
        """Yield every class."""
        for path, node in self.nodes():
            if isinstance(node, ast.ClassDef):
                yield path, node


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module, one for all who ask."""
    return ast.parse(path.read_text(encoding="utf-8"))


def line_count(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def loaded(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node that run when its module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from loaded(child)


def nested(package: Package) -> Iterator[str]:
    """Yield comprehensions that hold another one, as FILE:LINE."""
    for path, node in package.nodes():
        if isinstance(node, COMPREHENSIONS):
            inner = (inner_node for inner_node in ast.walk(node) if inner_node is not node)
            if any(isinstance(inner_node, COMPREHENSIONS) for inner_node in inner):
                yield place(package, path, node.lineno)


def participles(package: Package) -> Iterator[str]:
    """Yield classes that are named as participles, exceptions aside, as FILE:LINE NAME."""
    for path, node in package.classes():
        is_error = any(
            "Error" in ast.unparse(base) or "Exception" in ast.unparse(base) for base in node.bases
        )
        if PARTICIPLES.match(node.name) and not is_error:
            yield f"{place(package, path, node.lineno)} {node.name}"


def fragments(package: Package) -> Iterator[str]:
    """Yield docstrings that are no sentences by how they begin, or a note in them, as FILE:LINE."""
    for path, node in package.nodes():
        text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
        if FRAGMENTS.search(text or ""):
            yield place(package, path, getattr(node, "lineno", 1))


def long_lines(package: Package) -> Iterator[str]:
    """Lines over the limit, as FILE:LINE."""
    for path in package.files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if len(line) > COLUMNS:
                yield place(package, path, number)


def redefined(package: Package) -> Iterator[str]:
    """Yield names that a module assigns again, the former value lost, as FILE:LINE NAME."""
    for path in package.files:
        names: set[str] = set()
        for node in parsed(path).body:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else []
            for target in node.targets if isinstance(node, ast.Assign) else targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        if name.id in names:
                            yield f"{place(package, path, node.lineno)} {name.id}"
                        names.add(name.id)


def store_methods(package: Package) -> dict[str, int]:
    """Methods of the store interface and of the classes that implement it."""
    stores = {"Store", "EngineStore", "SqliteStore"}
    counted = {}
    for _, node in package.classes():
        if node.name in stores:
            counted[node.name] = sum(isinstance(part, ast.FunctionDef) for part in node.body)
    return counted


def hit_classes(package: Package) -> list[str]:
    """Return the classes that are a hit of a search, by name."""
    pattern = re.compile(r"_?([A-Z][a-z]+)?Hits?([A-Z]\w+)?$")
    return sorted({node.name for _, node in package.classes() if pattern.match(node.name)})


def long_signatures(package: Package) -> Iterator[str]:
    """Yield functions with more parameters than `PARAMETERS`, as FILE:LINE NAME.

    Commands are left out: click hands each option over by its name.
    """
    for number, name in most_parameters(package):
        if number > PARAMETERS and not name.endswith("_command"):
            yield name


def most_parameters(package: Package) -> list[tuple[int, str]]:
    """The ten functions with the most parameters."""
    counted = []
    for path, node in package.nodes():
        if isinstance(node, ast.FunctionDef):
            every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            counted.append((len(every), path, node.lineno, node.name))
    most = sorted(counted, reverse=True)[:10]
    return [(count, f"{place(package, path, line)} {name}") for count, path, line, name in most]


def place(package: Package, path: Path, line: int) -> str:
    """FILE:LINE below the package's folder."""
    return f"{path.relative_to(package.root).as_posix()}:{line}"


def flow_counts() -> dict[str, tuple[int, int]]:
    """Return the files and functions that each flow enters, traced in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("flows.py")), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {
        flow: (counts["files"], counts["functions"])
        for flow, counts in json.loads(done.stdout).items()
    }


def report(package: Package, details: bool) -> Iterator[str]:
    """The figures, a line each; with `details` the places too."""
    top = [path for path in package.files if path.parent == package.root]
    lines = sum(map(line_count, package.files))
    chain, edges = package.longest_chain(), package.edges()
    sizes = sorted(package.lines().values())
    yield f"modules                                   {len(sizes)}"
    yield f"lines of a module, median and largest     {sizes[len(sizes) // 2]}, {sizes[-1]}"
    for name, doors in sorted(package.doors().items()):
        yield f"{'doors of ' + name:<41} {len(doors)}"
        if details:
            yield from (f"    {door}  {' '.join(sorted(users))}" for door, users in doors.items())
    pages = documentation_words(package.root.parent)
    for words, where in ((package.private_words(), ""), (pages, ", documentation")):
        common = ", ".join(f"{word} {number}" for word, number in words.most_common(12))
        yield f"{'words with a private meaning' + where:<41} {words.total()} ({common} ...)"
    yield f"{'classes of a hit':<41} {len(hit_classes(package))}"
    yield f"modules at the top (with __main__)        {len(top) - 1} (and __init__)"
    yield f"lines of code                             {lines}"
    for name, suffix in (("tests", "py"), ("benchmarks", "py"), ("docs", "md")):
        files = (package.root.parent / name).rglob(f"*.{suffix}")
        yield f"{'lines of ' + name:<41} {sum(map(line_count, files))}"
    yield f"edges between folders                     {len(edges)} ({sum(edges.values())} imports)"
    yield f"longest chain of imports                  {len(chain)}"
    yield f"store interface, methods                  {store_methods(package)}"
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        (f"lines over {COLUMNS} columns", long_lines(package)),
        ("nested comprehensions", nested(package)),
        ("classes named as participles", participles(package)),
        ("docstrings that are fragments", fragments(package)),
    )
    for title, places in sections:
        listing = list(places)
        yield f"{title:<41} {len(listing)}"
        if details:
            yield from (f"    {entry}" for entry in listing)
    yield "most parameters"
    yield from (f"    {number:>2}  {name}" for number, name in most_parameters(package))
    if details:
        yield "longest chain: " + " -> ".join(chain)
        yield from (
            f"    {source} -> {target}  {number}"
            for (source, target), number in edges.most_common()
        )


def main(arguments: list[str]) -> int:
    """Print the figures of a checkout."""
    details = "--details" in arguments
    folders = [argument for argument in arguments if not argument.startswith("--")]
    folder = Path(folders[0]) if folders else Path(__file__).resolve().parent.parent
    print("\n".join(report(Package(folder), details)))
    if "--flows" in arguments:
        print("files and functions entered")
        for flow, (files, functions) in flow_counts().items():
            print(f"    {flow:<37} {files}, {functions}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
