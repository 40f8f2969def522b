"""Clauses of contracts and licences that packages ship, in nine languages: changed in a known way,
and pairs of them that were read (docs/clauses-read.csv, see docs/duplicate-types.md).

    python tests/packaged_clauses.py FOLDER          # clauses that are changed
    python tests/packaged_clauses.py FOLDER --read   # pairs that were read

Pairs that were read are clauses as they are, clauses that a program changed, and templates of our
own (`data/clauses-read.txt`, `synthetic_language_pairs.py`) that it filled in and changed.
Packages are wheels and zip files in a folder: ibm_db 3.2.0, 3.2.3 and 3.3.0, scancode-toolkit-mini
32.5.0, and the Maven artifact com.ibm.websphere.appserver.runtime:wlp-webProfile7:17.0.0.2.
"""

from __future__ import annotations

import argparse
import csv
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from synthetic_language_pairs import CLAUSES, UNSEEN

from indexer.comparing.clauses.clause_terms import read_clause
from indexer.comparing.clauses.duplicates import TYPES, language_of, verdict
from indexer.comparing.clauses.lexicon import default_lexicon
from indexer.lab.evaluation.judgements import cohen

READ = Path(__file__).parent.parent / "docs" / "clauses-read.csv"
TEMPLATES = Path(__file__).parent / "data" / "clauses-read.txt"
LICENCES = re.compile(r"/(?:odbc_LI|LI|LA)_(en|de|fr|es|it|pt|zh|ja)$|\.LICENSE$")
UNSPACED = ("zh", "ja")
WORDS = (12, 160)  # of a clause
EACH = 110  # pairs of each kind of change
FEW = ("nl",)  # languages of so few clauses that sentences are read, too, and changed at each match


class Changes(NamedTuple):
    """What is replaced by what: patterns and replacements, tried in order."""

    parties: tuple[str, str]
    denied: tuple[tuple[str, str], ...]
    opposite: tuple[tuple[str, str], ...]
    phrase: str  # added before the last full stop


CHANGES = {
    "en": Changes(
        ("Licensee", "IBM"),
        ((r"\b(may|shall|must|will|can|is|are)\b(?! not)", r"\1 not"),),
        ((r"\bafter\b", "before"), (r"\bwith\b", "without"), (r"\ball\b", "no")),
        " and in the annexes",
    ),
    "de": Changes(
        ("Lizenznehmer", "Lizenzgeber"),
        ((r"\b(darf|dürfen|ist|sind|wird|werden|gilt|gelten)\b(?! nicht| kein)", r"\1 nicht"),),
        ((r"\bnach\b", "vor"), (r"\bmit\b", "ohne"), (r"\balle\b", "keine")),
        " und in den Anlagen",
    ),
    "fr": Changes(
        ("Licencié", "Concédant"),
        (
            (r"\b(peut|doit|sera|seront|peuvent|doivent)\b(?! pas)", r"ne \1 pas"),
            (r"\best\b(?! pas|-)", "n'est pas"),
            (r"\bsont\b(?! pas)", "ne sont pas"),
        ),
        ((r"(?<= )après\b", "avant"), (r"(?<= )avec\b", "sans"), (r"\btoutes les\b", "aucune des")),
        " et dans les annexes",
    ),
    "nl": Changes(
        ("Licentiegever", "Gebruiker"),
        ((r"\b(mag|mogen|is|zijn|wordt|worden|kan|moet)\b(?! niet| geen)", r"\1 niet"),),
        (
            (r"\bna\b", "voor"),
            (r"\bmet\b", "zonder"),
            (r"\balle\b", "geen"),
            (r"\b(mag|kan)\b", "moet"),
            (r"\b(mogen|kunnen)\b", "moeten"),
            (r"\been\b", "geen"),
        ),
        " en in de bijlagen",
    ),
    "es": Changes(
        ("Licenciatario", "IBM"),
        ((r"(?<!no )\b(puede|pueden|debe|deben|será|serán|es|está|son)\b", r"no \1"),),
        (
            (r"(?<= )después\b", "antes"),
            (r"(?<= )con\b", "sin"),
            (r"\btodos los\b", "ninguno de los"),
        ),
        " y en los anexos",
    ),
    "it": Changes(
        ("Licenziatario", "IBM"),
        ((r"(?<!non )\b(può|possono|deve|devono|sarà|saranno|è|sono)\b", r"non \1"),),
        ((r"(?<= )dopo\b", "prima"), (r"(?<= )con\b", "senza"), (r"\btutti i\b", "nessuno dei")),
        " e negli allegati",
    ),
    "pt": Changes(
        ("Licenciado", "IBM"),
        (
            (
                r"(?<!não )\b(pode|podem|poderá|deve|devem|será|serão|é|são|está)\b",
                r"não \1",
            ),
        ),
        ((r"(?<= )após\b", "antes"), (r"(?<= )com\b", "sem"), (r"\btodos os\b", "nenhum dos")),
        " e nos anexos",
    ),
    "zh": Changes(
        ("被许可方", "IBM"),
        ((r"(?<!不)(可以|应当|应|能够|允许|同意|适用|负责)", r"不\1"),),
        (("之后", "之前"), ("包括", "不包括"), ("所有", "没有")),
        "以及附件",
    ),
    "ja": Changes(
        ("ライセンシー", "IBM"),
        (("することができます", "することができません"), ("ものとします", "ものとしません")),
        (("以後|の後", "の前"), ("含みます", "含みません"), ("すべて", "一部")),
        "および付属書",
    ),
}
SAME = ("number", "name", "phrase")  # kinds of changes that leave duplicates


