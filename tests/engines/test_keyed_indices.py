"""An index of a search engine whose recipe has a secret key: what is found and grouped, and what is
refused without the key.
"""

import json
import secrets

import pytest
from pipelines import call
from sample_library import edited, sentence

from indexer.cli import main
from indexer.stores import open_store

SECRET, OTHER = secrets.token_hex(16), secrets.token_hex(16)
FAMILY = sentence(1, 400)
pytestmark = pytest.mark.engines


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write three near duplicates, and three unrelated texts."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NEARFOLD_KEY_LEGAL", SECRET)
    place = tmp_path / "papers"
    place.mkdir()
    for number in range(3):
        (place / f"copy{number}.txt").write_text(
            edited(FAMILY, number * 20, "changed") if number else FAMILY
        )
        (place / f"other{number}.txt").write_text(sentence(50 + number, 60))
    return place


@pytest.fixture
def run_command(capsys):
    """Return a function that runs a command: its exit code, and its JSON lines or error."""

    def run(*words):
        code = main.run([*map(str, words)])
        out, err = capsys.readouterr()
        assert SECRET not in out + err
        return code, [json.loads(line) for line in out.splitlines()] if code in (0, 1) else err

    return run


def command_results(run_command, folder, url, recipe="default+key:legal"):
    """Return the results of the commands on a store of the folder."""
    code, [account] = run_command("index", folder, "--recipe", recipe, "--store", url, "--json")
    assert (code, account["indexed"]) == (0, 6), account
    store = open_store(url)
    store.refresh()
    code, [alike] = run_command("similar", folder / "copy0.txt", "--store", url, "--json")
    code, [hits] = run_command("search", FAMILY.split()[0], "--store", url, "--json")
    code, pairs = run_command("match", "--format", "jsonl", "--store", url)
    code, [grouped] = run_command("group", "--store", url, "--json")
    rows = sorted(
        (row.path, row.bands, row.blocks, row.minhash, row.family, row.principal)
        for row in store.scan()
    )
    store.close()
    return alike, hits, sorted(pairs, key=str), grouped["families"], rows


def names(answer):
    return [answer["path"], *sorted(member["path"] for member in answer.get("members", ()))]


@pytest.mark.parametrize("recipe", ["default_v1+key:legal", "default_v2+key:legal"])
def test_everything_works_as_on_an_embedded_store_and_the_cluster_never_has_the_key(
    server, engine, stores, folder, run_command, tmp_path, recipe
):
    store, index = stores(engine, server)
    embedded, on_engine = (
        command_results(run_command, folder, url, recipe)
        for url in (f"sqlite:///{tmp_path}/here.db", store.url)
    )
    assert on_engine[2:] == embedded[2:] and len(embedded[2]) == 3
    assert {match["path"] for match in on_engine[0]["matches"]} == {
        match["path"] for match in embedded[0]["matches"]
    }
    assert len(embedded[0]["matches"]) == 2
    assert [names(hit) for hit in on_engine[1]["hits"]] == [
        names(hit) for hit in embedded[1]["hits"]
    ]
    cluster_contents = json.dumps(
        [call("GET", f"{server}/{index}"), call("GET", f"{server}/{index}/_search?size=20")]
    )
    assert SECRET not in cluster_contents and store.stored_recipe().key in cluster_contents


def test_without_the_key_and_with_another(opensearch_index, folder, run_command, monkeypatch):
    store, _, _ = opensearch_index
    url = store.url
    command_results(run_command, folder, url)
    monkeypatch.delenv("NEARFOLD_KEY_LEGAL")
    (folder / "late.txt").write_text(sentence(90, 60))
    for words in (("index", folder), ("similar", folder / "copy0.txt")):
        code, output = run_command(*words, "--store", url)
        assert code == 2 and "NEARFOLD_KEY_LEGAL_FILE" in output, output
    assert run_command("search", FAMILY.split()[0], "--store", url, "--json")[0] == 0
    assert run_command("group", "--store", url, "--json")[1][0]["families"] == 1
    assert len(run_command("match", "--format", "jsonl", "--store", url)[1]) == 3
    monkeypatch.setenv("NEARFOLD_KEY_LEGAL", OTHER)
    for words in (("index", folder), ("similar", folder / "copy0.txt"), ("search", "x")):
        code, output = run_command(*words, "--store", url)
        assert code == 2 and "fingerprint" in output and OTHER not in output, output
