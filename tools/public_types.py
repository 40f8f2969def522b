"""Write `indexer/__init__.pyi`: the public names with their types, for type checkers.

    python3 tools/public_types.py [--check]

Each public function that takes a `store` takes the URL of one, too: the package root opens it and
closes it in the end, so the stub says `store: FullStore | str`. All other names are those of the
modules that define them. With `--check` nothing is written; the exit code is 1 if the file differs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "indexer"
STUB = PACKAGE / "__init__.pyi"
STORE = "store"
HEAD = '"""The public names of nearfold. Written by tools/public_types.py."""\n\n'
Function = ast.FunctionDef


def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    path = ROOT.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def homes() -> dict[str, str]:
    """Return the module of each public name, as the package root has them."""
    for node in parsed("indexer").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            found: dict[str, str] = ast.literal_eval(node.value)
            return dict(sorted(found.items()))
    raise SystemExit("indexer/__init__.py has no _HOMES; adapt tools/public_types.py")


def definitions(tree: ast.Module, name: str) -> list[Function]:
    """Return the definitions of a function: its overloads, or the one that there is."""
    found = [node for node in tree.body if isinstance(node, Function) and node.name == name]
    overloads = [node for node in found if "overload" in map(ast.unparse, node.decorator_list)]
    return overloads or found


def takes_store(function: Function) -> bool:
    """Return whether a function has a parameter for a store."""
    return any(argument.arg == STORE for argument in parameters(function))


def parameters(function: Function) -> list[ast.arg]:
    """Return the parameters of a function that have names."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def imported(tree: ast.Module, module: str) -> dict[str, str]:
    """Return the statement that imports each name that the annotations of a module can use."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                bound = alias.asname or alias.name
                names[bound] = f"from {node.module} import {ast.unparse(alias)}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name] = f"import {ast.unparse(alias)}"
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names[node.name] = f"from {module} import {node.name}"
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                names[ast.unparse(target)] = f"from {module} import {ast.unparse(target)}"
    return names


def signature(function: Function) -> Function:
    """Return a function without its body, whose store may be a URL."""
    for argument in parameters(function):
        if argument.arg == STORE and argument.annotation:
            argument.annotation = ast.parse(
                f"{ast.unparse(argument.annotation)} | str", mode="eval"
            ).body
    ellipsis = ast.Constant(...)
    function.args.defaults = [ellipsis for _ in function.args.defaults]
    function.args.kw_defaults = [default and ellipsis for default in function.args.kw_defaults]
    function.body = [ast.Expr(ellipsis)]
    function.decorator_list = [
        decorator for decorator in function.decorator_list if ast.unparse(decorator) == "overload"
    ]
    return function


def annotations(function: Function) -> Iterator[str]:
    """Yield the names that the types of a signature use."""
    types = [argument.annotation for argument in parameters(function)]
    for annotation in (*types, function.returns):
        for node in ast.walk(annotation) if annotation else ():
            if isinstance(node, ast.Name):
                yield node.id


def stub() -> str:
    """Return the text of the stub."""
    imports: set[str] = set()
    functions: list[str] = []
    for name, module in homes().items():
        tree = parsed(module)
        found = definitions(tree, name)
        if not any(map(takes_store, found)):
            imports.add(f"from {module} import {name} as {name}")
            continue
        known = imported(tree, module)
        for function in map(signature, found):
            imports.update(known[used] for used in annotations(function) if used in known)
            if function.decorator_list:
                imports.add("from typing import overload")
            functions.append(ast.unparse(function).replace(":\n    ...", ": ..."))
    public = ", ".join(f'"{name}"' for name in homes())
    plain = {line for line in imports if f"{line} as {line.split()[-1]}" not in imports}
    lines = [*sorted(plain), "", f"__all__ = [{public}]", "", *functions, ""]
    return HEAD + "\n".join(lines)


def formatted(text: str) -> str:
    """Return the text as ruff formats it, with its imports in order."""
    import subprocess

    ruff = [sys.executable, "-m", "ruff"]
    name = ["--stdin-filename", str(STUB), "-"]
    rules = ["--select", "I,PYI,UP,RUF", "--ignore", "PYI021"]
    checked = [*ruff, "check", "--quiet", "--fix", "--exit-zero", *rules, *name]
    for command in (checked, [*ruff, "format", "--quiet", *name]):
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return text


def main(arguments: list[str]) -> int:
    """Write the stub, or check it."""
    text = formatted(stub())
    if "--check" not in arguments:
        STUB.write_text(text, encoding="utf-8")
        return 0
    return int(not STUB.exists() or STUB.read_text(encoding="utf-8") != text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
