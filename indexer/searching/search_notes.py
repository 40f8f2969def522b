"""The notes of a search: what was ignored, what is not folded, and by what families were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from indexer.clustering.field_order import parse_order
from indexer.jobs.history import spell_settings
from indexer.recipe import Recipe
from indexer.sketch.sketch_options import has_sketch_alone
from indexer.text.query_syntax import ignored_syntax
from indexer.text.visible import visible
from indexer.text.wording import count_of, join_names

if TYPE_CHECKING:
    from indexer.searching.fold import Group
    from indexer.searching.search_options import SearchOptions
    from indexer.searching.stored_texts import StoredTexts

_METADATA_NAMED = 20  # names of metadata that a note lists at most
_NO_SLOTS = (
    "recipe {} keeps no MinHash slots, which live folding needs: only copies are folded; "
    "folding by family may do"
)
_TOP_ONLY = "by type only the best {} are compared; those after them are not folded (raise `top`)"
_PASSED_OVER = (
    "by type texts of {:,} characters together are compared; {} did not fit in and {} not folded"
)
_IGNORED = "no operators in a search here, so that their words are searched for: {}"
_LEFT_OUT = "similarities are of texts without the approved passages of list {}"
_APART = "not similar enough to the hit that `show` chose, and shown below it: {}"
_ABSENT = "no hit here has metadata.{}, by which `show` orders; they have: {}"
_FAMILIES = "families were made by `nearfold group {}`; later documents have provisional ones"

_CHANGED = (
    "their text was changed since they were put into families, so they are shown by themselves: "
    "{}; run `nearfold group`"
)


def notes_on_changed(apart: int) -> Iterator[str]:
    """Yield a sentence if hits are shown apart because their text was changed."""
    if apart:
        yield _CHANGED.format(count_of(apart, "hit"))


def notes_on_folding(
    query: str,
    options: SearchOptions,
    recipe: Recipe,
    total: int,
    families_by: Mapping[str, Any],
    apart: int,
    passed_over: int,
) -> Iterator[str]:
    """Yield what was ignored, what is not folded, and by what families were made, in sentences.

    `apart`: hits that are shown beside the groups of the page. `passed_over`: hits whose texts did
    not fit into what is compared by type.
    """
    ignored = ignored_syntax(query)
    if ignored:
        yield _IGNORED.format(join_names(ignored))
    if options.fold == "types" and total > options.top:
        yield _TOP_ONLY.format(count_of(options.top, "hit"))
    if options.fold == "live" and not (recipe.minhash or has_sketch_alone(recipe)):
        yield _NO_SLOTS.format(recipe.name)
    if options.fold == "live" and recipe.left_out:
        yield _LEFT_OUT.format(recipe.left_out)
    if families_by:
        yield _FAMILIES.format(spell_settings(families_by))
    if apart:
        yield _APART.format(count_of(apart, "hit"))
    if passed_over:
        yield _PASSED_OVER.format(
            options.most_chars, count_of(passed_over, "hit"), "is" if passed_over == 1 else "are"
        )


def notes_on_order(
    options: SearchOptions, groups: list[Group], texts: StoredTexts
) -> Iterator[str]:
    """Yield a sentence if `show` names metadata that no hit of the page has."""
    name = options.show and parse_order(options.show).metadata_name
    if name and name not in texts.metadata and any(group.members for group in groups):
        known = ", ".join(sorted(f"metadata.{known}" for known in texts.metadata)[:_METADATA_NAMED])
        yield _ABSENT.format(visible(name), visible(known) or "none")
