"""Write docs/json.md from what the commands print with --json on the examples.

python tools/json_reference.py
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.cli.main import run

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "json.md"
HEAD = """# JSON of the commands

Written by `tools/json_reference.py` from what each command prints with `--json`; a test keeps it
true. It is one object, or for lists one object a line
([the rules of output](commands.md#stores-and-output)).

| name | means |
|---|---|
| `id`, `a`, `b`, `of`, `family`, `principal` | the id of a stored document |
| `path`, `a_path`, `b_path` | the whole path of a document, empty for one without |
| `similarity`, `measure` | a number from 0 to 1, and the [measure](measures.md) that it is by |
| `low`, `high` | the 95 % interval of an estimate; of an exact measure both are the measure |
| `shared[].a`, `shared[].b` | where a shared passage begins and ends in both texts, in characters |
| `as_read` | a text was cut, so that more may differ |
| `notes`, `error` | sentences for people, which may change |
| `manifest` | [settings, versions and counts of a run](families.md#manifest) |
| `precision`, `recall`, `agreement` | a ratio with its intervals ([evaluation](evaluation.md)) |

`[]` stands for each item of an array, `.*` for each value of an object whose names are data. A
field that a command leaves out at times, such as `snippet`, is in its table. New fields may come.

## On stderr

| object | when |
|---|---|
| `{"error", "kind", "exit_code"}` | the command ended with an error, of this class |
| `{"error", "kind", "exit_code", "report"}` | an internal error, with the calls that led to it |
| `{"failed": [{"path", "error"}]}` | files failed, and the others are done |
| `{"note"}` | something to know |
| `{"stage", "done", "total", "result"}` | progress, every ten seconds |
"""
# Objects whose names are data, such as labels, and objects that another page describes.
MAPS = {
    "by_content_type", "by_distance", "by_status", "content_types", "counts", "excluded",
    "guessed_encodings", "into", "kinds", "labels", "metadata", "passed", "skipped", "status",
    "statuses", "types", "unique", "online",
}  # fmt: skip
OPAQUE = {"manifest", "settings", "precision", "recall", "agreement"}
GOLD = "a,b,type\nexamples/ferry-press-release.txt,examples/ferry-web-page.html,exact\n"
GOLD += "examples/supply-agreement.txt,examples/ferienordnung.txt,different\n"
MAIL = "From: ann@example.org\nMessage-ID: <{0}@x>\n{1}Subject: Ferry\n\n{2}\n"
QUOTE = "The ferry leaves at eight in the morning and comes back at six."
LISTS = {
    "consistency", "duplicates", "families", "hash", "label --history", "match", "passages",
    "status --failures", "status --jobs", "threads",
}  # fmt: skip
# What is run, in this order, on one store whose ids are the same each time; after `:` is a title.
COMMANDS = """
index examples damaged.docx --namespace library
search agreement
search agreement --fold family --facet content_type: search --facet
search ferry --fold types: search --fold types
similar examples/ferry-web-page.html
check examples/ferry-web-page.html
show examples/supply-agreement.txt
compare examples/ferry-press-release.txt examples/ferry-news-evening-edition.txt
compare examples/services-agreement-2024.txt examples/supply-agreement.txt
group
group --threshold 0.99
group --consistency
show examples/ferry-press-release.txt --near: show --near
hash examples/ferry-press-release.txt
hash examples/ferry-press-release.txt --recipe clauses --statistics examples
match
match --explain: match --explain
match --contained: match --contained
families
families --explain: families --explain
label examples/ferry-press-release.txt --label hot --family
label examples/supply-agreement.txt --label cold
label --undo 1: label --undo
label examples/ferry-press-release.txt --label hot
label --from labels.csv: label --from
label --history: label --history
consistency
passages --min 2 --words 8
versions examples/services-agreement-2024.txt
threads mails
duplicates files
duplicates files --move moved
duplicates files --undo: duplicates --undo
dedup texts.jsonl --dry-run
dedup texts.jsonl --out clean.jsonl
export --out groups.csv
export --what batches --reviewers A,B --out batches.csv
evaluate gold.csv
synth examples --out synthetic --no-programs
study examples --out study
tune gold.csv --out tuned --recipe default --workers 1
plan
status
status --failures: status --failures
status --jobs: status --jobs
doctor
doctor --repair: doctor --repair
backup copy.db
restore copy.db --replace
reindex --recipe default_v2 --dry-run: install, uninstall, reindex --dry-run
reindex --recipe default_v2
delete examples/ferry-press-release.txt nobody
"""


def page() -> str:
    """Return the whole page."""
    fields: dict[str, dict[str, set[str]]] = {}
    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder)):
        _make_input(Path(folder))
        for line in COMMANDS.strip().splitlines():
            command, _, title = line.partition(": ")
            name = title or command.split()[0]
            values = _printed(command.split())
            if name == "show":
                Path("labels.csv").write_text(f"id,Labels\n{values[0]['id']},other\n")
            for value in values:
                _add(fields.setdefault(name, {}), "", value)
    sections = [HEAD]
    for name, types in sorted(fields.items()):
        rows = [f"| `{field}` | {', '.join(sorted(types[field]))} |" for field in types]
        is_list = name in LISTS or name.split()[0] in ("families", "match")
        count = "\nOne object a line.\n" if is_list else ""
        sections.append(
            "\n".join([f"## {name}", count, "| field | type |", "|---|---|", *rows, ""])
        )
    return "\n".join(sections)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Run commands in a folder, with a store and state of its own."""
    before, environment = Path.cwd(), dict(os.environ)
    os.environ.update(NEARFOLD_STORE=f"sqlite:///{folder}/nearfold.db", XDG_STATE_HOME=str(folder))
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def _make_input(folder: Path) -> None:
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "damaged.docx").write_bytes(b"PK\3\4 damaged")
    (folder / "gold.csv").write_text(GOLD)
    for name in ("mails", "files"):
        (folder / name).mkdir()
    (folder / "mails" / "1.eml").write_text(MAIL.format(1, "", QUOTE))
    answer = MAIL.format(2, "In-Reply-To: <1@x>\n", f"Thanks.\n\n> {QUOTE}")
    (folder / "mails" / "2.eml").write_text(answer)
    for name in ("a", "b"):
        (folder / "files" / f"{name}.bin").write_bytes(b"the same")
    texts = [{"text": QUOTE}, {"text": QUOTE.upper()}]
    (folder / "texts.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))


def _printed(words: list[str]) -> list[Any]:
    """Return the JSON documents that a command prints."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = run([*words, "--json"])
    if code not in (0, 1, 3) or not out.getvalue():
        raise SystemExit(f"{' '.join(words)}: exit {code}\n{errors.getvalue()}")
    return [json.loads(line) for line in out.getvalue().splitlines()]


def _add(fields: dict[str, set[str]], name: str, value: object) -> None:
    """Add the fields of a value, by their names with dots, and their types."""
    if name:
        fields.setdefault(name, set()).add(_type(value))
    last = name.rpartition(".")[2].removesuffix("[]")
    if isinstance(value, dict) and last not in OPAQUE:
        for key, inner in value.items():
            part = "*" if last in MAPS else key
            _add(fields, f"{name}.{part}" if name else part, inner)
    elif isinstance(value, list):
        for inner in value:
            _add(fields, f"{name}[]", inner)


def _type(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object"}
    return "null" if value is None else names.get(type(value), "array")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
