"""Maintenance of an index of an engine: another recipe, installation, roles."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from indexer import mappings
from indexer.errors import UsageError
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.engine import install
from indexer.stores.engine.dashboards import LOG_FIELDS, OWN_FIELDS, DashboardFields, log_name
from indexer.stores.engine.field_substitutes import substitutes
from indexer.stores.engine.index_facts import IndexAddress, write_blocks
from indexer.stores.engine.index_mapping import (
    has_clients,
    is_shared_mapping,
    layout_of,
    leaf_fields,
    text_field,
)
from indexer.stores.engine.requests import EXISTS, SECONDS, Dialect, Requests, Response, error_of
from indexer.stores.engine.search_bodies import Body
from indexer.stores.maintenance import (
    Change,
    Layout,
    LoggedSearch,
    Product,
    ReindexOptions,
    ReindexResult,
)

if TYPE_CHECKING:
    from indexer.stores.engine.index import OpenIndex


class EngineMaintenance:
    """Reindexable, shareable and installable: the maintenance of a store in an engine.

    What it needs is imported when it is used, because indexing and searching never do.
    """

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def reindex(self, options: ReindexOptions) -> ReindexResult:
        """Fill a new version of the index, which takes over its name.

        The old one refuses writes for the last step.
        """
        from indexer.stores.engine.reindex import replace_index

        index = self._index
        try:
            return replace_index(index.requests, index.location, index.dialect, options)
        finally:
            index.facts = None

    def plan_reindex(
        self, recipe: Recipe, keep: bool, layout: Layout | None = None
    ) -> list[Change]:
        """Read what `reindex` would create, change and remove, and write nothing."""
        from indexer.stores.engine.reindex import plan_replacement

        index = self._index
        return plan_replacement(index.requests, index.location, index.dialect, recipe, keep, layout)

    def is_shared(self) -> bool:
        """Return whether clients may change texts, as the mapping and the settings say."""
        self._index.require_recipe()
        return bool(self._index.facts and has_clients(self._index.facts.description))

    def changed_rows(self) -> Sequence[Row]:
        """Look at the thousand documents written last; those that were written once are not read.

        Engines number the operations on an index, and the versions of a document.
        """
        from indexer.stores.engine.reads import changed_rows

        return changed_rows(self._index)

    def stored_rows(self) -> Iterator[Row]:
        """Scan documents and parts."""
        from indexer.stores.engine.reads import scan_rows

        return scan_rows(self._index, "both", None, as_stored=True)

    def headless_families(self) -> Sequence[str]:
        """Count the members of each family, and look their principals up, as far as refreshed."""
        from indexer.stores.engine.families import headless

        return headless(self._index.queries("both"))

    def waiting(self) -> int:
        """Count the documents with keys that neither `group` nor a follower has placed."""
        from indexer.stores.engine.families import unplaced

        return unplaced(self._index.queries("documents"), self._index.require_recipe().id, 0)[1]

    def check_updatable(self) -> None:
        """Look for fields that the index holds and `_source` lacks, and for limits of the user."""
        from indexer.stores.engine.create_index import require_whole_view

        index = self._index
        index.check_updatable()
        if index.facts:
            require_whole_view(index.requests, index.facts.members or (index.facts.index,))

    def write_blocks(self) -> Mapping[str, Sequence[str]]:
        """Read the settings of the index, or of all behind its name; a job that begins then goes on
        with the index that there is now.
        """
        self._index.facts = None
        self._index.require_recipe()
        return write_blocks(self._index.requests, self._index.location)

    def check_same(self) -> None:
        """Compare what the index, or each behind its name, was given when it was made."""
        self._index.check_same()

    def check_labels(self, ids: Sequence[str]) -> None:
        """Look at the mapping of `labels`, and at the documents themselves."""
        from indexer.stores.engine.foreign_documents import check_labels

        check_labels(self._index, ids)

    def fingerprint_again(self, rows: Sequence[Row]) -> None:
        """Write keys and family fields alone, by a partial update of what has not changed since."""
        from indexer.stores.engine.writes import fingerprint_again

        fingerprint_again(self._index, rows)

    def installed_recipe(self) -> Recipe | None:
        """Return the recipe that the index has, or will have by its template."""
        from indexer.stores.engine.install import installed_recipe

        return installed_recipe(self._index.requests, self._index.location)

    def layout(self) -> Layout:
        """Return the layout that the mapping has."""
        self._index.stored_recipe()
        facts = self._index.facts
        return layout_of(facts.mapping) if facts else "pipeline"

    def plugin_versions(self) -> Mapping[str, str | None]:
        """Read the plugins of all nodes."""
        from indexer.stores.engine.install import plugin_versions

        return plugin_versions(self._index.requests)

    def install(
        self,
        recipe: Recipe,
        dry_run: bool,
        text_field: str | None = None,
        layout: Layout | None = None,
    ) -> list[Change]:
        """Install templates and pipelines for this index, and change the index itself where it
        exists.
        """
        from indexer.stores.engine.install import install

        index = self._index
        index.facts = None
        return install(
            index.requests, index.location, index.dialect, recipe, dry_run, text_field, layout
        )

    def uninstall(self, recipe: Recipe, dry_run: bool) -> list[Change]:
        """Remove what `install` put there.

        The index stays as it is but for its default pipeline, and for its write alias where other
        programs write too.
        """
        from indexer.stores.engine.install import uninstall

        index = self._index
        return uninstall(index.requests, index.location, index.dialect, recipe, dry_run)

    def installation_problems(self) -> Sequence[str]:
        """Look at the mapping and at index templates; at none of an alias of several indices."""
        from indexer.stores.engine.install import installation_problems

        index = self._index
        index.require_recipe()
        if index.facts and index.facts.members:
            return ()
        return installation_problems(index.requests, index.location)

    def put_dashboards(
        self, path: str, dry_run: bool, time_field: str | None, pages: str | None
    ) -> Change:
        """Put the dashboard with the fields that the index has."""
        from indexer.stores.engine import saved_objects

        if self.layout() == "plugin":
            raise UsageError(
                "--dashboards does not work on an index of the layout plugin yet; "
                f"`nearfold reindex --layout pipeline --store {self._index.address.url}` changes it"
            )
        fields = dashboard_fields(self._index.requests, self._index.location, time_field)
        index = self._index.location.index
        logged, worded = logged_kinds(self._index.requests, index)
        fields = replace(fields, pages=pages or "", searches=logged, queries=worded)
        return saved_objects.put(path, index, self._product(), dry_run, fields)

    def remove_dashboards(self, path: str, dry_run: bool) -> list[Change]:
        """Remove the dashboard, and the objects that it shows."""
        from indexer.stores.engine import saved_objects

        return saved_objects.remove(path, self._index.location.index, self._product(), dry_run)

    def prepare_log(self, days: int) -> None:
        """Create an index of its own for the log, and delete by query."""
        prepare_log(self._index.requests, self._index.location.index)
        prune_log(self._index.requests, self._index.location.index, days)

    def log_search(self, search: LoggedSearch) -> None:
        """Write a document of the log."""
        write_search(self._index.requests, self._index.location.index, search)

    def _product(self) -> Product:
        """Return the product that belongs to the engine."""
        kind = self._index.address.kind
        return "opensearch-dashboards" if kind == "opensearch" else "kibana"

    def put_roles(self, dry_run: bool) -> list[Change]:
        """Put roles by the security API of the engine."""
        return put_roles(self._index.requests, self._index.dialect, self.roles(), dry_run)

    def remove_roles(self, dry_run: bool) -> list[Change]:
        """Remove roles by the security API of the engine."""
        return remove_roles(self._index.requests, self._index.dialect, self.roles(), dry_run)

    def roles(self) -> dict[str, Body]:
        """Return roles in the form that the security API of this engine takes."""
        return roles(self._index.address.kind, self._index.location.index)


# The log of searches: an index of its own, in which a search is one document: when, how many
# documents matched, and into how many groups they were folded. The words of a search are in it only
# where whoever serves the pages chose that.

_SECONDS = 2.0  # for which a search waits for its entry


def prepare_log(requests: Requests, index: str) -> None:
    """Create the log where it is missing."""
    name = log_name(index)
    if requests.send("GET", name).status != 404:
        return
    mapping = {"dynamic": "strict", "properties": LOG_FIELDS}
    body = {"settings": {"number_of_shards": 1}, "mappings": mapping}
    response = requests.send("PUT", name, body)
    if response.kind != EXISTS and response.status >= 300:
        raise error_of(requests.url, response, f"PUT {name}")


def write_search(requests: Requests, index: str, search: LoggedSearch) -> None:
    """Write a search, once and without waiting long; raise `StoreError` where it is refused."""
    entry: dict[str, Any] = {"time": int(time.time() * 1000), "fold": search.fold}
    if search.groups is not None:
        hidden = max(0, search.hits - search.groups)
        entry |= {"hits": search.hits, "groups": search.groups, "hidden": hidden}
    if search.query is not None:
        entry["query"] = search.query
    requests.call("POST", f"{log_name(index)}/_doc", entry, seconds=_SECONDS)


def prune_log(requests: Requests, index: str, days: int) -> None:
    """Delete the searches that are older than so many days."""
    body = {"query": {"range": {"time": {"lt": f"now-{days}d"}}}}
    params = {"conflicts": "proceed", "refresh": "true"}
    requests.call("POST", f"{log_name(index)}/_delete_by_query", body, params, SECONDS)


def logged_kinds(requests: Requests, index: str) -> tuple[bool, bool]:
    """Return whether there is a log of searches, and whether it has their words."""
    name = log_name(index)
    if requests.send("GET", name).status != 200:
        return False, False
    body = {"query": {"exists": {"field": "query"}}}
    return True, bool(requests.call("POST", f"{name}/_count", body)["count"])


# The fields that the dashboard of an index shows: by which dates, and instead of which others.

_DATES = ("date", "date_nanos")
_FIRST = ("near_date", "modified", "@timestamp")
_GROUPED = ("path", "content_type", "labels")  # fields whose values are counted


def dashboard_fields(
    requests: Requests, address: IndexAddress, time_field: str | None
) -> DashboardFields:
    """Return the fields of a dashboard.

    Its time is in `time_field`, else in a field of dates that all documents have: `near_date`,
    `modified`, `@timestamp`, or the first by name. Without documents it is `modified` for an index
    of nearfold's own. None where there is no such field or no index yet. Raises `UsageError` for a
    `time_field` that is no field of dates of the index.
    """
    index = install.index_at(requests, address)
    if index is None:
        return DashboardFields(time_field)
    name, description = index
    mapping = description.get("mappings", {})
    dates = _date_fields(mapping)
    if time_field is not None and time_field not in dates:
        known = ", ".join(dates) or "none"
        raise UsageError(
            f"index {address.index} has no field of dates {time_field} (it has: {known}); "
            "name one of them by --time-field, or leave that out"
        )
    is_own = text_field(mapping) is not None and not is_shared_mapping(mapping)
    of_none = OWN_FIELDS.time if is_own else None
    dated_by = time_field or _time_of_all(requests, name, dates, of_none)
    names = {} if is_own else substitutes(mapping)
    return DashboardFields(dated_by, {name: names[name] for name in _GROUPED if name in names})


def _date_fields(mapping: Mapping[str, Any]) -> list[str]:
    """Return the fields of dates, those that are preferred first."""
    names = [
        path
        for path, definition in leaf_fields(mapping)
        if definition.get("type") in _DATES and (path in _FIRST or not path.startswith("near_"))
    ]
    first = [name for name in _FIRST if name in names]
    return [*first, *sorted(set(names) - set(first))]


def _time_of_all(
    requests: Requests, index: str, dates: Sequence[str], of_none: str | None
) -> str | None:
    """Return the first field of dates that every document has; None without one, and `of_none`
    where there are no documents.
    """
    filters = {str(index): {"exists": {"field": name}} for index, name in enumerate(dates)}
    if not filters:
        return None
    body = {
        "size": 0,
        "track_total_hits": True,
        "aggs": {"dates": {"filters": {"filters": filters}}},
    }
    response = requests.call("POST", f"{index}/_search", body)
    total = response["hits"]["total"]["value"]
    if not total:
        return of_none
    buckets = response["aggregations"]["dates"]["buckets"]
    for number, name in enumerate(dates):
        if buckets[str(number)]["doc_count"] == total:
            return name
    return None


# Roles for users of a secured engine: the minimal privileges that the commands need.

ROLES = ("searcher", "indexer", "admin")
_INDEX = "INDEX"
_LIMITS = ("dls", "fls", "masked_fields", "query", "field_security")


def roles(engine: str, index: str) -> dict[str, Body]:
    """Return the bodies of the three roles for an index, its versions and write alias, by name.

    `engine` is `opensearch` or `elasticsearch`; the bodies are for its security API.

    >>> sorted(roles("opensearch", "papers"))
    ['nearfold-papers-admin', 'nearfold-papers-indexer', 'nearfold-papers-searcher']
    """
    pattern = re.sub(r'([.?+*|{}\[\]()"\\#@&<>~])', r"\\\1", index)
    text = mappings.read(f"roles/{engine}.json").replace(_INDEX, json.dumps(pattern)[1:-1])
    bodies: dict[str, Body] = json.loads(text)
    return {f"nearfold-{index}-{name}": bodies[name] for name in ROLES}


def is_same_role(role: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Return whether a stored role grants exactly what `role` grants, in any order.

    Fields that `role` does not set do not count.

    >>> is_same_role({"cluster": ["a", "b"]}, {"cluster": ["b", "a"], "run_as": []})
    True
    >>> is_same_role({"cluster": []}, {"cluster": ["all"]})
    False
    """
    return all(name in stored and _equal(value, stored[name]) for name, value in role.items())


