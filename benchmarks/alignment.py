"""Matching chunks of two texts: seconds by kind of text, and beside difflib, which matches words in
one order only.

    python benchmarks/alignment.py [--words 170000] [--peer-words 10000] [--limit 30] [--runs 3]
    python benchmarks/alignment.py --lcs FOLDER...

Two tables, medians in seconds: a pair of texts of about a megabyte each (170,000 words of English),
and the same kinds of text at a size where difflib ends, or is ended at the limit. Words are sampled
with the frequencies of English (Zipf). Seconds are of processor time, so that what else runs on the
machine counts less.

With `--lcs` two others: microseconds a pair of words in order beside `jaccard` and S_L, on the
text files of folders (each beside a copy with a tenth of its words edited, and beside the next
file); and the error of anchored alignment on large texts, where the exact value is computed too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from unittest.mock import patch

import numpy as np

from indexer.recipe import DEFAULT
from indexer.similarity import lcs as in_order
from indexer.similarity.alignment import align
from indexer.similarity.measures import jaccard, resemblance
from indexer.similarity.sides import Side
from indexer.text.words import words

VOCABULARY = 20_000
PAGE = 170
Pair = tuple[list[str], list[str]]


def english(size: int, random: np.random.Generator) -> list[str]:
    share = 1 / np.arange(1, VOCABULARY + 1)
    letters = np.array(list("etaoinshrdlucmfwyp"))
    vocabulary = [
        "".join(random.choice(letters, length)) for length in random.integers(2, 10, VOCABULARY)
    ]
    return [vocabulary[number] for number in random.choice(VOCABULARY, size, p=share / share.sum())]


def edit_words(text: list[str], random: np.random.Generator) -> list[str]:
    """Return the words with one in a hundred replaced."""
    edited = list(text)
    for place in random.integers(0, len(edited), len(edited) // 100).tolist():
        edited[place] = f"edit{place}"
    return edited


def move_third(text: list[str]) -> list[str]:
    """Return the text with its first third at the end."""
    return text[len(text) // 3 :] + text[: len(text) // 3]


def pairs(size: int) -> dict[str, Pair]:
    random = np.random.default_rng(5)
    text = english(size, random)
    page, copies = text[:PAGE], size // PAGE
    two_words = [f"w{bit}" for bit in random.integers(0, 2, 2 * size)]
    return {
        "1 % of the words edited": (text, edit_words(text, random)),
        "identical": (text, text),
        "a third moved": (text, move_third(text)),
        "unrelated": (text, english(size, random)),
        "a page repeated, edited": (page * copies, edit_words(page * copies, random)),
        "one word only": (["same"] * size, ["same"] * (size - size // 100)),
        "two words in turn": (["tick", "tock"] * (size // 2), ["tock", "tick"] * (size // 2)),
        "two words at random": (two_words[:size], two_words[size:]),
    }


def median(run: Callable[[], object], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        start_time = time.process_time()
        run()
        seconds.append(time.process_time() - start_time)
    return statistics.median(seconds)


def difflib_blocks(a: list[str], b: list[str]) -> None:
    SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()


def time_difflib(a: list[str], b: list[str], limit: float) -> float | None:
    """Seconds that difflib takes in a process of its own; None when it was ended at the limit (of
    waiting).
    """
    child = multiprocessing.get_context("fork").Process(target=difflib_blocks, args=(a, b))
    before = os.times().children_user
    child.start()
    child.join(limit)
    ended = child.exitcode is not None
    if not ended:
        child.kill()
        child.join()
    return os.times().children_user - before if ended else None


def print_ours(size: int, runs: int) -> None:
    texts_by_name = pairs(size)
    megabytes = len(" ".join(texts_by_name["identical"][0])) / 1e6
    print(
        f"\ntwo texts of {size:,} words each, about {megabytes:.1f} MB of English: median seconds "
        f"of {runs} runs\n"
    )
    print(f"{'':26}{'words':>8}{'literal':>9}{'inform.':>9}{'S_R':>8}{'S_L':>9}{'chunks':>8}")
    for name, (left, right) in texts_by_name.items():
        texts = " ".join(left), " ".join(right)
        reading = median(lambda texts=texts: [words(text) for text in texts], runs)
        a, b = map(words, texts)
        literal = median(lambda a=a, b=b: align(a, b), runs)
        information = median(lambda a=a, b=b: align(a, b, "information"), runs)
        shingles = median(lambda a=a, b=b: resemblance(a, b), runs)
        aligned = align(a, b)
        print(
            f"{name:26}{reading:8.2f}{literal:9.2f}{information:9.2f}{shingles:8.2f}"
            f"{aligned.overlap:9.1%}{len(aligned.chunks):8,}"
        )


def print_beside_difflib(size: int, limit: float, runs: int) -> None:
    print(f"\nbeside difflib.SequenceMatcher (no junk heuristic), {size:,} words each: seconds\n")
    print(f"{'':26}{'literal':>9}{'difflib':>9}{'times':>9}")
    for name, (left, right) in pairs(size).items():
        a, b = words(" ".join(left)), words(" ".join(right))
        ours = median(lambda a=a, b=b: align(a, b), runs)
        theirs = time_difflib(left, right, limit)
        text = f"> {limit:.0f}" if theirs is None else f"{theirs:.2f}"
        print(
            f"{name:26}{ours:9.3f}{text:>9}{'>' if theirs is None else '':>2}"
            f"{(theirs or limit) / ours:7,.0f}"
        )


def replace_words(text: list[str], share: float, random: np.random.Generator) -> list[str]:
    """Return the words with a share of them replaced by other words of the text."""
    others = random.permutation(len(text)).tolist()
    edited = random.random(len(text)) < share
    return [
        text[other] if edit else word
        for word, other, edit in zip(text, others, edited.tolist(), strict=True)
    ]


def text_files(folders: list[str], most: int, random: np.random.Generator) -> list[Side]:
    """Return up to so many text files of 50 to 20,000 words, chosen at random, as sides."""
    paths = sorted(
        path
        for folder in folders
        for pattern in ("*.py", "*.txt", "*.rst", "*.md", "copyright", "README*")
        for path in Path(folder).rglob(pattern)
        if path.is_file()
    )
    sides: list[Side] = []
    for place in random.permutation(len(paths)).tolist():
        side = Side(paths[place].read_text(encoding="utf-8", errors="replace"), DEFAULT)
        if 50 <= len(side.words) <= 20_000:
            sides.append(side)
        if len(sides) == most:
            break
    return sides


def print_times_of_pairs(folders: list[str], runs: int) -> None:
    random = np.random.default_rng(7)
    sides = text_files(folders, 300, random)
    sizes = [len(side.words) for side in sides]
    edited = [
        Side(" ".join(replace_words(side.words.folded, 0.1, random)), DEFAULT) for side in sides
    ]
    for side in (*sides, *edited):
        assert side.features is not None  # computed once per text, so not timed
        assert side.words is not None
    measures = {
        "jaccard": lambda a, b: jaccard(a.features, b.features),
        "S_L": lambda a, b: align(a.words, b.words).overlap,
        "lcs": lambda a, b: in_order.lcs(a.words, b.words),
        "lcs at .8": lambda a, b: in_order.lcs(a.words, b.words, 0.8),
        "runs of lcs": lambda a, b: in_order.common_runs(a.words, b.words),
    }
    print(
        f"\n{len(sides)} text files of {min(sizes):,} to {max(sizes):,} words, median "
        f"{statistics.median(sizes):,.0f}: microseconds a pair, words and features ready\n"
    )
    print(f"{'':14}{'a tenth of the words edited':>30}{'the next file':>30}")
    print(f"{'':14}" + 2 * f"{'mean':>20}{'median':>10}")
    for name, measure in measures.items():
        line = f"{name:14}"
        for others in (edited, [*sides[1:], sides[0]]):
            seconds = [
                median(lambda a=a, b=b, measure=measure: measure(a, b), runs)
                for a, b in zip(sides, others, strict=True)
            ]
            mean, middle = statistics.mean(seconds), statistics.median(seconds)
            line += f"{1e6 * mean:20,.0f}{1e6 * middle:10,.0f}"
        print(line)


def large_pairs(size: int) -> dict[str, Pair]:
    random = np.random.default_rng(11)
    text = english(size, random)
    thousand_words = [f"w{number}" for number in random.integers(0, 1000, 2 * size)]
    return {
        "1 % of the words edited": (text, replace_words(text, 0.01, random)),
        "10 % of the words edited": (text, replace_words(text, 0.1, random)),
        "30 % of the words edited": (text, replace_words(text, 0.3, random)),
        "a third moved": (text, move_third(text)),
        "the same words, shuffled": (text, random.permutation(text).tolist()),
        "1,000 letters, 10 % edited": (
            thousand_words[:size],
            replace_words(thousand_words[:size], 0.1, random),
        ),
        "1,000 letters, unrelated": (thousand_words[:size], thousand_words[size:]),
        "a page repeated, edited": (
            text[:PAGE] * (size // PAGE),
            replace_words(text[:PAGE] * (size // PAGE), 0.1, random),
        ),
        "two words in turn": (["tick", "tock"] * (size // 2), ["tock", "tick"] * (size // 2)),
    }


def print_error_of_anchors(size: int) -> None:
    """Exact and anchored alignment of large texts, seconds of one run each."""
    print(f"\nanchored alignment of two texts of {size:,} words each, beside the exact one\n")
    print(f"{'':28}{'exact':>9}{'anchored':>10}{'error':>9}{'seconds':>9}{'seconds':>9}")
    for name, (left, right) in large_pairs(size).items():
        a, b = words(" ".join(left)), words(" ".join(right))
        values, seconds = [], []
        for cells in (1 << 62, 0):
            began = time.process_time()
            with patch.object(in_order, "EXACT_CELLS", cells):
                values.append(in_order.lcs(a, b))
            seconds.append(time.process_time() - began)
        exact, anchored = values
        print(
            f"{name:28}{exact:9.4f}{anchored:10.4f}{anchored - exact:9.4f}"
            f"{seconds[0]:9.2f}{seconds[1]:9.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=int, default=170_000)
    parser.add_argument("--peer-words", type=int, default=10_000)
    parser.add_argument(
        "--limit", type=float, default=30.0, help="seconds after which difflib is ended"
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--lcs", nargs="+", metavar="FOLDER", help="time words in order on the files of folders"
    )
    chosen = parser.parse_args()
    if chosen.lcs:
        print_times_of_pairs(chosen.lcs, chosen.runs)
        print_error_of_anchors(100_000)
        return
    print_ours(chosen.words, chosen.runs)
    print_beside_difflib(chosen.peer_words, chosen.limit, chosen.runs)


if __name__ == "__main__":
    main()
