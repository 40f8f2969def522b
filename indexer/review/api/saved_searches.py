"""Searches and work lists that are saved by name, and terms that pages highlight, for all who
review the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qs, urlsplit

from indexer.errors import UsageError
from indexer.jobs.review_file import SavedSearch, SavedTerm, stored_coding, with_labels
from indexer.model import Query
from indexer.review.access import Login
from indexer.review.api.documents import SearchParameters, filter_texts
from indexer.review.api.endpoints import (
    NoParameters,
    Parameters,
    ReadEndpoint,
    WriteEndpoint,
    parse_parameters,
    text_meta,
)
from indexer.review.api.work_list import SavedSearches
from indexer.review.labelling import local_address
from indexer.searching.search import parse_filters
from indexer.stores.abilities import FullStore
from indexer.stores.query_syntax import highlighted_terms
from indexer.stores.requirements import scope_view
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.review.site import Site


_MAX_NAME = 100  # characters
_PATHS = ("/", "/worklist")
_MAX_TERMS = 60


@dataclass(frozen=True, slots=True)
class SearchCount:
    """The numbers of documents and near-duplicate groups that a saved search finds.

    `error`: why it finds nothing any more, such as a field that was renamed; None where it does.
    """

    name: str
    address: str
    reviewer: str
    query: str
    documents: int
    groups: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SearchCounts:
    """The numbers of documents that saved searches find, by name."""

    searches: tuple[SearchCount, ...]


@dataclass(frozen=True, slots=True)
class SavedTerms:
    """The terms that pages highlight, in the order in which they were saved."""

    terms: tuple[SavedTerm, ...]


class TermParameters(Parameters, frozen=True):
    """Words to highlight."""

    text: Annotated[
        str, text_meta('a word, begin*, "words together", or several of them as in a search')
    ]


class NameParameters(Parameters, frozen=True):
    """A saved search."""

    name: Annotated[str, text_meta("its name")]


class SaveParameters(NameParameters, frozen=True):
    """A search to save."""

    address: Annotated[str, text_meta("path and query, such as /?q=agreement")]


def searches(site: Site, values: Parameters) -> SavedSearches:
    """Return the saved searches and work lists by name."""
    return SavedSearches(site.review.searches())


def counts(site: Site, values: Parameters) -> SearchCounts:
    """Return the numbers of documents that each saved search finds."""
    return SearchCounts(tuple(count_searches(site.store, site.review.searches())))


def count_searches(store: FullStore, saved: Iterable[SavedSearch]) -> Iterator[SearchCount]:
    """Count what saved searches find; work lists are left out."""
    for search in saved:
        address = urlsplit(search.address)
        if address.path != "/":
            continue
        texts = parse_qs(address.query)
        query = "".join(texts.get("q", ()))
        facts = search.name, search.address, search.reviewer, query
        try:
            yield SearchCount(*facts, *_count(store, texts))
        except UsageError as error:
            yield SearchCount(*facts, 0, 0, str(error))


def _count(store: FullStore, texts: Mapping[str, list[str]]) -> tuple[int, int]:
    """Return how many documents and groups a search finds by the parameters of its address."""
    fields = SearchParameters.__struct_fields__
    values = parse_parameters(
        SearchParameters, {name: texts[name] for name in fields if name in texts}
    )
    filters = parse_filters(filter_texts(values))
    text = with_labels(values.q, stored_coding(store))
    query = Query(text, filters, "path", families=True, join=values.join)
    ranking = scope_view(store, values.of).search(query)
    return ranking.total, ranking.families or 0


def save_search(site: Site, values: SaveParameters, login: Login) -> SavedSearches:
    """Save an address by name. A name that stands for another address is not given again."""
    name, address = values.name.strip(), local_address(values.address)
    if not name or len(name) > _MAX_NAME or visible(name) != name:
        raise UsageError(f"a saved search has a name of visible characters, {_MAX_NAME} at most")
    if urlsplit(address).path not in _PATHS:
        raise UsageError("only searches and work lists are saved; give the address of one")
    saved = site.review.save_search(name, address, login.name)
    if saved.address != address:
        by = f" of {saved.reviewer}" if saved.reviewer else ""
        raise UsageError(
            f"{name!r} is the name of another saved search{by}; delete that, or choose another name"
        )
    return searches(site, values)


def delete_search(site: Site, values: NameParameters, login: Login) -> SavedSearches:
    """Delete a saved search."""
    if not site.review.delete_search(values.name):
        raise UsageError(f"there is no saved search {values.name!r}; load the page again")
    return searches(site, values)


def terms(site: Site, values: Parameters) -> SavedTerms:
    """Return the terms that pages highlight."""
    return SavedTerms(site.review.terms())


def save_term(site: Site, values: TermParameters, login: Login) -> SavedTerms:
    """Save words to highlight, unless they are saved already."""
    text = " ".join(values.text.split())
    if len(text) > _MAX_NAME or visible(text) != text or not highlighted_terms(text):
        raise UsageError(f"a term has words of visible characters, {_MAX_NAME} at most")
    if len(site.review.terms()) >= _MAX_TERMS:
        raise UsageError(f"there are {_MAX_TERMS} terms, which is the limit; delete one first")
    site.review.save_term(text, login.name)
    return terms(site, values)


def delete_term(site: Site, values: TermParameters, login: Login) -> SavedTerms:
    """Delete a term."""
    if not site.review.delete_term(values.text):
        raise UsageError(f"there is no term {values.text!r}; load the page again")
    return terms(site, values)


SEARCHES_READS: Mapping[str, ReadEndpoint] = {
    "searches": ReadEndpoint(
        "searches",
        "The saved searches and work lists, by name.",
        NoParameters,
        searches,
        SavedSearches,
    ),
    "counts": ReadEndpoint(
        "searches/counts",
        "What each saved search finds: documents and near-duplicate groups.",
        NoParameters,
        counts,
        SearchCounts,
    ),
    "terms": ReadEndpoint(
        "terms",
        "The words that pages highlight, each in a colour.",
        NoParameters,
        terms,
        SavedTerms,
    ),
}
SEARCHES_WRITES: Mapping[str, WriteEndpoint] = {
    "save_search": WriteEndpoint(
        "searches/save",
        "Save the address of a search or of a work list by name.",
        SaveParameters,
        save_search,
        SavedSearches,
    ),
    "delete_search": WriteEndpoint(
        "searches/delete", "Delete a saved search.", NameParameters, delete_search, SavedSearches
    ),
    "save_term": WriteEndpoint(
        "terms/save", "Highlight words on all pages.", TermParameters, save_term, SavedTerms
    ),
    "delete_term": WriteEndpoint(
        "terms/delete",
        "Delete a term that is highlighted.",
        TermParameters,
        delete_term,
        SavedTerms,
    ),
}
