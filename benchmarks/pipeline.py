"""Cost of the ingest pipeline: milliseconds a document inside a real engine, by size of the text.

    python benchmarks/pipeline.py URL [--runs 5]

URL is an OpenSearch or Elasticsearch with painless, for instance http://127.0.0.1:9200. Texts are
English words in random order, and Chinese characters; sizes are in characters. `with` and `without`
are whole bulk requests, with the pipeline and without it, and `signing` is the difference. Medians
of the runs, after a warm-up; runs are interleaved. The mapping indexes nothing. What it makes, it
deletes.
"""

from __future__ import annotations

import json
import random
import statistics
import urllib.request

from harness import arguments, seconds_of

from indexer.recipe import DEFAULT
from indexer.stores.engine.ingest_pipeline import MAX_UNITS, pipeline

SIZES = (1_000, 10_000, 100_000, MAX_UNITS)
NAME = "nearfold-benchmark-pipeline"
CHINESE = [chr(code) for code in range(0x4E00, 0x4E00 + 2500)]
ENGLISH = [a + b + c for a in ("tr", "pl", "sk", "b") for b in "aeiou" for c in ("nd", "st", "ll")]


def text(kind: str, size: int) -> str:
    if kind == "chinese":
        return "".join(random.choices(CHINESE, k=size))
    return " ".join(random.choices(ENGLISH, k=size // 4))[:size]


def send(url: str, kind: str, size: int, count: int, name: str) -> float:
    """Return milliseconds a document of one bulk request."""
    documents = (json.dumps({"text": text(kind, size)}) for _ in range(count))
    body = "".join(f'{{"index":{{}}}}\n{document}\n' for document in documents).encode()

    def request() -> None:
        assert not call(url, "POST", f"{NAME}/_bulk?pipeline={name}", body)["errors"]

    return 1000 * seconds_of(request) / count


def call(url: str, method: str, path: str, body: bytes | None = None) -> dict:
    kind = "application/x-ndjson" if path.count("_bulk") else "application/json"
    request = urllib.request.Request(f"{url}/{path}", body, {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.loads(answer.read())


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("url")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    url = options.url
    call(url, "PUT", f"_ingest/pipeline/{NAME}", json.dumps(pipeline(DEFAULT)).encode())
    call(url, "PUT", NAME, json.dumps({"mappings": {"dynamic": False, "properties": {}}}).encode())
    heads = f"{'with ms':>10}{'without ms':>12}{'signing ms':>12}   a document"
    print(f"{'text':<9}{'characters':>11}{heads}")
    try:
        for kind, size in ((kind, size) for kind in ("english", "chinese") for size in SIZES):
            count = max(4, 2_000_000 // size)
            runs = [
                [send(url, kind, size, count, name) for name in (NAME, "_none")]
                for _ in range(options.runs + 1)
            ]
            signed, plain = map(statistics.median, zip(*runs[1:], strict=True))
            print(f"{kind:<9}{size:>11,}{signed:>10.2f}{plain:>12.2f}{signed - plain:>12.2f}")
    finally:
        call(url, "DELETE", f"_ingest/pipeline/{NAME}")
        call(url, "DELETE", NAME)


if __name__ == "__main__":
    main()
