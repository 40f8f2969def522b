"""Users who see a part of an index: what they write back would be without the rest."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from indexer.errors import LimitedView
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.index_requests import Requests
from indexer.stores.engine.link import Answer

_SECURITY = "security_exception"
_NO_RIGHT = (401, 403)


def require_whole_view(requests: Requests, indices: Iterable[str]) -> None:
    """Raise `LimitedView` where security hides documents, fields or values of an index.

    No request says so to the user concerned. But both engines then refuse partial updates, by an
    error that is not of a missing right, also of a document that is not there, which this sends.
    """
    for index in indices:
        lines: list[Body] = [{"update": {"_id": secrets.token_hex(16)}}, {"doc": {}}]
        answer = requests.send("POST", f"{index}/_bulk", lines)
        if any(_is_limit(part) for part in (answer, *_items(answer))):
            raise LimitedView(index=index)


def _is_limit(answer: Answer) -> bool:
    return answer.kind == _SECURITY and answer.status not in _NO_RIGHT


def _items(answer: Answer) -> list[Answer]:
    body = answer.body if isinstance(answer.body, dict) else {}
    results = [item.get("update", {}) for item in body.get("items", ())]
    return [Answer(result.get("status", 0), result) for result in results]
