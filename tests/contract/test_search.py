"""Full-text search, the same on every store."""

import random
import re

import pytest
from sample_rows import row

from indexer.errors import SnapshotExpired, UsageError
from indexer.jobs.status import unknown_facts
from indexer.model import Query
from indexer.stores.query_syntax import parse_query

# a sentence without spaces, words in it, and what is not in it although its letters are
LANGUAGES = {
    "Chinese": (
        "我们昨天在图书馆里找到了两份几乎相同的文件。",
        ["图书馆", "文件", "相同"],
        ["馆书图", "件文"],
    ),
    "Japanese": (
        "図書館でほとんど同じドキュメントを見つけました。",
        ["図書館", "ドキュメント", "同じ"],
        ["ントドキュメ"],
    ),
    "Thai": ("เราพบเอกสารที่เกือบเหมือนกันในห้องสมุด", ["เอกสาร", "ห้องสมุด"], ["สารเอก"]),
    "Khmer": ("យើងបានរកឃើញឯកសារនៅក្នុងបណ្ណាល័យ", ["ឯកសារ", "បណ្ណាល័យ"], ["សារឯក"]),
    "Lao": ("ພວກເຮົາພົບເອກະສານໃນຫ້ອງສະໝຸດ", ["ເອກະສານ", "ຫ້ອງສະໝຸດ"], ["ສານເອກະ"]),
    "Burmese": ("စာကြည့်တိုက်ထဲမှာစာရွက်စာတမ်းတွေ့တယ်", ["စာရွက်စာတမ်း", "စာကြည့်တိုက်"], ["တမ်းစာရွက်"]),
}
BY_CORE_ANALYSIS = {"Chinese", "Japanese"}
UNSAFE = [
    '"', '""', '"""', "'", "`", "(", ")", "((", "*", "te*", "^text", "text^", "-text", "+text",
    "~", "text~2", "a:b", "title:text", "{title text}:x", "NEAR(a b)", "NEAR", "AND", "OR", "NOT",
    "text AND", "AND text", "NOT text", "text OR", "a AND (b", "\\", '\\"', "/.*/", "[a TO b]",
    "_exists_:title", "<text>", "text\x00text", "\x00", "%", "_", "text; DROP TABLE documents",
    "--", "/* text", "text' OR '1'='1", '" OR 1=1 --', "\ud800", "text\udfff", "🎉",
    "\u202etext", "{{title}}", "$1", "x" * 5_000, "?" * 5_000,
    "模型" * 200, "ที่" * 400, "a-b " * 100, "+" * 5_000, "-text " * 500, "|" * 5_000,
    "text|" * 1_000, '"text' * 501, "a* " * 300,
    "text* -te* +t*", "+\"text\"* | -", "“text", "½*", "-½", "+½ text", "\u0e34*", "模*",
]  # fmt: skip


def ids(store, text, **how):
    return [hit.id for hit in store.search(Query(text, **how)).hits]


@pytest.fixture
def library(store):
    store.write(
        [
            row(
                "1",
                title="Annual report",
                text="The committee met in Geneva. Budget and plan were approved.",
            ),
            row("2", title="Minutes", text="The annual budget was not approved; the plan was."),
            row("3", title="Letter", text="Dear Geneva, a report of the year will follow."),
            row("4", title="", text=""),
        ]
    )
    store.refresh()
    return store


def test_any_word_may_match_in_title_or_text(library):
    assert sorted(ids(library, "budget")) == ["1", "2"]
    assert ids(library, "dear budget committee")[0] == "1", "two words before one"
    assert sorted(ids(library, "annual dear")) == ["1", "2", "3"]
    assert ids(library, "absent dear") == ["3"]
    assert ids(library, "absent") == []


