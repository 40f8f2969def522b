"""Where parts lie and of which type duplicates are, as `search --json` prints it and as the review
pages answer.
"""

from __future__ import annotations

import json

import jsonschema
import pytest
from starlette.testclient import TestClient

from indexer.cli.search import print_page
from indexer.jobs.index import IndexOptions, index
from indexer.review.api.endpoints import parse_parameters
from indexer.review.api.openapi import as_json, describe_api
from indexer.review.api.responses import Results
from indexer.review.serve import REVIEW_API, review_application
from indexer.review.site import Site
from indexer.searching.search import SearchOptions, search
from indexer.stores import open_store

CLAUSE = (
    "The {} shall pay to the Agent within {} days after the end of each quarter a fee for the "
    "services of that quarter."
)


@pytest.fixture
def store(tmp_path):
    for name, party, days in (("a", "Acme Foods Ltd", 30), ("b", "Orion Bank AG", 45)):
        (tmp_path / f"{name}.txt").write_text(
            f"1. Fees. {CLAUSE.format(party, days)}\n\n2. Term. It is a year.\n"
        )
    opened = open_store("sqlite://:memory:")
    index([str(tmp_path)], opened, IndexOptions(parts="clauses"))
    yield opened
    opened.close()


def test_json_of_a_search_tells_where_each_part_lies(store, capsys):
    print_page(
        search(store, "quarter", SearchOptions(of="parts", fold="types", sort="path")),
        as_json=True,
        by_token=False,
    )
    [hit] = json.loads(capsys.readouterr().out)["hits"]
    clause = CLAUSE.format("Acme Foods Ltd", 30)
    assert hit["part"] == {
        "parent": hit["id"][:-2],
        "heading": "1 Fees",
        "start": 9,
        "stop": 9 + len(clause),
    }
    [folded] = hit["folded"]
    assert (folded["type"], folded["part"]["parent"]) == ("near_identical", folded["id"][:-2])
    print_page(search(store, "quarter"), as_json=True, by_token=False)
    assert "part" not in json.loads(capsys.readouterr().out)["hits"][0]


def test_pages_and_api_fold_parts_by_type(store):
    endpoint = REVIEW_API.reads["search"]
    texts = {"q": ["quarter"], "fold": ["types"], "of": ["parts"], "sort": ["path"]}
    results = endpoint.run(Site(store), parse_parameters(endpoint.parameters, texts))
    answer = json.loads(json.dumps(as_json(results)))
    schema = {
        "$ref": f"#/components/schemas/{Results.__name__}",
        "components": describe_api("0", REVIEW_API.reads, REVIEW_API.writes)["components"],
    }
    jsonschema.Draft202012Validator(schema).validate(answer)
    [hit] = answer["hits"]
    assert (hit["part"]["heading"], hit["folded"][0]["type"]) == ("1 Fees", "near_identical")
    client = TestClient(review_application(store, frozenset({"testserver"})))
    html = client.get("/", params=texts).text
    assert "near identical" in html
    assert "<strong>2</strong> parts" in html
    assert 'name="of" value="parts"' in html
