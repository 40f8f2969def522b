"""Roles for nearfold's users in a secured engine: the least privileges that the commands need."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from indexer import mappings
from indexer.stores.engine.bodies import Body

ROLES = ("searcher", "indexer", "admin")
_PLACE = "INDEX"
_LIMITS = ("dls", "fls", "masked_fields", "query", "field_security")


def roles(engine: str, index: str) -> dict[str, Body]:
    """Return the bodies of the three roles for an index, its versions and write alias, by name.

    `engine` is `opensearch` or `elasticsearch`; the bodies are those of its security API.

    >>> sorted(roles("opensearch", "papers"))
    ['nearfold-papers-admin', 'nearfold-papers-indexer', 'nearfold-papers-searcher']
    """
    pattern = re.sub(r'([.?+*|{}\[\]()"\\#@&<>~])', r"\\\1", index)
    text = mappings.read(f"roles/{engine}.json").replace(_PLACE, json.dumps(pattern)[1:-1])
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
