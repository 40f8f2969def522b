"""Folding on every store: pages that go on, totals, look-ups of many, and hits of anybody's
query.
"""

from dataclasses import replace

import pytest
from sample_library import edited, rows, sentence, similarity

from indexer.defaults import FOLD
from indexer.errors import DocumentNotFound, UnknownMeasure, UsageError
from indexer.grouping.group import group
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import similar, similar_many

FAMILIES, COPIES = 12, 3
THRESHOLD = FOLD


def family(number, copies=COPIES, start=0):
    """Return near duplicates of one text, by id; they lie far apart in the order of paths."""
    text = sentence(number, words=60)
    return {
        f"{copy:02}-{number:02}": edited(text, copy, mark=f"e{copy}")
        for copy in range(start, start + copies)
    }


@pytest.fixture
def library(store):
    texts = {}
    for number in range(FAMILIES):
        texts |= family(number)
    write(store, texts)
    return store


def write(store, texts):
    stored_rows = rows(texts)
    assert store.write(stored_rows) == [None] * len(stored_rows)
    store.refresh()


def number(id):
    return id.partition("-")[2]


def flat(pages_of_ids):
    return [id for page in pages_of_ids for id in page]


def pages(store, arrive=None, **options):
    """Return the ids of each page's hits and of the hits folded under them.

    Call a function after each page.
    """
    ids_by_page, folded, token = [], [], None
    while True:
        page = search(store, "", SearchOptions(sort="path", limit=5, after=token, **options))
        ids_by_page.append([hit.id for hit in page.hits])
        folded += [folded_hit.id for hit in page.hits for folded_hit in hit.folded]
        token = page.next
        if token is None:
            return ids_by_page, folded
        if arrive:
            arrive(len(ids_by_page))


@pytest.mark.long
@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("fold", ["live", pytest.param("none", marks=pytest.mark.slow)])
def test_pages_by_token_are_those_by_number(library, fold, hold):
    shown_ids, _ = pages(library, fold=fold, keep_alive=hold)
    by_number = [
        search(library, "", SearchOptions(sort="path", limit=5, page=place + 1, fold=fold))
        for place in range(len(shown_ids))
    ]
    assert shown_ids == [[hit.id for hit in page.hits] for page in by_number]
    assert flat(shown_ids) == sorted(flat(shown_ids))
    assert len(flat(shown_ids)) == (FAMILIES if fold == "live" else FAMILIES * COPIES)


@pytest.mark.long
@pytest.mark.parametrize("hold", [False, True])
def test_no_family_is_shown_twice_and_none_is_lost_while_documents_arrive(library, hold):
    """Between pages come copies of shown texts that sort first, new families that sort first and
    last, and late members.
    """

    def arrive(page):
        first = {
            f"-{page}-00": sentence(0, words=60),
            f"-{page}-{50 + page}": sentence(50 + page, words=60),
        }
        write(
            library,
            first | {f"zz-{60 + page}": sentence(60 + page, words=60)} | family(page, 1, start=5),
        )

    shown_ids, folded = pages(library, arrive, keep_alive=hold)
    families = [number(id).rpartition("-")[2] for id in flat(shown_ids)]
    assert len(families) == len(set(families))
    old = {f"{family_number:02}" for family_number in range(FAMILIES)}
    assert old <= set(families)
    if hold and library.url.startswith(("opensearch", "elasticsearch")):
        assert set(families) == old
        assert len(folded) == FAMILIES * (COPIES - 1)
    else:
        assert {"51", "61"} <= set(families), "what arrives is shown on a later page"


@pytest.mark.gap(
    "memory",
    reason="an embedded store keeps no snapshots: a family is shown again if its head is deleted",
)
@pytest.mark.gap(
    "sqlite",
    reason="an embedded store keeps no snapshots: a family is shown again if its head is deleted",
)
def test_a_snapshot_search_goes_on_over_documents_that_are_deleted_or_changed(library):
    def replace_documents(page):
        library.delete([f"00-{place:02}" for place in range(5 * (page - 1), 5 * page)])
        write(library, {f"01-{place:02}": sentence(90 + place) for place in range(FAMILIES)})

    before, _ = pages(library)
    shown_ids, folded = pages(library, replace_documents, keep_alive=True)
    assert shown_ids == before
    assert len(folded) == FAMILIES * (COPIES - 1)


def test_a_token_whose_snapshot_expired_goes_on_and_reports_it(library):
    first = search(library, "", SearchOptions(sort="path", limit=5, keep_alive=True))
    last_page = SearchOptions(sort="path", limit=50, after=first.next)
    rest = search(library, "", last_page)  # releases the snapshot
    again = search(library, "", last_page)
    assert [hit.id for hit in rest.hits] == [hit.id for hit in again.hits]
    engine = library.url.startswith(("opensearch", "elasticsearch"))
    assert bool(again.notes) is engine
    assert not engine or "snapshot of the first page has expired" in again.notes[0]


