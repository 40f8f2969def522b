"""A gate that allows only the actions of a role file, as OpenSearch's security plugin does, which
the jars lack.

A request is translated into the actions that the engine performs for it. A request that the table
below does not list is refused, so a new kind of request fails a test until its rights are added.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from servers.proxy import Gate, GateRequest, basic

_NAME = r"(?P<index>[^_/][^/]*)"
_CLUSTER = {
    "_component_template": "cluster:admin/component_template",
    "_index_template": "indices:admin/index_template",
    "_template": "indices:admin/template",
    "_ingest/pipeline": "cluster:admin/ingest/pipeline",
    "_search/pipeline": "cluster:admin/search/pipeline",
    "_scripts": "cluster:admin/script",
}
_VERBS = {"GET": "get", "PUT": "put", "DELETE": "delete"}
_ACTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("GET", "", ("cluster:monitor/main",)),
    ("GET", "_nodes/plugins", ("cluster:monitor/nodes/info",)),
    ("GET", _NAME, ("indices:admin/get",)),
    ("PUT", _NAME, ("indices:admin/create",)),
    ("DELETE", _NAME, ("indices:admin/delete",)),
    ("PUT", f"{_NAME}/_alias/[^/]+", ("indices:admin/aliases",)),
    ("DELETE", f"{_NAME}/_alias/[^/]+", ("indices:admin/aliases",)),
    ("PUT", f"{_NAME}/_mapping", ("indices:admin/mapping/put",)),
    ("PUT", f"{_NAME}/_settings", ("indices:admin/settings/update",)),
    ("GET", r"(?P<index>\*[^/]*)/_settings/.*", ("indices:monitor/settings/get",)),
    ("PUT", f"{_NAME}/_block/write", ("indices:admin/block/add",)),
    ("PUT", f"{_NAME}/_clone/[^/]+", ("indices:admin/resize", "indices:admin/create")),
    ("POST", f"{_NAME}/_refresh", ("indices:admin/refresh", "indices:admin/refresh[s]")),
    ("POST", f"{_NAME}/_mget", ("indices:data/read/mget", "indices:data/read/mget[shard]")),
    ("POST", f"({_NAME}/)?_search", ("indices:data/read/search",)),
    ("POST", f"({_NAME}/)?_msearch", ("indices:data/read/msearch", "indices:data/read/search")),
    ("POST", f"{_NAME}/_search/point_in_time", ("indices:data/read/point_in_time/create",)),
    ("DELETE", "_search/point_in_time", ("indices:data/read/point_in_time/delete",)),
    ("GET", f"{_NAME}/_stats(/.*)?", ("indices:monitor/stats",)),
)
# Actions whose right is on the cluster.
_COMPOSITE = {
    "cluster:monitor/main",
    "cluster:monitor/nodes/info",
    "indices:data/read/mget",
    "indices:data/read/msearch",
    "indices:data/write/bulk",
}
_WRITES = {
    "index": "indices:data/write/index",
    "update": "indices:data/write/update",
    "delete": "indices:data/write/delete",
}


class RoleGate(Gate):
    """A gate where a user has the name of a role, with `password`, and the rights of that role;
    `granted` records the required actions.
    """

    password = "correct horse"

    def __init__(self, upstream: str, roles: Mapping[str, Any], tls: Path | None = None) -> None:
        self.roles = roles
        self.granted: set[str] = set()
        super().__init__(upstream, tls)

    def refusal(self, request: GateRequest) -> tuple[int, str] | None:
        """Return the refusal of a request that the user's role does not allow."""
        names = {basic(name, self.password): name for name in self.roles}
        name = names.get(request.authorization)
        if name is None:
            return 401, "Authentication finally failed"
        for action, index in required_actions(request):
            if not allows(self.roles[name], action, index):
                return 403, f"no permissions for [{action}] and User [name={name}]"
            self.granted.add(action)
        return None


def required_actions(request: GateRequest) -> Iterator[tuple[str, str | None]]:
    """Yield the actions of a request, each with its index, or None if it is on the cluster."""
    path = urlsplit(request.path).path.strip("/")
    for prefix, action in _CLUSTER.items():
        if path.startswith(f"{prefix}/_simulate"):
            yield f"{action}/simulate", None
            return
        if f"{path}/".startswith(f"{prefix}/") and path != "_search/point_in_time":
            yield f"{action}/{_VERBS[request.method]}", None
            return
    bulk = re.fullmatch(f"{_NAME}/_bulk", path)
    if request.method == "POST" and bulk:
        yield from _bulk(request.body, bulk["index"])
        return
    if request.method == "POST" and path == "_aliases":
        yield from _aliases(request.body)
        return
    matches = [
        (re.fullmatch(pattern, path), actions)
        for method, pattern, actions in _ACTIONS
        if method == request.method
    ]
    if not any(match for match, _ in matches):
        yield f"unknown:{request.method} {path}", None
    for match, actions in matches:
        if match is None:
            continue
        index = match.groupdict().get("index") or "*"
        for name in index.split(","):
            yield from ((action, None if action in _COMPOSITE else name) for action in actions)
        if actions == ("indices:admin/create",) and b'"aliases"' in request.body:
            yield "indices:admin/aliases", index


def _bulk(body: bytes, index: str) -> Iterator[tuple[str, str | None]]:
    yield "indices:data/write/bulk", None
    yield "indices:data/write/bulk[s]", index
    lines = iter(body.splitlines())
    for line in lines:
        (action,) = json.loads(line)
        yield _WRITES[action], index
        if action != "delete":
            next(lines)


def _aliases(body: bytes) -> Iterator[tuple[str, str | None]]:
    for action in json.loads(body)["actions"]:
        ((kind, settings),) = action.items()
        name = "indices:admin/delete" if kind == "remove_index" else "indices:admin/aliases"
        yield name, settings["index"]


def allows(role: Mapping[str, Any], action: str, index: str | None) -> bool:
    """Return whether a role of OpenSearch's form allows an action; `*` as index: on any index that
    a point in time covers.
    """
    if index is None:
        return _matches(role["cluster_permissions"], action)
    for permission in role["index_permissions"]:
        covers_index = index == "*" or any(
            _is_name(pattern, index) for pattern in permission["index_patterns"]
        )
        if covers_index and _matches(permission["allowed_actions"], action):
            return True
    return False


def _matches(patterns: list[str], action: str) -> bool:
    return any(
        pattern == action
        or fnmatch.fnmatchcase(action.replace("[", "(").replace("]", ")"), pattern)
        for pattern in patterns
    )


def _is_name(pattern: str, index: str) -> bool:
    if pattern.startswith("/"):
        return re.fullmatch(pattern[1:-1], index) is not None
    return fnmatch.fnmatchcase(index, pattern)
