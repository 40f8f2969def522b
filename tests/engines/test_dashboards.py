"""Every query of the dashboard on a real engine, and its Vega specifications drawn, by Vega itself
and in a real browser.
"""

import http.client
import json
import re
import secrets
import subprocess
from contextlib import closing
from functools import partial
from urllib.parse import urlsplit

import pytest
import saved_object_queries as products
import vl_convert
from starlette.testclient import TestClient

from indexer.errors import UsageError
from indexer.grouping.group import group
from indexer.jobs.index import index
from indexer.jobs.install import install, install_dashboards, uninstall
from indexer.review.serve import review_application
from indexer.review.site import SearchLog
from indexer.stores import open_store
from indexer.stores.engine import dashboards

NOTICE = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening, "
    "and dogs travel free. "
) * 3
KEEPER = (
    "A lighthouse keeper writes to his sister about storms, gulls, lamp oil and the long winter "
    "nights. "
)
FILES = {
    "wire/first.txt": NOTICE + "Bicycles cost two crowns.",
    "wire/second.txt": NOTICE + "Bicycles cost three crowns.",
    "web/copy.html": f"<html><title>Ferry</title><body><p>{NOTICE} Bicycles cost two crowns.</p>"
    "</body></html>",
    "web/other.txt": KEEPER * 3,
}
TIMES = {"gte": "2000-01-01", "lte": "now+1d"}


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def place(request, tmp_path_factory):
    """Address of an engine, and an index in it with four documents, three of them one family."""
    url = request.getfixturevalue(f"{request.param}_url")
    name = f"nearfold-dash-{secrets.token_hex(6)}"
    folder = tmp_path_factory.mktemp("files")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    store = open_store(f"{request.param}://{urlsplit(url).netloc}/{name}")
    install(store)
    index([str(folder)], store)
    group(store)
    yield url, name
    uninstall(store)
    store.close()
    ask(url, "DELETE", f"/{name}")
    ask(url, "DELETE", f"/{name}-000001")


def ask(url, method, path, body=None):
    link = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    link.request(
        method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"}
    )
    answer = link.getresponse()
    text = json.loads(answer.read() or b"{}")
    link.close()
    assert answer.status == 200 or method == "DELETE", text
    return text


def own_objects(name):
    return {
        saved_object.id.removeprefix(f"nearfold-{name}-"): saved_object.line("kibana")
        for saved_object in dashboards.objects(name)
    }


def chart_aggregations(place, panel):
    """Return the aggregations of one chart."""
    url, name = place
    saved_objects = own_objects(name)
    fields = json.loads(saved_objects["index"]["attributes"]["fields"])
    scripted = {field["name"]: field["script"] for field in fields if field["scripted"]}
    return ask(url, "POST", f"/{name}/_search", products.body(saved_objects[panel], scripted))[
        "aggregations"
    ]


def bars(place, panel):
    """Return the counts of duplicates and principals by value."""
    buckets = chart_aggregations(place, panel)["2"]["buckets"]
    return {
        bucket["key"]: tuple(part["doc_count"] for part in bucket["3"]["buckets"].values())
        for bucket in buckets
    }


THEIRS = (
    {"text": NOTICE, "path": "wire", "labels": ["a"], "published": "2024-02-03"},
    {
        "text": NOTICE,
        "path": "web",
        "labels": ["b"],
        "published": "2025-04-05",
        "seen": "2025-05-01",
    },
)


