"""Cost of the ingest pipeline: milliseconds a document inside a real OpenSearch, by size of the
text.

    python benchmarks/pipeline.py URL [--runs 5]

URL is an OpenSearch or Elasticsearch with painless, for instance http://127.0.0.1:9200. Texts are
English words in random order, and Chinese characters; sizes are in characters. `with` and `without`
are whole bulk requests, with the pipeline and without it, and `signing` is the difference. Medians
of the runs, after a warm-up; runs are interleaved. The mapping indexes nothing. What it makes, it
deletes.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
import urllib.request
from collections.abc import Iterator

from indexer.recipe import DEFAULT
from indexer.stores.engine.painless import MAX_UNITS, pipeline

SIZES = (1_000, 10_000, 100_000, MAX_UNITS)
CHARS_A_RUN = 2_000_000
NAME = "nearfold-benchmark-pipeline"
CHINESE = [chr(code) for code in range(0x4E00, 0x4E00 + 2500)]
ENGLISH = [
    f"{start}{vowel}{end}"
    for start in ("tr", "pl", "sk", "b")
    for vowel in "aeiou"
    for end in ("nd", "st", "ll", "")
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    call(options.url, "PUT", f"_ingest/pipeline/{NAME}", pipeline(DEFAULT))
    call(options.url, "PUT", NAME, {"mappings": {"dynamic": False, "properties": {}}})
    print(
        f"{'text':<9}{'characters':>11}{'with ms':>10}{'without ms':>12}{'signing ms':>12}   a "
        "document"
    )
    try:
        for kind in ("english", "chinese"):
            for size in SIZES:
                print(
                    f"{kind:<9}{size:>11,}{''.join(columns(options.url, kind, size, options.runs))}"
                )
    finally:
        call(options.url, "DELETE", f"_ingest/pipeline/{NAME}")
        call(options.url, "DELETE", NAME)


def columns(url: str, kind: str, size: int, runs: int) -> Iterator[str]:
    count = max(4, CHARS_A_RUN // size)
    signed, plain = [], []
    for _ in range(runs + 1):
        signed.append(send(url, body(kind, size, count), NAME))
        plain.append(send(url, body(kind, size, count), "_none"))
    both, without = (statistics.median(times[1:]) / count for times in (signed, plain))
    yield from (f"{both:>10.2f}", f"{without:>12.2f}", f"{both - without:>12.2f}")


def body(kind: str, size: int, count: int) -> bytes:
    lines = (f'{{"index":{{}}}}\n{json.dumps({"text": text(kind, size)})}\n' for _ in range(count))
    return "".join(lines).encode()


def text(kind: str, size: int) -> str:
    if kind == "chinese":
        return "".join(random.choices(CHINESE, k=size))
    return " ".join(random.choices(ENGLISH, k=size // 4))[:size]


def send(url: str, lines: bytes, name: str) -> float:
    """Milliseconds of one bulk request."""
    start = time.perf_counter()
    answer = call(url, "POST", f"{NAME}/_bulk?pipeline={name}", lines)
    assert not answer["errors"]
    return (time.perf_counter() - start) * 1000


def call(url: str, method: str, path: str, content: object = None) -> dict:
    data = (
        content if isinstance(content, bytes) or content is None else json.dumps(content).encode()
    )
    kind = "application/x-ndjson" if isinstance(content, bytes) else "application/json"
    request = urllib.request.Request(f"{url}/{path}", data, {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.loads(answer.read())


if __name__ == "__main__":
    main()
