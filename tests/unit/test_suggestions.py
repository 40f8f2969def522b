"""What a search without hits says."""

import pytest
from sample_rows import row

from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search, suggest
from indexer.stores import open_store


@pytest.fixture
def store():
    opened = open_store("sqlite://:memory:")
    opened.prepare(DEFAULT)
    opened.write(
        [
            row("1", title="Harbour", text="The ferry leaves the quay at eight.", labels=("web",)),
            row("2", title="Harbour", text="The agreement about the pier."),
        ]
    )
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ("", []),
        ("...", ["the query holds no letter or digit; an empty query finds every document"]),
        ("absent", ['in no document: "absent"']),
        (
            "ferries agreements",
            [
                'in no document: "ferries", "agreements"',
                "try ferr*, which is in 1 document",
                "try agreement*, which is in 1 document",
            ],
        ),
        ("quayside*", ["in no document: quayside*"]),
        (
            '"ferry quay"',
            [
                'in no document: "ferry quay"',
                "without quotes any of the words may match: 1 document",
            ],
        ),
        ("+ferry +pier", ["without + any of the words may match: 2 documents"]),
        (
            "+ferry +absent",
            ['in no document: "absent"', "without + any of the words may match: 1 document"],
        ),
        ("+ferry -quay", ["without - the other words are in 1 document"]),
        ("+ferry|agreement -harbour", ["without - the other words are in 2 documents"]),
        ("渡轮", ['in no document: "渡轮"']),
    ],
)
def test_notes(store, query, notes):
    assert list(suggest(store, query)) == notes
    page = search(store, query)
    assert page.notes == (() if page.total else tuple(notes))


def test_filters_are_named_as_the_cause(store):
    page = search(store, "agreement", SearchOptions(filters=(("labels", "web"),)))
    assert page.notes == ("1 document would match without the filters",)


def test_hits_need_no_suggestions(store):
    assert search(store, "ferry absent").notes == ()


def test_few_words_are_searched_one_by_one(store):
    query = " ".join(f"+absent{place}" for place in range(300))
    [note] = suggest(store, query)
    assert note.count("absent") == 5
