"""`dedup`: which rows stay, that they stay as they are, and that each has one outcome."""

import gzip
import json
import os
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from family_oracle import Oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import WORDS, edited, rows, sentence, similarity

from indexer import DedupOptions, dedup, dedupe
from indexer.errors import StoreBusy, UsageError
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.fingerprinting.normalise import normalise_v2
from indexer.jobs.dedup_spool import RowSpool
from indexer.recipe import DEFAULT
from indexer.system.failpoints import arm

FERRY = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
SHOUTED = "THE HARBOUR FERRY leaves at eight in the morning, and returns at six in the evening!"
REWORDED = "The harbour ferry sails at eight in the morning and returns at six in the evening."
LIBRARY = "The city library opens a new reading room on Monday, with forty seats and a garden."


def write_lines(path: Path, texts: list[str]) -> list[str]:
    """Write texts as JSON Lines, and return the lines."""
    lines = [json.dumps({"n": n, "text": text, "z": [n]}) + "\n" for n, text in enumerate(texts)]
    path.write_text("".join(lines))
    return lines


def report(out: Path) -> list[dict]:
    return [json.loads(line) for line in Path(f"{out}.removed.jsonl").read_text().splitlines()]


def collection(number: int, seed: int) -> list[str]:
    """Return texts of which some are copies of others, and some edited."""
    chance = random.Random(seed)
    texts = [sentence(place) for place in range(number // 3)]
    while len(texts) < number:
        text = chance.choice(texts)
        kind = chance.random()
        if kind < 0.2:
            texts.append(text.upper())
        elif kind < 0.3:
            texts.append(chance.choice(["", "12 34", "one two", "!!!"]))
        else:
            edit = edited(text, chance.randrange(1, 14), chance.choice(WORDS))
            texts.append(edit + " more" * chance.randrange(3))
    chance.shuffle(texts)
    return texts


def test_lines_stay_byte_for_byte(folder: Path) -> None:
    source, out = folder / "a.jsonl", folder / "b.jsonl"
    lines = [
        b'{"text": "%s", "b": 1.0, "a":\t null}\r\n' % FERRY.encode(),
        b"\n",
        b'{"text":"%s"}\n' % SHOUTED.encode(),
        b'{"id": 9007199254740993, "text":"%s"}\n' % REWORDED.encode(),
        b'{"text": "%s", "text2": "\\u00e9"}' % LIBRARY.encode(),
    ]
    source.write_bytes(b"".join(lines))
    result = dedup([source], out)
    assert (result.read, result.kept, result.exact, result.near, result.failed) == (4, 2, 1, 1, 0)
    assert out.read_bytes() == lines[0] + lines[4] + b"\n"
    exact, near = report(out)
    names = {"file": "a.jsonl", "kept_file": "a.jsonl", "kept_row": 1}
    assert exact == {**names, "row": 3, "outcome": "exact", "similarity": 1.0}
    assert near == {**names, "row": 4, "outcome": "near", "similarity": 15 / 16}
    assert sorted(path.name for path in folder.iterdir()) == [
        "a.jsonl",
        "b.jsonl",
        "b.jsonl.removed.jsonl",
    ]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_the_report_names_rows_by_their_own_ids(folder: Path, ending: str) -> None:
    rows = [{"no": f"A-{number}", "text": text} for number, text in enumerate((FERRY, SHOUTED))]
    source = folder / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), source)
    elif ending == "csv":
        source.write_text("no,text\n" + "".join(f'{r["no"]},"{r["text"]}"\n' for r in rows))
    else:
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    dedup([source], folder / f"b.{ending}", DedupOptions(id_field="no"))
    [line] = report(folder / f"b.{ending}")
    assert (line["row"], line["id"], line["kept_id"]) == (2, "A-1", "A-0")
    with pytest.raises(UsageError, match="none"):
        dedup([source], folder / f"c.{ending}", DedupOptions(id_field="none"))