def test_quoted_words_stand_together(library):
    assert ids(library, '"budget and plan"') == ["1"]
    assert ids(library, "“budget and plan”") == ["1"]
    assert ids(library, '"plan and budget"') == []
    assert ids(library, '+"annual report" +geneva') == ["1"]
    assert ids(library, '"annual report committee"') == [], (
        "a phrase does not reach from the title into the text"
    )
    assert ids(library, '+geneva +"a report') == ["3"], "a quote that is not closed is ignored"


SIGNED = [
    ("+annual +geneva", "1"),
    ("+annual +dear", ""),
    ("+annual geneva", "12"),
    ("+annual absent", "12"),
    ("+absent annual", ""),
    ("annual -geneva", "2"),
    ("annual geneva -report", "2"),
    ("+annual -absent", "12"),
    ("annual -annual", ""),
    ('budget -"budget and plan"', "2"),
    ("-geneva", "24"),
    ("-geneva -minutes", "4"),
    ("-absent", "1234"),
    ("+dear|minutes", "23"),
    ("+dear | minutes", "23"),
    ("+dear | +minutes", "23"),
    ("+dear|minutes +geneva", "3"),
    ("+dear|minutes|absent geneva", "23"),
    ("dear|minutes", "23"),
    ("-dear|committee", "24"),
    ("annual | -geneva", "2"),
    ('+"budget and plan"|minutes', "12"),
    ("ann*", "12"),
    ("ANN*", "12"),
    ("annual*", "12"),
    ("approve*", "12"),
    ("+rep* +dear", "3"),
    ("annual -rep*", "2"),
    ("gene* -dea*", "1"),
    ("xyz*", ""),
    ("dear-gen*", "3"),
    ("gen-dea*", ""),
    ("gen*va", ""),
    ('"annual rep*"', ""),
    ('"annual rep"*', ""),
    ("*annual", "12"),
    ("*", ""),
    ("+ - |", ""),
    ("+ dear", "3"),
    ("- dear", "3"),
    ("| dear |", "3"),
    ("dear || minutes", "23"),
    ("--dear", "3"),
    ("+-dear", "3"),
    ("budget-and", "1"),
    ("budget+plan", ""),
    ('-""', ""),
    ('-"" dear', "3"),
    ('+"dear', "3"),
    ('dear "', "3"),
    ("+!! dear", "3"),
    ("(dear OR", "3"),
    ("NOT dear", "23"),
]


def test_signs_mean_the_same_in_every_store(library):
    for text, expected in SIGNED:
        for sort in ("relevance", "path"):
            assert "".join(sorted(ids(library, text, sort=sort))) == expected, (text, sort)
    assert ids(library, "-geneva", sort="path") == ids(library, "-geneva")


def test_required_words_do_not_hide_the_rank_of_others(library):
    assert ids(library, "+annual committee met") == ["1", "2"]
    assert ids(library, "+annual minutes") == ["2", "1"]


VOCABULARY = ("ash", "asp", "beech", "birch", "cedar")


def test_any_combination_of_signs_finds_what_it_says(store):
    """Random queries find what a plain reading of their parsed words finds."""
    chance = random.Random(5)
    texts = {
        f"{place:02}": [chance.choice(VOCABULARY) for _ in range(chance.randint(1, 4))]
        for place in range(40)
    }
    store.write([row(name, title="", text=" ".join(words)) for name, words in texts.items()])
    store.refresh()
    for _ in range(120):
        text = "".join(_random_piece(chance) for _ in range(chance.randint(1, 5)))
        words = parse_query(text)
        sort = chance.choice(("relevance", "path"))
        expected = [name for name, held in texts.items() if _matches(words, held)]
        if words.is_empty:
            expected = []
        assert sorted(ids(store, text, sort=sort)) == expected, text


def _random_piece(chance):
    word = chance.choice(VOCABULARY)
    term = chance.choice(
        [word, word, f"{word[: chance.randint(1, 3)]}*", f'"{word} {chance.choice(VOCABULARY)}"']
    )
    return chance.choice(["", "", "+", "-", "| "]) + term + chance.choice([" ", " ", " ", "|", "*"])


