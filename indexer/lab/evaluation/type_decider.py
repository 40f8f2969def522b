"""Duplicate types of the texts of a gold set: the detector judged as recipes are, and the type of
what recipes find.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexer.lab.evaluation.decider import Decision, Pair
from indexer.similarity.duplicate_sets import duplicate_pairs, lexicon_with, read
from indexer.similarity.duplicate_types import terminology, verdict

NOT_FOUND, NO_TYPE = "not found", "no type"


class TypeDecider:
    """Texts compared as clauses, by what `search --fold types` goes by. Pairs are places in
    `texts`, the lower one first.
    """

    name, id, measure = "duplicate-types", "", "terminology"

    def __init__(self, texts: Sequence[str], synonyms: str = "") -> None:
        """`synonyms` are lines as `duplicate_sets` takes them, and are refused as there."""
        self._texts, self._synonyms, self._words = texts, synonyms, lexicon_with(synonyms)

    def similarity(self, pair: Pair) -> float:
        """The terminology of two texts."""
        one, other = (read(self._texts[place], "", self._words) for place in pair)
        return terminology(one, other)

    def decide(self, threshold: float) -> Decision:
        """The pairs that are duplicates of a type; fuzzy ones share `threshold` of their terms."""
        clauses = [(str(place), text) for place, text in enumerate(self._texts)]
        made = duplicate_pairs(clauses, overlap=threshold, synonyms=self._synonyms)
        found = {(int(one.a), int(one.b)): one.terminology for one in made}
        return Decision(found, frozenset(found), frozenset())

    def told(self, pair: Pair, threshold: float) -> str:
        """The type of two texts as gold sets spell it, or `NO_TYPE`."""
        one, other = (read(self._texts[place], "", self._words) for place in pair)
        made = verdict(one, other, self._words, threshold)
        return made.type.replace("_", "-") if made else NO_TYPE

    def reason(self, pair: Pair, names: Sequence[str], decision: Decision, threshold: float) -> str:
        """Why a pair was found, or was not; `names` of its two texts."""
        if pair in decision.found:
            return f"told as {self.told(pair, threshold)}"
        for name, place in zip(names, pair, strict=True):
            if not read(self._texts[place], "", self._words).exact:
                return f"{name} has no substantive words"
        if self.similarity(pair) < threshold:
            return "below the threshold"
        return "another obligation or formula, or too different in length"
