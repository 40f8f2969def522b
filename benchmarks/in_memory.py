"""`nearfold.dedupe` beside `nearfold dedup` and datasketch on the same texts, and `fold_chunks`.

    python benchmarks/in_memory.py [--rows 5000] [--seed 1]

Seconds on texts of 40 to 200 words, one in five a revision of an earlier one. The command runs in a
process of its own, without the time that `--version` takes. datasketch removes each text that
shares a bucket of `MinHashLSH` (128 permutations, .8) with one that stays, by word 3-grams.
`fold_chunks` is measured in milliseconds, on the first texts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from corpora import revised_texts, write_lines
from dedup_peers import datasketch_rows
from harness import arguments, head, machine, row, run_python, seconds_of

import nearfold

CHUNKS = (40, 330, 1000)


def dedup_seconds(texts: list[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.jsonl")
        write_lines(rows, texts)
        whole = run_python(["-m", "nearfold", "dedup", str(rows), "--out", f"{folder}/out.jsonl"])
        return whole.seconds - run_python(["-m", "nearfold", "--version"]).seconds


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    texts = list(revised_texts(options.rows, options.seed))
    nearfold.dedupe(texts[:10])
    kept: dict[str, int] = {}
    own = seconds_of(lambda: kept.update(nearfold=len(nearfold.dedupe(texts).kept)))
    peer = seconds_of(lambda: kept.update(datasketch=len(list(datasketch_rows(texts)))))
    by_command = dedup_seconds(texts)
    print(f"{machine()}, {len(texts):,} texts\n")
    print(*head(["", "seconds", "ratio", "kept"]), sep="\n")
    print(row(["nearfold.dedupe", f"{own:.2f}", "1.00", f"{kept['nearfold']:,}"]))
    print(row(["nearfold dedup", f"{by_command:.2f}", f"{by_command / own:.2f}", ""]))
    print(row(["datasketch", f"{peer:.2f}", f"{peer / own:.2f}", f"{kept['datasketch']:,}"]))
    print(*["", *head(["fold_chunks of", "ms"])], sep="\n")
    for count in CHUNKS:
        chunks = texts[:count]
        best = min(seconds_of(lambda chunks=chunks: nearfold.fold_chunks(chunks)) for _ in range(5))
        print(row([f"{count}", f"{1000 * best:.1f}"]))


if __name__ == "__main__":
    main()
