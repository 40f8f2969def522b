"""Round trip of rows, whatever their contents."""

import dataclasses

from sample_rows import TEXT, band, block, row

from indexer.model import Assignment
from indexer.recipe import DEFAULT

FULL = row(
    "full",
    labels=("b", "a", "b", "", "with space", "näher"),
    metadata={
        "Author": "Ada",
        "dc.creator.first": "Ada",
        "dc": "x",
        "empty": "",
        "Größe": "1\u00a0kB",
    },
    bands=tuple(band(place, place * 7 + 1) for place in range(21)),
    blocks=tuple(block(place, place + 250) for place in range(4)),
    minhash=bytes(range(256)) * 2,
    simhash=2**64 - 1,
    provisional=False,
    principal=False,
    similarity=0.8125,
    family="someone else",
    cluster="a cluster",
    parent="a parent",
)
NASTY = {
    "control": "\x00 a\x00b \x01\x02\x1f\x7f\x80 \ufffe\uffff \ufeff",
    "astral": "\U00020000\U0001f600\U0010ffff e\u0301 \u202e\u200b",
    "quotes": '"\' OR 1=1; -- \\" \\u0000 \\ {"a": [1]} <b> &amp; %s {0} $1',
    "lines": "\n\r\n\t\u2028\u2029\v\f",
    "spaces": "   ",
    "empty": "",
}


def test_every_field_comes_back(store):
    bare = row(
        "bare",
        modified=None,
        size=0,
        title="",
        path="",
        content_type="",
        source="",
        extractor="",
        raw="",
        exact="",
    )
    assert store.write([FULL, bare]) == [None, None]
    assert store.get(["bare", "absent", "full", "full"]) == {"full": FULL, "bare": bare}


def test_no_ids_give_no_rows(store):
    assert store.write([]) == []
    assert store.get([]) == {} == store.sources([])
    assert store.delete([]) == 0 == store.families.assign([]).written


def test_any_character_comes_back(store):
    rows = []
    for name, value in NASTY.items():
        fields = dict.fromkeys(
            ["text", "title", "path", "content_type", "source", "extractor", "cluster", "parent"],
            value,
        )
        metadata = {"name": value, f"k{value}": "value", value: "v"}
        rows.append(row(name, labels=(value,), metadata=metadata, **fields))
    assert store.write(rows) == [None] * len(rows)
    assert store.get(list(NASTY)) == {stored.id: stored for stored in rows}


def test_any_name_of_metadata_comes_back(store):
    names = [
        "a.b",
        ".a",
        "a.",
        "..",
        ".",
        "a..b",
        "",
        " ",
        "_id",
        "_source",
        "near_family",
        "\x00",
        "a\x00b",
        "x" * 40_000,
        "*",
    ]
    rows = [
        row(f"{place}", metadata={name: "value", "other": "o"}) for place, name in enumerate(names)
    ]
    assert store.write(rows) == [None] * len(rows)
    assert store.get([stored.id for stored in rows]) == {stored.id: stored for stored in rows}


def test_names_of_metadata_may_be_beginnings_of_others(store):
    named = row("1", metadata={"a": "1", "a.b": "2", "a.b.c": "3"})
    assert store.write([named]) == [None]
    assert store.get(["1"])["1"].metadata == named.metadata


def test_long_metadata_comes_back(store):
    values = ["x" * 32_766, "x" * 32_767, "ж" * 20_000, "y" * 1_000_000]
    rows = [
        row(f"{place}", metadata={"name": value, "short": "s"})
        for place, value in enumerate(values)
    ]
    assert store.write(rows) == [None] * len(rows)
    assert store.get(["0", "1", "2", "3"]) == {stored.id: stored for stored in rows}


def test_a_thousand_names_of_metadata_come_back(store):
    many = row("1", metadata={f"name {place}": str(place) for place in range(1_200)})
    assert store.write([many]) == [None]
    assert store.get(["1"])["1"].metadata == many.metadata


def test_long_texts_come_back(store):
    texts = ["word " * 200_000, "x" * 1_000_000, "模" * 350_000, "\n" * 1_000_000]
    rows = [row(f"{place}", text=text, title=text[:50_000]) for place, text in enumerate(texts)]
    assert store.write(rows) == [None] * len(rows)
    assert store.get(["0", "1", "2", "3"]) == {stored.id: stored for stored in rows}


def test_any_id_up_to_512_bytes(store):
    ids = [
        "x" * 512,
        "ж" * 256,
        "a/b?c#d%e&f",
        "_x",
        ".",
        "a\nb",
        '"',
        "*",
        "-1",
        "\x00",
        "../../x",
        " ",
        "\\",
    ]
    rows = [dataclasses.replace(row("plain"), id=name) for name in ids]
    assert store.write(rows) == [None] * len(rows)
    assert store.get(ids) == {stored.id: stored for stored in rows}
    assert store.sources(ids) == {stored.id: stored.source for stored in rows}
    assignments = [Assignment(name, "g", True, None, None) for name in ids]
    assert store.families.assign(assignments).written == len(ids)
    assert store.delete(ids) == len(ids)