@pytest.fixture
def shared_place(place, tmp_path, monkeypatch, request):
    """Address of an engine and a store of an index that other programs fill; no path has a type
    of nearfold's.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    url, name = place[0], f"nearfold-dash-{secrets.token_hex(6)}"
    engine = request.node.callspec.params["place"]
    for number, fields in enumerate(THEIRS):
        ask_any(url, "PUT", f"/{name}/_doc/{number}?refresh=true", fields)
    store = open_store(f"{engine}://{urlsplit(url).netloc}/{name}")
    index([store.url], store)
    group(store)
    yield url, name, store
    store.close()
    ask(url, "DELETE", f"/{name}")


def ask_any(url, method, path, body):
    link = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    link.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    assert link.getresponse().status in (200, 201)
    link.close()


def installed_objects(store, name, folder, **options):
    """Return what `install --dashboards` writes, by name without the index."""
    file = folder / "bundle.ndjson"
    change = install_dashboards(store, str(file), **options)
    saved = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    by_name = {line["id"].removeprefix(f"nearfold-{name}-"): line for line in saved}
    return by_name, change.detail


def test_the_dashboard_shows_documents_of_other_programs_by_a_date_that_all_have(
    shared_place, tmp_path
):
    url, name, store = shared_place
    saved, detail = installed_objects(store, name, tmp_path)
    assert detail == "by the time in published"
    assert saved["index"]["attributes"]["timeFieldName"] == "published"
    fields = json.loads(saved["index"]["attributes"]["fields"])
    scripts = {field["name"]: field["script"] for field in fields if field["scripted"]}
    for panel in ("totals", "largest", "types", "labels", "folders"):
        ask(url, "POST", f"/{name}/_search", products.body(saved[panel], scripts))
    labels = ask(url, "POST", f"/{name}/_search", products.body(saved["labels"], scripts))
    assert len(labels["aggregations"]["2"]["buckets"]) == 2
    for panel in ("graph", "rate"):
        state = json.loads(saved[panel]["attributes"]["visState"])
        request_body = json.loads(state["params"]["spec"])["data"][0]["url"]["body"]
        answer = ask(url, "POST", f"/{name}/_search", products.filled(request_body, [], TIMES))
        assert answer["hits"]["total"]["value"] == 2


def test_without_a_date_that_all_documents_have_it_shows_documents_of_any_time(
    shared_place, tmp_path
):
    url, name, store = shared_place
    saved, detail = installed_objects(store, name, tmp_path, time_field="seen")
    assert saved["index"]["attributes"]["timeFieldName"] == "seen"
    ask_any(url, "PUT", f"/{name}/_doc/undated?refresh=true", {"text": KEEPER})
    saved, detail = installed_objects(store, name, tmp_path)
    assert "timeFieldName" not in saved["index"]["attributes"]
    assert "rate" not in saved and "any time" in detail
    with pytest.raises(
        UsageError, match=r"no field of dates text \(it has: near_date, published, seen\)"
    ):
        install_dashboards(store, str(tmp_path / "b"), time_field="text")


def test_a_log_of_searches_feeds_panels_of_hits_groups_and_hidden_hits(place, tmp_path, request):
    url, name = place
    engine, log = request.node.callspec.params["place"], f"nearfold-searches-{name}"
    with closing(open_store(f"{engine}://{urlsplit(url).netloc}/{name}")) as store:
        for queries in (False, True):
            records = SearchLog(store, 30, queries)
            app = review_application(store, frozenset({"testserver"}), log=records)
            for words in ("ferry", "ferry", "lighthouse", ""):
                assert TestClient(app).get("/api/search", params={"q": words}).status_code == 200
            records.close()
        old = {"time": 0, "fold": "none", "hits": 9, "groups": 9, "hidden": 0, "query": "old"}
        ask_any(url, "PUT", f"/{log}/_doc/old?refresh=true", old)
        SearchLog(store, 30)
        saved, _ = installed_objects(store, name, tmp_path)
    picture = vl_convert.vega_to_svg(with_data(place, "searches", saved=saved))
    panel = ask(url, "POST", f"/{log}/_search", products.body(saved["queries"], {}))
    ask(url, "DELETE", f"/{log}")
    assert "14 hits in 6 groups, 8 hidden, 6 searches" in picture
    (ferry, keeper) = panel["aggregations"]["4"]["buckets"]
    assert (ferry["key"], ferry["doc_count"], ferry["1"]["value"]) == ("ferry", 2, 4)
    assert (keeper["key"], keeper["1"]["value"], keeper["2"]["value"]) == ("lighthouse", 0, 1)


def test_totals(place):
    assert chart_aggregations(place, "totals")["2"]["value"] == 2
    folded = chart_aggregations(place, "folded")
    assert folded["2"]["value"] == 1 and folded["3"]["value"] > 2 * len(NOTICE)


def test_documents_that_wait_for_group_are_counted(place):
    url, name = place
    meta = own_objects(name)["waiting"]["attributes"]["kibanaSavedObjectMeta"]
    query = products.kuery(json.loads(meta["searchSourceJSON"])["query"]["query"])
    count = partial(ask, url, "POST", f"/{name}/_count", {"query": query})
    assert count()["count"] == 0
    ask_any(url, "PUT", f"/{name}/_doc/late?refresh=true", {"text": KEEPER})
    waiting = count()["count"]
    ask(url, "DELETE", f"/{name}/_doc/late?refresh=true")
    assert waiting == 1


@pytest.mark.parametrize("panel", ["largest", "review"])
def test_tables_list_families_of_two_or_more(place, panel):
    (family,) = chart_aggregations(place, panel)["4"]["buckets"]
    assert (
        family["doc_count"] == 3 and family["2"]["value"] == 0 and 0.8 <= family["3"]["value"] <= 1
    )
    (titled,) = family["5"]["hits"]["hits"]
    assert list(titled["_source"]) == ["title"]


def test_own_documents_are_shown_by_their_dates_as_long_as_all_have_one(place, tmp_path, request):
    url, name = place
    engine = request.node.callspec.params["place"]
    with closing(open_store(f"{engine}://{urlsplit(url).netloc}/{name}")) as store:
        saved, _ = installed_objects(store, name, tmp_path)
        assert saved["index"]["attributes"]["timeFieldName"] == "near_date"
        ask_any(url, "PUT", f"/{name}/_doc/undated?refresh=true", {"text": KEEPER})
        saved, detail = installed_objects(store, name, tmp_path)
        ask(url, "DELETE", f"/{name}/_doc/undated?refresh=true")
    assert "timeFieldName" not in saved["index"]["attributes"] and "any time" in detail


def test_similarity_histogram_counts_each_duplicate_once(place):
    buckets = chart_aggregations(place, "similarity")["2"]["buckets"]
    assert sum(bucket["doc_count"] for bucket in buckets) == 2 and all(
        bucket["key"] + 0.02 >= 0.8 for bucket in buckets
    )


def test_duplicates_by_type(place):
    kinds = bars(place, "types")
    assert sum(duplicates for duplicates, _ in kinds.values()) == 2
    assert sum(principals for _, principals in kinds.values()) == 2


def test_duplicates_by_label_without_labels(place):
    assert bars(place, "labels") == {}


def test_duplicates_by_folder(place):
    folders = {key.rpartition("/")[2]: counts for key, counts in bars(place, "folders").items()}
    assert sum(map(sum, folders.values())) == 4 and set(folders) == {"wire", "web"}


def test_the_listing_shows_duplicates_alone(place):
    url, name = place
    source = json.loads(
        own_objects(name)["duplicates"]["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"]
    )
    hits = ask(
        url, "POST", f"/{name}/_search", {"query": products.kuery(source["query"]["query"])}
    )["hits"]["hits"]
    assert len(hits) == 2 and all(hit["_source"]["near_principal"] is False for hit in hits)


def with_data(place, panel, filters=(), saved=None):
    """Return a Vega specification with the answer to its query in the query's place."""
    url, name = place
    saved = saved or own_objects(name)
    state = json.loads(saved[panel]["attributes"]["visState"])
    specification = json.loads(state["params"]["spec"])
    source = specification["data"][0]
    index = f"nearfold-searches-{name}" if panel == "searches" else name
    assert source["url"]["index"] == index
    source["values"] = ask(
        url,
        "POST",
        f"/{index}/_search",
        products.filled(source.pop("url")["body"], list(filters), TIMES),
    )
    return {**specification, "width": 600, "height": 400}


