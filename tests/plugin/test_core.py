"""The core of the engine plugin computes the bits of the Python definition.

    python -m pytest -m "slow or not slow" tests/plugin/test_core.py

compiles it by Maven, which needs a JDK 21 or later, and compares the golden vectors and 10,000
random texts over all code points that Unicode 13.0 assigns, and over the others, too.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from core_process import CoreProcess, Line, run, units
from golden_cases import plain_cases, text_of

import indexer
from indexer.comparing.alignment import lcs
from indexer.comparing.words import normal_words

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SECRET = "0123456789abcdef" * 4
OLDER = (
    *("default_v2+key:legal", "default_v1+key:legal"),
    *(f"simhash-doc-{version}" for version in ("v1", "v3", "v4", "v5")),
)
RECIPES = (
    *("default_v3", "default_v2", "default_v1", "scans", "default_v3+key:legal"),
    *("simhash-doc-v2", "simhash-doc-v6", "simhash-doc-v2-loose"),
    *(pytest.param(recipe, marks=pytest.mark.slow) for recipe in OLDER),
)
LATIN, COMBINING, EVERY = range(0x20, 0x250), range(0x300, 0x370), range(0x110000)
PIECES = (
    *("-5", " -", "\u2212", "+", "$", "€3", "<", "= ", "%", "\n", "\u0338"),
    *("-\n", "-\r\n ", "\u2010\n", " \t", "\u200b", "\u00ad", "ß", "ẞ", "ﬁ", "½", "…", "\u00a0"),
    *("https://example.org/a?b=c", "me@example.org", "10.1000/182", "e\u0301", "\ud800", "\udc00"),
    *("http://пример.рф/путь?ключ=да", "почта@пример.рф", "www.例え.jp/例え文字", "a@b_c.de"),
    *(
        "Straße",
        "近似",
        "ไทย",
        "हिन्दी",
        "각",
        "\u1112\u1161\u11ab",
        "\u0345" * 31,
        "İ",
        "ς",
        "12,5",
    ),
)


@pytest.fixture(scope="module")
def core() -> Iterator[CoreProcess]:
    with closing(CoreProcess()) as process:
        yield process


@pytest.mark.parametrize("name", ["default_v1", "default_v2", "default_v3", "scans_v1"])
def test_golden_vectors(core: CoreProcess, name: str) -> None:
    vectors = json.loads((GOLDEN / f"{name}.json").read_text(encoding="ascii"))
    cases = plain_cases()
    made = core.fingerprints([text_of(case) for case in cases], name)
    for case, line in zip(cases, made, strict=True):
        vector = vectors[case["name"]]
        expected = Line(
            vector["status"],
            vector["minhash"] or "",
            vector["simhash"] or "",
            tuple(vector["bands"]),
            tuple(vector["blocks"]),
            *(vector[field] for field in ("exact", "words", "chars")),
        )
        assert line == expected, case["name"]


@pytest.mark.parametrize("recipe", RECIPES)
def test_random_texts(core: CoreProcess, recipe: str) -> None:
    _compare(core, _random_texts(random.Random(recipe), 500), recipe)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["default_v3", "default_v2", "default_v1"])
def test_ten_thousand_random_texts(core: CoreProcess, recipe: str) -> None:
    _compare(core, _random_texts(random.Random(41), 10_000), recipe)


@pytest.mark.parametrize(
    "recipe",
    [
        "default_v2",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("default_v1", "simhash-doc-v2")),
    ],
)
def test_every_code_point_between_letters(core: CoreProcess, recipe: str) -> None:
    texts = [
        " ".join(f"a{chr(code)}e" for code in range(start, start + 256))
        for start in range(0, 0x110000, 256)
    ]
    _compare(core, texts, recipe)


def test_words_in_order_of_the_golden_pairs() -> None:
    pairs = json.loads((GOLDEN / "lcs.json").read_text(encoding="utf-8"))["pairs"]
    lines = [f"{units(pair['a'])}\t{units(pair['b'])}" for pair in pairs]
    for pair, line in zip(pairs, run("WordsInOrderLines", [], lines), strict=True):
        common, left, right = map(int, line.split()[:3])
        assert common == pair["common"], pair["name"]
        words = [indexer.fingerprint(pair[side]).words for side in "ab"]
        assert [left, right] == words, pair["name"]


def test_similarities_of_random_texts_with_accents() -> None:
    """Every letter with an accent, in one text of each pair or in both."""
    letters = [chr(code) for code in range(0x2000) if chr(code).isalpha() or 0x300 <= code < 0x370]
    choose = random.Random(44)
    texts = []
    for _ in range(600):
        text = " ".join("".join(choose.choices(letters, k=3)) for _ in range(4))
        folded = normal_words(text).plain.folded
        texts.append((text, " ".join([*folded, "a"][choose.randrange(2) :])))
    texts += [(text, " ".join(choose.sample(text.split(), 3))) for text, _ in texts]
    lines = [f"{units(left)}\t{units(right)}" for left, right in texts]
    for (left, right), line in zip(texts, run("WordsInOrderLines", [], lines), strict=True):
        assert float(line.split()[3]) == lcs(normal_words(left), normal_words(right)), left


@pytest.mark.parametrize("name", ["default_v1", "default_v2", "scans"])
def test_slots_rule_out_what_a_plan_rules_out(name: str) -> None:
    recipe = indexer.recipe_named(name)
    bounds = map(int, run("SlotBoundsLines", [name], []))
    for hundredth, bound in enumerate(bounds, 50):
        threshold = min(hundredth / 100, 0.999)
        assert bound == indexer.plan(threshold, 0.998, "lcs", recipe).fewest_equal, hundredth


def _compare(core: CoreProcess, texts: Sequence[str], name: str) -> None:
    recipe = indexer.recipe_named(name)
    is_keyed = "+key:" in name
    if is_keyed:
        recipe = recipe.with_secret(SECRET)
    expected = indexer.fingerprints(texts, recipe)
    made = core.fingerprints(texts, name, SECRET if is_keyed else "")
    for place, line in enumerate(made):
        one = expected[place]
        slots = "" if one.minhash is None else one.minhash.astype(_stored(one.minhash)).tobytes()
        wanted = Line(
            one.status,
            slots.hex() if slots else "",
            "" if one.simhash is None else f"{one.simhash:016x}",
            tuple(one.bands),
            tuple(one.blocks),
            one.exact,
            one.words,
            one.chars,
        )
        assert line == wanted, ascii(texts[place])


def _stored(slots: np.ndarray) -> str:
    return ">u4" if slots.dtype == np.uint32 else "u1"


def _random_texts(chance: random.Random, count: int) -> list[str]:
    assigned = [code for code in EVERY if unicodedata.category(chr(code)) != "Cn"]
    alphabets: tuple[Sequence[int], ...] = (assigned, LATIN, COMBINING, EVERY, range(0x20, 0x7F))
    return [_random_text(chance, alphabets) for _ in range(count)]


def _random_text(chance: random.Random, alphabets: Sequence[Sequence[int]]) -> str:
    """Return a text of words from one alphabet or several, with pieces that are treated apart."""
    parts = []
    chosen = chance.sample(alphabets, chance.randint(1, 2))
    for _ in range(chance.choice((1, 5, 20, 80))):
        letters = chance.choice(chosen)
        word = "".join(chr(chance.choice(letters)) for _ in range(chance.randint(1, 9)))
        parts.append(chance.choice(PIECES) if chance.random() < 0.2 else word)
        parts.append(chance.choice((" ", " ", "\n", "", "-\n")))
    # halves of a surrogate pair that met are one character in Java
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
