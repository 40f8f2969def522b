"""The dashboard of an index as saved objects for OpenSearch Dashboards and Kibana; pure.

An object refers to another by `references`, never by an id inside its own state. It has the
migration version of the oldest product that it is meant for (OpenSearch Dashboards 1.0, which is
7.10; Kibana 8.0): later products upgrade it, and none imports a newer version than its own.
Source: the saved-object exports of those versions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from indexer import mappings
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.dashboard_charts import DUPLICATE, LOOKS, agg, count, query, split, terms

Product: TypeAlias = Literal["opensearch-dashboards", "kibana"]
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
    "if (doc['path'].size() == 0) return ''; String path = doc['path'].value; "
    "int end = path.lastIndexOf('/'); return end < 0 ? '' : path.substring(0, end);"
)
_KINDS = {"keyword": "string", "text": "string", "date": "date", "boolean": "boolean"}
_NUMBERS = ("integer", "long", "float")


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


def bundle(index: str, product: Product) -> str:
    """Return the saved objects of an index in newline-delimited JSON, references first."""
    lines = [json.dumps(saved.line(product), ensure_ascii=False) for saved in objects(index)]
    return "".join(f"{line}\n" for line in lines)


def objects(index: str) -> list[SavedObject]:
    """Return the index pattern, the panels, and the dashboard.

    The dashboard's description ends with a digest of the others.
    """
    pattern = _pattern(index)
    panels = list(_panels(index))
    parts = [pattern, *panels]
    content = json.dumps([(part.id, part.attributes) for part in parts], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    return [*parts, _dashboard(index, panels, digest)]


def _pattern(index: str) -> SavedObject:
    """Return the index pattern: every field, and the folder of a path as a scripted field."""
    properties = mappings.load("index.json")["mappings"]["properties"]
    fields = [
        _field(name, field)
        for name, field in properties.items()
        if field["type"] in (*_KINDS, *_NUMBERS)
    ]
    folder = {
        "name": "folder",
        "type": "string",
        "scripted": True,
        "script": _FOLDER,
        "lang": "painless",
    }
    fields.append(
        {**folder, "searchable": True, "aggregatable": True, "readFromDocValues": False, "count": 0}
    )
    attributes = {"title": index, "timeFieldName": "modified", "fields": json.dumps(fields)}
    return SavedObject("index-pattern", _id(index, "index"), attributes)


def _field(name: str, field: Body) -> Body:
    kind = field["type"]
    values = kind != "text" and field.get("doc_values", True)
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


def _panels(index: str) -> Iterator[SavedObject]:
    """Yield the panels in the order in which the dashboard shows them."""
    yield _chart(
        index,
        "totals",
        "Documents and families",
        "metric",
        [count("1"), agg("2", "cardinality", field="near_family", customLabel="Families")],
    )
    yield _vega(index, "rate", "Duplicate rate over time")
    yield _families(index, "largest", "Largest families", by="1")
    yield _families(index, "review", "Families to review: most labels first", by="2")
    buckets = agg("2", "histogram", "segment", field="near_similarity", interval=0.02)
    yield _chart(
        index,
        "similarity",
        "How alike duplicates are to their principal",
        "histogram",
        [count("1"), buckets],
        DUPLICATE,
    )
    for name, title, field in (
        ("folders", "Duplicates by folder", "folder"),
        ("types", "Duplicates by content type", "content_type"),
        ("labels", "Duplicates by label", "labels"),
    ):
        values = terms("2", "segment", field, 12, "1")
        yield _chart(index, name, title, "horizontal_bar", [count("1"), values, split("3")])
    yield _vega(index, "graph", "Families as graphs: filter on one to see it alone")
    yield _listing(index)


def _families(index: str, name: str, title: str, by: str) -> SavedObject:
    """Return a table of families of two or more documents.

    It shows documents, distinct labels, and the least similarity to the principal.
    """
    labels = agg("2", "cardinality", field="labels", customLabel="Labels")
    least = agg("3", "min", field="near_similarity", customLabel="Least similarity")
    families = terms(
        "4",
        "bucket",
        "near_family",
        20,
        by,
        json=json.dumps({"min_doc_count": 2}),
        customLabel="Family",
    )
    return _chart(index, name, title, "table", [count("1"), labels, least, families])


def _chart(
    index: str, name: str, title: str, kind: str, aggs: list[Body], only: str = ""
) -> SavedObject:
    state = {"title": title, "type": kind, "aggs": aggs, "params": LOOKS[kind]}
    source = {**query(only), "indexRefName": "kibanaSavedObjectMeta.searchSourceJSON.index"}
    reference = (
        "kibanaSavedObjectMeta.searchSourceJSON.index",
        "index-pattern",
        _id(index, "index"),
    )
    return _visualization(index, name, title, state, source, reference)


def _vega(index: str, name: str, title: str) -> SavedObject:
    specification = mappings.load(f"dashboard-{'family' if name == 'graph' else name}.vega.json")
    specification["data"][0]["url"]["index"] = index
    state = {
        "title": title,
        "type": "vega",
        "aggs": [],
        "params": {"spec": json.dumps(specification, indent=1)},
    }
    return _visualization(index, name, title, state, query(""))


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
    "rate": (36, 10),
    "graph": (_WHOLE, 20),
    "duplicates": (_WHOLE, 16),
}
_HALF = (24, 13)


def _dashboard(index: str, panels: list[SavedObject], digest: str) -> SavedObject:
    layout = []
    references = []
    for place, (panel, area) in enumerate(zip(panels, _areas(panels, index), strict=True)):
        grid = {**area, "i": str(place)}
        names = {"panelIndex": str(place), "panelRefName": f"panel_{place}"}
        layout.append({"version": "7.9.3", "gridData": grid, "embeddableConfig": {}, **names})
        references.append((f"panel_{place}", panel.type, panel.id))
    attributes = {
        "title": f"Near duplicates ({index})",
        "description": f"Made by nearfold; bundle {digest}",
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
    """Yield the area of each panel: beside the one before it where it fits, else below the row."""
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