def test_csv_stays_byte_for_byte(folder: Path) -> None:
    source, out = folder / "a.csv", folder / "b.csv"
    kept = [
        "id;text;rest\r\n",
        f'1;"{FERRY}";"a ""quoted"";\r\nfield"\r\n',
        f"4;{LIBRARY}; x \r\n",
    ]
    removed = [f'2;"{SHOUTED}";\r\n', f"3;{REWORDED};3\r\n"]
    text = kept[0] + kept[1] + "\r\n" + "".join(removed) + kept[2].rstrip()
    source.write_bytes(text.encode("utf-16"))
    result = dedup([source], out)
    assert (result.read, result.kept, result.exact, result.near) == (4, 2, 1, 1)
    assert out.read_bytes().decode() == kept[0] + kept[1] + kept[2].rstrip() + "\n"
    assert [line["row"] for line in report(out)] == [2, 3]


def test_parquet_keeps_columns_types_and_metadata(folder: Path) -> None:
    source, out = folder / "a.parquet", folder / "b.parquet"
    table = pa.table(
        {
            "z": pa.array([1, 2, None, 4], pa.int8()),
            "text": pa.array([FERRY, SHOUTED, REWORDED, LIBRARY], pa.large_string()),
            "meta": pa.array([{"a": [1]}, None, {"a": []}, {"a": None}]),
            "kind": pa.array(["x", "y", "x", "x"]).dictionary_encode(),
            "at": pa.array([0, 1, 2, 3], pa.timestamp("us", "UTC")),
        }
    ).replace_schema_metadata({"huggingface": "{}"})
    pq.write_table(table, source, compression="zstd", row_group_size=2)
    result = dedup([source], out)
    assert (result.read, result.kept, result.exact, result.near) == (4, 2, 1, 1)
    written, before = pq.read_table(out), pq.read_table(source)
    assert written.schema.equals(before.schema, check_metadata=True)
    assert written.equals(before.take([0, 3]))
    assert pq.ParquetFile(out).metadata.row_group(0).column(0).compression == "ZSTD"


def test_text_in_a_nested_column(folder: Path) -> None:
    table = pa.table({"doc": [{"body": FERRY, "n": 1}, {"body": SHOUTED, "n": 2}], "x": [1, 2]})
    pq.write_table(table, folder / "a.parquet")
    result = dedup(
        [folder / "a.parquet"], folder / "b.parquet", DedupOptions(text_field="doc.body")
    )
    assert result.kept == 1
    assert pq.read_table(folder / "b.parquet").equals(table.slice(0, 1))


@pytest.mark.parametrize("keep", ["longest", "first"])
@pytest.mark.parametrize("measure", ["lcs", "jaccard"])
def test_rows_stay_as_the_definition_of_families_says(folder: Path, keep, measure) -> None:
    texts = collection(90, 5)
    lines = write_lines(folder / "a.jsonl", texts)
    out = folder / "b.jsonl"
    result = dedup(
        [folder / "a.jsonl"], out, DedupOptions(keep=keep, measure=measure, policy="loose")
    )
    ids = {f"{place:04}": text for place, text in enumerate(texts)}
    oracle = Oracle(rows(ids), 0.8, keep, 1000, measure=measure)
    kept = [int(id) for id, head in oracle.principal_of.items() if id == head]
    assert out.read_text() == "".join(lines[place] for place in sorted(kept))
    assert result.exact > 5 and result.near > 5 and result.kept == len(kept)
    for line in report(out):
        id, head = f"{line['row'] - 1:04}", f"{line['kept_row'] - 1:04}"
        assert oracle.principal_of[id] == head
        assert line["similarity"] == oracle.similarity(id, head)
        assert (line["outcome"] == "exact") == (oracle.copy_keys[id] == oracle.copy_keys[head])


@pytest.mark.parametrize(("keep", "kept"), [("longest", [2]), ("first", [1])])
def test_row_that_stays(folder: Path, keep, kept) -> None:
    write_lines(folder / "a.jsonl", [FERRY, f"{FERRY} Daily."])
    dedup([folder / "a.jsonl"], folder / "b.jsonl", DedupOptions(keep=keep))
    assert [line["kept_row"] for line in report(folder / "b.jsonl")] == kept