def test_a_token_is_of_one_search(library):
    token = search(library, "", SearchOptions(limit=5, sort="path")).next
    for wrong in (
        {"threshold": 0.7},
        {"fold": "none"},
        {"sort": "modified"},
        {"filters": [("status", "complete")]},
    ):
        with pytest.raises(UsageError, match="another search"):
            search(library, "", SearchOptions(after=token, **{"sort": "path", **wrong}))
    for text in ("x", token[:-9], "%%%"):
        with pytest.raises(UsageError, match="not a page token"):
            search(library, "", SearchOptions(after=text, sort="path"))
    with pytest.raises(UsageError, match="not both"):
        search(library, "", SearchOptions(after=token, page=2, sort="path"))


def test_totals_are_of_documents_and_families(library):
    live = search(library, "")
    assert (live.total, live.families, live.relation) == (FAMILIES * COPIES, FAMILIES, "eq")
    stored = search(library, "", SearchOptions(fold="family", facets=("status",)))
    assert (stored.total, stored.families, stored.relation) == (
        FAMILIES * COPIES,
        FAMILIES * COPIES,
        "eq",
    )
    assert [(facet.documents, facet.families) for facet in stored.facets["status"]] == [
        (FAMILIES * COPIES, FAMILIES * COPIES)
    ]


@pytest.mark.long
@pytest.mark.parametrize("query", ["", sentence(1, words=9)])
def test_families_of_a_page_have_all_members(library, query):
    group(library)
    everything = search(library, query, SearchOptions(fold="none", limit=FAMILIES * COPIES))
    ids = [hit.id for hit in everything.hits]
    assert len(ids) > 24  # more than a page of one family is read with at first
    expected = fold_hits(library, ids, fold="family")
    assert any(len(hit.folded) == COPIES - 1 for hit in expected)
    token, shown = None, []
    while token or not shown:
        options = SearchOptions(fold="family", limit=1, after=token)
        page = search(library, query, options)
        numbered = search(library, query, replace(options, after=None, page=len(shown) + 1))
        assert (page.hits, page.families) == (numbered.hits, len(expected))
        shown += page.hits
        token = page.next
    assert list(map(names, shown)) == list(map(names, expected))


def names(hit):
    """Return the ids of a hit and of those folded under it."""
    return hit.id, [folded_hit.id for folded_hit in hit.folded]


def test_hits_of_any_query_are_folded_in_their_order(library):
    ids = ["02-03", "01-05", "00-03", "absent", "02-05", "02-03", "00-07"]
    folded = fold_hits(library, ids, THRESHOLD)
    assert [(hit.id, [folded_hit.id for folded_hit in hit.folded]) for hit in folded] == [
        ("02-03", ["00-03"]),
        ("01-05", ["02-05"]),
        ("00-07", []),
    ]
    assert all(folded_hit.similarity >= THRESHOLD for hit in folded for folded_hit in hit.folded)
    assert [hit.id for hit in fold_hits(library, ids, fold="family")] == [
        "02-03",
        "01-05",
        "00-03",
        "02-05",
        "00-07",
    ]
    assert fold_hits(library, []) == ()


@pytest.mark.long
def test_many_lookups_find_the_same_as_each_alone(library):
    texts = [
        sentence(3, words=60),
        "nothing like it anywhere in this library of ferries",
        "",
        sentence(5, words=60),
    ]
    ids = ["00-01", "02-11"]
    singly = [similar(library, text) for text in texts] + [similar(library, id=id) for id in ids]
    assert list(similar_many(library, texts, ids=ids)) == singly
    assert [len(result.matches) for result in singly] == [3, 0, 0, 3, 2, 2]
    assert list(similar_many(library)) == []
    with pytest.raises(DocumentNotFound, match="absent"):
        list(similar_many(library, ids=["absent"]))


def similarity_by_id(store, a, b):
    stored = store.get([a, b])
    return similarity(stored[a].text, stored[b].text)


def first(group, store, show):
    """Return the first id of a group by an order; copies are dated and named by their ids."""
    if show == "size":
        stored = store.get(group)
        return min(sorted(group), key=lambda name: stored[name].size)
    return min(group) if show == "metadata.absent" else max(group)