def test_any_simhash_comes_back(store):
    numbers = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, None]
    store.write([row(f"{place}", simhash=number) for place, number in enumerate(numbers)])
    assert [stored.simhash for stored in store.get([*"012345"]).values()] == numbers


def test_any_time_comes_back(store):
    times = [0, -1, -62_135_596_800_000, 253_402_300_799_999, 2**53 + 1, None]
    rows = [
        row(f"{place}", modified=time, size=2**63 - 1, words=2**31 - 1)
        for place, time in enumerate(times)
    ]
    assert store.write(rows) == [None] * len(rows)
    assert [stored.modified for stored in store.get([*"012345"]).values()] == times


def test_lone_surrogates_are_replaced_in_every_field(store):
    bad, good = "a\ud800b\udfff", "a\ufffdb\ufffd"
    fields = [
        "id",
        "title",
        "text",
        "path",
        "content_type",
        "source",
        "extractor",
        "raw",
        "exact",
        "family",
        "cluster",
        "parent",
    ]
    mixed = {"labels": (bad, "ok"), "metadata": {bad: bad, "ok": "ok"}}
    repaired = {"labels": (good, "ok"), "metadata": {good: good, "ok": "ok"}}
    assert store.write([dataclasses.replace(FULL, **dict.fromkeys(fields, bad), **mixed)]) == [None]
    expected = dataclasses.replace(FULL, **dict.fromkeys(fields, good), **repaired)
    assert store.get([bad]) == {good: expected} == store.get([good])
    assert store.sources([bad]) == {good: good}
    assert store.families.assign([Assignment(bad, "f", True, None, None)]).written == 1
    assert store.delete([bad]) == 1


def test_a_row_replaces_the_one_with_its_id(store):
    store.write([FULL, row("other", bands=FULL.bands[:2])])
    later = row("full", text="another text", bands=(band(0, 99),))
    assert store.write([later]) == [None]
    store.refresh()
    assert store.get(["full"])["full"] == later
    assert store.counts().documents == 2
    assert [
        candidate.id for candidate in store.candidates([(FULL.bands, FULL.blocks)], 10)[0].found
    ] == ["other"]
    assert [
        candidate.id for candidate in store.candidates([((band(0, 99),), ())], 10)[0].found
    ] == ["full"]


def test_of_two_rows_with_one_id_the_last_wins(store):
    assert store.write([row("1", text="first"), row("2"), row("1", text="last")]) == [
        None,
        None,
        None,
    ]
    store.refresh()
    assert store.get(["1"])["1"].text == "last"
    assert store.counts().documents == 2


UNHELD = [
    ({"id": ""}, "id is empty"),
    ({"id": "x" * 513}, "512 bytes"),
    ({"id": "ж" * 257}, "512 bytes"),
    ({"path": "x" * 32_767}, "path is longer"),
    ({"labels": ("ok", "ж" * 16_384)}, "label is longer"),
    ({"recipe": "another"}, "recipe another"),
    ({"bands": ("UPPER",)}, "key"),
    ({"blocks": ("",)}, "key"),
    ({"bands": ("00 01",)}, "key"),
    ({"simhash": 2**64}, "number"),
    ({"simhash": -1}, "number"),
    ({"size": 2**63}, "number"),
    ({"similarity": float("nan")}, "number"),
]


def test_what_no_store_holds_is_refused_with_a_reason_and_stops_nothing_else(store):
    refused = [
        dataclasses.replace(row(f"bad {place}"), **changes)
        for place, (changes, _) in enumerate(UNHELD)
    ]
    first, *reasons, last = store.write([row("1"), *refused, row("3")])
    assert (first, last) == (None, None)
    for reason, (_, why) in zip(reasons, UNHELD, strict=True):
        assert why in reason
    assert set(store.get(["1", *(stored.id for stored in refused if stored.id), "3"])) == {"1", "3"}


def test_deleting(store):
    store.write([FULL, row("2"), row("3")])
    assert store.delete(["full", "3", "absent", "full"]) == 2
    store.refresh()
    assert set(store.get(["full", "2", "3"])) == {"2"}
    assert store.counts().documents == 1
    assert store.candidates([(FULL.bands, FULL.blocks)], 10)[0].found == ()
    assert store.delete(["full"]) == 0


def test_sources_see_what_was_just_written(store):
    store.write([row("1"), row("2", source="")])
    assert store.sources(["2", "absent", "1"]) == {"1": "source of 1", "2": ""}


def test_many_rows_at_once(store):
    rows = [row(f"{place:04}", text=f"{TEXT} {place}") for place in range(1_203)]
    assert store.write(rows) == [None] * len(rows)
    ids = [stored.id for stored in rows]
    assert store.get(ids) == {stored.id: stored for stored in rows}
    assert len(store.sources([*ids, "absent"])) == len(rows)
    assert store.delete(ids[:700]) == 700


def test_recipe_of_the_rows_is_the_recipe_of_the_store(store):
    assert store.stored_recipe() == DEFAULT
