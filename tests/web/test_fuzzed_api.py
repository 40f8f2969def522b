"""Requests generated from the description of the JSON API.

Every answer is as described, and none is a server error.

`NEARFOLD_FUZZ=2000 python -m pytest tests/web/test_fuzzed_api.py` sends that many requests of each
kind.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from typing import Any
from urllib.request import urlopen

import pytest
from hypothesis import HealthCheck, given, settings

from indexer.review.api.openapi import describe_api
from indexer.review.serve import REVIEW_API
from web.watching import ROOT, run_site

EXAMPLES = int(os.environ.get("NEARFOLD_FUZZ", "6"))
DESCRIPTION = describe_api("0", REVIEW_API.reads, REVIEW_API.writes)
LABELS = [
    f"{method.upper()} {path}"
    for path, methods in DESCRIPTION["paths"].items()
    for method in methods
]


@pytest.fixture(scope="module")
def site(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site of its own, since requests label and group its documents."""
    copied = tmp_path_factory.mktemp("fuzzed") / "pages.db"
    with closing(sqlite3.connect(store_url.removeprefix("sqlite:///"))) as source:
        source.execute("VACUUM INTO ?", (str(copied),))
    with run_site(f"sqlite:///{copied}", "--originals", str(ROOT / "examples")) as address:
        yield address


@cache
def token(site: str) -> str:
    with urlopen(f"{site}/api/token", timeout=10) as answer:
        return json.load(answer)["token"]


@cache
def operations() -> dict[str, Any]:
    """Return what generates requests, by label; imported where it is used, as it takes a second."""
    from schemathesis import openapi

    described = openapi.from_dict(DESCRIPTION).get_all_operations()
    return {result.ok().label: result.ok() for result in described}


# Schemathesis draws some values with `random`, which Hypothesis refuses now and then.
@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@pytest.mark.parametrize("label", sorted(LABELS))
def test_no_request_breaks_the_api(label: str, site: str) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    expected = [
        not_a_server_error,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.status_code_conformance,
    ]

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(operations()[label].as_strategy())
    def call(case: Any) -> None:
        case.headers = {"X-Nearfold-Token": token(site)}
        case.call_and_validate(base_url=f"{site}/api", checks=expected, timeout=30)

    call()


@pytest.mark.long
def test_every_operation_is_described() -> None:
    assert set(operations()) == set(LABELS)
    assert len(LABELS) == 1 + len(REVIEW_API.reads) + len(REVIEW_API.writes)