@pytest.mark.long
@pytest.mark.parametrize("show", ["modified:desc", "path:desc", "size", "metadata.absent"])
@pytest.mark.parametrize("fold", ["live", "family"])
def test_the_hit_to_show_follows_an_order(library, fold, show):
    """The page has the same groups in the same order, whatever hits stand for them."""
    best = search(library, "", SearchOptions(sort="path", limit=5, fold=fold))
    page = search(library, "", SearchOptions(sort="path", limit=5, fold=fold, show=show))
    assert (page.total, page.families, page.next) == (best.total, best.families, best.next)
    assert [number(hit.id) for hit in page.hits] == [number(hit.id) for hit in best.hits]
    for hit, best_hit in zip(page.hits, best.hits, strict=True):
        group = [best_hit.id, *(folded.id for folded in best_hit.folded)]
        assert sorted([hit.id, *(folded.id for folded in hit.folded)]) == sorted(group)
        assert hit.id == first(group, library, show)
        for folded in hit.folded:
            assert folded.similarity == similarity_by_id(library, hit.id, folded.id)


def test_metadata_that_no_hit_has_is_named(store):
    texts = {"a": sentence(1, words=60), "b": sentence(1, words=60)}
    documents = [replace(row, metadata={"author": "Anna"}) for row in rows(texts)]
    assert not any(store.write(documents))
    store.refresh()
    assert search(store, "", SearchOptions(show="metadata.author")).notes == ()
    [note] = search(store, "", SearchOptions(show="metadata.nope:desc")).notes
    assert "no hit has metadata.nope" in note and note.endswith("the hits have: metadata.author")


def test_hits_are_folded_by_the_measure_that_is_named(store):
    """b is a with its halves exchanged: the same passages, half of the words in order."""
    half, other_half = sentence(1, words=60), sentence(2, words=60)
    write(store, {"a": f"{half} {other_half}", "b": f"{other_half} {half}"})
    for measure, folded in (("jaccard", ["b"]), ("overlap", ["b"]), ("lcs", [])):
        page = search(store, "", SearchOptions(sort="path", measure=measure))
        assert [hit.id for hit in page.hits[0].folded] == folded
        assert page.measure == measure
        (best, *_) = fold_hits(store, ["a", "b"], measure=measure)
        assert [hit.id for hit in best.folded] == folded


def test_an_unknown_measure_is_refused(library):
    with pytest.raises(UnknownMeasure, match="cosine"):
        SearchOptions(measure="cosine")


def test_what_is_not_similar_to_the_shown_hit_is_not_folded_under_it(store):
    """b and c resemble a, the best hit, but not each other; d resembles c and a."""
    text = sentence(1, words=60)
    words = text.split()
    write(
        store,
        {
            "a": text,
            "b": " ".join(["x1", "x2", "x3", *words[3:]]),
            "c": " ".join([*words[:-3], "y1", "y2", "y3"]),
            "d": " ".join([*words[:-3], "y1", "y2", "y4"]),
            "e": sentence(2, words=60),
        },
    )
    least = min(similarity_by_id(store, "a", other) for other in "bcd")
    assert similarity_by_id(store, "b", "d") < least <= similarity_by_id(store, "c", "d")
    how = {"sort": "path", "threshold": least}
    best = search(store, "", SearchOptions(**how))
    assert [(hit.id, [folded.id for folded in hit.folded]) for hit in best.hits] == [
        ("a", ["b", "c", "d"]),
        ("e", []),
    ]
    page = search(store, "", SearchOptions(**how, limit=1, show="path:desc"))
    assert [(hit.id, [folded.id for folded in hit.folded]) for hit in page.hits] == [
        ("d", ["c", "a"]),
        ("b", []),
    ]
    assert any(note.endswith("listed separately: 1 hit") for note in page.notes)
    after = search(store, "", SearchOptions(**how, limit=1, show="path:desc", after=page.next))
    assert [hit.id for hit in after.hits] == ["e"]
    assert after.next is None
    folded = fold_hits(store, "abcde", least, show="path:desc")
    assert [hit.id for hit in folded] == ["d", "b", "e"]


def test_orders_that_cannot_be_are_refused(library):
    with pytest.raises(UsageError, match="cannot order by 'newest'"):
        SearchOptions(show="newest")
    with pytest.raises(UsageError, match="leave --show out"):
        SearchOptions(show="path", fold="types")


def test_mails_of_one_thread_fold_under_its_first_hit(store):
    stored = {row.id: row for row in rows({id: sentence(n) for n, id in enumerate("abcde")})}
    mails = {
        "a": {"message_id": "<1@x>"},
        "b": {"message_id": "<3@x>", "references": "<1@x> <2@x>"},
        "c": {"message_id": "<4@x>"},
        "d": {"message_id": "<2@x>", "references": "<1@x>"},
        "e": {"from": "nobody"},
    }
    store.write([replace(stored[id], metadata=metadata) for id, metadata in mails.items()])
    store.refresh()
    page = search(store, "", SearchOptions(fold="threads", sort="path"))
    assert [(hit.id, sorted(one.id for one in hit.folded)) for hit in page.hits] == [
        ("a", ["b", "d"]),
        ("c", []),
        ("e", []),
    ]
    assert (page.families, page.threshold) == (3, None)