@settings(max_examples=25)
@given(
    texts=st.lists(
        st.builds(
            lambda seed, edits, mark: edited(sentence(seed, 30), edits, mark),
            st.integers(0, 3),
            st.integers(0, 8),
            st.sampled_from(["x", "y", ""]),
        ),
        max_size=25,
    ),
    threshold=st.sampled_from([0.6, 0.8, 0.95, 1.0]),
    keep=st.sampled_from(["longest", "first"]),
)
def test_removed_rows_are_similar_to_rows_that_stay(texts, threshold, keep) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        lines = write_lines(place / "a.jsonl", texts)
        result = dedup([place / "a.jsonl"], place / "b.jsonl", DedupOptions(threshold, keep=keep))
        removed = {line["row"] - 1: line for line in report(place / "b.jsonl")}
        stays = [row for row in range(len(texts)) if row not in removed]
        assert (place / "b.jsonl").read_text() == "".join(lines[row] for row in stays)
        assert result.read == len(texts) == result.kept + result.exact + result.near
    for row, line in removed.items():
        head = line["kept_row"] - 1
        assert head in stays
        is_copy = normalise_v2(texts[row]) == normalise_v2(texts[head])
        assert (line["outcome"] == "exact") == is_copy
        value = 1.0 if is_copy else similarity(texts[row], texts[head])
        assert line["similarity"] == value >= threshold


def test_memory_does_not_change_the_result(folder: Path) -> None:
    write_lines(folder / "a.jsonl", collection(600, 8))
    for megabytes in (1, 512):
        dedup([folder / "a.jsonl"], folder / f"{megabytes}.jsonl", memory=megabytes)
    for ending in ("", ".removed.jsonl"):
        assert Path(f"{folder}/1.jsonl{ending}").read_bytes() == (
            Path(f"{folder}/512.jsonl{ending}").read_bytes()
        )


def test_every_row_has_one_outcome(folder: Path) -> None:
    out = folder / "b.jsonl"
    bad = ["[1]", '{"text": 7}', '{"text": null}', '{"other": "x"}', "{not json"]
    good = [json.dumps({"text": text}) for text in (FERRY, SHOUTED, "", "", "\ud800", LIBRARY)]
    (folder / "a.jsonl").write_text("\n".join([*bad, *good]))
    result = dedup([folder / "a.jsonl"], out)
    assert (result.read, result.kept, result.exact, result.near, result.failed) == (11, 7, 1, 0, 3)
    assert result.without_text == 4
    failures = [line for line in report(out) if line["outcome"] == "failed"]
    assert [line["row"] for line in failures] == [1, 2, 5]
    assert "not a JSON object" in failures[0]["error"] and "a number" in failures[1]["error"]
    assert out.read_text().splitlines() == [*bad[2:4], good[0], *good[2:]]


def test_dry_run_counts_and_writes_nothing(folder: Path) -> None:
    write_lines(folder / "a.jsonl", [FERRY, SHOUTED, REWORDED, LIBRARY])
    before = sorted(folder.iterdir())
    result = dedup([folder / "a.jsonl"], None)
    assert (result.read, result.kept, result.exact, result.near) == (4, 2, 1, 1)
    assert (result.out, result.report) == ("", "") and sorted(folder.iterdir()) == before


def test_rows_that_stay_for_other_facts_are_named(folder: Path) -> None:
    texts = [LIBRARY, *(f"{FERRY} {FERRY} Tickets cost {euros} euros." for euros in range(7, 20))]
    write_lines(folder / "a.jsonl", texts)
    [template] = dedup([folder / "a.jsonl"], None, DedupOptions(numbers="ignore")).templates
    assert (template.kept_file, template.kept_row, template.differ) == ("a.jsonl", 2, 12)
    result = dedup([folder / "a.jsonl"], None)
    assert (result.kept, result.templates) == (len(texts), ())


def test_row_of_csv_that_cannot_be_read(folder: Path) -> None:
    text = f'id,text\n1,{FERRY.replace(",", "")}\n2,a,b\n3,"open\n4,{REWORDED}\n'
    (folder / "a.csv").write_text(text)
    result = dedup([folder / "a.csv"], folder / "b.csv")
    assert (result.read, result.kept, result.near, result.failed) == (4, 1, 1, 2)
    assert (folder / "b.csv").read_text() == "".join(text.splitlines(keepends=True)[:2])


