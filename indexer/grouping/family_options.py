"""The options by which families are kept up to date between two runs of `group`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from indexer.grouping.group_options import DEFAULT_OPTIONS, GroupOptions
from indexer.jobs.history import group_settings
from indexer.model import Row
from indexer.similarity.measures import TextOperand
from indexer.similarity.new_words import Rarity
from indexer.similarity.words_in_common import accepts_in_common, measure_in_common
from indexer.stores.base import Store

_OF_PARTS = GroupOptions(of="parts")


@dataclass(frozen=True, slots=True)
class FamilyOptions:
    """The options of families of documents, and those of families of parts."""

    documents: GroupOptions = DEFAULT_OPTIONS
    parts: GroupOptions = _OF_PARTS


DEFAULT_FAMILIES = FamilyOptions()


def last_options(store: Store) -> FamilyOptions:
    """Return the options of the last `group` on documents and of that on parts.

    The defaults stand for one that is not known here: there was none, or another machine ran it.
    Raises `StoreBusy` while a job works on the store.
    """
    documents = group_settings(store.address, "documents")
    parts = group_settings(store.address, "parts")
    return FamilyOptions(
        GroupOptions.from_settings(documents) if documents else DEFAULT_FAMILIES.documents,
        GroupOptions.from_settings(parts) if parts else DEFAULT_FAMILIES.parts,
    )


def similarity_to_principal(
    row: Row,
    head: Row,
    options: GroupOptions,
    side: Callable[[Row], TextOperand],
    rarity: Rarity,
) -> float:
    """Return the similarity of a document to a principal; 0 if the options keep them apart.

    It is 1 for copies, and may be too low where it is below the threshold, which saves time. `side`
    returns the text of a row; `rarity` has the frequencies that criteria on novelty need.
    """
    criteria = options.folding
    if options.within is not None and set(row.labels) != set(head.labels):
        return 0.0
    if criteria.fields and not criteria.allows(criteria.values(row), criteria.values(head)):
        return 0.0
    if criteria.content_key(row) == criteria.content_key(head):
        return 1.0
    a, b = side(row), side(head)
    value, common = measure_in_common(options.measure, a, b, options.threshold)
    if not criteria or value < options.threshold:
        return value
    return value if accepts_in_common(criteria, a, b, common, rarity) else 0.0
