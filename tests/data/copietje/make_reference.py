"""Write the reference files of this folder: what copietje prints, by the libraries that it uses.

Nothing of nearfold is imported. Run once, outside the tests, in two environments:

    pip install datasketch==2.0.0 clean-text==0.7.1 beautifulsoup4 mmh3 unidecode
    pip install datasketch==1.6.5 clean-text==0.6.0 beautifulsoup4 mmh3 unidecode

    python make_reference.py

`documents.jsonl` is made by the first and only read by the second. Lines are for the default
weights and threshold: bands by `MinHashLSH(threshold=0.5, weights=(0.25, 0.75))`.
"""

from __future__ import annotations

import json
import random
import sqlite3
import zlib
from importlib.metadata import version
from pathlib import Path

import mmh3
from bs4 import BeautifulSoup
from cleantext import clean
from datasketch import LeanMinHash, MinHash, MinHashLSH
from datasketch.hashfunc import sha1_hash32

HERE = Path(__file__).parent
THRESHOLD, WEIGHT = 0.5, 0.75
NEWEST = version("datasketch").startswith("2.")
SCHEMA = """
    CREATE TABLE documents (uid TEXT PRIMARY KEY, path TEXT, stream TEXT, size INTEGER, sha1 TEXT,
        tags TEXT, privileged_status TEXT, minhash BLOB);
"""
HASHES = {
    "sha1": sha1_hash32,
    "mmh3": lambda octets: mmh3.hash(octets, signed=False),
    "crc32": zlib.crc32,
}


def plain(text):
    return clean(
        text,
        fix_unicode=True,
        to_ascii=True,
        lower=True,
        no_line_breaks=True,
        no_currency_symbols=True,
        replace_with_currency_symbol="",
        no_punct=True,
    )


NORMALISERS = {
    "norm": plain,
    "norm-html": lambda text: plain(BeautifulSoup(text, "html.parser").get_text()),
}


def word_runs(width):
    def runs(text):
        words = text.split()
        starts = range(max(1, len(words) - width + 1))
        return [" ".join(words[start : start + width]) for start in starts]

    return runs


def character_runs(width):
    return lambda text: [text[at : at + width] for at in range(len(text) - width + 1)]


TOKENISERS = {
    "ws": str.split,
    **{f"white-space-{width}-grams": word_runs(width) for width in range(2, 7)},
    **{f"{width}-grams": character_runs(width) for width in range(1, 7)},
}


def sketch(text, condenser):
    tokeniser, normaliser, name, permutations = condenser.split(":")
    minhash = MinHash(num_perm=int(permutations), hashfunc=HASHES[name])
    tokens = TOKENISERS[tokeniser](NORMALISERS[normaliser](text))
    for token in tokens:
        minhash.update(token.encode())
    return LeanMinHash(minhash)


def lines(sketches, labelled):
    """Yield the line of each document without a label that has matches among those with one."""
    width = len(next(iter(sketches.values())).hashvalues)
    index = MinHashLSH(threshold=THRESHOLD, weights=(1 - WEIGHT, WEIGHT), num_perm=width)
    for uid in labelled:
        index.insert(uid, sketches[uid])
    for uid, own in sketches.items():
        if uid in labelled:
            continue
        similar = [(own.jaccard(sketches[other]), other) for other in index.query(own)]
        ranked = sorted((pair for pair in similar if pair[0] >= THRESHOLD), reverse=True)
        if ranked:
            yield f"{uid}  # max {ranked[0][0]:.3f} matches {', '.join(pair[1] for pair in ranked)}"


def documents():
    """Return texts by uid: edited prose, markup, foreign scripts, numbers, and next to nothing."""
    random.seed(4)
    words = [a + b + c for a in "bdfgklmnprst" for b in ("a", "e", "io", "u") for c in "lnrstx"]
    texts = []
    for _ in range(5):
        original = random.choices(words, k=60)
        for edits in (0, 1, 3, 6, 10):
            text = list(original)
            for _ in range(edits):
                text[random.randrange(len(text))] = random.choice(words)
            texts.append(" ".join(text).capitalize() + ".")
    prose = texts[0]
    texts += [
        f"<html><head><style>p {{x}}</style></head><body><p>{prose}</p><!-- no --></body></html>",
        f"<div>{prose.replace(' ', '<br>', 5)}</div>",
        prose.upper() + "\r\n\r\n$5",
        "Größe, naïve façade – “quoted” … €20 ½ Ångström",
        "Grosse, naive facade - 'quoted' ... $20 1/2 Angstrom",
        "Москва слезам не верит, а Киев верит всему",
        "Moskva slezam ne verit, a Kiev verit vsemu",
        "東京都港区の契約書は二通作成する",
        "schÃ¶n, fÃ¼r dich",
        "schön, für dich",
        "1,200.50 300 400 500 17",
        "1200 50 300 400 500 17 18",
        "1,200.50 300 400 500 17",
        "",
        "...",
        "!?",
        "a",
        "A.",
        "to be",
        "yes & no \\n or \\u00e9",
    ]
    return {f"case-{number:03}": text for number, text in enumerate(texts)}


def read_documents():
    path = HERE / "documents.jsonl"
    if NEWEST:
        with path.open("w", encoding="utf-8") as file:
            for number, (uid, text) in enumerate(documents().items()):
                status = ("confirmed" if number % 2 else "suspected") if number % 3 == 0 else None
                record = {"uid": uid, "text": text, "privileged_status": status}
                file.write(json.dumps(record) + "\n")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_database(path, records, sketches):
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)
        for record in records:
            minhash = sketches[record["uid"]]
            packed = bytearray(minhash.bytesize("!"))
            minhash.serialize(packed, "!")
            status = record["privileged_status"]
            values = (record["uid"], f"{record['uid']}.txt", "plain", len(record["text"]), status)
            database.execute(
                "INSERT INTO documents (uid, path, stream, size, privileged_status, minhash) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*values, packed),
            )


def condensers():
    usual = "ws:norm-html:sha1:128"
    yield usual
    if not NEWEST:
        return
    for tokeniser in TOKENISERS:
        for normaliser in NORMALISERS:
            for name in HASHES:
                if f"{tokeniser}:{normaliser}:{name}:128" != usual:
                    yield f"{tokeniser}:{normaliser}:{name}:128"
    for permutations in (16, 60, 256):
        yield f"ws:norm-html:sha1:{permutations}"


def main():
    records = read_documents()
    labelled = {record["uid"] for record in records if record["privileged_status"]}
    release = "2.0" if NEWEST else "1.6"
    with (HERE / f"expected-{release}.txt").open("w", encoding="utf-8") as file:
        for condenser in condensers():
            sketches = {record["uid"]: sketch(record["text"], condenser) for record in records}
            if condenser == "ws:norm-html:sha1:128":
                write_database(HERE / f"case-{release}.db", records, sketches)
            file.write(f"## {condenser}\n")
            file.writelines(f"{line}\n" for line in lines(sketches, sorted(labelled)))


if __name__ == "__main__":
    main()