def test_folder_becomes_a_folder(folder: Path) -> None:
    (folder / "in" / "deep").mkdir(parents=True)
    first = write_lines(folder / "in" / "a.jsonl", [FERRY, LIBRARY])
    with gzip.open(folder / "in" / "deep" / "b.ndjson.gz", "wt") as file:
        file.write(json.dumps({"text": SHOUTED}) + "\n" + json.dumps({"text": "a b c d e"}) + "\n")
    (folder / "in" / "notes.txt").write_text("no rows")
    result = dedup([folder / "in"], folder / "out")
    assert (result.files, result.other_files, result.kept) == (2, 1, 3)
    assert (folder / "out" / "a.jsonl").read_text() == "".join(first)
    with gzip.open(folder / "out" / "deep" / "b.ndjson.gz", "rt") as file:
        assert json.loads(file.read()) == {"text": "a b c d e"}
    [line] = report(folder / "out")
    assert (line["file"], line["kept_file"]) == ("deep/b.ndjson.gz", "a.jsonl")
    with pytest.raises(UsageError, match="exists"):
        dedup([folder / "in"], folder / "out")


def test_links_that_are_given_are_read(folder: Path) -> None:
    """As datasets in a cache are, whose files have no ending."""
    (folder / "blobs").mkdir()
    lines = write_lines(folder / "blobs" / "3f2a", [FERRY, SHOUTED])
    (folder / "train.jsonl").symlink_to(folder / "blobs" / "3f2a")
    (folder / "again.jsonl").symlink_to(folder / "blobs" / "3f2a")
    result = dedup([folder / "train.jsonl", f"{folder}/ag*.jsonl"], folder / "out.jsonl")
    assert (result.files, result.read, result.kept) == (1, 2, 1)
    assert (folder / "out.jsonl").read_text() == lines[0]
    assert report(folder / "out.jsonl")[0]["file"] == "train.jsonl"