def _equal(value: Any, stored: Any) -> bool:
    if not isinstance(value, list):
        return bool(value == stored)
    if not isinstance(stored, list) or len(value) != len(stored):
        return False
    if all(isinstance(name, str) for name in value):
        return set(value) == set(stored)
    return all(is_same_role(grant, other) for grant, other in zip(value, stored, strict=True))


def is_marked(stored: Mapping[str, Any]) -> bool:
    """Return whether a stored role is one of nearfold's, of any version: its description says so.

    >>> is_marked({"description": "nearfold: search"}), is_marked({"cluster": ["all"]})
    (True, False)
    """
    return str(stored.get("description", "")).startswith("nearfold")


def has_limits(stored: Mapping[str, Any]) -> bool:
    """Return whether a stored role is limited to some documents or fields; ours never are."""
    grants = (*stored.get("index_permissions", ()), *stored.get("indices", ()))
    return any(grant.get(limit) for grant in grants for limit in _LIMITS)


# Installation of the roles by an engine's security API, where it has one.

_KIND = "role"
_FOREIGN = "it is another program's, as its description says; rename it there"
_LIMITED = (
    "it was changed and limits documents or fields, and replacing it would remove the limits; "
    "remove or repair it by hand"
)


def put_roles(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Put the roles that are missing or differ; impossible where the engine has no roles."""
    return [
        _put_role(requests, f"{dialect.roles}/{name}", name, body, dry_run)
        for name, body in roles.items()
    ]


def remove_roles(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Remove the roles that exist; an engine without a security API has none."""
    changes = []
    for name in roles:
        path = f"{dialect.roles}/{name}"
        stored = _stored_role(name, _send(requests, "GET", path))
        if stored is None:
            continue
        if not is_marked(stored):
            changes.append(Change(_KIND, name, "kept", _FOREIGN))
            continue
        if not dry_run:
            _send(requests, "DELETE", path)
        changes.append(Change(_KIND, name, "removed"))
    return changes


def _put_role(requests: Requests, path: str, name: str, body: Body, dry_run: bool) -> Change:
    response = _send(requests, "GET", path)
    stored = _stored_role(name, response)
    if stored is not None and is_same_role(body, stored):
        return Change(_KIND, name, "unchanged")
    if stored is not None and not is_marked(stored):
        return Change(_KIND, name, "kept", _FOREIGN)
    if stored is not None and has_limits(stored):
        return Change(_KIND, name, "kept", _LIMITED)
    if response.status != 400 and not dry_run:
        response = _send(requests, "PUT", path, body)
    if response.status == 400:
        return Change(_KIND, name, "impossible", response.reason)
    return Change(_KIND, name, "created" if stored is None else "updated")


def _stored_role(name: str, response: Response) -> Mapping[str, Any] | None:
    """Return the role in a response; None where there is none, or no security API."""
    return response.body.get(name) if response.status == 200 else None


def _send(requests: Requests, method: str, path: str, body: Body | None = None) -> Response:
    """Return a successful response, a 404, or the 400 of an engine without roles; raise others."""
    response = requests.send(method, path, body)
    expected = {"GET": (400, 404), "PUT": (400,), "DELETE": (404,)}[method]
    if 200 <= response.status < 300 or response.status in expected:
        return response
    raise error_of(requests.url, response, f"{method} {path}")
