"""Retrievers of LangChain and LlamaIndex that fold what others return."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from page_blocks import blocks

from indexer.errors import UsageError
from indexer.searching.fold_chunks import ChunkOptions


@pytest.fixture(scope="module")
def frameworks() -> Any:
    """Return what is tested, imported where it runs: every process collects this file."""
    pytest.importorskip("langchain_core")
    pytest.importorskip("llama_index.core")
    return importlib.import_module("frameworks")


def answer_of(question: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns, run where no other test has a loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, question).result()


@pytest.mark.parametrize("search", [{}, {"search_type": "mmr", "search_kwargs": {"fetch_k": 2}}])
def test_langchain_gets_documents_that_differ(frameworks: Any, search: dict[str, Any]) -> None:
    found = frameworks.documents(k=4, search=search).invoke(frameworks.QUERY)
    assert {text.page_content for text in found} > set(frameworks.TEXTS[6:])
    [ferry] = [item for item in found if item.page_content not in frameworks.TEXTS[6:]]
    folded = ferry.metadata["near_folded"]
    assert len(folded) == 5
    assert {hit["metadata"]["source"] for hit in folded} | {ferry.metadata["source"]} == {
        f"{number}.txt" for number in range(6)
    }
    assert {hit["reason"] for hit in folded} == {"similar"}
    assert all(0.9 <= hit["similarity"] < 1 for hit in folded)
    assert all(hit["id"] != ferry.id for hit in folded)


def test_langchain_documents_of_the_store_stay_as_they_are(frameworks: Any) -> None:
    retriever = frameworks.documents(k=4)
    retriever.invoke(frameworks.QUERY)
    assert all(
        "near_folded" not in item.metadata for item in retriever.retriever.invoke(frameworks.QUERY)
    )


def test_langchain_asynchronous_answers_are_the_same(frameworks: Any) -> None:
    retriever = frameworks.documents(k=4)
    assert answer_of(retriever.ainvoke(frameworks.QUERY)) == retriever.invoke(frameworks.QUERY)


def test_langchain_retrievers_with_a_field_k_are_asked_for_more(frameworks: Any) -> None:
    found = frameworks.langchain.FoldingRetriever(retriever=frameworks.Listing(), k=2).invoke(
        frameworks.QUERY
    )
    assert [item.page_content for item in found] == [frameworks.TEXTS[0], frameworks.TEXTS[6]]


def test_langchain_retrievers_without_a_number_are_refused(frameworks: Any) -> None:
    with pytest.raises(UsageError, match="no field k"):
        frameworks.langchain.FoldingRetriever(retriever=frameworks.Fixed())


def test_options_decide_what_is_folded(frameworks: Any) -> None:
    strict = ChunkOptions(threshold=1.0)
    assert len(frameworks.documents(k=8, options=strict).invoke(frameworks.QUERY)) == 8
    assert len(frameworks.nodes(k=8, options=strict).retrieve(frameworks.QUERY)) == 8


def test_llama_index_gets_nodes_that_differ(frameworks: Any) -> None:
    found = frameworks.nodes(k=4).retrieve(frameworks.QUERY)
    assert {hit.node.get_content() for hit in found} > set(frameworks.TEXTS[6:])
    [ferry] = [hit for hit in found if hit.node.get_content() not in frameworks.TEXTS[6:]]
    folded = ferry.node.metadata["near_folded"]
    assert {hit["metadata"]["source"] for hit in folded} | {ferry.node.metadata["source"]} == {
        f"{number}.txt" for number in range(6)
    }
    assert {hit["id"] for hit in folded} == {str(number) for number in range(6)} - {
        ferry.node.node_id
    }


def test_llama_index_hides_folded_nodes_from_models(frameworks: Any) -> None:
    for hit in frameworks.nodes(k=4).retrieve(frameworks.QUERY):
        for mode in frameworks.MODES:
            assert "near_folded" not in hit.node.get_content(mode)


def test_llama_index_nodes_and_retrievers_stay_as_they_are(frameworks: Any) -> None:
    retriever = frameworks.nodes(k=4)
    retriever.retrieve(frameworks.QUERY)
    [hit] = retriever._retriever.retrieve(frameworks.QUERY)
    assert "near_folded" not in hit.node.metadata


def test_llama_index_asynchronous_answers_are_the_same(frameworks: Any) -> None:
    retriever = frameworks.nodes(k=4)
    found = answer_of(retriever.aretrieve(frameworks.QUERY))
    assert [hit.node_id for hit in found] == [
        hit.node_id for hit in retriever.retrieve(frameworks.QUERY)
    ]


def test_llama_index_retrievers_without_a_number_are_refused(frameworks: Any) -> None:
    with pytest.raises(UsageError, match="no similarity_top_k"):
        frameworks.llama_index.FoldingRetriever(frameworks.FixedNodes())


@pytest.mark.parametrize("k", [0, 101])
def test_numbers_out_of_range_are_refused(frameworks: Any, k: int) -> None:
    with pytest.raises(UsageError):
        frameworks.nodes(k=k)
    with pytest.raises(UsageError):
        frameworks.documents(k=k)


def test_the_examples_of_the_page_run(frameworks: Any, capsys: pytest.CaptureFixture[str]) -> None:
    programs = blocks("docs/retrieval.md", "python")
    given = frameworks.given()
    assert len(programs) == 3
    for program in programs:
        exec(program, given)
    printed = capsys.readouterr().out
    assert "also in" in printed
    assert "FoldedChunk(place=2" in printed
