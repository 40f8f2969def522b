"""The command line gives the same answers on SQLite, OpenSearch and Elasticsearch."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.command import ROOT, outcome, run, run_json

from indexer.stores import open_store

EXAMPLES = ROOT / "examples"
STORES = ("sqlite", "opensearch", "elasticsearch")
SHORT = (
    "The meeting moved to room four on Monday at ten",
    "The meeting moved to room five on Monday at ten",
    "The meeting is moved to room four on Monday at ten",
    "not today, 42",
    "Not today: 42",
    "17 23 42 99 104",
)


@pytest.fixture(scope="module")
def stores(
    opensearch_url: str, elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    index = f"nearfold-test-{secrets.token_hex(4)}"
    short = tmp_path_factory.mktemp("short")
    for number, text in enumerate(SHORT):
        (short / f"{number}.txt").write_text(text)
    urls = {
        "sqlite": f"sqlite:///{tmp_path_factory.mktemp('three')}/index.db",
        "opensearch": f"{opensearch_url.replace('http', 'opensearch')}/{index}",
        "elasticsearch": f"{elasticsearch_url.replace('http', 'elasticsearch')}/{index}",
    }
    for url in urls.values():
        run("index", EXAMPLES, short, store=url)
    yield urls
    for name in ("opensearch", "elasticsearch"):
        store = open_store(urls[name])
        store.delete([row.id for row in store.scan()])
        store.close()


def everywhere(stores: dict[str, str], *words: str | Path) -> list[Any]:
    return [run_json(*words, store=stores[name]) for name in STORES]


def same(answers: list[Any]) -> Any:
    assert answers[0] == answers[1] == answers[2]
    return answers[0]


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_similar_gives_the_same_matches(path: Path, stores: dict[str, str]) -> None:
    same(everywhere(stores, "similar", path, "--threshold", "0.5"))


@pytest.mark.parametrize(
    "conditions",
    [
        (),
        ("--numbers", "distinguish"),
        ("--numbers", "ignore"),
        ("--same", "content_type"),
        ("--differ", "content_type", "--window", "words=10"),
        ("--require", "resemblance=0.8", "--require", "novelty<=20"),
    ],
    ids=" ".join,
)
def test_conditions_give_the_same_pairs_and_families(
    conditions: tuple[str, ...], stores: dict[str, str]
) -> None:
    conditions = ("--threshold", "0.7", *conditions)
    pairs = [run("match", "--json", *conditions, store=stores[name]) for name in STORES]
    assert same([sorted(answer.splitlines()) for answer in pairs])
    same(everywhere(stores, "similar", EXAMPLES / "services-agreement-2024.txt", *conditions))
    everywhere(stores, "group", *conditions)
    assert same([run("families", "--json", store=stores[name]) for name in STORES])


def test_search_by_path_gives_the_same_documents_folded_the_same_way(
    stores: dict[str, str],
) -> None:
    answers = everywhere(stores, "search", "agreement", "--sort", "path")
    answer = same(
        [
            {**result, "hits": [{**hit, "score": None} for hit in result["hits"]]}
            for result in answers
        ]
    )
    assert any(hit["folded"] for hit in answer["hits"])


def test_every_document_folded_the_same_way(stores: dict[str, str]) -> None:
    answers = everywhere(stores, "search", "", "--sort", "path", "--limit", "50")
    same([[(hit["path"], hit["folded"]) for hit in answer["hits"]] for answer in answers])


def test_filters_give_the_same_documents(stores: dict[str, str]) -> None:
    filtered = ("--fold", "none", "--filter", "content_type=text/plain")
    answers = everywhere(stores, "search", "agreement", "--sort", "path", *filtered)
    assert same([[hit["path"] for hit in answer["hits"]] for answer in answers])


def test_a_chinese_word_inside_a_sentence_is_found(stores: dict[str, str]) -> None:
    answers = everywhere(stores, "search", "渡轮")
    assert [[Path(hit["path"]).name for hit in answer["hits"]] for answer in answers] == [
        ["港口通知.txt"]
    ] * 3


def test_a_second_run_finds_everything_unchanged(stores: dict[str, str]) -> None:
    for answer in everywhere(stores, "index", EXAMPLES):
        assert answer["unchanged"] == answer["seen"]


def test_status_and_doctor_answer(stores: dict[str, str]) -> None:
    counts = [status["documents"] for status in everywhere(stores, "status")]
    assert len(set(counts)) == 1
    for answer in everywhere(stores, "doctor"):
        assert {check["verdict"] for check in answer["checks"]} <= {"good", "note"}


@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_unreachable_server_is_named(kind: str) -> None:
    process = outcome("index", EXAMPLES, "--store", f"{kind}://127.0.0.1:9/x")
    assert process.returncode == 3, process.stderr
    assert "127.0.0.1:9" in process.stderr and "check that the server runs" in process.stderr


@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_another_recipe_is_refused_with_the_difference(kind: str, stores: dict[str, str]) -> None:
    process = outcome("index", EXAMPLES, "--recipe", "simhash-doc", store=stores[kind])
    assert process.returncode == 3, process.stderr
    assert "default_v3" in process.stderr and "simhash" in process.stderr