def _matches(words, held):
    """Return whether the words of a text fit the parsed words of a query."""
    if any(_has(term, held) for term in words.excluded):
        return False
    if words.required:
        return all(any(_has(term, held) for term in group) for group in words.required)
    return not words.optional or any(_has(term, held) for term in words.optional)


def _has(term, held):
    parts = re.findall(r"\w+", term.text)
    for start in range(len(held) - len(parts) + 1):
        *whole, last = held[start : start + len(parts)]
        is_last = last.startswith(parts[-1]) if term.is_prefix else last == parts[-1]
        if whole == parts[:-1] and is_last:
            return True
    return False


def test_case_does_not_matter(library):
    assert ids(library, "+GENEVA +anNuaL") == ["1"]


@pytest.mark.gap(
    "core analysis", reason="without its analysis-common module an engine cannot fold letters"
)
def test_a_prefix_may_end_within_a_sharp_s(store):
    texts = ["eine große Straße", "eine Grossstadt", "ein Gros", "der Grund"]
    store.write([row(str(place), title="", text=text) for place, text in enumerate(texts)])
    store.refresh()
    for query in ("gros*", "GROS*", "+gros* -grund"):
        assert sorted(ids(store, query)) == ["0", "1", "2"]
    assert ids(store, "eine -gros*") == []


def test_a_final_sigma_is_a_sigma(store):
    texts = ["ο ΣΟΦΟΣ δάσκαλος", "ο σοφος δάσκαλος", "ο σοφοσ", "σοφή"]
    store.write([row(str(place), title="", text=text) for place, text in enumerate(texts)])
    store.refresh()
    for query in ("σοφος", "ΣΟΦΟΣ", "σοφοσ", "+σοφος", "σοφος*", "ΣΟΦΟΣ*"):
        assert sorted(ids(store, query)) == ["0", "1", "2"], query
    assert sorted(ids(store, '"ΣΟΦΟΣ δάσκαλοσ"')) == ["0", "1"]
    assert ids(store, "-σοφος") == ["3"]


@pytest.mark.gap(
    "core analysis", reason="without its analysis-common module an engine cannot fold letters"
)
def test_ss_and_sharp_s_are_the_same(store):
    texts = ["die Straße", "DIE STRASSE", "DIE STRA\u1e9eE", "der Strase"]
    store.write([row(f"{place}", text=text) for place, text in enumerate(texts)])
    store.refresh()
    for query in ("STRASSE", "straße", "Stra\u1e9ee", '"die Strasse"', "STRASS*", "straß*"):
        assert sorted(ids(store, query)) == ["0", "1", "2"], query
    assert ids(store, "-straße") == ["3"]


@pytest.mark.gap(
    "core analysis", reason="without its analysis-common module an engine cannot fold marks"
)
def test_marks_on_latin_letters_do_not_matter(store):
    store.write([row("1", text="Ångström café naïve Việt"), row("2", text="cafe\u0301")])
    store.refresh()
    assert (
        sorted(ids(store, "CAFE"))
        == ["1", "2"]
        == sorted(ids(store, "cafe\u0301"))
        == sorted(ids(store, "café"))
    )
    assert ids(store, "+angstrom +viet +naive") == ["1"]
    assert ids(store, "ångs*") == ids(store, "ANGS*") == ["1"]


@pytest.mark.gap(
    "core analysis", reason="without its analysis-common module an engine cannot fold characters"
)
def test_words_are_found_as_normalisation_sees_them(store):
    texts = [
        "the harbour report",
        "the harbour re\u00adport",
        "the har\u200dbour re\u2060port",
        "the har-\nbour re-\r\n  port",
        "the ｈａｒｂｏｕｒ ｒｅｐｏｒｔ",
        "the hárbour repo\u0300rt",
        "the harbour and its re port",
    ]
    store.write([row(str(place), title="", text=text) for place, text in enumerate(texts)])
    store.refresh()
    written = {"0", "1", "2", "3", "4", "5"}
    for query in ('"harbour report"', "+harb* +repo*", '"har\u00adbour ｒｅｐｏｒｔ"'):
        assert {hit.id for hit in store.search(Query(query)).hits} == written, query
    store.write([row("7", text="the ﬁnal oﬀer"), row("8", text="the final offer")])
    store.refresh()
    for query in ("+final", '"ﬁnal offer"', "+oﬀ*"):
        assert {hit.id for hit in store.search(Query(query)).hits} == {"7", "8"}, query