def test_duplicate_rate_over_time_is_drawn(place):
    picture = vl_convert.vega_to_svg(with_data(place, "rate"))
    assert "50.0% of 4 documents" in picture


def test_a_family_is_drawn_as_a_graph(place):
    specification = with_data(place, "graph")
    picture = vl_convert.vega_to_svg(specification)
    assert picture.count("like its principal") == 2 and picture.count("(principal)") == 1


@pytest.mark.one_engine
def test_the_rate_renders_in_a_real_browser(place, draw_in_browser):
    assert draw_in_browser(with_data(place, "rate")).count("of 4 documents") == 1


def test_the_graph_renders_in_a_real_browser(place, draw_in_browser):
    page = draw_in_browser(with_data(place, "graph"))
    assert page.count("like its principal") == 2 and page.count("(principal)") == 1
    places = re.findall(r'transform="translate\((-?[0-9.]+),(-?[0-9.]+)\)"[^>]*d="M', page)
    assert len(set(places) - {("0", "0")}) == 3, (
        "documents lie apart from each other, at places that are numbers"
    )


@pytest.fixture
def draw_in_browser(tmp_path, chromium_path, browser_settings):
    """Return a function that draws a specification by Vega in Chromium and returns the page."""
    return partial(in_browser, chromium_path, browser_settings, tmp_path)


def in_browser(browser, settings, folder, specification):
    (folder / "vega.js").write_text(vl_convert.javascript_bundle(), encoding="utf-8")
    options = "{mode: 'vega', renderer: 'svg', actions: false}"
    draw = f"vegaEmbed('#view', {json.dumps(specification)}, {options})"
    (folder / "draw.js").write_text(draw, encoding="utf-8")
    page = folder / "page.html"
    scripts = '<script src="vega.js"></script><script src="draw.js"></script>'
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><div id="view"></div>{scripts}', encoding="utf-8"
    )
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]
    done = subprocess.run(
        [browser, *flags, page.as_uri()],
        env=settings,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.partition('id="view"')[2].partition("<script")[0]
