"""The search pipeline loses no hit of a client, and changes nothing that nearfold itself reads."""

import secrets
from itertools import chain

import pytest
from pipelines import bulk, call, good, store_url

from indexer.grouping.group import group
from indexer.grouping.match import match
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.searching.search import search
from indexer.searching.similar import similar
from indexer.stores import open_store

pytestmark = pytest.mark.engines
LEASE = (
    "The landlord lets the warehouse at the quay to the tenant for two years. The tenant keeps the "
    "roof in repair, insures the goods, and pays the rent in advance."
)
FERRY = "The harbour ferry leaves at eight in the morning; the landlord closes the pier later."
ALONE = (
    "Bread is dearer every year, says the landlord of the bakery, and flour is scarce.",
    "Trains stop at the old station twice a day, which its landlord thinks is too often.",
    "School begins on the first Monday of September, in a building of another landlord.",
    "Four bridges cross the river, and no landlord has ever owned more than one of them.",
)
FOLD = "search_pipeline=nearfold-fold-v1"


@pytest.fixture(scope="module")
def library(opensearch_url, tmp_path_factory):
    """A store with two families of three documents, and four documents alone."""
    index = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"{store_url('opensearch', opensearch_url, index)}?replicas=0")
    install(store, DEFAULT_V1)
    texts = {f"{name}{place}": (LEASE, FERRY)[name == "b"] for name in "ab" for place in range(3)}
    texts |= {f"c{place}": text for place, text in enumerate(ALONE)}
    lines = [({"index": {"_id": id}}, {"text": text}) for id, text in texts.items()]
    bulk(opensearch_url, index, [], *chain.from_iterable(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        group(store)
        yield store, f"{opensearch_url}/{index}"
    good("DELETE", f"{opensearch_url}/{index}*")
    uninstall(store)
    store.close()


@pytest.fixture
def folded_by_default(library):
    """The same, with the pipeline for every search that names none."""
    store, url = library
    good("PUT", f"{url}/_settings", {"index.search.default_pipeline": "nearfold-fold-v1"})
    yield store, url
    good("PUT", f"{url}/_settings", {"index.search.default_pipeline": None})


def shown(url, body, params=FOLD):
    """Return the ids of the hits of a search for every document, in order of id."""
    whole = {"size": 10, "query": {"match": {"text": "landlord"}}, "sort": ["near_id"], **body}
    answer = good("POST", f"{url}/_search?{params}", whole)
    return [hit["_id"] for hit in answer["hits"]["hits"]]


FOLDED = ["a0", "b0", "c0", "c1", "c2", "c3"]


def test_one_hit_of_each_family_is_shown(library):
    _, url = library
    assert shown(url, {}) == FOLDED
    assert shown(url, {"size": 3}) == FOLDED[:3]
    assert len(shown(url, {}, "")) == 10
    assert shown(url, {"size": 0}) == []
    assert shown(url, {"query": {"match_none": {}}}) == []


@pytest.mark.parametrize("source", [False, ["author"], {"excludes": ["near_*"]}])
def test_a_request_that_hides_the_family_is_refused_or_folded_by_doc_values(library, source):
    _, url = library
    body = {"size": 10, "query": {"match_all": {}}, "_source": source}
    status, answer = call("POST", f"{url}/_search?{FOLD}", body)
    assert status == 400
    assert "is missing field near_family" in str(answer)
    columns = {"docvalue_fields": ["near_family"]}
    assert shown(url, {"_source": source, **columns}) == FOLDED


def test_a_client_may_collapse_by_itself(library):
    _, url = library
    body = {"collapse": {"field": "near_family", "inner_hits": {"name": "folded"}}}
    assert shown(url, body) == shown(url, {**body, "_source": False}) == FOLDED


def test_documents_without_a_family_are_not_one_family_for_a_request_with_doc_values(library):
    _, url = library
    for name in ("d0", "d1"):
        fields = {"text": "landlord", "near_id": name}
        good("PUT", f"{url}/_doc/{name}?pipeline=_none&refresh=true", fields)
    body = {"size": 12, "docvalue_fields": ["near_family"]}
    assert shown(url, body) == shown(url, {"size": 12}, "")
    assert shown(url, {**body, "query": {"exists": {"field": "near_family"}}}) == FOLDED
    for name in ("d0", "d1"):
        good("DELETE", f"{url}/_doc/{name}?refresh=true")


def test_maintenance_of_an_engine_skips_documents_under_the_default(folded_by_default):
    _, url = folded_by_default
    counted = [
        good("POST", f"{url}/_update_by_query?refresh=true{params}")["updated"]
        for params in ("", "&search_pipeline=_none")
    ]
    assert counted[0] < counted[1] == 10
    group(folded_by_default[0])


def test_a_pipeline_that_an_index_searches_by_is_not_uninstalled(folded_by_default):
    store, url = folded_by_default
    changes = uninstall(store, dry_run=True).changes
    (kept,) = (change for change in changes if change.kind == "search pipeline")
    assert kept.action == "kept"
    assert kept.detail.startswith(f"used by {url.rpartition('/')[2]}")


def test_as_the_default_of_an_index_it_changes_nothing_that_nearfold_reads(library, request):
    def readings():
        return (
            sorted(row.id for row in store.scan()),
            sorted((hit.id, len(hit.folded)) for hit in search(store, "landlord").hits),
            sorted(found.id for found in similar(store, id="a0").matches),
            sorted((pair.a, pair.b) for pair in match(store)),
            store.counts().documents,
            group(store).families,
            sorted((row.id, row.family) for row in store.scan()),
        )

    store, url = library
    before = readings()
    request.getfixturevalue("folded_by_default")
    assert shown(url, {}, "") == FOLDED
    assert readings() == before
    assert reindex(store, DEFAULT).copied == 10
    assert shown(url, {}, "") == FOLDED
    assert len(list(store.scan())) == 10
