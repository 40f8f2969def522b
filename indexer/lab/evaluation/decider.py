"""Find the pairs of some texts that a recipe accepts at a threshold: candidates by its keys, scored
by a measure on the texts.

With MinHash slots these are the pairs that `match --exact` finds in a store of these texts. Other
recipes find pairs that share a key, and a recipe without keys compares every pair.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import combinations, islice

import numpy as np

from indexer.comparing.band_plan import ALMOST_ONE, Plan, plan
from indexer.comparing.clauses.duplicates import (
    duplicate_pairs,
    lexicon_with,
    read,
    terminology,
    verdict,
)
from indexer.comparing.measures import ComparedText, check_measure, fingerprinted_text, measure_pair
from indexer.comparing.words import normal_words
from indexer.defaults import MEASURE
from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import WORDS, fingerprint
from indexer.fingerprinting.keys import band_hashes
from indexer.fingerprinting.rare_terms import CorpusStatistics
from indexer.fingerprinting.schemes import count_text_features
from indexer.model import Fingerprint
from indexer.recipe import Recipe

RECALL = 0.99  # as for `match`
MAX_PAIRS = 20_000_000
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Decision:
    """The accepted pairs with their similarities, the candidates, and those ruled out by slots."""

    found: Mapping[Pair, float]
    candidates: frozenset[Pair]
    ruled_out: frozenset[Pair]


@cache
def _plan(measure: str, recipe: Recipe, threshold: float) -> Plan:
    """Return the bands by which `match` finds pairs at a threshold, kept for later calls."""
    limited = min(max(threshold, 1 - ALMOST_ONE), ALMOST_ONE)
    return plan(limited, RECALL, measure, recipe)


class Decider:
    """Texts under one recipe, signed once. Pairs are positions in `texts`, the lower one first."""

    def __init__(self, texts: Sequence[str], recipe: Recipe, measure: str | None = None) -> None:
        """Prepare to sign the texts; `measure` is `usual_measure` of the recipe unless given.

        Corpus statistics of recipes with weights are counted over these texts. Raises
        `UnknownMeasure`.
        """
        self.recipe, self.measure = recipe, measure or usual_measure(recipe)
        check_measure(self.measure)
        self._texts = texts
        self._known: dict[Pair, float] = {}

    @property
    def name(self) -> str:
        """Return the name of the recipe."""
        return self.recipe.name

    @property
    def id(self) -> str:
        """Return the id of the recipe."""
        return self.recipe.id

    def reason(self, pair: Pair, names: Sequence[str], decision: Decision, threshold: float) -> str:
        """Return why a pair was accepted or not; `names` are those of its two texts."""
        if pair in decision.found:
            return "at the threshold or above"
        for name, position in zip(names, pair, strict=True):
            if self.fingerprinted[position].status != "complete":
                return f"{name} is {self.fingerprinted[position].status.replace('_', ' ')}"
        if self.similarity(pair) < threshold:
            return "below the threshold"
        return "ruled out by the sketches" if pair in decision.ruled_out else "no key in common"

    @cached_property
    def _statistics(self) -> CorpusStatistics | None:
        return count_text_features(self._texts, self.recipe) if self.recipe.statistics else None

    @cached_property
    def fingerprinted(self) -> list[Fingerprint]:
        """Return the fingerprints; copies of a text share theirs."""
        by_text = {
            text: fingerprint(text, self.recipe, self._statistics)
            for text in dict.fromkeys(self._texts)
        }
        return [by_text[text] for text in self._texts]

    @cached_property
    def _compared(self) -> list[ComparedText]:
        by_text: dict[str, ComparedText] = {}
        for text, fingerprinted in zip(self._texts, self.fingerprinted, strict=True):
            by_text.setdefault(text, fingerprinted_text(text, self.recipe, fingerprinted))
        return [by_text[text] for text in self._texts]

    def similarity(self, pair: Pair) -> float:
        """Return the measure of a pair by its texts: 1 for copies whatever their status, 0 when one
        of two other texts has no keys.
        """
        if pair not in self._known:
            self._known[pair] = self._measured(*pair)
        return self._known[pair]

    def _copy_key(self, position: int) -> str:
        """Return the digest of the normalised text; where nothing is left of it, the text."""
        fingerprinted = self.fingerprinted[position]
        return fingerprinted.exact if fingerprinted.chars else f"text {self._texts[position]}"

    def _measured(self, a: int, b: int) -> float:
        left, right = self.fingerprinted[a], self.fingerprinted[b]
        if self._copy_key(a) == self._copy_key(b):
            return 1.0
        if not (_is_compared(left) and _is_compared(right)):
            return 0.0
        return measure_pair(self.measure, self._compared[a], self._compared[b]).similarity

    def decide(self, threshold: float) -> Decision:
        """Return the pairs at the threshold or above, among the candidates that share keys there.

        Raises `UsageError` for more than 20 million candidates.
        """
        candidates = frozenset(islice(self._candidates(threshold), MAX_PAIRS + 1))
        if len(candidates) > MAX_PAIRS:
            raise UsageError(
                f"recipe {self.recipe.name} makes more than {MAX_PAIRS:,} candidates here; "
                "give fewer documents"
            )
        out = frozenset(self._ruled_out(candidates, threshold))
        values = ((pair, self.similarity(pair)) for pair in sorted(candidates - out))
        return Decision(
            {pair: value for pair, value in values if value >= threshold and value > 0},
            candidates,
            out,
        )

    def _ruled_out(self, pairs: Iterable[Pair], threshold: float) -> Iterator[Pair]:
        """Yield the pairs whose slots alone show that they are below the threshold, as `match`."""
        for pair in pairs:
            left, right = (self.fingerprinted[position] for position in pair)
            if left.minhash is None or right.minhash is None or left.exact == right.exact:
                continue
            equal = int(np.count_nonzero(left.minhash == right.minhash))
            if equal < _plan(self.measure, self.recipe, threshold).fewest_equal:
                yield pair

    def _candidates(self, threshold: float) -> Iterator[Pair]:
        sharing: dict[object, list[int]] = defaultdict(list)
        for index in range(len(self._texts)):
            sharing[self._copy_key(index)].append(index)
        complete = [
            index
            for index, fingerprinted in enumerate(self.fingerprinted)
            if _is_compared(fingerprinted)
        ]
        keys = self._keys(complete, threshold)
        if keys is None:
            sharing["complete"] = complete
        else:
            for index, own in zip(complete, keys, strict=True):
                for key in set(own):
                    sharing[key].append(index)
        seen: set[Pair] = set()
        for positions in sharing.values():
            fresh = set(combinations(positions, 2)) - seen
            seen |= fresh
            yield from fresh

    def _keys(self, complete: Sequence[int], threshold: float) -> list[Iterable[object]] | None:
        """Return the keys of these texts, bands being planned for the threshold; None when the
        recipe makes none.
        """
        if self.recipe.name.startswith("signature-study"):
            return None  # `match` makes tables for each distance, which miss nothing
        fingerprinted = [self.fingerprinted[position] for position in complete]
        slots = [
            fingerprint.minhash for fingerprint in fingerprinted if fingerprint.minhash is not None
        ]
        if slots and self.recipe.is_storable:
            layout = _plan(self.measure, self.recipe, threshold)
            return [
                list(enumerate(row))
                for row in band_hashes(np.stack(slots), layout.bands, layout.rows).tolist()
            ]
        keys = [
            (*fingerprint.bands, *fingerprint.blocks, *fingerprint.rare)
            for fingerprint in fingerprinted
        ]
        return [*keys] if any(keys) else None


def usual_measure(recipe: Recipe) -> str:
    """Return the measure of a recipe when none is given: `terminology` or `hamming` where it makes
    nothing else, the default measure of all commands where its keys are made for it (word pairs),
    else `jaccard` of its features.
    """
    if recipe.terms:
        return "terminology"
    if recipe.features == WORDS:
        return MEASURE
    return "hamming" if recipe.simhash and not recipe.minhash else "jaccard"


def _is_compared(fingerprinted: Fingerprint) -> bool:
    """Return whether a text is complete, or of numbers alone with keys of its own."""
    return fingerprinted.status == "complete" or (
        fingerprinted.status == "numbers_only" and bool(fingerprinted.bands)
    )


# The detector of duplicate types as a decider, comparable with recipes.

NOT_FOUND, NO_TYPE = "not found", "no type"


class TypeDecider:
    """Texts compared as clauses, as `search --fold types` compares them. Pairs are positions in
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
        left, right = (read(self._texts[position], "", self._words) for position in pair)
        return terminology(left, right)

    def decide(self, threshold: float) -> Decision:
        """Return the pairs that are duplicates of a type; fuzzy ones share `threshold` of their
        terms.
        """
        clauses = [(str(index), text) for index, text in enumerate(self._texts)]
        pairs = duplicate_pairs(clauses, overlap=threshold, synonyms=self._synonyms)
        terminology_of = {(int(pair.a), int(pair.b)): pair.terminology for pair in pairs}
        return Decision(terminology_of, frozenset(terminology_of), frozenset())

    def assigned_type(self, pair: Pair, threshold: float) -> str:
        """Return the type of two texts as gold sets write it, or `NO_TYPE`."""
        left, right = (read(self._texts[position], "", self._words) for position in pair)
        duplicate_type = verdict(left, right, self._words, threshold)
        return duplicate_type.type.replace("_", "-") if duplicate_type else NO_TYPE

    def reason(self, pair: Pair, names: Sequence[str], decision: Decision, threshold: float) -> str:
        """Return why a pair was found or not; `names` are those of its two texts."""
        if pair in decision.found:
            return f"classified as {self.assigned_type(pair, threshold)}"
        for name, position in zip(names, pair, strict=True):
            if not read(self._texts[position], "", self._words).exact:
                return f"{name} has no substantive words"
        if self.similarity(pair) < threshold:
            return "below the threshold"
        return "another obligation or formula, or too different in length"


