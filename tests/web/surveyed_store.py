"""A store of families at many similarities, and what is read of it in the background."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sample_library import edited, rows, sentence

from indexer.recipe import DEFAULT
from indexer.review.access import Login
from indexer.review.api.endpoints import parse_parameters
from indexer.review.api.store import START_GROUP, STORE_READS
from indexer.review.site import Site
from indexer.stores import open_store
from web.plain_requests import request

TEXTS = {
    f"{family}{edits:02}": edited(sentence(family, 60), edits, "xyz"[edits % 3])
    for family in range(4)
    for edits in range(0, 24, 3)
}


@contextmanager
def open_families(folder: Path) -> Iterator[Any]:
    """A store of `TEXTS` in a file, not grouped yet."""
    store = open_store(f"sqlite:///{folder}/store.db")
    store.prepare(DEFAULT)
    assert not any(store.write(rows(TEXTS)))
    store.refresh()
    yield store
    store.close()


def ask(site: Site, name: str, **texts: str) -> Any:
    if name == "group":
        values = parse_parameters(START_GROUP.parameters, {key: [texts[key]] for key in texts})
        return START_GROUP.run(site, values, Login("anna"))
    endpoint = STORE_READS[name]
    values = parse_parameters(endpoint.parameters, {key: [text] for key, text in texts.items()})
    answer = endpoint.run(site, values)
    while not getattr(answer, "ready", True):
        answer = endpoint.run(site, values)
    return answer


def ready_answer(address: str, name: str, headers: Mapping[str, str] = {}, **asked: Any) -> Any:
    """Return the answer to a question once the server has read what it needs, however long that
    takes.
    """
    path = f"/api/{name}?{urlencode({**asked, 'wait': 20})}"
    while not (answer := json.loads(request(address, path, **headers).body))["ready"]:
        pass
    return answer


def html_of(address: str, path: str) -> str:
    """Return a page once what it shows of the whole store is read."""
    for name in ("figures", "survey"):
        ready_answer(address, name)
    return request(address, path).body.decode()


def text_of(address: str, path: str) -> str:
    """Return the text of a page once what it shows of the whole store is read."""
    return re.sub(r"<[^>]+>", "", html_of(address, path))
