"""Vector stores of LangChain and LlamaIndex with a few texts, and the retrievers that fold them."""

from __future__ import annotations

import zlib
from typing import Any

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
MODES = (MetadataMode.LLM, MetadataMode.EMBED)  # of what a model is given
QUERY = "ferry harbour mail islands"


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


def given() -> dict[str, Any]:
    """Return what the examples of the documentation assume."""
    return {"vector_store": vector_store(), "index": vector_index(), "llm": MockLLM()}


def documents(**options: Any) -> langchain.FoldingRetriever:
    """Return a LangChain retriever of `TEXTS`."""
    search = options.pop("search", {})
    retriever = vector_store().as_retriever(**search)
    return langchain.FoldingRetriever(retriever=retriever, **options)


def nodes(**options: Any) -> llama_index.FoldingRetriever:
    """Return a LlamaIndex retriever of `TEXTS`."""
    retriever = vector_index().as_retriever(similarity_top_k=1)
    return llama_index.FoldingRetriever(retriever, **options)


class Listing(BaseRetriever):
    """A retriever with a field k that gives the first texts."""

    k: int = 1

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(text) for text in TEXTS[: self.k]]


class Fixed(BaseRetriever):
    """A retriever that cannot be asked for more."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return []


class FixedNodes(NodeRetriever):
    """A retriever that cannot be asked for more."""

    def _retrieve(self, query_bundle: Any) -> list[Any]:
        return []
