"""Members of stored families whose texts other programs changed since they were signed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.searching.fold import Group, ids_of
from indexer.searching.stored_texts import StoredTexts
from indexer.stores.requirements import is_shared


def show_changed_apart(groups: Sequence[Group], texts: StoredTexts) -> list[Group]:
    """Return the same hits, those alone whose text is not the one that their family was made for.

    The others of a group stay together, under the first of them, and groups at their rank. Only
    stores that other programs write to have such hits; without them the groups are as they were.
    """
    if not is_shared(texts.store):
        return list(groups)
    texts.read_ahead(ids_of(groups))
    return [part for group in groups for part in _parts(group, texts)]


def _parts(group: Group, texts: StoredTexts) -> Iterator[Group]:
    """Yield the group without its changed hits, and each of these, in the order of the first."""
    hits = group.hits
    changed = texts.changed(ids_of([group])) if group.members else set()
    together = [hit for hit in hits if hit.id not in changed]
    for hit in hits:
        if hit.id in changed:
            yield Group(hit)
        elif hit is together[0]:
            yield Group(hit, together[1:])