def clauses(folder: Path) -> dict[str, list[str]]:
    """Return the different clauses of the licences in packages, by language."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for path in sorted([*folder.glob("*.whl"), *folder.glob("*.zip")]):
        with zipfile.ZipFile(path) as package:
            for name in package.namelist():
                if licence := LICENCES.search(name):
                    text = _decoded(package.read(name))
                    for clause, language in _paragraphs(text, licence[1]):
                        if language in CHANGES and _has_words(clause, language):
                            found[language][clause] = None
    return {language: list(texts) for language, texts in found.items()}


def _decoded(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _paragraphs(text: str, language: str | None) -> Iterator[tuple[str, str | None]]:
    body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    for part in re.split(r"\n\s*\n", body):
        if clause := " ".join(part.split()):
            of = language or _language(clause)
            yield clause, of
            for sentence in re.split(r"(?<=[.;]) ", clause) if of in FEW else ():
                yield sentence, of


def _language(clause: str) -> str | None:
    if re.search("[\u3040-\u30ff]", clause):
        return "ja"
    return "zh" if re.search("[\u4e00-\u9fff]{4}", clause) else language_of(clause)


def _has_words(clause: str, language: str) -> bool:
    is_unspaced = language in UNSPACED
    if is_unspaced and not re.search("[\u3040-\u30ff\u4e00-\u9fff]{4}", clause):
        return False
    words = len(re.sub(r"\s", "", clause)) // 2 if is_unspaced else len(clause.split())
    return WORDS[0] <= words <= WORDS[1]


def key(clause: str) -> str:
    """Return the first twelve digits of a clause's hash, which stand for it in tables."""
    return sha256(clause.encode()).hexdigest()[:12]


# Clauses that are changed in a known way.


