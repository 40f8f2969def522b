"""Roles for nearfold's users in a secured engine: the minimal privileges that the commands need."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from indexer import mappings
from indexer.stores.engine.requests import Dialect, Requests, Response, error_of
from indexer.stores.engine.search_bodies import Body
from indexer.stores.maintenance import Change

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


def is_same(role: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Return whether a stored role grants exactly what `role` grants, in any order.

    Fields that `role` does not set do not count.

    >>> is_same({"cluster": ["a", "b"]}, {"cluster": ["b", "a"], "run_as": []})
    True
    >>> is_same({"cluster": []}, {"cluster": ["all"]})
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
    return all(is_same(grant, other) for grant, other in zip(value, stored, strict=True))


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


def put(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Put the roles that are missing or differ; impossible where the engine has no roles."""
    return [
        _put(requests, f"{dialect.roles}/{name}", name, body, dry_run)
        for name, body in roles.items()
    ]


def remove(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Remove the roles that exist; an engine without a security API has none."""
    changes = []
    for name in roles:
        path = f"{dialect.roles}/{name}"
        stored = _stored_role(name, _ask(requests, "GET", path))
        if stored is None:
            continue
        if not is_marked(stored):
            changes.append(Change(_KIND, name, "kept", _FOREIGN))
            continue
        if not dry_run:
            _ask(requests, "DELETE", path)
        changes.append(Change(_KIND, name, "removed"))
    return changes


def _put(requests: Requests, path: str, name: str, body: Body, dry_run: bool) -> Change:
    response = _ask(requests, "GET", path)
    stored = _stored_role(name, response)
    if stored is not None and is_same(body, stored):
        return Change(_KIND, name, "unchanged")
    if stored is not None and not is_marked(stored):
        return Change(_KIND, name, "kept", _FOREIGN)
    if stored is not None and has_limits(stored):
        return Change(_KIND, name, "kept", _LIMITED)
    if response.status != 400 and not dry_run:
        response = _ask(requests, "PUT", path, body)
    if response.status == 400:
        return Change(_KIND, name, "impossible", response.reason)
    return Change(_KIND, name, "created" if stored is None else "updated")


def _stored_role(name: str, response: Response) -> Mapping[str, Any] | None:
    """Return the role in a response; None where there is none, or no security API."""
    return response.body.get(name) if response.status == 200 else None


def _ask(requests: Requests, method: str, path: str, body: Body | None = None) -> Response:
    """Return a successful response, a 404, or the 400 of an engine without roles; raise others."""
    response = requests.send(method, path, body)
    expected = {"GET": (400, 404), "PUT": (400,), "DELETE": (404,)}[method]
    if 200 <= response.status < 300 or response.status in expected:
        return response
    raise error_of(requests.url, response, f"{method} {path}")
