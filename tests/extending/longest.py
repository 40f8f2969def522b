"""The longest documents of a store. An example of an endpoint of the API, and of a page."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from typing import Annotated

from indexer.review.api.endpoints import Parameters, ReadEndpoint, number_meta
from indexer.review.app import Page
from indexer.review.site import Site


# 1. The parameters: each field has a type, a range, a description and, if it may be left out, a
#    default. Parsing, error messages and OpenAPI follow.
class LongestParameters(Parameters, frozen=True):
    """How many documents."""

    limit: Annotated[int, number_meta("most documents", 1, 100)] = 10


# 2. The response: its fields are the keys of the JSON object.
@dataclass(frozen=True, slots=True)
class LongDocument:
    """A document and its words."""

    path: str
    words: int


@dataclass(frozen=True, slots=True)
class Longest:
    """The longest documents, the longest first."""

    documents: tuple[LongDocument, ...]


# 3. The function of parameters and store.
def longest(site: Site, values: LongestParameters) -> Longest:
    """Return the longest documents."""
    rows = nlargest(values.limit, site.store.scan(), key=lambda row: row.words)
    return Longest(tuple(LongDocument(row.path, row.words) for row in rows))


# 4. A line of the endpoints of its resource, such as `DOCUMENT_READS`: /api/longest.
READS = {
    "longest": ReadEndpoint(
        "longest", "The longest documents.", LongestParameters, longest, Longest
    ),
}
# 5. A line of `PAGES` in indexer/review/app.py, with a template that shows `longest`.
PAGE = Page("/longest", "longest.html", "Longest documents", ("longest",), {})
