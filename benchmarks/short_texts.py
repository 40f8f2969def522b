"""At which length `lcs` .8 and .9 let different short texts through, and what stricter rules cost:
the tables of docs/decisions/020-short-texts.md.

    python benchmarks/short_texts.py [--unseen] [--texts 2500]

Corpora are short texts that other people wrote: entries of changelogs, descriptions of packages and
first sentences of API operations; with `--unseen` first lines of docstrings, messages of programs
and lines of a log. Texts of a corpus with the same words count once; two others are different. All
pairs are measured. Printed for each length of the longer text: of a hundred texts those with a
different one within the rule, and how many of the variants that are made here (one word changed,
two words, one letter misread, a word left out) are within it.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
from measure_corpora import DOC, SITE, docstrings
from numpy.typing import NDArray
from quality_tables import head, row
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from indexer.lab.synthesis.random_draws import RandomSource
from indexer.text.normal_words import normal_words

LENGTHS = (5, 8, 10, 15, 20, 30, 60)
FEWEST_FOR_KEYS = 5
LEAST = 0.75
Rule = Callable[[NDArray, NDArray], NDArray[np.bool_]]  # of changed words, words of the longer text


def at_least(threshold: float) -> Rule:
    return lambda changed, words: changed <= (1 - threshold) * words + 1e-9


def one_fewer(threshold: float) -> Rule:
    """One word fewer than the threshold allows: `lcs` >= threshold + 1 / words."""
    return lambda changed, words: (changed <= (1 - threshold) * words - 1 + 1e-9) | (changed == 0)


def at_most_one(threshold: float, below: int) -> Rule:
    plain = at_least(threshold)
    return lambda changed, words: plain(changed, words) & ((words >= below) | (changed <= 1))


def none_below(threshold: float, none: int, one: int) -> Rule:
    plain = at_most_one(threshold, one)
    return lambda changed, words: plain(changed, words) & ((words >= none) | (changed == 0))


RULES: Mapping[str, Rule] = {
    "`lcs` .8": at_least(0.8),
    ".8, at most one word below 20": at_most_one(0.8, 20),
    ".8, none below 10, at most one below 20": none_below(0.8, 10, 20),
    ".8 + 1 / words": one_fewer(0.8),
    "`lcs` .85": at_least(0.85),
    "`lcs` .9": at_least(0.9),
    ".9, none below 20": none_below(0.9, 20, 20),
    ".9 + 1 / words": one_fewer(0.9),
    "`lcs` .95": at_least(0.95),
}


def changelog_items() -> Iterable[str]:
    for path in sorted(DOC.glob("*/changelog.Debian.gz")):
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        for item in re.findall(r"^  \* ((?:.+\n)(?:    .+\n)*)", text, re.MULTILINE)[:40]:
            yield " ".join(item.split())


def package_descriptions() -> Iterable[str]:
    status = Path("/var/lib/dpkg/status").read_text(encoding="utf-8", errors="replace")
    yield from re.findall(r"^Description: (.+)$", status, re.MULTILINE)
    for folder in sorted(SITE.glob("*.dist-info")):
        metadata = (folder / "METADATA").read_text("utf-8", "replace")
        yield from re.findall(r"^Summary: (.+)$", metadata, re.MULTILINE)


def operation_sentences() -> Iterable[str]:
    for service in ("ec2", "rds", "iam", "s3", "sagemaker", "ssm", "glue", "quicksight"):
        latest = sorted((SITE / "botocore" / "data" / service).iterdir())[-1]
        model = json.loads(gzip.decompress((latest / "service-2.json.gz").read_bytes()))
        for operation in model["operations"].values():
            plain = re.sub(r"<[^>]*>", " ", operation.get("documentation", ""))
            yield re.split(r"(?<=[.])\s", " ".join(plain.split()))[0]


def first_lines() -> Iterable[str]:
    return (text.strip().partition("\n")[0] for text in docstrings().values())


def program_messages() -> Iterable[str]:
    """The messages of installed programs, as they are translated from."""
    for path in sorted(Path("/usr/share/locale").glob("fr/LC_MESSAGES/*.mo")):
        with suppress(UnicodeDecodeError), path.open("rb") as opened:
            yield from map(str, gettext.GNUTranslations(opened)._catalog)


def log_lines() -> Iterable[str]:
    path = Path("/var/log/dpkg.log")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else ()


CORPORA: Mapping[str, Mapping[str, Callable[[], Iterable[str]]]] = {
    "seen": {
        "changelog items": changelog_items,
        "descriptions of packages": package_descriptions,
        "API operations": operation_sentences,
    },
    "unseen": {
        "docstrings": first_lines,
        "messages": program_messages,
        "log lines": log_lines,
    },
}


def sample(texts: Iterable[str], most: int) -> list[str]:
    """Return a random sample of texts of suitable length with different words."""
    distinct: dict[str, str] = {}
    for text in texts:
        folded = normal_words(text).folded
        if LENGTHS[0] <= len(folded) < LENGTHS[-1]:
            distinct.setdefault(" ".join(folded), text)
    return RandomSource(1, "short").shuffled([distinct[key] for key in sorted(distinct)])[:most]


def encode(texts: Iterable[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of texts as strings of code points, one a word, and their number."""
    numbers: dict[str, int] = defaultdict(lambda: len(numbers) + 0x100)
    found = [[numbers[word] for word in normal_words(text).folded] for text in texts]
    strings = ["".join(chr(n if n < 0xD800 else n + 0x800) for n in text) for text in found]
    return strings, np.array([len(text) for text in found])