@pytest.mark.gap(
    "core analysis",
    reason="the standard tokeniser keeps dots, apostrophes and underscores inside words",
)
def test_what_is_neither_letter_nor_digit_separates(store):
    store.write([row("1", text="see www.example.com, don't use snake_case v3.14 re-open")])
    store.refresh()
    for word in (
        "example",
        "snake",
        "14",
        "example.com",
        "example-com",
        "don't",
        "don",
        "snake_case",
        "re-open",
    ):
        assert ids(store, word) == ["1"], word
    assert ids(store, "com.example") == []


@pytest.mark.long
@pytest.mark.parametrize(
    "language",
    [
        pytest.param(
            name,
            marks=[
                pytest.mark.gap(
                    "core analysis", reason="it cannot set letters of that script apart"
                )
            ]
            * core,
        )
        for name, core in [(name, name not in BY_CORE_ANALYSIS) for name in LANGUAGES]
    ],
)
def test_a_word_is_found_inside_a_sentence_without_spaces(store, language):
    sentence, present, absent = LANGUAGES[language]
    store.write(
        [row("1", text=f"Intro. {sentence} Outro."), row("2", title=sentence, text=""), row("3")]
    )
    store.refresh()
    for word in present:
        assert sorted(ids(store, word)) == ["1", "2"], word
        assert sorted(ids(store, f"+{word} outro")) == ["1", "2"], word
        assert sorted(ids(store, f"{word}*")) == ["1", "2"], word
        assert ids(store, f"outro -{word}") == [], word
    assert sorted(ids(store, " ".join([*present, *absent]))) == ["1", "2"]
    for word in absent:
        assert ids(store, word) == [], word


def test_scripts_may_be_mixed_in_a_word(store):
    store.write([row("1", text="使用GPT模型4.0生成"), row("2", text="模型GPT")])
    store.refresh()
    assert ids(store, "GPT模型") == ["1"]
    assert sorted(ids(store, "gpt")) == ["1", "2"]


def test_letters_beyond_the_first_plane(store):
    store.write([row("1", text="中\U00020000\U00020001文"), row("2", text="\U00020001\U00020000")])
    store.refresh()
    assert ids(store, "\U00020000\U00020001") == ["1"]


def test_any_query_is_safe(library):
    for text in UNSAFE:
        ranking = library.search(Query(text))
        assert ranking.total == len(list(ranking.hits)), text
    assert library.counts().documents == 4


def test_a_query_without_letters_and_digits_finds_nothing(library):
    for text in ["!", "-- ...", '""', "🎉", "\x00"]:
        assert ids(library, text) == [], text


def test_an_empty_query_matches_everything_in_the_order_of_paths(library):
    for text in ["", "  ", "\n\t"]:
        ranking = library.search(Query(text))
        hits = list(ranking.hits)
        assert [hit.id for hit in hits] == ["1", "2", "3", "4"]
        assert ranking.total == 4
        assert {hit.score for hit in hits} == {None}


def test_many_words(library):
    assert ids(library, " ".join(f"word{place}" for place in range(400))) == []
    assert ids(library, "geneva " * 1_000) != []
    for text in (" ".join(f"word{place}" for place in range(401)), "模" * 401, "-模" + "模" * 400):
        with pytest.raises(UsageError, match="400"):
            library.search(Query(text))


