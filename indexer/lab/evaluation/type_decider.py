"""The detector of duplicate types as a decider over the texts of a gold set, comparable with
recipes.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexer.lab.evaluation.decider import Decision, Pair
from indexer.similarity.duplicate_sets import duplicate_pairs, lexicon_with, read
from indexer.similarity.duplicate_types import terminology, verdict

NOT_FOUND, NO_TYPE = "not found", "no type"


class TypeDecider:
    """Texts compared as clauses, as `search --fold types` compares them. Pairs are places in
    `texts`, the lower one first.
    """

    name, id, measure = "duplicate-types", "", "terminology"

    def __init__(self, texts: Sequence[str], synonyms: str = "") -> None:
        """Prepare to compare texts; `synonyms` are checked as in `duplicate_sets`."""
        self._texts = texts
        self._synonyms = synonyms
        self._words = lexicon_with(synonyms)

    def similarity(self, pair: Pair) -> float:
        """Return the terminology overlap of two texts."""
        left, right = (read(self._texts[place], "", self._words) for place in pair)
        return terminology(left, right)

    def decide(self, threshold: float) -> Decision:
        """Return the pairs that are duplicates of a type; fuzzy ones share `threshold` of their
        terms.
        """
        clauses = [(str(place), text) for place, text in enumerate(self._texts)]
        pairs = duplicate_pairs(clauses, overlap=threshold, synonyms=self._synonyms)
        terminology_of = {(int(pair.a), int(pair.b)): pair.terminology for pair in pairs}
        return Decision(terminology_of, frozenset(terminology_of), frozenset())

    def assigned_type(self, pair: Pair, threshold: float) -> str:
        """Return the type of two texts as gold sets spell it, or `NO_TYPE`."""
        left, right = (read(self._texts[place], "", self._words) for place in pair)
        duplicate_type = verdict(left, right, self._words, threshold)
        return duplicate_type.type.replace("_", "-") if duplicate_type else NO_TYPE

    def reason(self, pair: Pair, names: Sequence[str], decision: Decision, threshold: float) -> str:
        """Return why a pair was found or not; `names` are those of its two texts."""
        if pair in decision.found:
            return f"classified as {self.assigned_type(pair, threshold)}"
        for name, place in zip(names, pair, strict=True):
            if not read(self._texts[place], "", self._words).exact:
                return f"{name} has no substantive words"
        if self.similarity(pair) < threshold:
            return "below the threshold"
        return "another obligation or formula, or too different in length"
