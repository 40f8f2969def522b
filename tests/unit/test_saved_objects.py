"""Bundles of saved objects: closed, importable by the oldest product they are meant for, put and
removed once.
"""

import json

import pytest
from saved_object_queries import running

from indexer.errors import StoreAccessDenied, StoreError, StoreUnreachable, UsageError
from indexer.stores.engine import dashboards, saved_objects

PRODUCTS = ("opensearch-dashboards", "kibana")
# what the oldest product of each kind imports: OpenSearch Dashboards 1.0 (as Kibana 7.10.2) and
# Kibana 8.0
NEWEST = {
    "opensearch-dashboards": {
        "index-pattern": (7, 6, 0),
        "visualization": (7, 10, 0),
        "search": (7, 9, 3),
        "dashboard": (7, 9, 3),
    },
    "kibana": dict.fromkeys(("index-pattern", "visualization", "search", "dashboard"), (8, 0, 0)),
}


def lines(product: str, index: str = "papers") -> list[dict]:
    return [json.loads(line) for line in dashboards.bundle(index, product).splitlines()]


@pytest.mark.parametrize("product", PRODUCTS)
def test_references_close_and_come_first(product):
    defined = set()
    for record in lines(product):
        assert {(ref["type"], ref["id"]) for ref in record["references"]} <= defined
        defined.add((record["type"], record["id"]))
    assert record["type"] == "dashboard" and len(defined) == len(lines(product))


@pytest.mark.parametrize("product", PRODUCTS)
def test_names_inside_an_object_are_names_of_its_references(product):
    for record in lines(product):
        names = {ref["name"] for ref in record["references"]}
        source = json.loads(
            record["attributes"].get("kibanaSavedObjectMeta", {}).get("searchSourceJSON", "{}")
        )
        used = {source["indexRefName"]} if "indexRefName" in source else set()
        used |= {
            panel["panelRefName"]
            for panel in json.loads(record["attributes"].get("panelsJSON", "[]"))
        }
        assert used == names


@pytest.mark.parametrize("product", PRODUCTS)
def test_migration_versions_stay_within_what_the_product_imports(product):
    for record in lines(product):
        ((kind, version),) = record["migrationVersion"].items()
        assert kind == record["type"]
        assert tuple(map(int, version.split("."))) <= NEWEST[product][kind]
        assert ("coreMigrationVersion" in record) == (product == "kibana")


def test_panels_do_not_overlap_and_stay_in_the_grid():
    occupied = set()
    for panel in json.loads(lines("kibana")[-1]["attributes"]["panelsJSON"]):
        grid = panel["gridData"]
        cells = {
            (x, y)
            for x in range(grid["x"], grid["x"] + grid["w"])
            for y in range(grid["y"], grid["y"] + grid["h"])
        }
        assert not cells & occupied and max(x for x, _ in cells) < 48
        occupied |= cells


def test_two_indices_have_nothing_in_common():
    ours, theirs = lines("kibana"), lines("kibana", "other")
    assert not {record["id"] for record in ours} & {record["id"] for record in theirs}
    assert "papers" not in json.dumps(theirs)


def test_a_file_is_written_once(tmp_path):
    file = str(tmp_path / "papers.ndjson")
    assert saved_objects.put(file, "papers", "kibana", dry_run=True).action == "created"
    assert not (tmp_path / "papers.ndjson").exists()
    actions = [saved_objects.put(file, "papers", "kibana", dry_run=False).action for _ in range(2)]
    assert actions == ["created", "unchanged"]
    assert saved_objects.put(file, "other", "kibana", dry_run=False).action == "updated"
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists, and has no dashboard"):
        saved_objects.put(str(tmp_path / "mine.txt"), "papers", "kibana", dry_run=False)
    with pytest.raises(UsageError, match="cannot be written"):
        saved_objects.put(str(tmp_path), "papers", "kibana", dry_run=False)
    with pytest.raises(UsageError, match="delete the file"):
        saved_objects.remove(file, "papers", "kibana", dry_run=False)


@pytest.fixture
def product(monkeypatch):
    """Start a product of the OpenSearch kind on loopback.

    Return its handler class and its address.
    """
    monkeypatch.setenv("NEARFOLD_PASSWORD", "secret")
    with running() as address:
        yield address


