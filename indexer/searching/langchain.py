"""A LangChain retriever whose documents say different things."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStoreRetriever

from indexer.errors import UsageError
from indexer.searching.fold_chunks import FOLDED, MAX_CHUNKS, ChunkOptions, ShownChunk, TopChunks

_MMR_FETCHED = 20  # documents that LangChain reorders by default


class FoldingRetriever(BaseRetriever):
    """Folds what another retriever returns, and asks it for more until there are `k` documents.

    `retriever`: one of a vector store, or any with a field `k`. `k`: documents that are returned.
    `most`: documents that are asked for at most. `options`: which documents are folded.

    Each document is a copy, whose metadata has `near_folded`: a list of the documents that were
    folded under it, with their `id`, `metadata`, `similarity` and the `reason`. Fewer than `k` are
    returned when the retriever has no more that differ. Raises `UsageError` for a retriever that
    cannot be asked for a number of documents, and for a `k` below 1 or above `most`.
    """

    retriever: BaseRetriever
    k: int = 4
    most: int = MAX_CHUNKS
    options: ChunkOptions = ChunkOptions()

    def model_post_init(self, context: Any) -> None:
        """Refuse a retriever that takes no number, and a `k` out of range."""
        _with_number(self.retriever, self._top().wanted)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        top = self._top()
        config = RunnableConfig(callbacks=run_manager.get_child())
        while top.wanted:
            top.take(_with_number(self.retriever, top.wanted).invoke(query, config))
        return [_add_folded(top, chunk) for chunk in top.chunks]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        top = self._top()
        config = RunnableConfig(callbacks=run_manager.get_child())
        while top.wanted:
            top.take(await _with_number(self.retriever, top.wanted).ainvoke(query, config))
        return [_add_folded(top, chunk) for chunk in top.chunks]

    def _top(self) -> TopChunks[Document]:
        return TopChunks(_text, self.k, self.options, self.most)


def _text(document: Document) -> str:
    return document.page_content


def _with_number(retriever: BaseRetriever, number: int) -> BaseRetriever:
    """Return a copy of a retriever that returns so many documents."""
    if isinstance(retriever, VectorStoreRetriever):
        search: dict[str, Any] = {**retriever.search_kwargs, "k": number}
        if retriever.search_type == "mmr":
            search["fetch_k"] = max(number, search.get("fetch_k", _MMR_FETCHED))
        return retriever.model_copy(update={"search_kwargs": search})
    if "k" in type(retriever).model_fields:
        return retriever.model_copy(update={"k": number})
    raise UsageError(
        f"{type(retriever).__name__} has no field k, so it cannot be asked for more documents; "
        "use the retriever of a vector store, or fold what it returns by fold_chunks"
    )


def _add_folded(top: TopChunks[Document], chunk: ShownChunk) -> Document:
    document = top.items[chunk.place]
    folded = [
        {
            "id": top.items[hit.place].id,
            "metadata": top.items[hit.place].metadata,
            "similarity": hit.similarity,
            "reason": hit.reason,
        }
        for hit in chunk.folded
    ]
    return document.model_copy(update={"metadata": {**document.metadata, FOLDED: folded}})
