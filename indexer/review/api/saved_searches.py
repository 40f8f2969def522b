"""Searches and work lists that are saved by name, for all who review the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from indexer.errors import UsageError
from indexer.review.access import Login
from indexer.review.api.endpoints import (
    NoParameters,
    Parameters,
    ReadEndpoint,
    WriteEndpoint,
    text_meta,
)
from indexer.review.api.work_list import SavedSearches
from indexer.review.labelling import local_address
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.review.site import Site


_MAX_NAME = 100  # characters
_PATHS = ("/", "/worklist")


class NameParameters(Parameters, frozen=True):
    """A saved search."""

    name: Annotated[str, text_meta("its name")]


class SaveParameters(NameParameters, frozen=True):
    """A search to save."""

    address: Annotated[str, text_meta("path and query, such as /?q=agreement")]


def searches(site: Site, values: Parameters) -> SavedSearches:
    """Return the saved searches and work lists by name."""
    return SavedSearches(site.review.searches())


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


SEARCHES_READS: Mapping[str, ReadEndpoint] = {
    "searches": ReadEndpoint(
        "searches",
        "The saved searches and work lists, by name.",
        NoParameters,
        searches,
        SavedSearches,
    )
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
}