def test_pattern_into_one_file(folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.csv").write_text(f"text,n\n{FERRY},{name}\nnew words of {name} here,1\n")
    (folder / "other.csv").write_text(f"text,m\n{LIBRARY},1\n")
    result = dedup([f"{folder}/[abc].csv"], folder / "all.csv")
    assert (result.read, result.exact) == (6, 2)
    assert (folder / "all.csv").read_text().count("text,n\n") == 1


@pytest.mark.parametrize(
    ("header", "difference"),
    [
        ("text,m", "only in it: m; only in the other: n"),
        ("n,text", "they come in another order"),
        ("text;n", "text is separated by ';', not separated by ','"),
        ("text", "only in the other: n"),
    ],
)
def test_other_columns_are_refused_before_rows_are_read(folder: Path, header, difference) -> None:
    (folder / "a.csv").write_text(f"text,n\n{FERRY},1\n")
    (folder / "b.csv").write_text(f"{header}\n{LIBRARY},1\n")
    steps = []
    with pytest.raises(UsageError, match=r"b\.csv has other columns than .*a\.csv") as caught:
        dedup(
            [folder / "a.csv", folder / "b.csv"],
            folder / "c.csv",
            progress=lambda *step: steps.append(step),
        )
    assert difference in str(caught.value) and "new folder" in str(caught.value)
    assert steps == [] and not list(folder.glob(".c*"))
    assert dedup([folder / "a.csv", folder / "b.csv"], folder / "c").read == 2


def test_missing_column_is_noticed_before_rows_are_read(folder: Path) -> None:
    (folder / "a.csv").write_text(f"text,n\n{FERRY},1\n")
    (folder / "b.csv").write_text("body,n\nx,1\n")
    steps = []
    with pytest.raises(UsageError, match=r"b\.csv: it has no column 'text'"):
        dedup([folder], folder.with_name("out"), progress=lambda *step: steps.append(step))
    assert steps == []


@pytest.mark.parametrize("taken", ["b.jsonl", "b.jsonl.removed.jsonl"])
def test_files_of_others_are_not_replaced(folder: Path, taken: str) -> None:
    write_lines(folder / "a.jsonl", [FERRY, SHOUTED])
    (folder / taken).write_text("mine")
    with pytest.raises(UsageError, match=f"{taken} exists; give --out another name, or --replace"):
        dedup([folder / "a.jsonl"], folder / "b.jsonl")
    assert (folder / taken).read_text() == "mine"
    assert {path.name for path in folder.iterdir()} == {"a.jsonl", taken}
    dedup([folder / "a.jsonl"], folder / "b.jsonl", replace=True)
    assert (folder / taken).read_text() != "mine"


def test_file_that_appears_meanwhile_is_not_replaced(folder: Path) -> None:
    write_lines(folder / "a.jsonl", [FERRY])

    def write_there(*_: object) -> None:
        (folder / "b.jsonl").write_text("mine")

    with pytest.raises(UsageError, match="exists"):
        dedup([folder / "a.jsonl"], folder / "b.jsonl", progress=write_there)
    assert (folder / "b.jsonl").read_text() == "mine"
    (folder / "b.jsonl").unlink()
    assert dedup([folder / "a.jsonl"], folder / "b.jsonl").kept == 1


def test_work_folder_of_others_is_not_removed(folder: Path) -> None:
    write_lines(folder / "a.jsonl", [FERRY])
    (folder / ".b.jsonl.dedup").mkdir()
    (folder / ".b.jsonl.dedup" / "notes").write_text("mine")
    with pytest.raises(UsageError, match="notes, which dedup did not write"):
        dedup([folder / "a.jsonl"], folder / "b.jsonl")
    assert (folder / ".b.jsonl.dedup" / "notes").read_text() == "mine"


def test_parquet_of_another_schema_needs_a_folder(folder: Path) -> None:
    pq.write_table(pa.table({"text": [FERRY], "n": [1]}), folder / "a.parquet")
    pq.write_table(pa.table({"text": [SHOUTED], "n": ["1"]}), folder / "b.parquet")
    paths = [folder / "a.parquet", folder / "b.parquet"]
    with pytest.raises(UsageError, match=r"n is string, not int64.*new folder"):
        dedup(paths, folder / "c.parquet")
    dedup(paths, folder / "c")
    assert pq.read_table(folder / "c" / "a.parquet").num_rows == 1
    empty = pq.read_table(folder / "c" / "b.parquet")
    assert empty.num_rows == 0 and empty.schema.field("n").type == pa.string()


def test_rows_without_texts(folder: Path) -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), folder / "a.parquet")
    (folder / "b.csv").write_text("text,n\n")
    (folder / "c.jsonl").write_text("\n{}\n")
    (folder / "d.jsonl").write_text("")
    for name in ("a.parquet", "b.csv", "d.jsonl"):
        result = dedup([folder / name], folder / f"out.{name}")
        assert (result.read, result.kept, result.failed) == (0, 0, 0)
    with pytest.raises(UsageError, match="none of 1 row has a text"):
        dedup([folder / "c.jsonl"], folder / "out.c.jsonl")
    assert not list(folder.glob("*out.c.jsonl*"))
    assert pq.read_table(folder / "out.a.parquet").num_rows == 0
    assert (folder / "out.b.csv").read_text() == "text,n\n"


def test_texts_of_numbers_alone(folder: Path) -> None:
    ledger = " ".join(str(number) for number in range(100, 160))
    write_lines(folder / "a.jsonl", [ledger, ledger.replace("123", "999"), f" {ledger}."])
    for numbers, removed in ((None, (1, 0)), ("ignore", (1, 1))):
        options = DedupOptions(numbers=numbers)
        result = dedup([folder / "a.jsonl"], folder / "b.jsonl", options, replace=True)
        assert (result.exact, result.near) == removed


