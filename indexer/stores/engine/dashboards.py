"""The dashboard of an index as saved objects for OpenSearch Dashboards and Kibana; pure.

An object refers to another by `references`, never by an id inside its own state. It has the
migration version of the oldest product that it is meant for (OpenSearch Dashboards 1.0, which is
7.10; Kibana 8.0): later products upgrade it, and none imports a newer version than its own.
Source: the saved-object exports of those versions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer import mappings
from indexer.stores.engine.search_bodies import Body, index_body
from indexer.stores.maintenance import Product

# Aggregations and chart settings of classic visualisations in OpenSearch Dashboards and Kibana.

DUPLICATE = "near_principal:false"
WAITING = "not near_family:* or near_provisional:true"


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


MIGRATIONS: dict[Product, dict[str, str]] = {
    "opensearch-dashboards": {
        "index-pattern": "7.6.0",
        "visualization": "7.10.0",
        "search": "7.9.3",
        "dashboard": "7.9.3",
    },
    "kibana": {
        "index-pattern": "8.0.0",
        "visualization": "8.0.0",
        "search": "8.0.0",
        "dashboard": "8.0.0",
    },
}
_COLUMNS = ["title", "path", "near_similarity", "near_family", "labels"]
_FOLDER = (
    "if (!doc.containsKey('PATH') || doc['PATH'].size() == 0) return ''; "
    "String path = doc['PATH'].value; "
    "int end = path.lastIndexOf('/'); return end < 0 ? '' : path.substring(0, end);"
)
_KINDS = {"keyword": "string", "text": "string", "date": "date", "boolean": "boolean"}
_MARK = "Made by nearfold"
_NUMBERS = ("integer", "long", "float")


@dataclass(frozen=True, slots=True)
class DashboardFields:
    """The fields of an index that its dashboard shows.

    Without a `time`, the dashboard shows documents of any time, and has no panel by time. `names`
    holds the fields to show instead of others, where another program maps them in its own way.
    `pages` is the address of the review pages, to whose page of a group its id links. `searches`
    and `queries`: there is a log of searches, and it has their words.
    """

    time: str | None = "modified"
    names: Mapping[str, str] = field(default_factory=dict)
    pages: str = ""
    searches: bool = False
    queries: bool = False

    @property
    def formats(self) -> Body:
        """The formats of values by field: links to groups, or the first characters of their ids."""
        link = {"urlTemplate": f"{self.pages.rstrip('/')}/family?id={{{{value}}}}"}
        group = (
            {"id": "url", "params": {"type": "a", "labelTemplate": "Open the group", **link}}
            if self.pages
            else {"id": "truncate", "params": {"fieldLength": 8}}
        )
        percent = {"id": "percent", "params": {"pattern": "0.0%"}}
        return {"near_family": group, "size": {"id": "bytes"}, "near_similarity": percent}

    def displayed(self, name: str) -> str:
        """Return the field to show for one of nearfold's."""
        return self.names.get(name, name)


OWN_FIELDS = DashboardFields()


@dataclass(frozen=True, slots=True)
class SavedObject:
    """One line of a bundle. `references` are (name, type, id)."""

    type: str
    id: str
    attributes: Body
    references: tuple[tuple[str, str, str], ...] = ()

    def line(self, product: Product) -> Body:
        """Return the object as in an export of the product."""
        core = {"coreMigrationVersion": "8.0.0"} if product == "kibana" else {}
        references = [{"name": name, "type": kind, "id": id} for name, kind, id in self.references]
        return {
            "id": self.id,
            "type": self.type,
            "attributes": self.attributes,
            "references": references,
            "migrationVersion": {self.type: MIGRATIONS[product][self.type]},
            **core,
        }


def is_marked(attributes: Mapping[str, Any]) -> bool:
    """Return whether a stored dashboard is one of nearfold's, of any version."""
    return str(attributes.get("description", "")).startswith(_MARK)


