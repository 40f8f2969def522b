"""The roles that nearfold's users need in a secured engine: the smallest rights with which the
commands run.
"""

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
    """The bodies of the three roles for one index, its versions and its alias for writes, by name.

    `engine` is `opensearch` or `elasticsearch`; the bodies are what its security API takes for a
    role.

    >>> sorted(roles("opensearch", "papers"))
    ['nearfold-papers-admin', 'nearfold-papers-indexer', 'nearfold-papers-searcher']
    """
    pattern = re.sub(r'([.?+*|{}\[\]()"\\#@&<>~])', r"\\\1", index)
    text = mappings.read(f"roles/{engine}.json").replace(_PLACE, json.dumps(pattern)[1:-1])
    known: dict[str, Body] = json.loads(text)
    return {f"nearfold-{index}-{name}": known[name] for name in ROLES}


def same(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether a role that an engine keeps grants exactly what is wanted, in any order; fields that
    we do not set do not count.

    >>> same({"cluster": ["a", "b"]}, {"cluster": ["b", "a"], "run_as": []}), same({"cluster": []}, {"cluster": ["all"]})
    (True, False)
    """
    return all(name in found and _equal(value, found[name]) for name, value in wanted.items())


def _equal(wanted: Any, found: Any) -> bool:
    if not isinstance(wanted, list):
        return bool(wanted == found)
    if not isinstance(found, list) or len(wanted) != len(found):
        return False
    if all(isinstance(one, str) for one in wanted):
        return set(wanted) == set(found)
    return all(same(ours, theirs) for ours, theirs in zip(wanted, found, strict=True))


def limits(found: Mapping[str, Any]) -> bool:
    """Whether a role that an engine keeps shows only some documents or fields of an index, which
    ours never do.
    """
    grants = (*found.get("index_permissions", ()), *found.get("indices", ()))
    return any(grant.get(limit) for grant in grants for limit in _LIMITS)
