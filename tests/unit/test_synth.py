"""Synthetic corpora: the same bytes for the same seed, kinds as described, and gold that measures
the recorded ground truth.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from corpus.documents import fifty
from corpus.formats import txt

from indexer.comparing.words import words
from indexer.errors import UnknownName, UsageError
from indexer.fingerprinting.normalise import normalise
from indexer.jobs.document_rows import documents_at
from indexer.lab.synthesis import changes, formats
from indexer.lab.synthesis.changes import RandomSource, add_ocr_noise
from indexer.lab.synthesis.kinds import KINDS
from indexer.lab.synthesis.synth import SynthOptions, SynthResult, synth
from indexer.model import Document

TEXT = (
    "The Harbour Board met on 3 May 2019 in Rotterdam.\n\nMs Jansen paid 1,200 euros to Peter.\n\n"
    "The works, said Jansen, start 12 June."
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of fifteen languages, one an issue, and three that are translations by their names."""
    place = tmp_path_factory.mktemp("texts")
    for document in fifty():
        (place / f"{document.name}.txt").write_text(txt.text(document), encoding="utf-8")
    return place


@pytest.fixture(scope="session")
def corpus(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> SynthResult:
    out = tmp_path_factory.mktemp("made") / "corpus"
    return synth(folder, out, SynthOptions(seed=7, documents=12, programs=False))


def gold(result: SynthResult, kind: str = "") -> list[dict[str, str]]:
    with Path(result.gold).open(encoding="utf-8", newline="") as sheet:
        return [row for row in csv.DictReader(sheet) if kind in ("", row["kind"])]


def bytes_of(out: str) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(Path(out).rglob("*"))
        if path.is_file()
    }


def text_of(result: SynthResult, name: str) -> str:
    return (Path(result.out) / name).read_text(encoding="utf-8")


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_for_ever(
    corpus: SynthResult, folder: Path, tmp_path: Path
) -> None:
    again = synth(folder, tmp_path / "again", SynthOptions(seed=7, documents=12, programs=False))
    assert bytes_of(again.out) == bytes_of(corpus.out)
    files = {
        name: data for name, data in bytes_of(corpus.out).items() if name.startswith("documents/")
    }
    digest = hashlib.sha256(
        b"".join(name.encode() + b"\0" + data for name, data in files.items())
    ).hexdigest()
    assert digest[:16] == "2274689df81db1a8"


def test_another_seed_gives_other_texts(corpus: SynthResult, folder: Path, tmp_path: Path) -> None:
    reseeded = synth(
        folder, tmp_path / "other", SynthOptions(seed=8, documents=12, kinds=["edit-10"])
    )
    assert not set(bytes_of(reseeded.out).values()) & {
        data for name, data in bytes_of(corpus.out).items() if ".edit" in name
    }


def test_kinds_do_not_change_each_other(corpus: SynthResult, folder: Path, tmp_path: Path) -> None:
    options = SynthOptions(seed=7, documents=12, kinds=["moved", "edit-20"])
    few = synth(folder, tmp_path / "few", options)
    assert set(few.kinds) == {"moved", "edit-20"}
    all_kinds = bytes_of(corpus.out)
    assert all(
        all_kinds[name] == data
        for name, data in bytes_of(few.out).items()
        if name.startswith("documents/")
    )


@pytest.mark.long
def test_every_kind_is_generated_and_counted(corpus: SynthResult) -> None:
    assert Counter(row["kind"] for row in gold(corpus)) == Counter(corpus.kinds)
    assert set(corpus.absent) == {"office", "scan"}
    assert {kind for kind, number in corpus.kinds.items() if not number} == {"translation"}
    account = json.loads((Path(corpus.out) / "corpus.json").read_text())
    assert account["seed"] == 7 and len(account["sources"]) == corpus.originals == 12
    assert all((Path(corpus.out) / row[side]).is_file() for row in gold(corpus) for side in "ab")


