"""What OpenSearch Dashboards and Kibana make of a saved object before they ask an engine, written
from their documentation.

The products themselves are in no package index, so these few rules stand in for them: a classic
chart's aggregations become an aggregation tree, a query in their language a filter, and the
placeholders of a Vega specification what the dashboard says.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


def body(visualization: dict, scripted: dict[str, str]) -> dict:
    """The search body of a classic chart; `scripted` are the scripts of the index pattern's
    scripted fields, by name.
    """
    attributes = visualization["attributes"]
    state = json.loads(attributes["visState"])
    source = json.loads(attributes["kibanaSavedObjectMeta"]["searchSourceJSON"])
    metrics = {
        aggregation["id"]: _metric(aggregation)
        for aggregation in state["aggs"]
        if aggregation["schema"] == "metric" and aggregation["type"] != "count"
    }
    tree = metrics
    for aggregation in reversed(
        [aggregation for aggregation in state["aggs"] if aggregation["schema"] != "metric"]
    ):
        tree = {aggregation["id"]: {**_bucket(aggregation, scripted), "aggs": tree}}
    return {"size": 0, "query": kuery(source["query"]["query"]), "aggs": tree}


def _metric(agg: dict) -> dict:
    params = agg["params"]
    if agg["type"] == "top_hits":
        sort = [{params["sortField"]: {"order": params["sortOrder"]}}]
        return {"top_hits": {"size": params["size"], "_source": params["field"], "sort": sort}}
    return {agg["type"]: {"field": params["field"]}}


def _bucket(agg: dict, scripted: dict[str, str]) -> dict:
    params = agg["params"]
    if agg["type"] == "filters":
        return {
            "filters": {
                "filters": {
                    filter_entry["label"]: kuery(filter_entry["input"]["query"])
                    for filter_entry in params["filters"]
                }
            }
        }
    field = params["field"]
    where = (
        {"script": {"source": scripted[field], "lang": "painless"}}
        if field in scripted
        else {"field": field}
    )
    if agg["type"] == "histogram":
        return {"histogram": {**where, "interval": params["interval"], "min_doc_count": 1}}
    assert agg["type"] == "terms", agg["type"]
    order = {"_count" if params["orderBy"] == "1" else params["orderBy"]: params["order"]}
    return {
        "terms": {
            **where,
            "size": params["size"],
            "order": order,
            **json.loads(params.get("json", "{}")),
        }
    }


def kuery(text: str) -> dict:
    """Parse a query in the products' language: all documents, or one field and its value."""
    if not text:
        return {"match_all": {}}
    if " or " in text:
        return {"bool": {"should": [kuery(either) for either in text.split(" or ")]}}
    if text.startswith("not "):
        return {"bool": {"must_not": [kuery(text.removeprefix("not "))]}}
    if text.endswith(":*"):
        return {"exists": {"field": text.removesuffix(":*")}}
    field, _, value = text.partition(":")
    return {"term": {field: json.loads(value)}}


def filled(vega: object, filters: list[dict], times: dict) -> object:
    """Replace the placeholders of a Vega specification by a dashboard's filters and time range."""
    if isinstance(vega, list):
        values = []
        for value in vega:
            if isinstance(value, str) and value.startswith("%dashboard_context-"):
                values += filters if "filter_clause" in value else []
            else:
                values.append(filled(value, filters, times))
        return values
    if isinstance(vega, dict):
        return (
            times
            if vega == {"%timefilter%": True}
            else {name: filled(value, filters, times) for name, value in vega.items()}
        )
    return vega


class Product(BaseHTTPRequestHandler):
    """The five calls of the saved-objects API, as its documentation describes them."""

    version, kept, refuse, workspaces = "3.0.0", {}, (), ()
    tenants: set[str | None] = set()

    def do_GET(self):
        if self.path.endswith("/api/status"):
            return self.say(200, {"version": {"number": self.version}})
        return self.say(404, {"message": "not found"})

    def do_DELETE(self):
        self.say(
            200 if self.kept.pop(self.path.removeprefix("/api/saved_objects/"), None) else 404, {}
        )

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/api/workspaces/_list":
            listed = {"workspaces": self.workspaces}
            return self.say(200 if self.workspaces else 404, {"success": True, "result": listed})
        if self.path.endswith("/_export"):
            [wanted] = json.loads(body)["objects"]
            missing = {"objects": [{**wanted, "error": {"statusCode": 404}}]}
            record = self.kept.get(f"{wanted['type']}/{wanted['id']}")
            return self.say(*((200, record) if record else (400, {"attributes": missing})))
        mark = "--" + self.headers["Content-Type"].partition("boundary=")[2]
        if not (self.headers.get("osd-xsrf") or self.headers.get("kbn-xsrf")):
            return self.say(400, {"message": "Request must contain an xsrf header"})
        _, part, end = body.split(mark)
        assert end.strip() == "--" and 'name="file"; filename="nearfold.ndjson"' in part
        objects = [json.loads(line) for line in part.partition("\r\n\r\n")[2].strip().splitlines()]
        errors = [
            {"id": record["id"], "error": {"type": "conflict"}}
            for record in objects
            if record["type"] in self.refuse
        ]
        self.kept.update({f"{record['type']}/{record['id']}": record for record in objects})
        return self.say(
            200,
            {"success": not errors, "successCount": len(objects) - len(errors), "errors": errors},
        )

    def say(self, status, body):
        self.tenants.add(self.headers.get("securitytenant"))
        if "Basic " not in self.headers.get("Authorization", ""):
            status, body = 401, {}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


@contextmanager
def running() -> Iterator[tuple[type[Product], str]]:
    """Start a product of the OpenSearch kind on loopback.

    Yield its handler class, which records requests, and its address.
    """
    kind = type("Kept", (Product,), {"kept": {}, "tenants": set()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield kind, f"http://me@127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()