def is_bundle(text: str) -> bool:
    """Return whether a file has a dashboard of nearfold's, of any version."""
    return f"{_MARK}; bundle " in text


def bundle(index: str, product: Product, fields: DashboardFields = OWN_FIELDS) -> str:
    """Return the saved objects of an index in newline-delimited JSON, references first."""
    saved_objects = objects(index, fields)
    lines = [json.dumps(saved.line(product), ensure_ascii=False) for saved in saved_objects]
    return "".join(f"{line}\n" for line in lines)


def objects(index: str, fields: DashboardFields = OWN_FIELDS) -> list[SavedObject]:
    """Return the index pattern, the panels, and the dashboard.

    The dashboard's description ends with a digest of the others.
    """
    patterns = [_pattern(index, fields), *([_log_pattern(index)] if fields.queries else [])]
    panels = list(_panels(index, fields))
    parts = [*patterns, *panels]
    content = json.dumps([(part.id, part.attributes) for part in parts], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    return [*parts, _dashboard(index, panels, digest)]


def _pattern(index: str, known: DashboardFields) -> SavedObject:
    """Return the index pattern: every field, and the folder of a path as a scripted field."""
    properties = dict(index_body()["mappings"]["properties"])
    properties |= {name: {"type": "keyword"} for name in known.names.values()}
    if known.time:
        properties.setdefault(known.time, {"type": "date"})
    fields = [
        _field(name, mapped)
        for name, mapped in properties.items()
        if mapped["type"] in (*_KINDS, *_NUMBERS)
    ]
    folder = {
        "name": "folder",
        "type": "string",
        "scripted": True,
        "script": _FOLDER.replace("PATH", known.displayed("path")),
        "lang": "painless",
    }
    fields.append(
        {**folder, "searchable": True, "aggregatable": True, "readFromDocValues": False, "count": 0}
    )
    time = {"timeFieldName": known.time} if known.time else {}
    formats = {"fieldFormatMap": json.dumps(known.formats)}
    attributes = {"title": index, **time, "fields": json.dumps(fields), **formats}
    return SavedObject("index-pattern", _id(index, "index"), attributes)


def _field(name: str, mapped: Body) -> Body:
    kind = mapped["type"]
    values = kind != "text" and mapped.get("doc_values", True)
    return {
        "name": name,
        "type": _KINDS.get(kind, "number"),
        "esTypes": [kind],
        "scripted": False,
        "searchable": True,
        "aggregatable": values,
        "readFromDocValues": values,
        "count": 0,
    }


def _panels(index: str, fields: DashboardFields) -> Iterator[SavedObject]:
    """Yield the panels in the order in which the dashboard shows them."""
    yield _chart(
        index,
        "totals",
        "Documents and groups",
        "metric",
        [count("1"), agg("2", "cardinality", field="near_family", customLabel="Groups")],
    )
    folded = [
        agg("1", "count", customLabel="Documents hidden"),
        agg("2", "cardinality", field="near_family", customLabel="Groups of two or more"),
        agg("3", "sum", field="size", customLabel="Bytes hidden"),
    ]
    yield _chart(index, "folded", "What folding hides", "metric", folded, DUPLICATE)
    waiting = [count("1")]
    yield _chart(index, "waiting", "Documents that wait for group", "metric", waiting, WAITING)
    if fields.time:
        yield _vega(index, "rate", "Duplicate rate over time", fields.time)
    field_of_labels = fields.displayed("labels")
    yield _families(index, "largest", "Largest groups", "1", field_of_labels)
    yield _families(index, "review", "Groups to review: most labels first", "2", field_of_labels)
    buckets = agg("2", "histogram", "segment", field="near_similarity", interval=0.02)
    yield _chart(
        index,
        "similarity",
        "How alike duplicates are to their principal",
        "histogram",
        [count("1"), buckets],
        DUPLICATE,
    )
    for name, title, column in (
        ("folders", "Duplicates by folder", "folder"),
        ("types", "Duplicates by content type", fields.displayed("content_type")),
        ("labels", "Duplicates by label", fields.displayed("labels")),
    ):
        values = terms("2", "segment", column, 12, "1")
        yield _chart(index, name, title, "horizontal_bar", [count("1"), values, split("3")])
    title = "Groups as graphs: filter on one to see it alone"
    yield _vega(index, "graph", title, fields.time)
    yield _listing(index)
    if fields.searches:
        yield _vega(index, "searches", "What folding saves in results, by day", "time")
    if fields.queries:
        yield _queries(index)


def _families(index: str, name: str, title: str, by: str, field_of_labels: str) -> SavedObject:
    """Return a table of families of two or more documents, by the metric with the id `by`.

    It shows documents, distinct labels, the minimum similarity to the principal, and the title of
    the member that is most similar to it.
    """
    labels = agg("2", "cardinality", field=field_of_labels, customLabel="Labels")
    minimum = agg("3", "min", field="near_similarity", customLabel="Lowest similarity")
    title_of_member = agg(
        "5",
        "top_hits",
        field="title",
        aggregate="concat",
        size=1,
        sortField="near_similarity",
        sortOrder="desc",
        customLabel="Title",
    )
    families = terms(
        "4",
        "bucket",
        "near_family",
        20,
        by,
        json=json.dumps({"min_doc_count": 2}),
        customLabel="Group",
    )
    return _chart(
        index, name, title, "table", [count("1"), labels, minimum, title_of_member, families]
    )


LOG_FIELDS: Mapping[str, Body] = {
    "time": {"type": "date"},
    "hits": {"type": "long"},
    "groups": {"type": "long"},
    "hidden": {"type": "long"},
    "fold": {"type": "keyword"},
    "query": {"type": "keyword", "ignore_above": 1000},
}


def log_name(index: str) -> str:
    """Return the name of the index with the searches of another.

    >>> log_name("papers")
    'nearfold-searches-papers'
    """
    return f"nearfold-searches-{index}"


def _log_pattern(index: str) -> SavedObject:
    """Return the index pattern of the log of searches."""
    columns = ("time", "hits", "groups", "hidden", "query")
    fields = [_field(name, LOG_FIELDS[name]) for name in columns]
    attributes = {"title": log_name(index), "timeFieldName": "time", "fields": json.dumps(fields)}
    return SavedObject("index-pattern", _id(index, "log"), attributes)


def _queries(index: str) -> SavedObject:
    """Return a table of the searches that were logged with their words, by hidden hits."""
    sums = [
        agg(id, "sum", field=name, customLabel=title)
        for id, name, title in (
            ("1", "hidden", "Hits hidden"),
            ("2", "hits", "Hits"),
            ("3", "groups", "Groups"),
        )
    ]
    words = terms("4", "bucket", "query", 20, "1", customLabel="Search")
    title = "Searches that folding shortens"
    return _chart(index, "queries", title, "table", [*sums, words], pattern="log")


def _chart(
    index: str,
    name: str,
    title: str,
    kind: str,
    aggs: list[Body],
    only: str = "",
    pattern: str = "index",
) -> SavedObject:
    state = {"title": title, "type": kind, "aggs": aggs, "params": LOOKS[kind]}
    source = {**query(only), "indexRefName": "kibanaSavedObjectMeta.searchSourceJSON.index"}
    reference = (
        "kibanaSavedObjectMeta.searchSourceJSON.index",
        "index-pattern",
        _id(index, pattern),
    )
    return _visualization(index, name, title, state, source, reference)


def _vega(index: str, name: str, title: str, time: str | None) -> SavedObject:
    """Return a panel drawn by Vega; `time` is the field of dates by which documents are limited."""
    specification = mappings.load(f"dashboard-{'family' if name == 'graph' else name}.vega.json")
    request = specification["data"][0]["url"]
    request["index"] = log_name(index) if name == "searches" else index
    clauses = request["body"]["query"]["bool"]
    clauses["must"] = [_by_time(clause, time) for clause in clauses["must"]]
    if histogram := request["body"].get("aggs", {}).get("time", {}).get("auto_date_histogram"):
        histogram["field"] = time
    state = {
        "title": title,
        "type": "vega",
        "aggs": [],
        "params": {"spec": json.dumps(specification, indent=1)},
    }
    return _visualization(index, name, title, state, query(""))


def _by_time(clause: Any, time: str | None) -> Any:
    """Return a clause with the field of dates; without one, it takes every document."""
    if not isinstance(clause, dict) or "range" not in clause:
        return clause
    return {"range": {time: clause["range"]["modified"]}} if time else {"match_all": {}}


def _visualization(
    index: str, name: str, title: str, state: Body, source: Body, *references: tuple[str, str, str]
) -> SavedObject:
    attributes = {
        "title": f"{title} ({index})",
        "visState": json.dumps(state, ensure_ascii=False),
        "uiStateJSON": "{}",
        "description": "",
        "version": 1,
        "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps(source)},
    }
    return SavedObject("visualization", _id(index, name), attributes, references)


def _listing(index: str) -> SavedObject:
    reference = (
        "kibanaSavedObjectMeta.searchSourceJSON.index",
        "index-pattern",
        _id(index, "index"),
    )
    source = {
        **query(DUPLICATE),
        "indexRefName": reference[0],
        "highlightAll": True,
        "version": True,
    }
    attributes = {
        "title": f"Duplicates ({index})",
        "description": "",
        "hits": 0,
        "columns": _COLUMNS,
        "sort": [["near_similarity", "asc"]],
        "version": 1,
        "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps(source)},
    }
    return SavedObject("search", _id(index, "duplicates"), attributes, (reference,))


_WHOLE = 48
# width and height in the dashboard's grid of 48 columns; panels flow from left to right
_LAYOUT = {
    "totals": (12, 10),
    "folded": (24, 10),
    "waiting": (12, 10),
    "rate": (_WHOLE, 10),
    "graph": (_WHOLE, 20),
    "duplicates": (_WHOLE, 16),
    "searches": (_WHOLE, 12),
    "queries": (_WHOLE, 13),
}
_HALF = (24, 13)


def _dashboard(index: str, panels: list[SavedObject], digest: str) -> SavedObject:
    layout = []
    references = []
    for number, (panel, area) in enumerate(zip(panels, _areas(panels, index), strict=True)):
        grid = {**area, "i": str(number)}
        names = {"panelIndex": str(number), "panelRefName": f"panel_{number}"}
        layout.append({"version": "7.9.3", "gridData": grid, "embeddableConfig": {}, **names})
        references.append((f"panel_{number}", panel.type, panel.id))
    attributes = {
        "title": f"Near duplicates ({index})",
        "description": f"{_MARK}; bundle {digest}",
        "hits": 0,
        "panelsJSON": json.dumps(layout),
        "optionsJSON": json.dumps({"useMargins": True, "hidePanelTitles": False}),
        "timeRestore": True,
        "timeFrom": "now-20y",
        "timeTo": "now",
        "version": 1,
        "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps(query(""))},
    }
    return SavedObject("dashboard", _id(index, "dashboard"), attributes, tuple(references))


def _areas(panels: list[SavedObject], index: str) -> Iterator[dict[str, int]]:
    """Yield the area of each panel: next to the one before it where it fits, else below the row."""
    x = y = row_height = 0
    for panel in panels:
        width, height = _LAYOUT.get(panel.id.removeprefix(_id(index, "")), _HALF)
        if x + width > _WHOLE:
            x = 0
            y += row_height
            row_height = 0
        yield {"x": x, "y": y, "w": width, "h": height}
        x += width
        row_height = max(row_height, height)


def _id(index: str, name: str) -> str:
    return f"nearfold-{index}-{name}"