@pytest.mark.long
def test_identical_kinds_hold_the_same_text_in_every_format(corpus: SynthResult) -> None:
    rows = gold(corpus, "copy") + gold(corpus, "format")
    assert {Path(row["b"]).suffix for row in rows} == {
        ".txt",
        ".html",
        ".docx",
        ".odt",
        ".eml",
        ".rtf",
    }
    read = {
        Path(path).name: result.text
        for path, result in documents_at(
            [str(Path(corpus.out) / row[side]) for row in rows for side in "ab"]
        )
        if isinstance(result, Document)
    }
    for row in rows:
        assert row["similarity"] == "1.000000"
        assert normalise(read[Path(row["b"]).name]) == normalise(read[Path(row["a"]).name]), row[
            "b"
        ]


def test_more_edits_are_less_alike(corpus: SynthResult) -> None:
    levels = [
        [float(row["similarity"]) for row in gold(corpus, f"edit-{share:02}")]
        for share in (1, 5, 10, 20, 40)
    ]
    means = [sum(level) / len(level) for level in levels]
    assert means == sorted(means, reverse=True) and means[0] > 0.93 and means[-1] < 0.7


def test_what_is_no_duplicate_is_not_alike(corpus: SynthResult) -> None:
    different = [row for row in gold(corpus) if row["type"] == "different"]
    assert different and all(float(row["resemblance"]) < 0.5 for row in different)
    assert all(float(row["similarity"]) > 0.15 for row in gold(corpus, "boilerplate"))


def test_contained_texts_lie_in_the_others(corpus: SynthResult) -> None:
    rows = [row for row in gold(corpus) if row["type"] == "contained"]
    assert {row["kind"] for row in rows} == {"excerpt", "reply", "framed"}
    assert all(float(row["containment"]) > 0.7 for row in rows)
    assert all(float(row["containment"]) > 0.99 for row in rows if row["kind"] != "reply")


@pytest.mark.long
def test_moved_paragraphs_are_the_same_words(corpus: SynthResult) -> None:
    for row in gold(corpus, "moved"):
        a, b = (text_of(corpus, row[side]) for side in "ab")
        assert a.split() != b.split()
        assert sorted(a.split()) == sorted(b.split())


def test_pairs_that_are_linked_share_a_group(corpus: SynthResult) -> None:
    groups: dict[str, str] = {}
    for row in gold(corpus):
        assert (
            groups.setdefault(row["a"], row["group"])
            == groups.setdefault(row["b"], row["group"])
            == row["group"]
        )


def test_translations_are_found_by_their_names_and_left_alone(folder: Path, tmp_path: Path) -> None:
    texts = {document.name: txt.text(document) for document in fifty()}
    mixed = tmp_path / "mixed"
    for code in ("en", "de", "fr", "ru"):
        (mixed / code).mkdir(parents=True)
        (mixed / code / "intro.txt").write_text(texts[f"{code}-1"], encoding="utf-8")
    for name in ("es-1", "pl-1", "cs-1", "tr-1"):
        (mixed / f"letter{name[:2]}.txt").write_text(texts[name], encoding="utf-8")
    result = synth(mixed, tmp_path / "out", SynthOptions(documents=2, kinds=["translation"]))
    [row] = gold(result)
    assert row["type"] == "different" and float(row["resemblance"]) < 0.1
    assert {text_of(result, row[side]) for side in "ab"} < set(texts.values())


def test_numbers_alone_change() -> None:
    changed = changes.change_numbers(TEXT, RandomSource(1))
    assert changed is not None and changed != TEXT
    assert [character for character in changed if not character.isdigit()] == [
        character for character in TEXT if not character.isdigit()
    ]
    assert changes.change_numbers("only 1 and 2", RandomSource(1)) is None
    assert changes.change_numbers("١٢ ٣ ٤٥", RandomSource(1)) != "١٢ ٣ ٤٥"


def test_names_change_alike_and_nothing_else() -> None:
    assert changes.names(TEXT) == [
        "Harbour",
        "Board",
        "May",
        "Rotterdam",
        "Jansen",
        "Peter",
        "June",
    ]
    changed = changes.change_names(
        TEXT, ["Ada", "Bo", "Cleo", "Dov", "Eva", "Finn", "Gus", "Hal"], RandomSource(2)
    )
    assert changed is not None
    before, after = changes.word_list(TEXT), changes.word_list(changed)
    renamed = {
        word: new_word for word, new_word in zip(before, after, strict=True) if word != new_word
    }
    assert set(renamed) == set(changes.names(TEXT)) and len(set(renamed.values())) == 7
    assert changes.change_names(TEXT, ["Ada"], RandomSource(2)) is None