def nearest(texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs above a low threshold: a text, the changed words, the longer length."""
    strings, sizes = encode(texts)
    owners, changed, lengths = [], [], []
    for start in range(0, len(strings), 200):
        part = strings[start : start + 200]
        common = cdist(part, strings, scorer=LCSseq.similarity, dtype=np.int32)
        longer = np.maximum(sizes[start : start + 200, None], sizes[None])
        left, right = np.nonzero(common >= LEAST * longer)
        is_other = left + start != right
        left, right = left[is_other], right[is_other]
        owners.append(left + start)
        lengths.append(longer[left, right])
        changed.append(longer[left, right] - common[left, right])
    return np.concatenate(owners), np.concatenate(changed), np.concatenate(lengths)


def variants(texts: list[str]) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return changed words and longer length of each kind of variant of the texts."""
    donor = " ".join(texts[-100:]).split()
    counts: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for text in texts[:400]:
        chance = RandomSource(1, "variant", text)
        places = text.split()
        for kind, number in (("one word changed", 1), ("two words changed", 2)):
            changed = list(places)
            for place in chance.shuffled(range(len(places)))[:number]:
                changed[place] = chance.choice(donor)
            counts[kind].append(change_of(text, " ".join(changed)))
        place = chance.below(len(places))
        counts["a word left out"].append(
            change_of(text, " ".join(places[:place] + places[place + 1 :]))
        )
    arrays = {kind: np.array(values).T for kind, values in counts.items()}
    return {kind: (values[0], values[1]) for kind, values in arrays.items()}


def change_of(a: str, b: str) -> tuple[int, int]:
    (left, right), sizes = encode([a, b])
    longer = int(sizes.max())
    return longer - LCSseq.similarity(left, right), longer


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--texts", type=int, default=2500, help="of a corpus")
    options = parser.parse_args()
    titles = [f"{low} to {high - 1}" for low, high in pairwise(LENGTHS)]
    found: dict[str, list] = defaultdict(list)
    for name, read in CORPORA["unseen" if options.unseen else "seen"].items():
        texts = sample(read(), options.texts)
        if len(texts) < 100:
            continue
        owners, changed, lengths = nearest(texts)
        sizes = encode(texts)[1]
        print(f"\n### {name}: {len(texts):,} texts; texts of a hundred with a different one\n")
        print("\n".join(head(["rule", *titles])))
        for rule, accepts in RULES.items():
            near = accepts(changed, lengths)
            hidden = np.zeros(len(texts), bool)
            hidden[owners[near]] = True
            cells = [share(hidden, sizes, low, high) for low, high in pairwise(LENGTHS)]
            print(row([rule, *cells]))
        for kind, (changes_made, longer) in variants(texts).items():
            found[kind].append((changes_made, longer))
    for kind, parts in found.items():
        changed, longer = (np.concatenate(column) for column in zip(*parts, strict=True))
        print(f"\n### {kind}: share found\n")
        print("\n".join(head(["rule", *titles])))
        for rule, accepts in RULES.items():
            near = accepts(changed, longer)
            cells = [share(near, longer, low, high, 1) for low, high in pairwise(LENGTHS)]
            print(row([rule, *cells]))


def share(
    flags: NDArray[np.bool_], sizes: NDArray[np.int64], low: int, high: int, of: int = 100
) -> str:
    within = (sizes >= low) & (sizes < high)
    if not within.any():
        return "-"
    value = of * flags[within].mean()
    return f"{value:.2f}" if of == 1 else f"{value:.1f}"


if __name__ == "__main__":
    main()
