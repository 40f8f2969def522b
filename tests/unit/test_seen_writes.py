"""The operations of shards that a follower has seen: their file, and the next ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from indexer.jobs.arrival import SeenWrites
from indexer.stores.engine.families import written_since
from indexer.stores.engine.operation_feed import ShardState


@pytest.mark.parametrize("text", ["[]", '{"a": null}', '{"a": 1e400}', '{"a": [1]}', "1", "{"])
def test_a_file_of_another_form_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "store.seen"
    path.write_text(text)
    assert SeenWrites(path).operations == {}
    SeenWrites(path).record({"a": 7})
    assert SeenWrites(path).operations == {"a": 7}


@dataclass(frozen=True)
class _Shards:
    """Shards with a document for each operation; `sizes`: how many were requested of each."""

    index: str = "i"
    sizes: list[int] = field(default_factory=list)

    def search(self, body: Any, params: Any) -> Any:
        bounds = body["query"]["bool"]["filter"][0]["range"]["_seq_no"]
        self.sizes.append(body["size"])
        numbers = range(bounds["gt"] + 1, bounds["lte"] + 1)[: body["size"]]
        name = params["preference"]
        return {"hits": {"hits": [{"_id": f"{name}/{n}", "sort": [n]} for n in numbers]}}


def test_a_busy_shard_keeps_no_other_one_waiting() -> None:
    busy = ShardState("i", "0", "u/h/0", 100_000, 0)
    others = [ShardState("i", str(number), f"u/h/{number}", number, 0) for number in (1, 2)]
    queries: Any = _Shards()
    ids, now = written_since(queries, [busy, *others], {}, "default", 30)
    assert len(ids) == 30
    assert now == {"u/h/0": 24, "u/h/1": 1, "u/h/2": 2}
    assert queries.sizes == [10, 14, 25]