def changed(clause: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the clause with each change that it permits, and its kind."""
    changes = CHANGES[language]
    if re.search(r"(?<![\w.])[1-9]\d?(?![\w.)])", clause):
        yield "number", re.sub(r"(?<![\w.])([1-9]\d?)(?![\w.)])", r"8\1", clause, count=1)
    if "IBM" in clause and "IBM" not in changes.parties:
        yield "name", clause.replace("IBM", "Nordwind")
    if clause[-1] in ".。":
        yield "phrase", clause[:-1] + changes.phrase + clause[-1]
    most = None if language in FEW else 1
    for kind, patterns in (("denied", changes.denied), ("opposite", changes.opposite)):
        texts = chain.from_iterable(_each_changed(clause, *both) for both in patterns)
        yield from ((kind, text) for text in islice(texts, most))
    a, b = changes.parties
    if (clause.count(a), clause.count(b)) == (1, 1):
        yield "exchanged", clause.replace(a, "\0").replace(b, a).replace("\0", b)


def _each_changed(clause: str, pattern: str, other: str) -> Iterator[str]:
    """Yield the clause with each match of a pattern replaced, one at a time."""
    for match in re.finditer(pattern, clause):
        yield clause[: match.start()] + match.expand(other) + clause[match.end() :]


def changed_pairs(texts: list[str], language: str) -> Iterator[tuple[str, str, str]]:
    """Yield kinds of changes, clauses and changed clauses, `EACH` pairs of a kind at most."""
    counts: dict[str, int] = defaultdict(int)
    for clause in sorted(texts, key=key):
        for kind, text in changed(clause, language):
            counts[kind] += 1
            if counts[kind] <= EACH:
                yield kind, clause, text


def read_pairs(found: dict[str, list[str]]) -> Iterator[tuple[dict[str, str], str, str]]:
    """Yield each row of the pairs that were read, `again` by a second reader, and both clauses, as
    far as the packages of their clauses are there.
    """
    own = chain.from_iterable((*CLAUSES[language], UNSEEN[language]) for language in CLAUSES)
    templates = [*TEMPLATES.read_text(encoding="utf-8").splitlines(), *(each.text for each in own)]
    texts = {key(text): text for text in chain(templates, *found.values())}
    with READ.open(newline="", encoding="utf-8") as file:
        for pair in csv.DictReader(file):
            left, right = built(pair["a"], texts), built(pair["b"], texts)
            if left and right:
                yield pair, left, right


def built(recipe: str, texts: dict[str, str]) -> str:
    """Return the clause of a cell: a key, and where it is no whole clause, what it is joined from:
    `=` and characters, or offsets [start, end) into the clause of that key, or of another one that
    stands before them, with `^` in capitals. It is empty where a clause is missing.
    """
    first, *pieces = recipe.split("¦")
    if not pieces:
        return texts.get(first, "")
    joined = ""
    for piece in pieces:
        if piece.startswith("="):
            joined += piece[1:]
            continue
        *other, start, end = piece.removesuffix("^").split(":")
        base = other[0] if other else first
        if base not in texts:
            return ""
        characters = texts[base][int(start) : int(end)]
        joined += characters.upper() if piece.endswith("^") else characters
    return joined


# Tables of both.


def type_of(left: str, right: str) -> str:
    """Return the type of two clauses, "none" without one."""
    words = default_lexicon()
    found = verdict(read_clause(left, words), read_clause(right, words), words)
    return found.type if found else "none"


def print_changed(found: dict[str, list[str]]) -> None:
    """Print how many changed clauses are duplicates, by language and kind."""
    kinds = (*SAME, "denied", "opposite", "exchanged")
    print("language", "clauses", "pairs", *kinds, sep="\t")
    for language, texts in sorted(found.items()):
        of, duplicates = Counter[str](), Counter[str]()
        for kind, left, right in changed_pairs(texts, language):
            of[kind] += 1
            duplicates[kind] += type_of(left, right) in TYPES
        cells = (f"{duplicates[kind]} of {of[kind]}" for kind in kinds)
        print(language, len(texts), of.total(), *cells, sep="\t", flush=True)


def print_read(found: dict[str, list[str]]) -> None:
    """Print by language, origin and half how types agree with each of two readers, and these with
    each other: pairs, duplicates found that are right, duplicates that are found, kappa, and kappa
    of all five types; then the types of the first reader by our types.
    """
    judged: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for pair, left, right in read_pairs(found):
        types = pair["read"], pair["again"], type_of(left, right)
        origin, half = pair["origin"].split(":")[0], pair["half"]
        of = pair["language"]
        for name in (of, f"{of}, {half}", origin, f"{origin}, {half}", half, "all"):
            judged[name].append(types)
    for name, pairs in sorted(judged.items()):
        first, second, ours = zip(*pairs, strict=True)
        print_agreement(f"{name} read", first, ours)
        print_agreement(f"{name} again", second, ours)
        print_agreement(f"{name} readers", first, second)
    for types, count in sorted(Counter((first, ours) for first, _, ours in judged["all"]).items()):
        print(*types, count, sep="\t")


def print_agreement(name: str, read: Sequence[str], found: Sequence[str]) -> None:
    are_read, are_found = ([type in TYPES for type in types] for types in (read, found))
    right = sum(map(min, are_read, are_found))
    shares = (f"{right} of {sum(duplicates)}" for duplicates in (are_found, are_read))
    kappas = (cohen(are_read, are_found).kappa, cohen(read, found).kappa)
    cells = ("-" if kappa is None else f"{kappa:.2f}" for kappa in kappas)
    print(name, len(read), *shares, *cells, sep="\t")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--read", action="store_true", help="pairs that were read")
    options = parser.parse_args()
    (print_read if options.read else print_changed)(clauses(options.folder))


if __name__ == "__main__":
    main()
