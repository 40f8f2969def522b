"""`POST /api/check`: its answers, what it stores, and who may send it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_library import edited, rows, sentence

from indexer.recipe import DEFAULT
from indexer.review.access import add_account
from indexer.stores import open_store
from web.plain_requests import Answer, request
from web.test_access import PASSWORD, basic
from web.watching import run_site

TEXT = sentence(3, 80)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    store = open_store(f"sqlite:///{tmp_path}/check.db")
    store.prepare(DEFAULT)
    store.write(rows({"first": TEXT}))
    yield store
    store.close()


def send(site: str, token: str, headers: dict[str, str] | None = None, **fields: Any) -> Answer:
    return request(
        site,
        "/api/check",
        "POST",
        json.dumps(fields).encode(),
        Content_Type="application/json",
        X_Nearfold_Token=token,
        **(headers or {}),
    )


def token_of(site: str, **headers: str) -> str:
    return str(json.loads(request(site, "/api/token", **headers).body)["token"])


def test_answers(store: Any) -> None:
    with run_site(store.url) as site:
        token = token_of(site)
        near = json.loads(send(site, token, text=edited(TEXT, 1)).body)
        assert (near["verdict"], near["of"], near["stored"]) == ("duplicate", "first", False)
        assert near["similarity"] == 79 / 80 and near["reasons"]
        long = " ".join(sentence(seed, 400) for seed in range(40, 80))
        assert len(long) > 64 << 10
        new = json.loads(send(site, token, text=long, id="mail-17", store=True).body)
        assert (new["verdict"], new["id"], new["stored"]) == ("new", "mail-17", True)
        again = json.loads(send(site, token, text=long, store=True, drop_duplicates=True).body)
        assert (again["verdict"], again["of"], again["stored"]) == ("duplicate", "mail-17", False)
        stricter = json.loads(send(site, token, text=edited(TEXT, 1), threshold=0.99).body)
        assert stricter["verdict"] == "review"
        for wrong in ({}, {"text": "a", "threshold": 2}, {"text": "a", "review": 0.95}):
            assert send(site, token, **wrong).status == 400
        assert send(site, "wrong", text="a").status == 403
    assert sorted(row.id for row in store.scan()) == ["first", "mail-17"]


@pytest.mark.long
def test_a_reader_may_not_check(store: Any, tmp_path: Path) -> None:
    logins = tmp_path / "logins"
    add_account(logins, "anna", "reviewer", PASSWORD)
    add_account(logins, "ben", "reader", PASSWORD)
    with run_site(store.url, "--auth", str(logins)) as site:
        token = token_of(site, Authorization=basic("anna", PASSWORD))
        for name, status in (("anna", 200), ("ben", 403)):
            headers = {"Authorization": basic(name, PASSWORD)}
            assert send(site, token, headers, text=TEXT).status == status
        assert send(site, token, text=TEXT).status == 401
