"""The workflow of copietje: its MinHash, LSH and output by datasketch itself, compared with two
commands of nearfold.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from datasketch import MinHash, MinHashLSH
from forked_commands import client_command

ROOT = Path(__file__).parent.parent.parent
LABELLED, UNLABELLED = 40, 80


def texts():
    """Return documents by uid, each a few edits from one of eight; every third is labelled."""
    random.seed(7)
    words = [
        f"{random.choice('bcdfghklm')}{random.choice('aeiou')}{random.choice('nrst')}{number}"
        for number in range(400)
    ]
    originals = [random.choices(words, k=150) for _ in range(8)]
    texts_by_uid = {}
    for number in range(LABELLED + UNLABELLED):
        text = list(originals[number % 8])
        for _ in range(number // 4 * 3):
            text[random.randrange(len(text))] = random.choice(words)
        texts_by_uid[f"image:0-{number:03}"] = " ".join(text)
    return texts_by_uid


def expected(documents, labelled):
    """Return the output of copietje, by the library that it uses."""
    sketches = {}
    for uid, text in documents.items():
        sketches[uid] = MinHash(num_perm=128)
        sketches[uid].update_batch(token.encode() for token in text.split())
    lsh = MinHashLSH(threshold=0.5, weights=(0.25, 0.75), num_perm=128)
    for uid in labelled:
        lsh.insert(uid, sketches[uid])
    for uid in documents:
        if uid not in labelled:
            similar = [
                (sketches[uid].jaccard(sketches[match]), match)
                for match in lsh.query(sketches[uid])
            ]
            ranked = sorted((pair for pair in similar if pair[0] >= 0.5), reverse=True)
            if ranked:
                names = ", ".join(match for _, match in ranked)
                yield f"{uid}  # max {ranked[0][0]:.3f} matches {names}"


@pytest.mark.parametrize(
    "recipe", [":::", "ws:norm-html:sha1:128", "white-space:norm-html:sha1:128", "ws:none:sha1:128"]
)
def test_the_same_lines(recipe, tmp_path):
    if "none" not in recipe:
        for library in ("ftfy", "unidecode", "emoji", "bs4"):
            pytest.importorskip(library)
    documents = texts()
    labelled = set(list(documents)[::3])
    with (tmp_path / "case.jsonl").open("w", encoding="utf-8") as file:
        for uid, text in documents.items():
            status = "confirmed" if uid in labelled else None
            file.write(json.dumps({"uid": uid, "text": text, "privileged_status": status}) + "\n")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NEARFOLD_STORE": f"sqlite:///{tmp_path}/case.db",
    }
    for words in (
        [
            "index",
            "case.jsonl",
            "--recipe",
            recipe,
            "--id-field",
            "uid",
            "--own-ids",
            "--label-field",
            "privileged_status",
        ],
        [
            "match",
            "--against",
            "confirmed",
            "--ids",
            "--format",
            "copietje",
        ],
    ):
        done = subprocess.run(
            [*client_command(), *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    lines = sorted(expected(documents, labelled))
    assert len(lines) > 30
    assert sorted(done.stdout.splitlines()) == lines
