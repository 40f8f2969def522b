"""Matching chunks of two texts: seconds by kind of text, and beside difflib, which matches words in
one order only.

    python benchmarks/alignment.py [--words 170000] [--peer-words 10000] [--limit 30] [--runs 3]

Two tables, medians in seconds: a pair of texts of about a megabyte each (170,000 words of English),
and the same kinds of text at a size where difflib ends, or is ended at the limit. Words are drawn
with the frequencies of English (Zipf). Seconds are of processor time, so that what else runs on the
machine counts less.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from difflib import SequenceMatcher

import numpy as np

from indexer.similarity.alignment import align
from indexer.similarity.measures import resemblance
from indexer.text.words import words

VOCABULARY = 20_000
PAGE = 170
Pair = tuple[list[str], list[str]]


def english(size: int, random: np.random.Generator) -> list[str]:
    share = 1 / np.arange(1, VOCABULARY + 1)
    letters = np.array(list("etaoinshrdlucmfwyp"))
    spelled = [
        "".join(random.choice(letters, length)) for length in random.integers(2, 10, VOCABULARY)
    ]
    return [spelled[number] for number in random.choice(VOCABULARY, size, p=share / share.sum())]


def edit_words(text: list[str], random: np.random.Generator) -> list[str]:
    """One word in a hundred replaced."""
    made = list(text)
    for place in random.integers(0, len(made), len(made) // 100).tolist():
        made[place] = f"edit{place}"
    return made


def move_third(text: list[str]) -> list[str]:
    """Two thirds of the text before the first third."""
    return text[len(text) // 3 :] + text[: len(text) // 3]


def pairs(size: int) -> dict[str, Pair]:
    random = np.random.default_rng(5)
    text = english(size, random)
    page, copies = text[:PAGE], size // PAGE
    few = [f"w{bit}" for bit in random.integers(0, 2, 2 * size)]
    return {
        "1 % of the words edited": (text, edit_words(text, random)),
        "identical": (text, text),
        "a third moved": (text, move_third(text)),
        "unrelated": (text, english(size, random)),
        "a page repeated, edited": (page * copies, edit_words(page * copies, random)),
        "one word only": (["same"] * size, ["same"] * (size - size // 100)),
        "two words in turn": (["tick", "tock"] * (size // 2), ["tock", "tick"] * (size // 2)),
        "two words at random": (few[:size], few[size:]),
    }


def median(run: Callable[[], object], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        began = time.process_time()
        run()
        seconds.append(time.process_time() - began)
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
    made = pairs(size)
    megabytes = len(" ".join(made["identical"][0])) / 1e6
    print(
        f"\ntwo texts of {size:,} words each, about {megabytes:.1f} MB of English: median seconds "
        f"of {runs} runs\n"
    )
    print(f"{'':26}{'words':>8}{'literal':>9}{'inform.':>9}{'S_R':>8}{'S_L':>9}{'chunks':>8}")
    for name, (left, right) in made.items():
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
        shown = f"> {limit:.0f}" if theirs is None else f"{theirs:.2f}"
        print(
            f"{name:26}{ours:9.3f}{shown:>9}{'>' if theirs is None else '':>2}"
            f"{(theirs or limit) / ours:7,.0f}"
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
    chosen = parser.parse_args()
    print_ours(chosen.words, chosen.runs)
    print_beside_difflib(chosen.peer_words, chosen.limit, chosen.runs)


if __name__ == "__main__":
    main()
