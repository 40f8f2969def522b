"""What OpenSearch Dashboards and Kibana make of a saved object before they ask an engine, written from their documentation.

The products themselves are in no package index, so these few rules stand in for them: a classic chart's aggregations become an
aggregation tree, a query in their language a filter, and the placeholders of a Vega specification what the dashboard says.
"""

import json


def body(visualization: dict, scripted: dict[str, str]) -> dict:
    """The search body of a classic chart; `scripted` are the scripts of the index pattern's scripted fields, by name."""
    attributes = visualization["attributes"]
    state = json.loads(attributes["visState"])
    source = json.loads(attributes["kibanaSavedObjectMeta"]["searchSourceJSON"])
    metrics = {one["id"]: _metric(one) for one in state["aggs"] if one["schema"] == "metric" and one["type"] != "count"}
    tree = metrics
    for one in reversed([one for one in state["aggs"] if one["schema"] != "metric"]):
        tree = {one["id"]: {**_bucket(one, scripted), "aggs": tree}}
    return {"size": 0, "query": kuery(source["query"]["query"]), "aggs": tree}


def _metric(agg: dict) -> dict:
    return {agg["type"]: {"field": agg["params"]["field"]}}


def _bucket(agg: dict, scripted: dict[str, str]) -> dict:
    params = agg["params"]
    if agg["type"] == "filters":
        return {"filters": {"filters": {one["label"]: kuery(one["input"]["query"]) for one in params["filters"]}}}
    field = params["field"]
    where = {"script": {"source": scripted[field], "lang": "painless"}} if field in scripted else {"field": field}
    if agg["type"] == "histogram":
        return {"histogram": {**where, "interval": params["interval"], "min_doc_count": 1}}
    assert agg["type"] == "terms", agg["type"]
    order = {"_count" if params["orderBy"] == "1" else params["orderBy"]: params["order"]}
    return {"terms": {**where, "size": params["size"], "order": order, **json.loads(params.get("json", "{}"))}}


def kuery(text: str) -> dict:
    """A query in the products' language: all documents, or one field and its value."""
    if not text:
        return {"match_all": {}}
    field, _, value = text.partition(":")
    return {"term": {field: json.loads(value)}}


def filled(vega: object, filters: list[dict], times: dict) -> object:
    """A Vega specification with its placeholders replaced by a dashboard's filters and time range."""
    if isinstance(vega, list):
        made = []
        for one in vega:
            if isinstance(one, str) and one.startswith("%dashboard_context-"):
                made += filters if "filter_clause" in one else []
            else:
                made.append(filled(one, filters, times))
        return made
    if isinstance(vega, dict):
        return times if vega == {"%timefilter%": True} else {name: filled(one, filters, times) for name, one in vega.items()}
    return vega
