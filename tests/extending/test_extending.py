"""The command, export column, endpoint and page that CONTRIBUTING.md says to copy."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import folder
import jsonschema
import longest
import pytest
import words
from jinja2 import ChoiceLoader, FileSystemLoader

from indexer.cli import main
from indexer.errors import UsageError
from indexer.recipe import DEFAULT
from indexer.review.api.openapi import as_json, describe_api
from indexer.review.exports.columns import DocumentRecord, load_file_columns
from indexer.review.rendering import environment
from indexer.review.site import Site
from indexer.stores import open_store
from tests.sample_rows import row

FOLDER = Path(__file__).parent


def test_each_example_is_named_where_newcomers_look() -> None:
    guide = (FOLDER.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    examples = {path.name for path in FOLDER.glob("*.py")} - {
        path.name for path in FOLDER.glob("test_*.py")
    }
    assert {name for name in examples if f"(tests/extending/{name})" not in guide} == set()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of a store of two documents."""
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    store.prepare(DEFAULT)
    store.write(
        [replace(row(id), path=f"/papers/{id}.txt", words=number) for id, number in SIZES.items()]
    )
    store.refresh()
    store.close()
    return url


SIZES = {"short": 3, "long": 40}


def test_the_command_is_listed_and_runs(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "COMMANDS", {**main.COMMANDS, **words.COMMAND})
    monkeypatch.setitem(sys.modules, "indexer.cli.words", words)
    assert main.run(["--help"]) == 0
    assert "words        Count the words of all documents." in capsys.readouterr().out
    assert main.run(["words", "--store", url]) == 0
    assert capsys.readouterr().out == "43 words\n"
    assert main.run(["words", "--json", "--store", url]) == 0
    assert json.loads(capsys.readouterr().out) == {"words": 43}


def test_the_column_is_in_tables_and_load_files() -> None:
    record = DocumentRecord(replace(row("a"), path="/papers/a.txt"), 1, None)
    assert folder.FOLDER.value(record) == "/papers"
    [of_load_file] = load_file_columns((folder.FOLDER,))
    assert (of_load_file.name, of_load_file.value(record)) == ("FileFolder", "/papers")


def test_the_endpoint_parses_answers_and_is_described(url: str) -> None:
    store = open_store(url)
    site = Site(store)
    values = longest.PAGE.values(site, longest.READS, {"limit": ["1"], "unknown": ["x"]})
    assert values["parameters"] == {"limit": 1}
    assert [document.path for document in values["longest"].documents] == ["/papers/long.txt"]
    with pytest.raises(UsageError, match="limit must be a number from 1 to 100, not '0'"):
        longest.PAGE.values(site, longest.READS, {"limit": ["0"]})
    described = describe_api("0", longest.READS, {})
    [parameter] = described["paths"]["/longest"]["get"]["parameters"]
    assert parameter["schema"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}
    schema = {"$ref": "#/components/schemas/Longest", "components": described["components"]}
    jsonschema.Draft202012Validator(schema).validate(
        json.loads(json.dumps(as_json(values["longest"])))
    )
    store.close()


def test_the_template_shows_the_response(url: str) -> None:
    store = open_store(url)
    values = longest.PAGE.values(Site(store), longest.READS, {})
    store.close()
    templates = environment()
    assert templates.loader
    templates.loader = ChoiceLoader([FileSystemLoader(FOLDER), templates.loader])
    blocks = templates.get_template("longest.html").blocks
    context = templates.get_template("longest.html").new_context(values)
    assert "/papers/long.txt (40 words)" in "".join(blocks["main"](context))