def test_long_texts_are_searched_to_the_end(store):
    store.write(
        [row("1", text="filler " * 150_000 + "needle"), row("2", text="x" * 600_000 + " needle")]
    )
    store.refresh()
    assert sorted(ids(store, "needle")) == ["1", "2"]


@pytest.fixture
def shelf(store):
    store.write(
        [
            row(
                "a",
                path="/b/2",
                status="truncated",
                labels=("x", "y"),
                modified=300,
                family="f",
                metadata={"Author": "Ada"},
            ),
            row(
                "b",
                path="/a/1",
                content_type="application/pdf",
                labels=("y",),
                modified=None,
                metadata={"Author": "ada"},
            ),
            row(
                "c",
                path="/b/1",
                family="f",
                modified=500,
                metadata={"dc.creator": "Ada Lovelace", "Author": "Eve"},
            ),
            row("d", path="/a/2", modified=300, labels=("x y",)),
            row("e", path="/B/1", modified=-5),
        ]
    )
    store.refresh()
    return store


FILTERED = [
    ([("path", "/a/1")], "b"),
    ([("path", "/a")], ""),
    ([("path", "/a/*")], ""),
    ([("content_type", "application/pdf")], "b"),
    ([("status", "truncated")], "a"),
    ([("labels", "y")], "ab"),
    ([("labels", "x")], "a"),
    ([("labels", "x"), ("labels", "y")], "a"),
    ([("family", "f")], "ac"),
    ([("recipe", "nothing")], ""),
    ([("metadata.Author", "Ada")], "a"),
    ([("metadata.dc.creator", "Ada Lovelace")], "c"),
    ([("metadata.dc.creator", "Ada")], ""),
    ([("metadata.Absent", "Ada")], ""),
    ([("metadata.Author", "")], ""),
    ([("labels", "y"), ("metadata.Author", "ada")], "b"),
    ([("path", "/b/2' OR '1'='1")], ""),
    ([("path", "\ud800")], ""),
    ([("folder", "/a")], "bd"),
    ([("folder", "/a/1")], "b"),
    ([("folder", "/a/")], "bd"),
    ([("folder", "/A")], ""),
    ([("folder", "/a' OR '1'='1")], ""),
    ([("modified_from", "1970-01-01")], "acd"),
    ([("modified_to", "1969-12-31")], "e"),
    ([("modified_to", "1970-01-01")], "acde"),
    ([("modified_from", "1969-12-31"), ("modified_to", "1969-12-31")], "e"),
    ([("modified_from", "1970-01-02")], ""),
]


def test_filters_hold_exactly_and_all(shelf):
    for filters, expected in FILTERED:
        for text in ("", "fox"):
            assert "".join(sorted(ids(shelf, text, filters=tuple(filters)))) == expected, filters


def test_other_filters_are_refused_with_the_list(shelf):
    for field in ["text", "near_family", "metadata", "metadata.", "path = path OR path", ""]:
        with pytest.raises(UsageError, match=r"content_type.*metadata\.NAME"):
            shelf.search(Query("fox", filters=((field, "x"),)))


def test_members_are_found_by_similarity_and_families_of_several(store):
    members = {"member": 0.85, "nearest": 1.0, "far": 0.5}
    store.write(
        [
            row("principal", principal=True, family="principal"),
            *(
                row(name, family="principal", principal=False, similarity=similarity)
                for name, similarity in members.items()
            ),
            row("single", principal=True, family="single"),
        ]
    )
    store.refresh()
    for filters, expected in [
        ([("near_duplicates", "true")], ["far", "member", "nearest", "principal"]),
        ([("near_duplicates", "false")], ["single"]),
        ([("similarity_from", "0.85")], ["member", "nearest"]),
        ([("similarity_from", "0.85"), ("similarity_below", "0.9")], ["member"]),
        ([("similarity_below", "0.85")], ["far"]),
        ([("similarity_below", "0.85"), ("near_duplicates", "false")], []),
    ]:
        assert sorted(ids(store, "", filters=tuple(filters))) == expected