@pytest.mark.parametrize(("share", "changed"), [(0.0, 1), (0.05, 10), (0.4, 80), (1.0, 200)])
def test_the_requested_share_of_words_is_edited(share: float, changed: int) -> None:
    text = " ".join(f"w{place}" for place in range(200))
    edited = changes.edit_words(text, share, ["new", "other", "words"], RandomSource(share))
    assert edited is not None
    added = sum(word in ("new", "other", "words") for word in edited.split())
    removed = len(set(text.split()) - set(edited.split()))
    assert max(added, removed) <= changed <= added + removed


def test_edits_of_unspaced_text_stay_unspaced() -> None:
    edited = changes.edit_words(
        "近似重複文書を検索結果の中で見つける", 0.3, list("新旧大小"), RandomSource(3)
    )
    assert edited is not None and " " not in edited


def test_texts_with_nothing_to_change_are_left_out() -> None:
    assert changes.edit_words("", 0.1, ["word"], RandomSource(1)) is None
    assert changes.move_paragraphs("One sentence. Another.", RandomSource(1)) is None
    assert changes.excerpt("too short", 0.3, 0.6, RandomSource(1)) is None


def test_noise_has_the_requested_density_and_breaks_lines() -> None:
    text = "The committee of the harbour considered the international arrangements once more. " * 60
    lightly, heavily = (add_ocr_noise(text, rate, RandomSource(4)) for rate in (0.01, 0.05))
    assert max(map(len, heavily.splitlines())) <= 75
    assert any(line.endswith("-") for line in lightly.splitlines())
    shares = [
        1 - sum((Counter(words(text).folded) & Counter(words(noisy).folded)).values()) / 660
        for noisy in (lightly, heavily)
    ]
    assert 0.02 < shares[0] < 0.15 < shares[1] < 0.5
    assert add_ocr_noise("", 0.1, RandomSource(1)) == ""


@pytest.mark.parametrize(
    ("options", "out"),
    [(SynthOptions(kinds=["copies"]), "new"), (SynthOptions(documents=2), "full")],
)
def test_wrong_use_is_reported_before_anything_is_read(
    folder: Path, tmp_path: Path, options: SynthOptions, out: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    with pytest.raises((UnknownName, UsageError)):
        synth(folder, tmp_path / out, options)
    assert not (tmp_path / "new").exists()


def test_too_few_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "short.txt").write_text("a few words")
    with pytest.raises(UsageError, match="at least 3"):
        synth(tmp_path / "in", tmp_path / "out")


def test_random_values_keep_to_their_ranges() -> None:
    chance = RandomSource("ranges")
    assert {chance.between(2, 4) for _ in range(200)} == {2, 3, 4}
    assert sorted(chance.shuffled(range(50))) == list(range(50))
    assert [RandomSource(5).below(1000) for _ in range(2)] == [RandomSource(5).below(1000)] * 2


@pytest.mark.skipif(formats.tesseract() is None, reason="Tesseract or Pillow is not installed")
def test_tesseract_reads_a_picture_of_the_text() -> None:
    read = formats.recognise(TEXT)
    assert read is not None and len(set(read.split()) & set(TEXT.split())) > 10
    assert formats.recognise("近似重複") is None


@pytest.mark.long
@pytest.mark.skipif(formats.libreoffice() is None, reason="LibreOffice is not installed")
def test_libreoffice_writes_formats() -> None:
    document = formats.convert(TEXT, "odt")
    assert document is not None and document.startswith(b"PK")


def test_kinds_whose_program_is_missing_are_reported(folder: Path, tmp_path: Path) -> None:
    options = SynthOptions(documents=2, kinds=["office", "scan", "copy"], programs=False)
    result = synth(folder, tmp_path / "out", options)
    assert result.absent == ("office", "scan") and result.kinds == {"copy": 2}
    assert all(KINDS[kind].program for kind in result.absent)