@pytest.mark.parametrize(
    ("paths", "out", "problem"),
    [
        (["in"], "in/clean.jsonl", "belongs to the input"),
        (["in/a.jsonl"], "in/a.jsonl", "belongs to the input"),
        (["in/a.jsonl"], "clean.parquet", "another kind"),
        (["in/a.jsonl"], "missing/clean.jsonl", "cannot write"),
        (["in/none*.jsonl"], "clean.jsonl", "does not exist"),
        (["in/notes.txt"], "clean", "no file of rows"),
        (["in/bad.parquet"], "clean.parquet", "cannot be read as Parquet"),
        (["in/no.csv"], "clean.csv", "has no column 'text'"),
        (["in/cut.jsonl.gz"], "clean.jsonl", "cannot be read completely"),
    ],
)
def test_wrong_requests_write_nothing(folder: Path, paths, out, problem) -> None:
    place = folder / "in"
    place.mkdir()
    write_lines(place / "a.jsonl", [FERRY])
    (place / "notes.txt").write_text("x")
    (place / "bad.parquet").write_bytes(b"PAR1 and no more")
    (place / "no.csv").write_text("a,b\n1,2\n")
    (place / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"text": "%b"}\n' % bytes(9))[:-9])
    with pytest.raises(UsageError, match=problem):
        dedup([folder / path for path in paths], folder / out)
    assert list(folder.iterdir()) == [place]


@pytest.mark.parametrize("options", [{"threshold": 0}, {"cap": 1}, {"delimiter": "ab"}])
def test_options_out_of_range(options) -> None:
    with pytest.raises(UsageError):
        DedupOptions(**options)


@pytest.mark.long
@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
def test_interrupted_run_goes_on(folder: Path, point: str, monkeypatch) -> None:
    monkeypatch.setattr("indexer.jobs.dedup.BATCH_ROWS", 20)
    monkeypatch.setattr("indexer.jobs.dedup.BATCH_ROWS", 20)
    source, out = folder / "in", folder / "out"
    source.mkdir()
    for name in ("a", "b"):
        write_lines(source / f"{name}.jsonl", collection(50, ord(name)))
    dedup([source], folder / "whole")
    interruptions, resumed = 0, set()
    for hit in range(1, 20):
        try:
            arm(f"{point}:{hit}=error")
            dedup([source], out)
            break
        except Exception:
            interruptions += 1
            assert not out.exists()
        finally:
            arm("")
        result = dedup([source], folder / "out")
        resumed.add(result.resumed)
        for name in ("a.jsonl", "b.jsonl"):
            assert (out / name).read_bytes() == (folder / "whole" / name).read_bytes()
            (out / name).unlink()
        removed = folder / "out.removed.jsonl"
        assert removed.read_bytes() == (folder / "whole.removed.jsonl").read_bytes()
        removed.unlink()
        out.rmdir()
    assert interruptions >= 13 and {20, 60, 100} <= resumed


def test_changed_input_starts_again(folder: Path) -> None:
    write_lines(folder / "a.jsonl", [FERRY, REWORDED])
    arm("before_commit:3=error")
    with pytest.raises(Exception, match="failpoint"):
        dedup([folder / "a.jsonl"], folder / "b.jsonl")
    arm("")
    write_lines(folder / "a.jsonl", [LIBRARY])
    result = dedup([folder / "a.jsonl"], folder / "b.jsonl")
    assert (result.read, result.resumed) == (1, 0)


@pytest.mark.parametrize("change", ["another folder", "the same size and time"])
def test_other_input_of_one_name_starts_again(folder: Path, change: str) -> None:
    """A file of the name, size and time of the one that was signed is not taken for it."""
    places = [folder / name / "a.jsonl" for name in ("one", "two")]
    for place, text in zip(places, (FERRY, FERRY.replace("eight", "seven")), strict=True):
        place.parent.mkdir()
        write_lines(place, [text.ljust(90, "x"), LIBRARY])
        os.utime(place, ns=(0, 10**18))
    arm("before_commit:3=error")
    with pytest.raises(Exception, match="failpoint"):
        dedup([places[0]], folder / "b.jsonl")
    arm("")
    if change == "the same size and time":
        places[0].write_bytes(places[1].read_bytes())
        os.utime(places[0], ns=(0, 10**18))
        places.reverse()
    result = dedup([places[1]], folder / "b.jsonl")
    assert result.resumed == 0
    assert (folder / "b.jsonl").read_bytes() == places[1].read_bytes()


