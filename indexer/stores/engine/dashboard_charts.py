"""Aggregations and chart settings of classic visualisations in OpenSearch Dashboards and Kibana."""

from __future__ import annotations

from typing import Any

from indexer.stores.engine.bodies import Body

DUPLICATE = "near_principal:false"


def query(text: str) -> Body:
    """Return a filter in the products' query language; an empty text matches all documents."""
    return {"query": {"query": text, "language": "kuery"}, "filter": []}


def count(id: str) -> Body:
    """Return the aggregation that counts documents."""
    return agg(id, "count", customLabel="Documents")


def agg(id: str, kind: str, schema: str = "metric", **params: Any) -> Body:
    """Return one aggregation; `schema` is its role in the chart."""
    return {"id": id, "enabled": True, "type": kind, "schema": schema, "params": params}


def terms(id: str, schema: str, field: str, size: int, by: str, **params: Any) -> Body:
    """Return the top values of a field by the metric with the id `by`, descending."""
    order = {"order": "desc", "orderBy": by, "otherBucket": False, "missingBucket": False}
    return agg(id, "terms", schema, field=field, size=size, **order, **params)


def split(id: str) -> Body:
    """Return the aggregation that separates duplicates from principals."""
    filters = [
        {"label": label, "input": {"query": query, "language": "kuery"}}
        for label, query in (("duplicates", DUPLICATE), ("principals", "near_principal:true"))
    ]
    return agg(id, "filters", "group", filters=filters)


_LINEAR = {"type": "linear"}
_AXIS = {"show": True, "style": {}, "labels": {"show": True, "truncate": 60}, "title": {}}
_NO_THRESHOLD = {"show": False, "value": 10, "width": 1, "style": "full", "color": "#1f6f8b"}


def _bars(kind: str, mode: str, category: str, value: str) -> Body:
    """Return the settings of a bar chart; `category` and `value` are the sides of the axes."""
    return {
        "type": kind,
        "grid": {"categoryLines": False},
        "categoryAxes": [
            {
                **_AXIS,
                "id": "CategoryAxis-1",
                "type": "category",
                "position": category,
                "scale": _LINEAR,
            }
        ],
        "valueAxes": [
            {
                **_AXIS,
                "id": "ValueAxis-1",
                "name": "ValueAxis-1",
                "type": "value",
                "position": value,
                "scale": {"type": "linear", "mode": "normal"},
                "title": {"text": "Documents"},
            }
        ],
        "seriesParams": [
            {
                "show": True,
                "type": "histogram",
                "mode": mode,
                "data": {"label": "Documents", "id": "1"},
                "valueAxis": "ValueAxis-1",
            }
        ],
        "addTooltip": True,
        "addLegend": mode == "stacked",
        "legendPosition": "right",
        "times": [],
        "addTimeMarker": False,
        "labels": {"show": False},
        "thresholdLine": _NO_THRESHOLD,
    }


LOOKS: dict[str, Body] = {
    "histogram": _bars("histogram", "normal", "bottom", "left"),
    "horizontal_bar": _bars("histogram", "stacked", "left", "bottom"),
    "table": {
        "perPage": 10,
        "showPartialRows": False,
        "showMetricsAtAllLevels": False,
        "showTotal": False,
        "totalFunc": "sum",
    },
    "metric": {
        "addTooltip": True,
        "addLegend": False,
        "type": "metric",
        "metric": {
            "percentageMode": False,
            "useRanges": False,
            "colorSchema": "Green to Red",
            "metricColorMode": "None",
            "colorsRange": [{"from": 0, "to": 10000}],
            "labels": {"show": True},
            "invertColors": False,
            "style": {
                "bgFill": "#000",
                "bgColor": False,
                "labelColor": False,
                "subText": "",
                "fontSize": 32,
            },
        },
    },
}