def test_a_product_gets_it_once_and_keeps_nothing_of_it(product):
    kind, place = product
    assert (
        saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=True).action
        == "created"
        and not kind.kept
    )
    actions = [
        saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=False).action
        for _ in range(2)
    ]
    assert actions == ["created", "unchanged"] and len(kind.kept) == len(
        lines("opensearch-dashboards")
    )
    attributes = kind.kept["dashboard/nearfold-papers-dashboard"]["attributes"]
    attributes["description"] = "Made by nearfold; bundle of another version"
    assert (
        saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=False).action
        == "updated"
    )
    removed = saved_objects.remove(place, "papers", "opensearch-dashboards", dry_run=False)
    assert len(removed) == len(lines("opensearch-dashboards")) and not kind.kept
    assert saved_objects.remove(place, "papers", "opensearch-dashboards", dry_run=False) == []


def test_a_dashboard_of_others_is_neither_replaced_nor_removed(product):
    kind, place = product
    saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=False)
    kind.kept["dashboard/nearfold-papers-dashboard"]["attributes"]["description"] = "theirs"
    before = json.dumps(kind.kept)
    for dry_run in (True, False):
        with pytest.raises(StoreError, match=r"nearfold-papers-dashboard at .* is not nearfold's"):
            saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=dry_run)
        (change,) = saved_objects.remove(place, "papers", "opensearch-dashboards", dry_run=dry_run)
        assert change.action == "kept"
    assert json.dumps(kind.kept) == before


def test_objects_that_a_product_refuses_are_reported(product):
    kind, place = product
    with pytest.raises(UsageError, match=r"version is 3\.0\.0, which is not kibana"):
        saved_objects.put(place, "papers", "kibana", dry_run=False)
    kind.refuse = ("search",)
    with pytest.raises(StoreError, match=r"nearfold-papers-duplicates \(conflict\)"):
        saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=False)


def test_an_address_of_no_workspace_is_refused_where_there_are_some(product):
    kind, place = product
    kind.workspaces = [{"id": "a1b2", "name": "Analytics"}]
    with pytest.raises(UsageError, match=r"append one to the address: /w/a1b2 \(Analytics\)"):
        saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=True)
    place = f"{place}/w/a1b2"
    assert (
        saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=False).action
        == "created"
    )


def test_every_request_names_the_tenant_of_the_address(product):
    kind, address = product
    tenant = f"{address}?security_tenant=acme%20legal"
    saved_objects.put(tenant, "papers", "opensearch-dashboards", dry_run=False)
    saved_objects.remove(tenant, "papers", "opensearch-dashboards", dry_run=False)
    assert kind.tenants == {"acme legal"}
    saved_objects.put(address, "papers", "opensearch-dashboards", dry_run=False)
    assert kind.tenants == {"acme legal", None}


@pytest.mark.parametrize(
    "query", ["?tenant=acme", "?security_tenant=a&b=c", "?security_tenant=%0a", "?_g=()"]
)
def test_another_query_in_the_address_of_dashboards_is_refused(product, query):
    kind, address = product
    with pytest.raises(UsageError, match=r"may have \?security_tenant=NAME and nothing else"):
        saved_objects.put(f"{address}{query}", "papers", "opensearch-dashboards", dry_run=True)
    with pytest.raises(UsageError, match="that of Kibana nothing"):
        saved_objects.put(f"{address}?security_tenant=a", "papers", "kibana", dry_run=True)
    assert not kind.tenants


def test_objects_that_a_product_no_longer_deletes_are_reported(product, monkeypatch):
    kind, place = product
    saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=False)
    monkeypatch.setattr(kind, "do_DELETE", lambda self: self.say(404, {}), raising=False)
    with pytest.raises(StoreError, match=r"did not delete nearfold-papers-dashboard"):
        saved_objects.remove(place, "papers", "opensearch-dashboards", dry_run=False)


def test_groups_link_to_their_pages_or_show_the_beginning_of_their_ids():
    def shown(pages):
        fields = dashboards.DashboardFields(pages=pages)
        pattern = json.loads(dashboards.bundle("papers", "kibana", fields).splitlines()[0])
        return json.loads(pattern["attributes"]["fieldFormatMap"])["near_family"]

    link = shown("https://review.example/")
    assert link["params"]["urlTemplate"] == "https://review.example/family?id={{value}}"
    assert shown("")["id"] == "truncate"


def test_credentials_come_from_the_environment(product, monkeypatch):
    _, place = product
    with pytest.raises(UsageError, match="must not hold a password"):
        saved_objects.put(
            place.replace("me@", "me:secret@"), "papers", "opensearch-dashboards", dry_run=False
        )
    monkeypatch.delenv("NEARFOLD_PASSWORD")
    with pytest.raises(StoreAccessDenied, match="401"):
        saved_objects.put(place, "papers", "opensearch-dashboards", dry_run=False)
    with pytest.raises(StoreUnreachable):
        saved_objects.put("http://127.0.0.1:9", "papers", "opensearch-dashboards", dry_run=False)
