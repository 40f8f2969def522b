"""Matching, grouping and deleting by the command line, on the embedded store and on an engine."""

import csv
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.command import ROOT, outcome, run, run_json

from indexer.stores import open_store
from indexer.system.release import source_digest

EXAMPLES = ROOT / "examples"
SHARES = ["similarity", "low", "high"]
SIDES = ["a_path", "b_path"]
COLUMNS = ["a", "b", "a_path", "b_path", "similarity", "measure", "low", "high", "as_read"]


@pytest.fixture
def store(copy_examples_to: Callable[[Path], str], tmp_path: Path) -> str:
    url = copy_examples_to(tmp_path / "index.db")
    run("index", EXAMPLES, "--label", "known", store=url)
    return url


@pytest.fixture
def engine(opensearch_url: str) -> Iterator[str]:
    url = f"{opensearch_url.replace('http', 'opensearch', 1)}/nearfold-test-{secrets.token_hex(4)}"
    run("index", EXAMPLES, "--label", "known", store=url)
    yield url
    store_in_engine = open_store(url)
    store_in_engine.delete([row.id for row in store_in_engine.scan()])
    store_in_engine.close()


def names(pairs: list[dict[str, object]]) -> set[tuple[str, str]]:
    return {tuple(sorted(Path(str(pair[f"{side}_path"])).name for side in "ab")) for pair in pairs}


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def text_value(pair: dict[str, Any]) -> str:
    mark = "~" if pair["measure"] == "estimate" else ""
    return f"{mark}{pair['similarity']:.3f}"


