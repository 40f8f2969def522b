"""Ways to look up the near duplicates of a text in an engine, each with its time and how much of
the truth it finds.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence

import numpy as np
from engine_lab import Lab

from indexer.recipe import DEFAULT
from indexer.searching.similar import SimilarOptions, similar
from indexer.sketch.codec import pack_slots
from indexer.sketch.fingerprint import fingerprint
from indexer.stores.engine import bodies
from indexer.stores.engine.installation import MINHASH8_SCORE

THRESHOLD, LIMIT = 0.8, 100
BUCKETS = (512, 128)
SHARES = (10, 20, 30, 40, 50, 60)  # of slots that are equal
TUNED = 60  # lookups on which the settings of the peers are chosen
WARMING = 300  # lookups of other texts before those that are timed
Ask = Callable[[str], list[str]]


def measure_lookups(
    lab: Lab, sizes: dict[str, float], queries: Sequence[int], truth: Sequence[set[int]]
) -> None:
    """A line for each way of looking up."""
    print(
        f"{'':<10}{'':<34}{'p50 ms':>8}{'p99 ms':>8}{'recall':>8}{'precision':>11}"
        f"{'added bytes':>13}"
    )
    near = sizes["near"] - sizes["text"]
    line(lab, "nearfold, similar", lambda text: in_client(lab, text), queries, truth, near)
    ways = {f"equal slots in the engine, {share} %": in_engine(lab, share) for share in SHARES}
    label = best(lab, ways, queries, truth)
    line(lab, label, ways[label], queries, truth, near)
    for buckets in BUCKETS:
        ways = {
            f"min_hash {buckets}, {share} %": alike(
                lab, f"{lab.name}-min{buckets}", "text.sketch", buckets, share
            )
            for share in (60, 70, 75, 80, 85, 90)
        }
        label = best(lab, ways, queries, truth)
        line(lab, label, ways[label], queries, truth, sizes[f"min{buckets}"] - sizes["text"])
    line(lab, "more_like_this, defaults", alike(lab, f"{lab.name}-text", "text"), queries, truth, 0)
    ways = {
        f"more_like_this, {terms} terms, {share} %": alike(
            lab, f"{lab.name}-text", "text", terms, share
        )
        for terms in (25, 100)
        for share in (70, 80, 90, 95)
    }
    label = best(lab, ways, queries, truth)
    line(lab, label, ways[label], queries, truth, 0)


def in_client(lab: Lab, text: str) -> list[str]:
    return [
        match.id
        for match in similar(
            lab.store, text, SimilarOptions(threshold=THRESHOLD, limit=LIMIT)
        ).matches
    ]


def in_engine(lab: Lab, share: int) -> Ask:
    """Candidates, and those of them with such a share of equal slots, by one request, as
    docs/cluster.md has it.
    """

    def ask(text: str) -> list[str]:
        signed = fingerprint(text)
        keys = bodies.keys(signed.bands, signed.blocks)
        minhash = base64.b64encode(pack_slots(signed.minhash)).decode()
        script = {"id": MINHASH8_SCORE, "params": {"minhash": minhash}}
        rescore = {
            "query_weight": 0,
            "rescore_query": {"script_score": {"query": {"match_all": {}}, "script": script}},
        }
        body = {
            "size": LIMIT,
            "_source": False,
            "query": bodies.candidates(keys, [DEFAULT.id], LIMIT)["query"],
            "rescore": {"window_size": 1_000, "query": rescore},
        }
        return [hit["_id"] for hit in lab.hits(lab.name, body) if hit["_score"] >= share / 100]

    return ask


def alike(
    lab: Lab, index: str, field: str, terms: int | None = None, share: int | None = None
) -> Ask:
    """`more_like_this`, with its own defaults or so many terms and so large a share of them."""
    chosen = (
        {}
        if terms is None
        else {
            "max_query_terms": terms,
            "min_term_freq": 1,
            "min_doc_freq": 1,
            "minimum_should_match": f"{share}%",
        }
    )

    def ask(text: str) -> list[str]:
        body = {
            "size": LIMIT + 1,
            "_source": False,
            "query": {"more_like_this": {"fields": [field], "like": text, **chosen}},
        }
        return [hit["_id"] for hit in lab.hits(index, body)]

    return ask


def best(lab: Lab, ways: dict[str, Ask], queries: Sequence[int], truth: Sequence[set[int]]) -> str:
    """The way with the highest F1 on the first lookups."""

    def f1(ask: Ask) -> float:
        recall, precision, _ = judge_lookups(lab, ask, queries[:TUNED], truth)
        return 2 * recall * precision / max(recall + precision, 1e-9)

    return max(ways, key=lambda label: f1(ways[label]))


def line(
    lab: Lab, label: str, ask: Ask, queries: Sequence[int], truth: Sequence[set[int]], added: float
) -> None:
    warm_up(lab, ask, queries)
    recall, precision, times = judge_lookups(lab, ask, queries, truth)
    p50, p99 = np.percentile(times, [50, 99]) * 1e3
    print(
        f"{'':<10}{label:<34}{p50:>8.1f}{p99:>8.1f}{recall:>8.3f}{precision:>11.3f}{added:>13,.0f}",
        flush=True,
    )


def warm_up(lab: Lab, ask: Ask, queries: Sequence[int]) -> None:
    """Look up texts that will not be timed, so that the engine has compiled what it runs."""
    others = np.setdiff1d(np.arange(len(lab.texts)), queries)
    for place in others[:: max(1, len(others) // WARMING)][:WARMING].tolist():
        ask(lab.texts[place])


def judge_lookups(
    lab: Lab, ask: Ask, queries: Sequence[int], truth: Sequence[set[int]]
) -> tuple[float, float, list[float]]:
    """Return recall and precision over all pairs, and the seconds of each lookup."""
    right = answered = true = 0
    times = []
    for place, near in zip(queries, truth, strict=False):
        start_time = time.perf_counter()
        answer = ask(lab.texts[place])
        times.append(time.perf_counter() - start_time)
        answer_places = {int(id) for id in answer} - {place}
        right, answered, true = (
            right + len(answer_places & near),
            answered + len(answer_places),
            true + min(len(near), LIMIT),
        )
    return right / max(true, 1), right / max(answered, 1), times
