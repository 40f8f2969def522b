"""Counts of a store and the failures of its last jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from indexer.grouping.group_options import has_other_rules
from indexer.model import Query, guessed_encoding
from indexer.recipe import Recipe
from indexer.stores.abilities import MaintainedStore
from indexer.stores.base import Counts, Store
from indexer.stores.journal import Failure, journal_path, known_group_settings, stored_failures
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import is_shared, require_recipe
from indexer.wording import count_of


@dataclass(frozen=True, slots=True)
class Overview:
    """The counts of a store, its recipe, and the files that could not be read or stored (by path).

    `running`: a job is working on the store, so its failures are not known yet.
    `without_principal`: the groups whose principal another program deleted or changed.
    `waiting`: documents that clients sent to an engine and that nobody put into groups yet.
    `guessed_encodings`: the documents of plain text that are not UTF-8, by the encoding in which
    they were read. `other_rules`: the last `group` was made by the rules of another version.
    `not_compared`: facts that comparisons do not know in the languages of the documents.
    """

    store: str
    recipe: Recipe
    counts: Counts
    failed: tuple[Failure, ...]
    running: bool = False
    without_principal: int = 0
    waiting: int = 0
    guessed_encodings: Mapping[str, int] = field(default_factory=dict)
    other_rules: bool = False
    not_compared: tuple[UnknownFacts, ...] = ()

    @property
    def signed_earlier(self) -> int:
        """The number of documents that `reindex` would fingerprint by later statistics of the
        recipe.
        """
        return count_fingerprinted_earlier(self.recipe, self.counts)


def count_fingerprinted_earlier(recipe: Recipe, counts: Counts) -> int:
    """Count the documents that earlier statistics of an online recipe fingerprinted."""
    return sum(count for id, count in counts.by_recipe.items() if recipe.has_other_statistics(id))


def status(store: MaintainedStore) -> Overview:
    """Count the documents of the store, also while a job is running. Raises `StoreError` when
    nothing was indexed yet.
    """
    recipe = require_recipe(store)
    failures = stored_failures(journal_path(store.address))
    maintenance, headless, waiting = store.maintenance, 0, 0
    if isinstance(maintenance, Shareable) and is_shared(store):
        headless, waiting = len(maintenance.headless_families()), maintenance.waiting()
    return Overview(
        store.url,
        recipe,
        store.counts(),
        failures or (),
        running=failures is None,
        without_principal=headless,
        waiting=waiting,
        guessed_encodings=_guessed_encodings(store),
        other_rules=has_other_rules(known_group_settings(store.address)),
        not_compared=unknown_facts(store),
    )


# Languages whose numerals or negations are not compared, and characters that begin
# words of a script, or words without which there is hardly a document in them, with others of which
# it has one too: a word alone may be a name.

_WORDS, _NEGATED_VERBS = ("numbers in words",), ("numbers in words", "negations")
_BEGINNINGS = {
    "Thai": (_WORDS, "ก น ร อ เ ไ"),
    "Lao": (_WORDS, "ກ ນ ຂ ເ ໄ"),
    "Khmer": (_WORDS, "ក ន ប ម រ ស"),
    "Bengali": (_WORDS, "অ আ ক ব স প"),
    "Gujarati": (_WORDS, "અ આ ક છ મ સ"),
    "Punjabi": (_WORDS, "ਅ ਹ ਕ ਦ ਨ ਸ"),
    "Georgian": (_WORDS, "ა გ და მ რ ს"),
    "Armenian": (_WORDS, "ա է կ մ ն պ"),
    "Burmese": (_NEGATED_VERBS, "က တ မ သ အ"),
    "Tamil": (_NEGATED_VERBS, "அ இ ஒ ம வ"),
    "Telugu": (_NEGATED_VERBS, "అ ఆ ఈ క మ వ"),
    "Kannada": (_NEGATED_VERBS, "ಅ ಆ ಈ ಮ ವ"),
    "Malayalam": (_NEGATED_VERBS, "അ ഇ ഒ ക വ"),
    "Sinhala": (_NEGATED_VERBS, "ස ම අ ක ව"),
    "Amharic": (_NEGATED_VERBS, "አ ነ በ የ እ"),
    "Tibetan": (_NEGATED_VERBS, "ད བ ང ས"),
}
_FREQUENT = {
    "Vietnamese": (_WORDS, "không", "và của các được"),
    "Persian": (_WORDS, "است", "و در به از که"),
    "Urdu": (_WORDS, "ہے", "کے کی میں اور سے"),
    "Bulgarian": (_WORDS, "което които", "на за от се"),
    "Croatian or Serbian": (_WORDS, "koje који која", "je se za na је се за на"),
    "Slovenian": (_WORDS, "lahko oziroma", "je se za na"),
    "Lithuanian": (_WORDS, "pagal arba", "ir yra kad gali"),
    "Latvian": (_WORDS, "saskaņā tiek", "un ir ar vai"),
    "Estonian": (_WORDS, "ning", "või mis ja võib"),
    "Icelandic": (_WORDS, "ekki það", "og er sem við"),
    "Albanian": (_WORDS, "është", "të dhe në që"),
    "Swahili": (_NEGATED_VERBS, "katika", "na ya wa kwa"),
    "Tagalog": (_NEGATED_VERBS, "mga", "ang ng sa"),
    "Irish": (_NEGATED_VERBS, "agus", "ar atá leis chun faoi"),
}


@dataclass(frozen=True, slots=True)
class UnknownFacts:
    """Facts that comparisons do not know in a language, and the documents of the store in it.

    `documents`: those with words of its script, or with two of its frequent words.
    """

    language: str
    documents: int
    facts: tuple[str, ...]

    def __str__(self) -> str:
        documents = count_of(self.documents, "document")
        return f"{' and '.join(self.facts)} in {self.language} are not compared: {documents}"


def unknown_facts(store: Store) -> tuple[UnknownFacts, ...]:
    """Return the facts that are not compared in the languages of a store, by language.

    Documents are counted by the full text; where no document has a word of these scripts or
    languages, by two searches.
    """
    found = []
    of_scripts = {
        name: (facts, words.replace(" ", "* ") + "*")
        for name, (facts, words) in _BEGINNINGS.items()
    }
    of_words = {
        name: (facts, f"+{_any_of(words)} +{_any_of(others)}")
        for name, (facts, words, others) in _FREQUENT.items()
    }
    for languages, words in (
        (of_scripts, [query for _, query in of_scripts.values()]),
        (of_words, [words for _, words, _ in _FREQUENT.values()]),
    ):
        if not _count(store, " ".join(words)):
            continue
        for name, (facts, query) in languages.items():
            if documents := _count(store, query):
                found.append(UnknownFacts(name, documents, facts))
    return tuple(found)


def _any_of(words: str) -> str:
    return words.replace(" ", "|")


def _count(store: Store, words: str) -> int:
    return store.search(Query(words, sort="path")).total


def _guessed_encodings(store: MaintainedStore) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for facet in store.search(Query("", facets=("extractor",))).facets["extractor"]:
        if encoding := guessed_encoding(facet.value):
            counts[encoding] += facet.documents
    return counts