def test_every_format_has_the_same_pairs(store: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    words = ["match", "--threshold", "0.5"]
    pairs = lines(run(*words, "--format", "jsonl", store=store))
    assert pairs == lines(run(*words, "--json", store=store)) and all(
        list(pair) == COLUMNS for pair in pairs
    )
    assert len({frozenset((record["a"], record["b"])) for record in pairs}) == len(pairs)
    text = [line.split("\t") for line in run(*words, store=store).splitlines()]
    paths = [[str(Path(pair[side]).relative_to(Path.cwd())) for side in SIDES] for pair in pairs]
    assert text == [[text_value(pair), *both] for pair, both in zip(pairs, paths, strict=True)]
    ids = [line.split("\t")[1:] for line in run(*words, "--ids", store=store).splitlines()]
    assert ids == [[pair["a"], pair["b"]] for pair in pairs]
    by_jaccard = lines(run(*words, "--measure", "jaccard", "--json", store=store))
    similarities = [pair["similarity"] for pair in by_jaccard]
    assert similarities == sorted(similarities, reverse=True)
    assert lines(run(*words, "--json", "--limit", "2", store=store)) == pairs[:2]
    table = list(csv.DictReader(run(*words, "--format", "csv", store=store).splitlines()))
    values = [{name: json.loads(row[name]) for name in (*SHARES, "as_read")} for row in table]
    assert [row | read for row, read in zip(table, values, strict=True)] == pairs
    run(*words, "--format", "parquet", "--out", tmp_path / "pairs.parquet", store=store)
    stored = parquet.read_table(tmp_path / "pairs.parquet").to_pylist()
    assert sorted(stored, key=str) == sorted(pairs, key=str)


def test_pairs_that_a_cap_may_hide_are_reported(tmp_path: Path) -> None:
    folder, url = tmp_path / "forms", f"sqlite:///{tmp_path}/index.db"
    folder.mkdir()
    form = (
        "The applicant declares that all statements made above are complete and true "
        "to the best of their knowledge. " * 3
    )
    for number in range(12):
        (folder / f"{number}.txt").write_text(
            f"{form} Signed by applicant number {number}.", encoding="utf-8"
        )
    run("index", folder, store=url)
    words = outcome("match", "--cap", "4", "--memory", "1", store=url)
    assert "frequent bands" in words.stderr and "are left out" in words.stderr
    summary = json.loads(outcome("match", "--cap", "4", "--json", store=url).stderr)
    missed = summary["capped"]["missed"]
    assert summary["pairs"] < 66 and missed["low"] <= 66 - summary["pairs"] <= missed["high"]
    assert (
        run_json("group", "--cap", "4", "--dry-run", "--memory", "1", store=url)["capped"]["keys"]
        > 0
    )


def test_a_quoting_reply_has_containment_in_both_directions(store: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    mail = (EXAMPLES / "ferry-press-release.txt").read_text(encoding="utf-8")
    reply = tmp_path / "reply.txt"
    reply.write_text(
        "Agreed.\n" + "".join(f"> {line}\n" for line in [*mail.splitlines(), mail[::-1]]),
        encoding="utf-8",
    )
    run("index", reply, store=store)
    words = ["match", "--contained", "--threshold", "0.9"]
    pairs = {
        Path(str(pair["a_path"])).name + " " + Path(str(pair["b_path"])).name: pair
        for pair in lines(run(*words, "--json", store=store))
    }
    [(names_, pair)] = [
        (key, record) for key, record in pairs.items() if "reply" in key and "press" in key
    ]
    quoted, contained = sorted(pair["containment"])  # type: ignore[type-var, arg-type]
    assert (
        0.4 < quoted < 0.6
        and contained == pair["similarity"] == 1.0
        and pair["measure"] == "passages"
    )
    assert pair["containment"] == (
        [contained, quoted] if names_.startswith("ferry") else [quoted, contained]
    )
    table = list(csv.DictReader(run(*words, "--format", "csv", store=store).splitlines()))
    assert [[float(row["a_in_b"]), float(row["b_in_a"])] for row in table] == [
        record["containment"] for record in pairs.values()
    ]
    run(*words, "--format", "parquet", "--out", tmp_path / "pairs.parquet", store=store)
    rows = parquet.read_table(tmp_path / "pairs.parquet").to_pylist()
    assert sorted([row["a_in_b"], row["b_in_a"]] for row in rows) == sorted(
        record["containment"] for record in pairs.values()
    )


def test_lines_in_the_manner_of_copietje(store: str) -> None:
    process = outcome("match", "--format", "copietje", store=store)
    duplicates = {
        line.split("  # ")[0]: line.split("  # ")[1] for line in process.stdout.splitlines()
    }
    assert (
        duplicates[str(EXAMPLES / "supply-agreement.txt")]
        == f"max 1.000 matches {EXAMPLES}/supply-agreement-scan.pdf"
    )
    assert "26 bands x 4 rows" in process.stderr


def test_the_complete_mode_agrees_with_similar(store: str) -> None:
    pairs = lines(run("match", "--complete", "--threshold", "0.8", "--ids", "--json", store=store))
    ids = {pair["a"] for pair in pairs} | {pair["b"] for pair in pairs}
    for id in ids:
        similar = {
            match["id"]: match["similarity"]
            for match in run_json("similar", "--id", id, store=store)["matches"]
        }
        assert similar == {
            pair["b"] if pair["a"] == id else pair["a"]: pair["similarity"]
            for pair in pairs
            if id in (pair["a"], pair["b"])
        }


def test_what_came_later_against_what_is_labelled(store: str, tmp_path: Path) -> None:
    run("group", store=store)
    late = tmp_path / "late.txt"
    late.write_text(
        (EXAMPLES / "ferry-press-release.txt").read_text(encoding="utf-8") + "\nSeen and approved."
    )
    run("index", late, store=store)
    against = lines(run("match", "--against", "known", "--json", store=store))
    assert {pair["a_path"] for pair in against} == {str(late)} and len(against) == 3
    assert names(lines(run("match", "--new", "--json", store=store))) == names(against)
    [family] = run_json("group", store=store)["inconsistent"]
    assert (family["documents"], family["labels"], family["unlabelled"]) == (4, {"known": 3}, 1)
    assert "known 3, none 1" in run("group", "--consistency", store=store)


def test_families_fold_a_search(store: str) -> None:
    arrived = run_json("search", "agreement", "--fold", "family", store=store)
    assert sorted(len(hit["folded"]) for hit in arrived["hits"]) == [0, 1, 2]
    assert run_json("group", "--dry-run", store=store)["families"] == 3
    answer = run_json("group", store=store)
    assert (
        answer["documents"],
        answer["families"],
        answer["largest"],
        answer["singletons"],
        answer["clusters"],
    ) == (12, 3, 3, 4, 3)
    assert answer["provisional"] == answer["changed"] == 12
    assert (answer["provisional_families"], answer["moved"]) == (3, [])
    assert run_json("group", store=store)["changed"] == 0
    folded = run_json("search", "agreement", "--fold", "family", store=store)
    assert sorted(len(hit["folded"]) for hit in folded["hits"]) == [0, 1, 2]
    assert run_json("status", store=store)["families"] == 7


def test_families_are_listed(store: str) -> None:
    text = run("group", "--dry-run", store=store)
    assert "12 documents had a provisional group, which would become final" in text
    assert "12 rows would be changed" in text
    assert "nothing was written" in text
    assert "moved" not in text
    assert "group --dry-run  done" in run("status", "--jobs", store=store)
    run("group", store=store)
    lines = [json.loads(line) for line in run("families", "--json", store=store).splitlines()]
    assert [family["size"] for family in lines] == [3, 3, 2]
    for family in lines:
        first, *others = family["members"]
        assert (first["id"], first["similarity"]) == (family["principal"], 1.0)
        assert all(0.8 <= member["similarity"] <= 1 for member in others)
        assert family["size"] == 1 + len(others)
    listing = run("families", "--min", "3", store=store)
    assert listing.startswith("3 documents  ") and listing.endswith("\n2 near-duplicate groups\n")
    run("families", "--label", "none", store=store, code=2)
    ferry = EXAMPLES / "ferry-press-release.txt"
    assert "ferry-web-page.html" in run("families", "--path", ferry, store=store)
    run("families", "--min", "0", store=store, code=2)


def test_a_deleted_principal_is_replaced(store: str) -> None:
    run("group", store=store)
    store_on_disk = open_store(store)
    principal = next(
        row.id
        for row in store_on_disk.scan()
        if row.principal and row.path.endswith(("draft-agreement.eml", "2024.txt", "signed.docx"))
    )
    answer = run_json("delete", principal, "nobody", store=store, code=3)
    assert (answer["deleted"], answer["absent"]) == ([principal], ["nobody"])
    [repaired] = answer["repaired"]
    assert repaired["family"] == principal and sum(repaired["into"].values()) == 2
    assert principal not in {row.family for row in store_on_disk.scan()}
    store_on_disk.close()


def test_pruning_replaces_a_principal_too(tmp_path: Path) -> None:
    folder, url = tmp_path / "docs", f"sqlite:///{tmp_path}/index.db"
    folder.mkdir()
    text = (EXAMPLES / "ferry-press-release.txt").read_text(encoding="utf-8")
    for name, ending in (("a", " And the longest ending of all."), ("b", " An ending."), ("c", "")):
        (folder / f"{name}.txt").write_text(text + ending, encoding="utf-8")
    run("index", folder, store=url)
    run("group", "--principal", "longest", store=url)
    (folder / "a.txt").unlink()
    assert run_json("index", folder, "--prune", store=url)["removed"] == 1
    store_on_disk = open_store(url)
    rows = {Path(row.path).stem: row for row in store_on_disk.scan()}
    store_on_disk.close()
    assert rows.keys() == {"b", "c"} and rows["b"].family == rows["c"].family == rows["b"].id


def test_wrong_arguments_are_refused_with_a_remedy(store: str) -> None:
    for words, code, sentence in (
        (["match", "--format", "parquet"], 2, "--out"),
        (["match", "--complete", "--measure", "overlap"], 2, "jaccard or lcs"),
        (["group", "--threshold", "0"], 2, "threshold"),
        (["match", "--store", "sqlite:///absent.db"], 3, "nearfold index"),
        (["delete"], 2, "ID"),
    ):
        process = outcome(*words, store=store)
        assert (process.returncode, sentence in process.stderr, "Traceback" in process.stderr) == (
            code,
            True,
            False,
        ), process.stderr


def test_an_engine_groups_like_the_embedded_store(engine: str, store: str) -> None:
    answers = [run_json("group", store=url) for url in (engine, store)]
    assert answers[0] == answers[1]
    rows = []
    for url in (engine, store):
        store_at_url = open_store(url)
        rows.append(
            {
                row.id: (row.family, row.principal, row.similarity, row.cluster, row.provisional)
                for row in store_at_url.scan()
            }
        )
        store_at_url.close()
    assert (
        rows[0] == rows[1] and max(Counter(family for family, *_ in rows[0].values()).values()) == 3
    )
    assert run_json("group", store=engine)["changed"] == 0
    pairs = [run("match", "--json", store=url) for url in (engine, store)]
    assert pairs[0] == pairs[1] and pairs[0]
    folded = run_json("search", "agreement", "--fold", "family", store=engine)
    assert sorted(len(hit["folded"]) for hit in folded["hits"]) == [0, 1, 2]
    principal = next(family for family, principal, *_ in rows[0].values() if principal)
    assert run_json("delete", principal, store=engine)["deleted"] == [principal]


def test_a_manifest_says_what_a_run_was_made_with(store: str, tmp_path: Path) -> None:
    out = tmp_path / "pairs.txt"
    run("match", "--out", out, store=store)
    manifest = json.loads((tmp_path / "pairs.txt.manifest.json").read_text())
    assert manifest["command"] == "match" and manifest["recipe"]["name"] == "default_v3"
    assert manifest["settings"]["measure"] == "lcs" and manifest["settings"]["threshold"] == 0.8
    assert manifest["versions"]["source"] == source_digest()
    planned = run_json("plan", store=store)
    assert {name: planned[name] for name in manifest["layout"]} == manifest["layout"]
    assert manifest["counts"]["pairs"] == len(out.read_text().splitlines())
    summary = json.loads(outcome("match", "--json", store=store).stderr)
    assert summary["manifest"] == manifest
    grouped = run_json("group", store=store)["manifest"]
    assert (grouped["command"], grouped["counts"]["documents"]) == ("group", 12)
    run("export", "--out", tmp_path / "table.csv", store=store)
    exported = json.loads((tmp_path / "table.csv.manifest.json").read_text())
    assert exported["command"] == "export --what families --format csv"
    assert exported["families"]["threshold"] == grouped["settings"]["threshold"] == 0.9
    assert "threshold" not in exported["settings"]
    run("group", "--threshold", "0.95", store=store)
    run("export", "--out", tmp_path / "later.csv", store=store)
    later = json.loads((tmp_path / "later.csv.manifest.json").read_text())
    assert later["families"]["threshold"] == 0.95
