"""Retrievers of LangChain and LlamaIndex that fold what others return."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from page_blocks import blocks

from indexer.errors import UsageError
from indexer.searching.fold_chunks import ChunkOptions

pytest.importorskip("langchain_core")
pytest.importorskip("llama_index.core")
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever as NodeRetriever
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.schema import MetadataMode, TextNode

from indexer.searching import langchain, llama_index

FERRY = "The ferry leaves the harbour at {} and takes the mail to both islands every single day."
TEXTS = [
    *(FERRY.format(hour) for hour in ("six", "seven", "eight", "nine", "ten", "eleven")),
    "The harbour office sells tickets for the ferry until noon.",
    "Islands without a harbour have their mail taken by helicopter.",
]
QUERY = "ferry harbour mail islands"


def answer_of(question: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns, run where no other test has a loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, question).result()


def vector(text: str) -> list[float]:
    """Return how often words of each of 64 hash values stand in a text."""
    counts = [0.01] * 64
    for word in text.lower().replace(".", "").split():
        counts[zlib.crc32(word.encode()) % 64] += 1
    return counts


class WordCounts(Embeddings):
    """An embedding without a model."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return vector(text)


class NodeWordCounts(BaseEmbedding):
    """An embedding without a model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)


def vector_store() -> InMemoryVectorStore:
    """Return a vector store of LangChain with `TEXTS`."""
    store = InMemoryVectorStore(WordCounts())
    items = [Document(text, metadata={"source": f"{n}.txt"}) for n, text in enumerate(TEXTS)]
    store.add_documents(items, ids=[str(number) for number in range(len(TEXTS))])
    return store


def vector_index() -> VectorStoreIndex:
    """Return an index of LlamaIndex with `TEXTS`."""
    items = [
        TextNode(text=text, id_=str(number), metadata={"source": f"{number}.txt"})
        for number, text in enumerate(TEXTS)
    ]
    return VectorStoreIndex(items, embed_model=NodeWordCounts())


def documents(**options: Any) -> langchain.FoldingRetriever:
    """Return a LangChain retriever of `TEXTS`."""
    search = options.pop("search", {})
    retriever = vector_store().as_retriever(**search)
    return langchain.FoldingRetriever(retriever=retriever, **options)


def nodes(**options: Any) -> llama_index.FoldingRetriever:
    """Return a LlamaIndex retriever of `TEXTS`."""
    retriever = vector_index().as_retriever(similarity_top_k=1)
    return llama_index.FoldingRetriever(retriever, **options)


@pytest.mark.parametrize("search", [{}, {"search_type": "mmr", "search_kwargs": {"fetch_k": 2}}])
def test_langchain_gets_documents_that_differ(search: dict[str, Any]) -> None:
    found = documents(k=4, search=search).invoke(QUERY)
    assert {text.page_content for text in found} > set(TEXTS[6:])
    [ferry] = [item for item in found if item.page_content not in TEXTS[6:]]
    folded = ferry.metadata["near_folded"]
    assert len(folded) == 5
    assert {hit["metadata"]["source"] for hit in folded} | {ferry.metadata["source"]} == {
        f"{number}.txt" for number in range(6)
    }
    assert {hit["reason"] for hit in folded} == {"similar"}
    assert all(0.9 <= hit["similarity"] < 1 for hit in folded)
    assert all(hit["id"] != ferry.id for hit in folded)


def test_langchain_documents_of_the_store_stay_as_they_are() -> None:
    retriever = documents(k=4)
    retriever.invoke(QUERY)
    assert all("near_folded" not in item.metadata for item in retriever.retriever.invoke(QUERY))


def test_langchain_asynchronous_answers_are_the_same() -> None:
    retriever = documents(k=4)
    assert answer_of(retriever.ainvoke(QUERY)) == retriever.invoke(QUERY)


def test_langchain_retrievers_with_a_field_k_are_asked_for_more() -> None:
    class Listing(BaseRetriever):
        k: int = 1

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(text) for text in TEXTS[: self.k]]

    found = langchain.FoldingRetriever(retriever=Listing(), k=2).invoke(QUERY)
    assert [item.page_content for item in found] == [TEXTS[0], TEXTS[6]]


def test_langchain_retrievers_without_a_number_are_refused() -> None:
    class Fixed(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return []

    with pytest.raises(UsageError, match="no field k"):
        langchain.FoldingRetriever(retriever=Fixed())


def test_options_decide_what_is_folded() -> None:
    strict = ChunkOptions(threshold=1.0)
    assert len(documents(k=8, options=strict).invoke(QUERY)) == 8
    assert len(nodes(k=8, options=strict).retrieve(QUERY)) == 8


def test_llama_index_gets_nodes_that_differ() -> None:
    found = nodes(k=4).retrieve(QUERY)
    assert {hit.node.get_content() for hit in found} > set(TEXTS[6:])
    [ferry] = [hit for hit in found if hit.node.get_content() not in TEXTS[6:]]
    folded = ferry.node.metadata["near_folded"]
    assert {hit["metadata"]["source"] for hit in folded} | {ferry.node.metadata["source"]} == {
        f"{number}.txt" for number in range(6)
    }
    assert {hit["id"] for hit in folded} == {str(number) for number in range(6)} - {
        ferry.node.node_id
    }


def test_llama_index_hides_folded_nodes_from_models() -> None:
    for hit in nodes(k=4).retrieve(QUERY):
        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert "near_folded" not in hit.node.get_content(mode)


def test_llama_index_nodes_and_retrievers_stay_as_they_are() -> None:
    retriever = nodes(k=4)
    retriever.retrieve(QUERY)
    [hit] = retriever._retriever.retrieve(QUERY)
    assert "near_folded" not in hit.node.metadata


def test_llama_index_asynchronous_answers_are_the_same() -> None:
    retriever = nodes(k=4)
    found = answer_of(retriever.aretrieve(QUERY))
    assert [hit.node_id for hit in found] == [hit.node_id for hit in retriever.retrieve(QUERY)]


def test_llama_index_retrievers_without_a_number_are_refused() -> None:
    class Fixed(NodeRetriever):
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            return []

    with pytest.raises(UsageError, match="no similarity_top_k"):
        llama_index.FoldingRetriever(Fixed())


@pytest.mark.parametrize("k", [0, 101])
def test_numbers_out_of_range_are_refused(k: int) -> None:
    with pytest.raises(UsageError):
        nodes(k=k)
    with pytest.raises(UsageError):
        documents(k=k)


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    programs = blocks("docs/retrieval.md", "python")
    given = {"vector_store": vector_store(), "index": vector_index(), "llm": MockLLM()}
    assert len(programs) == 3
    for program in programs:
        exec(program, given)
    printed = capsys.readouterr().out
    assert "also in" in printed
    assert "FoldedChunk(place=2" in printed
