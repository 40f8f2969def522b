"""The roles that nearfold's users need in a secured engine: the smallest rights with which the commands run."""

from __future__ import annotations

import json
import re

from indexer import mappings
from indexer.stores.bodies import Body

ROLES = ("searcher", "indexer", "admin")
_PLACE = "INDEX"


def roles(engine: str, index: str) -> dict[str, Body]:
    """The bodies of the three roles for one index, its versions and its alias for writes, by name.

    `engine` is `opensearch` or `elasticsearch`; the bodies are what its security API takes for a role.

    >>> sorted(roles("opensearch", "papers"))
    ['nearfold-papers-admin', 'nearfold-papers-indexer', 'nearfold-papers-searcher']
    """
    pattern = re.sub(r'([.?+*|{}\[\]()"\\#@&<>~])', r"\\\1", index)
    text = mappings.read(f"roles/{engine}.json").replace(_PLACE, json.dumps(pattern)[1:-1])
    known: dict[str, Body] = json.loads(text)
    return {f"nearfold-{index}-{name}": known[name] for name in ROLES}
