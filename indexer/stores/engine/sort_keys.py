"""Sort keys of searches in an engine."""

from __future__ import annotations

# Sorts after every string; a literal, because OpenSearch 3.8 cannot page after a missing value.
LAST = "\U0010ffff"
BY_ID = {"near_id": {"order": "asc", "missing": LAST, "unmapped_type": "keyword"}}
BY_PATH = {"path": {"order": "asc", "missing": LAST, "unmapped_type": "keyword"}}
IN_PLACE = {"_shard_doc": "asc"}  # documents that other programs sent without an id of ours
BEST = {"_score": "desc"}
NEWEST = {"modified": {"order": "desc", "missing": "_last", "unmapped_type": "date"}}
