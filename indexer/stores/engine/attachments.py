"""The ingest pipeline for files: the attachment processor extracts the text, then it is signed.

OpenSearch has the processor as the plugin `ingest-attachment`, Elasticsearch from 8.4 without one.
Clients name this pipeline in their requests: for the one that signs, a field `data` has no special
meaning.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from indexer import mappings
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.engine import painless

if TYPE_CHECKING:
    from indexer.stores.engine.bodies import Body

VERSION = 5
FIELD = "data"
_READ = "near_attachment"


def pipeline(signing: str, recipe: Recipe = DEFAULT, field: str = painless.TEXT) -> Body:
    """Return the body of the pipeline that extracts the base64 file in `data`.

    It then passes the document to the pipeline `signing`.

    The first `MAX_UNITS` UTF-16 units of the text become `field`, and one that is longer
    `truncated`; to know it, one unit more is read. A file that the processor refuses is marked
    `unsigned`. `data` is removed last, so that two documents without text and without ids are told
    apart by it.
    """
    read = {
        "field": FIELD,
        "target_field": _READ,
        "indexed_chars": painless.MAX_UNITS + 1,
        "properties": ["content", "title", "content_type", "content_length"],
        "ignore_missing": True,
    }
    take = Template(mappings.read("attachment.painless")).substitute(limit=painless.MAX_UNITS)
    clean = {"remove": {"field": [FIELD, _READ], "ignore_missing": True}}
    return {
        "description": (
            f"nearfold {recipe.name} ({recipe.id}), version {VERSION}: "
            f"text and keys of the file in `{FIELD}`"
        ),
        "version": VERSION,
        "processors": [
            {"attachment": read},
            painless.script(take, {"field": field}),
            {"pipeline": {"name": signing}},
            clean,
        ],
        "on_failure": [*painless.mark_unsigned(recipe, field), clean],
    }
