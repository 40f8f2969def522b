"""Spark and one machine side by side on the same synthetic documents: the same pairs and families,
and what each takes.

    python benchmarks/spark.py [--documents 100000] [--threshold 0.8] [--template 0.1]
        [--only families|skewed] [--memory 4g] [--master local[*]]

Two sets. `families`: texts of which half lie in families of edited copies, as in
`matching_texts.py`. `skewed`: of the same number of texts a share consists of one template filled
in, as forms do, so that some bands hold them all; every tenth of these is a copy of the form before
it with one more word. Both run `match` and `group` on Spark (in this process, or on the cluster of
`--master`, such as that of `python -m servers run spark` in `tests`; shuffles on disk) and on one
machine (an SQLite file), and print seconds, and how many pairs and families differ. For the
template it prints how many of the copies came into the family of their form.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_collections import random_texts, vocabulary

from indexer.grouping import group as grouping
from indexer.grouping.group_options import GroupOptions
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.matching import match as pairs
from indexer.model import Blob, Document
from indexer.recipe import DEFAULT
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store
from indexer.stores.base import Store

Texts = list[tuple[str, str]]


def skewed_texts(
    documents: int, words: int, share: float, random: np.random.Generator
) -> tuple[Texts, dict[str, str]]:
    """A share of forms, three quarters of each one template, the rest as `families`; and who was
    copied from whom, by id.
    """
    forms, known = int(documents * share), vocabulary(random)
    template = random.choice(known, 3 * words // 4)
    texts: Texts = []
    origins: dict[str, str] = {}
    for place in range(forms):
        name, fields = f"form{place:07}", " ".join(random.choice(known, words // 4))
        if place % 10 == 9:
            origins[name], last = texts[-1]
            texts.append((name, f"{last} {random.choice(known)}"))
        else:
            texts.append((name, f"{' '.join(template)} {fields}"))
    return texts + family_texts(documents - forms, words, random), origins


def family_texts(documents: int, words: int, random: np.random.Generator) -> Texts:
    """Texts of which half lie in families of edited copies, under ids in another order."""
    texts = random_texts(documents, words, random)
    return [
        (f"{name:016x}", text)
        for name, text in zip(random.integers(0, 2**63, len(texts)).tolist(), texts, strict=True)
    ]


def store_texts(texts: Texts, url: str) -> Store:
    store = open_store(url)
    store.prepare(DEFAULT)
    for start in range(0, len(texts), 1000):
        part = texts[start : start + 1000]
        signed = fingerprints([text for _, text in part])
        items = (
            ExtractedBlob(Blob(name, b"", name, b"", len(text), 0), "", "", Document(text))
            for name, text in part
        )
        store.write([row_of(item, signed[place], DEFAULT.id) for place, item in enumerate(items)])
    return store


def print_seconds(name: str, run: Callable[[], Any]) -> Any:
    start_time = time.perf_counter()
    result = run()
    print(f"  {name:28}{time.perf_counter() - start_time:9.1f} s", flush=True)
    return result


def one_machine(texts: Texts, folder: Path, threshold: float) -> tuple[set[Any], dict[str, Any]]:
    store = print_seconds(
        "one machine: sign, store", lambda: store_texts(texts, f"sqlite:///{folder}/one.db")
    )
    pair_store = print_seconds(
        "one machine: match", lambda: pairs.match(store, pairs.MatchOptions(threshold=threshold))
    )
    account = print_seconds(
        "one machine: group", lambda: grouping.group(store, GroupOptions(threshold=threshold))
    )
    print(
        f"  hot bands: {pair_store.capped.keys:,} in match, {account.capped.keys:,} in group",
        flush=True,
    )
    families = {row.id: (row.family, row.similarity, row.cluster) for row in store.scan()}
    values = {(pair.a, pair.b, pair.similarity, pair.measure) for pair in pair_store}
    store.close()
    return values, families


def on_spark(
    texts: Texts, folder: Path, threshold: float, memory: str, master: str
) -> tuple[set[Any], dict[str, Any]]:
    from indexer.spark.group_job import group
    from indexer.spark.input_documents import Input, documents
    from indexer.spark.match_job import match
    from indexer.spark.session import session
    from indexer.spark.work_folder import Work

    text_folder = folder / "texts"
    text_folder.mkdir()
    for place in range(8):
        lines = (
            json.dumps({"id": name, "text": text, "modified": 0}) for name, text in texts[place::8]
        )
        (text_folder / f"{place}.jsonl").write_text("\n".join(lines))
    settings = {"spark.master": master, "spark.driver.memory": memory, "spark.ui.enabled": "false"}
    quiet = {
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "16",
        "spark.local.dir": str(folder / "scratch"),
    }
    spark = session(
        "benchmark",
        **settings,
        **quiet,
        **{"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"},
    )
    work = Work(spark, str(folder / "work"))
    rows = print_seconds(
        "Spark: sign", lambda: documents(work, Input(str(text_folder), "json"), DEFAULT)
    )
    stage = print_seconds(
        "Spark: match", lambda: match(work, rows, DEFAULT, pairs.MatchOptions(threshold=threshold))
    )
    assigned = print_seconds(
        "Spark: group", lambda: group(work, rows, DEFAULT, GroupOptions(threshold=threshold))
    )
    values = {tuple(row) for row in stage.rows.toLocalIterator()}
    families = {
        row["id"]: (row["family"], row["similarity"], row["cluster"])
        for row in assigned.rows.toLocalIterator()
    }
    spark.stop()
    return values, families


def compare(name: str, texts: Texts, threshold: float, memory: str, master: str) -> dict[str, Any]:
    print(f"\n{name}: {len(texts):,} documents at {threshold:g}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        one_pairs, one_families = one_machine(texts, Path(folder), threshold)
        spark_pairs, spark_families = on_spark(texts, Path(folder), threshold, memory, master)
    sizes = np.unique([family for family, *_ in spark_families.values()], return_counts=True)[1]
    differing = sum(one_families[key] != value for key, value in spark_families.items())
    print(
        f"  pairs: {len(spark_pairs):,} on Spark, {len(one_pairs):,} on one machine, "
        f"{len(spark_pairs ^ one_pairs):,} differ"
    )
    print(
        f"  families: {np.count_nonzero(sizes > 1):,}, the largest of {sizes.max():,}; documents "
        f"that differ: {differing:,}"
    )
    return spark_families


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument(
        "--template", type=float, default=0.1, help="share of documents that carry one template"
    )
    parser.add_argument("--only", choices=["families", "skewed"])
    parser.add_argument("--memory", default="4g", help="of the JVM")
    parser.add_argument("--master", default="local[*]")
    chosen = parser.parse_args()
    root = str(Path(__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    if chosen.only != "skewed":
        compare(
            "families",
            family_texts(chosen.documents, chosen.words, np.random.default_rng(9)),
            chosen.threshold,
            chosen.memory,
            chosen.master,
        )
    if chosen.only != "families":
        texts, origins = skewed_texts(
            chosen.documents, chosen.words, chosen.template, np.random.default_rng(10)
        )
        families = compare("skewed", texts, chosen.threshold, chosen.memory, chosen.master)
        together = sum(families[copy][0] == families[origin][0] for copy, origin in origins.items())
        forms = {family for key, (family, *_) in families.items() if key.startswith("form")}
        print(
            f"  of {len(origins):,} copied forms {together:,} share a family with their form; "
            f"families of forms: {len(forms):,}"
        )


if __name__ == "__main__":
    main()