def test_wrong_values_of_filters_are_refused(shelf):
    for field, value, remedy in [
        ("modified_from", "yesterday", "2024-12-31"),
        ("modified_to", "2024-02-30", "2024-12-31"),
        ("similarity_from", "85", "from 0 to 1"),
        ("similarity_below", "nan", "from 0 to 1"),
        ("near_duplicates", "yes", "true or false"),
    ]:
        with pytest.raises(UsageError, match=remedy):
            shelf.search(Query("", filters=((field, value),)))


def test_orders(shelf):
    for text in ("", "fox"):
        assert "".join(ids(shelf, text, sort="path")) == "ebdca"
        assert "".join(ids(shelf, text, sort="modified")) == "cdaeb", (
            "newest first, by path when equal, without a time last"
        )
        assert {hit.score for hit in shelf.search(Query(text, sort="path")).hits} == {None}


def test_the_best_hit_comes_first(store):
    filler = "and other words of no account " * 20
    store.write(
        [
            row("often", text=f"salmon salmon salmon salmon {filler}", title="fish"),
            row("once", text=f"salmon {filler}", title="fish"),
            row("title", text=filler, title="salmon"),
            *(row(f"none {place}", text=filler) for place in range(20)),
        ]
    )
    store.refresh()
    scores = {hit.id: hit.score for hit in store.search(Query("salmon")).hits}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert scores["often"] > scores["once"] > 0
    assert scores["title"] > scores["once"]


@pytest.mark.gap("plugin", reason="sketches and statuses are those of the text")
def test_hits_carry_what_folding_needs(store):
    store.write(
        [
            row("1", minhash=b"\x01\x02", family="f", status="truncated", title="T"),
            row("2", path="/x"),
        ]
    )
    store.refresh()
    first, second = store.search(Query("", sort="path")).hits
    assert (first.id, first.path, first.family, first.status, first.minhash) == (
        "1", "/library/1.txt", "f", "truncated", b"\x01\x02",
    )  # fmt: skip
    assert second.minhash is None


def test_pages_make_one_order(store):
    rows = [row(f"{place:03}", path=f"/p/{place % 7}", modified=place % 5) for place in range(450)]
    store.write(rows)
    store.refresh()
    for sort in ("relevance", "path", "modified"):
        ranking = store.search(Query("fox", sort=sort))
        ids = [hit.id for hit in ranking.hits]
        assert ranking.total == 450
        rows.sort(key=lambda hit: (-hit.modified if sort == "modified" else 0, hit.path, hit.id))
        assert ids == [expected.id for expected in rows]


def test_the_order_does_not_change_between_pages(store):
    store.write([row(f"{place:03}") for place in range(300)])
    store.refresh()
    hits = store.search(Query("fox")).hits
    seen = [next(hits).id for _ in range(20)]
    store.delete(["200", "000"])
    store.write([row("150a"), row("000a"), row("250", path="/0")])
    store.refresh()
    seen += [hit.id for hit in hits]
    assert seen == [f"{place:03}" for place in range(300) if place != 200 or "200" in seen]


def numbers(page):
    return {
        name: tuple((facet.value, facet.documents, facet.families) for facet in facets)
        for name, facets in page.facets.items()
    }


