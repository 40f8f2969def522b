"""The fields that the dashboard of an index shows: by which dates, and in place of which others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from indexer.errors import UsageError
from indexer.stores.engine import installer
from indexer.stores.engine.dashboards import OWN_FIELDS, DashboardFields
from indexer.stores.engine.field_substitutes import substitutes
from indexer.stores.engine.index_facts import IndexPlace
from indexer.stores.engine.index_requests import Requests
from indexer.stores.engine.mapping_facts import is_shared, text_field
from indexer.stores.engine.source_gaps import leaf_fields

_DATES = ("date", "date_nanos")
_FIRST = ("modified", "@timestamp")
_GROUPED = ("path", "content_type", "labels")  # fields whose values are counted


def dashboard_fields(
    requests: Requests, place: IndexPlace, time_field: str | None
) -> DashboardFields:
    """Return the fields of a dashboard.

    Its time is in `time_field`, else in `modified` for an index of nearfold's own, and for one that
    is shared in a field of dates that all its documents have; none where there is no such field, no
    document or no index yet. Ties: `modified`, `@timestamp`, then the first by name. Raises
    `UsageError` for a `time_field` that is no field of dates of the index.
    """
    index = installer.index_at(requests, place)
    if index is None:
        return DashboardFields(time_field)
    name, description = index
    mapping = description.get("mappings", {})
    dates = _date_fields(mapping)
    if time_field is not None and time_field not in dates:
        known = ", ".join(dates) or "none"
        raise UsageError(
            f"index {place.index} has no field of dates {time_field} (it has: {known}); "
            "name one of them by --time-field, or leave that out"
        )
    is_own = text_field(mapping) is not None and not is_shared(mapping)
    if is_own:
        return DashboardFields(time_field or OWN_FIELDS.time)
    shown = time_field or _time_of_all(requests, name, dates)
    names = substitutes(mapping)
    return DashboardFields(shown, {name: names[name] for name in _GROUPED if name in names})


def _date_fields(mapping: Mapping[str, Any]) -> list[str]:
    """Return the fields of dates, those that are preferred first."""
    names = [
        path
        for path, definition in leaf_fields(mapping)
        if definition.get("type") in _DATES and not path.startswith("near_")
    ]
    first = [name for name in _FIRST if name in names]
    return [*first, *sorted(set(names) - set(first))]


def _time_of_all(requests: Requests, index: str, dates: Sequence[str]) -> str | None:
    """Return the first field of dates that every document has; None without one."""
    filters = {str(place): {"exists": {"field": name}} for place, name in enumerate(dates)}
    if not filters:
        return None
    body = {
        "size": 0,
        "track_total_hits": True,
        "aggs": {"dates": {"filters": {"filters": filters}}},
    }
    answer = requests.call("POST", f"{index}/_search", body)
    total = answer["hits"]["total"]["value"]
    buckets = answer["aggregations"]["dates"]["buckets"]
    for place, name in enumerate(dates):
        if total and buckets[str(place)]["doc_count"] == total:
            return name
    return None