# Signatures that Conrad & Raymond cite, as baselines.

LEXICAL_SIGNATURES, HASH_SUMS = "lexical-signatures", "hash-sums"
BASELINES = (LEXICAL_SIGNATURES, HASH_SUMS)
RAREST, WEIGHTIEST = 2, 3  # words of a lexical signature
MAX_FREQUENCY = 0.5  # fraction of the texts that have a salient term


class BaselineDecider:
    """Texts compared by one of two published signatures, of words with statistics of these texts.
    Pairs are positions in `texts`, the lower one first.

    `lexical-signatures` (Park et al., SIGIR 2002): the two rarest words of a text and the three
    others of the highest tf-idf, the hybrid that did best there. The similarity is the fraction of
    them that the other text has, the lower one of both ways. `hash-sums` (Cooper et al., CIKM
    2002): the sum of Java's hash codes of the salient terms, here those of at most half the texts;
    1 if the sums are equal.
    """

    id = ""

    def __init__(self, texts: Sequence[str], name: str) -> None:
        self.name = self.measure = name
        self._words = [Counter(normal_words(text).folded) for text in texts]
        self._frequencies = Counter(word for words in self._words for word in words)
        signature = self._lexical if name == LEXICAL_SIGNATURES else self._hash_sum
        self._signatures = [signature(words) for words in self._words]

    def _lexical(self, words: Counter[str]) -> tuple[object, ...]:
        rarest = sorted(words, key=lambda word: (self._frequencies[word], word))
        idf = {word: math.log(len(self._words) / self._frequencies[word]) for word in words}
        others = sorted(rarest[RAREST:], key=lambda word: (-words[word] * idf[word], word))
        return (*rarest[:RAREST], *others[:WEIGHTIEST])

    def _hash_sum(self, words: Counter[str]) -> tuple[object, ...]:
        limit = MAX_FREQUENCY * len(self._words)
        salient = [word for word in words if self._frequencies[word] <= limit]
        return (sum(map(java_hash, salient)),) if salient else ()

    def similarity(self, pair: Pair) -> float:
        """Return the similarity of the signatures of two texts; 0 without words."""
        left, right = (self._signatures[position] for position in pair)
        if not left or not right:
            return 0.0
        if self.name == HASH_SUMS:
            return float(left == right)
        return min(self._fraction(left, pair[1]), self._fraction(right, pair[0]))

    def _fraction(self, signature: Sequence[object], position: int) -> float:
        return sum(word in self._words[position] for word in signature) / len(signature)

    def decide(self, threshold: float) -> Decision:
        """Return the pairs at the threshold or above, of those with an entry in common."""
        sharing: dict[object, list[int]] = defaultdict(list)
        for position, words in enumerate(self._words):
            is_sum = self.name == HASH_SUMS
            for entry in self._signatures[position] if is_sum else words:
                sharing[entry].append(position)
        candidates: set[Pair] = set()
        for position, signature in enumerate(self._signatures):
            for other in set().union(*(sharing[entry] for entry in signature)) - {position}:
                candidates.add((min(position, other), max(position, other)))
        values = {pair: self.similarity(pair) for pair in sorted(candidates)}
        found = {pair: value for pair, value in values.items() if value >= threshold and value > 0}
        return Decision(found, frozenset(candidates), frozenset())

    def reason(self, pair: Pair, names: Sequence[str], decision: Decision, threshold: float) -> str:
        """Return why a pair was found or not; `names` are those of its two texts."""
        if pair in decision.found:
            return "at the threshold or above"
        for name, position in zip(names, pair, strict=True):
            if not self._signatures[position]:
                return f"{name} has no words for a signature"
        return "below the threshold"


def java_hash(text: str) -> int:
    """Return `String.hashCode` of Java.

    >>> java_hash("salient"), java_hash("terms")
    (1863704768, 110250375)
    """
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    value = reduce(lambda before, unit: (31 * before + unit) & 0xFFFFFFFF, units, 0)
    return value - (1 << 32) if value >> 31 else value
