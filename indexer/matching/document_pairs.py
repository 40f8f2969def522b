"""Pairs of documents, made from the pairs of the distinct texts that they carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.joins.copies import DocumentPairs, PairFilter
from indexer.joins.external_sort import Codes, Sorter
from indexer.joins.memory_budget import Column, parts
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.joins.runs import Places
from indexer.matching.collection import Collection
from indexer.matching.text_pairs import TextPairs


@dataclass(frozen=True, slots=True)
class PairColumns:
    """Pairs of documents in ascending order, one array a property.

    `left` and `right`: (pairs,) places of documents in the collection. `exact`: (pairs,) whether
    `similarity` was measured on the texts. `within`: (pairs, 2) containment, where the pairs of
    texts have it. `copies_left_out`: how many pairs between copies of one text are not listed.
    """

    left: Places
    right: Places
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    within: NDArray[np.float64] | None
    copies_left_out: int


def document_pairs(
    collection: Collection,
    text_pairs: TextPairs,
    selection: PairFilter,
    cap: int | None,
    with_copies: bool = True,
) -> PairColumns:
    """Return the selected pairs of documents that pairs of texts stand for, and those of copies.

    Copies that make more than `cap` pairs are listed with the first of them only; None: with all.
    Copies are 1 to each other; they are left out unless `with_copies`.
    """
    expansion = DocumentPairs(collection.documents, cap)
    codes = _selected_codes(collection, text_pairs, selection, expansion, with_copies)
    left, right, origin = _origins(collection, text_pairs, codes)
    similarity, exact = _similarities(collection, text_pairs, origin)
    within = None
    if text_pairs.within is not None:
        within = _containments(collection, text_pairs.within, left, right, origin)
    return PairColumns(left, right, similarity, exact, within, expansion.left_out)


def _selected_codes(
    collection: Collection,
    text_pairs: TextPairs,
    selection: PairFilter,
    expansion: DocumentPairs,
    with_copies: bool,
) -> Codes:
    """Return the selected pairs of documents as sorted codes."""
    sorter = Sorter(collection.budget)
    for part in parts(len(text_pairs.left), collection.budget.block):
        for a, b in expansion.between_texts(text_pairs.left[part], text_pairs.right[part]):
            sorter.add(_selected(a, b, selection))
    for a, b in expansion.within_texts() if with_copies else ():
        sorter.add(_selected(a, b, selection))
    return sorter.sorted()


def _selected(a: Places, b: Places, selection: PairFilter) -> Codes:
    left, right, is_selected = selection.orient(a, b)
    return encode_pair(left[is_selected], right[is_selected])


def _origins(
    collection: Collection, text_pairs: TextPairs, codes: Codes
) -> tuple[Places, Places, NDArray[np.int64]]:
    """Return left and right documents, and the place of the pair of their texts.

    The place is -1 for copies of one text.
    """
    known = _text_codes(collection, text_pairs)
    columns = [Column(collection.budget, dtype) for dtype in (np.int32, np.int32, np.int64)]
    for part in parts(len(codes), collection.budget.block):
        left, right = decode_pair(codes[part])
        left_text = collection.documents.texts[left]
        right_text = collection.documents.texts[right]
        ordered = encode_pair(np.minimum(left_text, right_text), np.maximum(left_text, right_text))
        places = np.where(left_text == right_text, -1, np.searchsorted(known, ordered))
        for column, values in zip(columns, (left, right, places), strict=True):
            column.add(values)
    left, right, origin = (column.whole() for column in columns)
    return left, right, origin


def _text_codes(collection: Collection, text_pairs: TextPairs) -> Codes:
    column = Column(collection.budget, np.uint64)
    for part in parts(len(text_pairs.left), collection.budget.block):
        column.add(encode_pair(text_pairs.left[part], text_pairs.right[part]))
    return column.whole()


def _similarities(
    collection: Collection, text_pairs: TextPairs, origin: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the similarity of each pair, and whether it was measured on the texts."""
    similarity: NDArray[np.float64] = collection.budget.array(len(origin), np.float64)
    exact: NDArray[np.bool_] = collection.budget.array(len(origin), np.bool_)
    for part in parts(len(origin), collection.budget.block):
        is_copy = origin[part] < 0
        places = origin[part][~is_copy]
        similarity[part] = 1.0
        similarity[part][~is_copy] = text_pairs.similarity[places]
        exact[part] = True
        exact[part][~is_copy] = text_pairs.exact[places]
    return similarity, exact


def _containments(
    collection: Collection,
    of_texts: NDArray[np.float64],
    left: Places,
    right: Places,
    origin: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return (pairs, 2): how much of the left document is in the right one, and the other way.

    `of_texts` has the same for the pairs of texts, whose left text has the lower number.
    """
    texts = collection.documents.texts
    within: NDArray[np.float64] = collection.budget.array((len(left), 2), np.float64)
    for part in parts(len(left), collection.budget.block):
        is_copy = origin[part] < 0
        sides = of_texts[origin[part][~is_copy]]
        is_swapped = texts[left[part][~is_copy]] > texts[right[part][~is_copy]]
        within[part] = 1.0
        within[part][~is_copy] = np.where(is_swapped[:, None], sides[:, ::-1], sides)
    return within