@pytest.mark.gap("plugin", reason="sketches and statuses are those of the text")
def test_facets_count_documents_and_families(store):
    labels = [("x", "y"), ("x",), ("y", "x"), (), ("z",)]
    families = ["f", "f", "g", "h", "i"]
    store.write(
        [
            row(
                str(place),
                labels=label,
                family=family,
                content_type=("c/d", "a/b")[place % 2],
                text="fox" if place else "",
            )
            for place, (label, family) in enumerate(zip(labels, families, strict=True))
        ]
    )
    store.refresh()
    page = store.search(Query("fox", facets=("labels", "content_type"), families=True))
    assert (page.total, page.families) == (4, 4)
    assert numbers(page) == {
        "labels": (("x", 2, 2), ("y", 1, 1), ("z", 1, 1)),
        "content_type": (("a/b", 2, 2), ("c/d", 2, 2)),
    }
    everything = store.search(Query("", facets=("labels", "family", "status"), families=True))
    assert numbers(everything)["labels"] == (("x", 3, 2), ("y", 2, 2), ("z", 1, 1))
    assert numbers(everything)["family"] == (
        ("f", 2, 1),
        ("g", 1, 1),
        ("h", 1, 1),
        ("i", 1, 1),
    )
    assert numbers(everything)["status"] == (("complete", 5, 4),)
    assert (everything.total, everything.families) == (5, 4)
    filtered = store.search(Query("", (("labels", "y"),), facets=("content_type",)))
    assert numbers(filtered) == {"content_type": (("c/d", 2, 2),)}
    assert filtered.families is None


def test_facets_of_no_hits_and_the_most_frequent_values(store):
    store.write(
        [row(f"{place:02}", labels=(f"{place:02}",)) for place in range(30)]
        + [row("again", labels=("29",))]
    )
    store.refresh()
    assert store.search(Query("!", facets=("labels",))).facets == {"labels": ()}
    values = [facet.value for facet in store.search(Query("", facets=("labels",))).facets["labels"]]
    assert values == ["29", *(f"{place:02}" for place in range(19))]
    for field in ("metadata.Author", "text", "near_family"):
        with pytest.raises(UsageError, match=r"cannot count the values of .*content_type"):
            store.search(Query("", facets=(field,)))


@pytest.mark.gap("memory", reason="an embedded store keeps no snapshots")
@pytest.mark.gap("sqlite", reason="an embedded store keeps no snapshots")
def test_a_snapshot_lives_until_it_is_released(store):
    store.write([row("1", text="fox old"), row("2", text="fox old")])
    store.refresh()
    snapshot = store.snapshots.search(Query("fox")).snapshot
    assert store.search(Query("fox")).snapshot is None
    store.write([row("1", text="wolf new"), row("3", text="fox new")])
    store.delete(["2"])
    store.refresh()
    assert {hit.id for hit in store.snapshots.search(Query("fox"), snapshot).hits} == {
        "1",
        "2",
    }
    then = store.snapshots.get(["2", "1", "3"], snapshot)
    assert {id: stored.text for id, stored in then.items()} == {"1": "fox old", "2": "fox old"}
    assert ids(store, "fox") == ["3"]
    store.snapshots.release(snapshot)
    store.snapshots.release(snapshot)
    for ask in (
        lambda: store.snapshots.search(Query("fox"), snapshot),
        lambda: store.snapshots.get(["1"], snapshot),
    ):
        with pytest.raises(SnapshotExpired, match="search again"):
            ask()


def test_languages_without_known_facts_are_counted_once(store) -> None:
    names = "Dear Ning, dear Agus, the MGA may assign this lease to the bank."
    store.write([row("1", text=names)])
    store.refresh()
    assert unknown_facts(store) == ()
    store.write(
        [
            row("2", text="ผู้เช่าสามารถโอนสิทธิตามสัญญาเช่านี้ให้แก่บุคคลภายนอกได้"),
            row("3", text="ተከራዩ ውሉን ማስተላለፍ ይችላል። ይህ ስምምነት በሁለቱ ወገኖች ነው።"),
            row("4", text="ተከራዩ በየወሩ ይከፍላል። አከራዩ እቃውን ይመልሳል።"),
            row("5", text="Nuomininkas gali perleisti sutartį pagal šias sąlygas."),
        ]
    )
    store.refresh()
    assert [str(unknown) for unknown in unknown_facts(store)] == [
        "numbers in words in Thai are not compared: 1 document",
        "numbers in words and negations in Amharic are not compared: 2 documents",
        "numbers in words in Lithuanian are not compared: 1 document",
    ]
