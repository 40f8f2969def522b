"""A LlamaIndex retriever whose nodes say different things."""

from __future__ import annotations

import copy
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from indexer.errors import UsageError
from indexer.searching.fold_chunks import FOLDED, MAX_CHUNKS, ChunkOptions, ShownChunk, TopChunks


class FoldingRetriever(BaseRetriever):
    """Folds what another retriever returns, and asks it for more until there are `k` nodes.

    `retriever`: one of an index, or any with a `similarity_top_k`. `k`: nodes that are returned.
    `most`: nodes that are asked for at most. `options`: which nodes are folded.

    Each node is a copy, whose metadata has `near_folded`: a list of the nodes that were folded
    under it, with their `id`, the `document` they are of, their `metadata`, `similarity` and the
    `reason`; language models and embeddings do not see it. Fewer than `k` are returned when the
    retriever has no more that differ. Raises `UsageError` for a retriever that cannot be asked for
    a number of nodes, and for a `k` below 1 or above `most`.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        k: int = 4,
        *,
        most: int = MAX_CHUNKS,
        options: ChunkOptions | None = None,
        **settings: Any,
    ) -> None:
        if not hasattr(retriever, "similarity_top_k"):
            raise UsageError(
                f"{type(retriever).__name__} has no similarity_top_k, so it cannot be asked for "
                "more nodes; use the retriever of an index, or fold what it returns by fold_chunks"
            )
        self._retriever = retriever
        self._k, self._max_chunks, self._options = k, most, options or ChunkOptions()
        self._top()
        super().__init__(**settings)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        top = self._top()
        while top.wanted:
            top.take(self._with_number(top.wanted).retrieve(query_bundle))
        return [_add_folded(top, chunk) for chunk in top.chunks]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        top = self._top()
        while top.wanted:
            top.take(await self._with_number(top.wanted).aretrieve(query_bundle))
        return [_add_folded(top, chunk) for chunk in top.chunks]

    def _top(self) -> TopChunks[NodeWithScore]:
        return TopChunks(NodeWithScore.get_content, self._k, self._options, self._max_chunks)

    def _with_number(self, number: int) -> BaseRetriever:
        """Return a copy of the retriever that returns so many nodes."""
        retriever: Any = copy.copy(self._retriever)
        retriever.similarity_top_k = number
        return retriever  # type: ignore[no-any-return]


def _add_folded(top: TopChunks[NodeWithScore], chunk: ShownChunk) -> NodeWithScore:
    hit = top.items[chunk.place]
    folded = []
    for hidden in chunk.folded:
        node = top.items[hidden.place].node
        folded.append(
            {
                "id": node.node_id,
                "document": node.ref_doc_id,
                "metadata": node.metadata,
                "similarity": hidden.similarity,
                "reason": hidden.reason,
            }
        )
    return NodeWithScore(node=_with_folded(hit.node, folded), score=hit.score)


def _with_folded(node: BaseNode, folded: list[dict[str, Any]]) -> BaseNode:
    return node.model_copy(
        update={
            "metadata": {**node.metadata, FOLDED: folded},
            "excluded_embed_metadata_keys": [*node.excluded_embed_metadata_keys, FOLDED],
            "excluded_llm_metadata_keys": [*node.excluded_llm_metadata_keys, FOLDED],
        }
    )