def test_content_that_changes_while_it_is_read(folder: Path) -> None:
    """With its size and time kept."""
    source = folder / "a.jsonl"
    write_lines(source, [FERRY, LIBRARY])
    os.utime(source, ns=(0, 10**18))

    def change(*_: object) -> None:
        source.write_text(source.read_text().replace("eight", "seven"))
        os.utime(source, ns=(0, 10**18))

    with pytest.raises(UsageError, match="changed while it was read"):
        dedup([source], folder / "b.jsonl", progress=change)
    assert not (folder / "b.jsonl").exists()


def test_new_right_of_an_input_does_not_stop_the_run(folder: Path) -> None:
    write_lines(folder / "a.jsonl", [FERRY, LIBRARY])

    def change_right(*_: object) -> None:
        (folder / "a.jsonl").chmod(0o600)

    result = dedup([folder / "a.jsonl"], folder / "b.jsonl", progress=change_right)
    assert result.kept == 2


def test_second_run_on_one_output_is_refused(folder: Path) -> None:
    write_lines(folder / "a.jsonl", [FERRY])
    (folder / ".b.jsonl.dedup").mkdir()
    spool = RowSpool(folder / ".b.jsonl.dedup" / "rows.db", "another run")
    with pytest.raises(StoreBusy):
        dedup([folder / "a.jsonl"], folder / "b.jsonl")
    spool.close()
    assert dedup([folder / "a.jsonl"], folder / "b.jsonl").kept == 1


def test_slots_do_not_depend_on_keys() -> None:
    from dataclasses import replace

    texts = [FERRY, LIBRARY]
    alone = fingerprints(texts, replace(DEFAULT, bands=0, rows=0))
    assert (alone.minhash == fingerprints(texts).minhash).all()


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (DedupOptions(), {1, 3, 5}),
        (DedupOptions(0.7), {1, 3, 5}),
        (DedupOptions(numbers="ignore"), {1, 5}),
        (DedupOptions(policy="loose"), {1, 5}),
        (DedupOptions(numbers="distinguish"), {1, 3, 4, 5}),
        (DedupOptions(policy="strict"), {1, 3, 4, 5}),
    ],
)
def test_rows_that_state_other_facts_stay(
    folder: Path, options: DedupOptions, kept: set[int]
) -> None:
    later, shorter = FERRY.replace("eight", "nine"), FERRY.replace(" six", "")
    write_lines(folder / "a.jsonl", [FERRY, REWORDED, later, shorter, LIBRARY])
    result = dedup([folder / "a.jsonl"], folder / "b.jsonl", options)
    removed = {line["row"] for line in report(folder / "b.jsonl")}
    assert result.kept == len(kept) and removed == {1, 2, 3, 4, 5} - kept


@pytest.mark.parametrize(
    ("policy", "counts"), [("strict", (0, 1)), ("standard", (1, 0)), ("loose", (0, 3))]
)
def test_rows_with_other_ticks_stay(folder: Path, policy, counts) -> None:
    boxes = ["\u2610 agreed", "\u2612 agreed", "agreed", "\u2612 AGREED"]
    write_lines(folder / "a.jsonl", [f"{FERRY} {box}" for box in boxes])
    result = dedup([folder / "a.jsonl"], folder / "b.jsonl", DedupOptions(policy=policy))
    assert (result.exact, result.near) == counts
    kept = dedupe([f"{FERRY} {box}" for box in boxes], options=DedupOptions(policy=policy)).kept
    assert len(kept) == result.kept


def test_a_second_condition_is_required(folder: Path) -> None:
    write_lines(folder / "a.jsonl", [FERRY, REWORDED])
    for require, kept in (("jaccard=0.2", 1), ("resemblance=0.999", 2), ("replaced<=0", 2)):
        options = DedupOptions(require=(require,))
        result = dedup([folder / "a.jsonl"], folder / "b.jsonl", options, replace=True)
        assert result.kept == kept
    with pytest.raises(UsageError, match="novelty"):
        DedupOptions(require=("novelty<=20",))
