"""Operators, distances and fields of a query: the same documents on every store as in Python."""

import random
import re

import pytest
from sample_rows import row

from indexer.errors import UsageError
from indexer.model import Query
from indexer.stores.filters import span_of_days
from indexer.stores.query_syntax import (
    WORD_CHARACTERS,
    And,
    DateRange,
    FieldValue,
    Near,
    Not,
    Or,
    Term,
    TitleTerm,
)

WORDS = ("ash", "asp", "beech", "birch", "cedar", "elm")
PEOPLE = ("Ann Smith <ann@x.org>", "Joanna Müller <jo@x.org>", "Bob <bob@y.org>")
JANUARY, DAY = 1_577_836_800_000, 86_400_000
TYPES = ("message/rfc822", "application/pdf", "text/plain; charset=utf-8")


def random_rows(chance, count):
    for number in range(count):
        title = " ".join(chance.choices(WORDS, k=chance.randint(0, 2)))
        text = " ".join(chance.choices(WORDS, k=chance.randint(0, 9)))
        fields = (field for field in ("from", "cc") if chance.random() < 0.7)
        metadata = {field: chance.choice(PEOPLE) for field in fields}
        yield row(
            f"{number:03}",
            title=title,
            text=text,
            metadata=metadata,
            date=chance.choice([None, JANUARY + chance.randint(-3, 63) * DAY]),
            modified=None,
            content_type=chance.choice(TYPES),
            labels=tuple(chance.sample(["hot", "not hot", "p=hot", "p=h*t"], chance.randint(0, 2))),
            path=f"/papers/{chance.choice(['Ann', 'annual', 'x'])}/{number}",
        )


def random_node(chance, depth):
    """Return a random condition."""
    if depth and chance.random() < 0.6:
        nodes = tuple(random_node(chance, depth - 1) for _ in range(chance.randint(2, 3)))
        return chance.choice([And(nodes), Or(nodes), Not(nodes[0])])
    return chance.choice(
        [
            random_term(chance),
            random_term(chance),
            TitleTerm(random_term(chance)),
            Near(*(random_words(chance) for _ in "ab"), chance.randint(1, 4)),
            FieldValue("from", chance.choice(["ann", "ann smith", "MÜLLER", "ann@x.org", "zoe"])),
            FieldValue(chance.choice(["from", "cc"]), chance.choice(["jo", ""]), is_prefix=True),
            FieldValue("type", chance.choice(["mail", "pdf", "text", "word"])),
            DateRange(JANUARY, None),
            DateRange(JANUARY, JANUARY + 31 * DAY),
            FieldValue("label", chance.choice(["hot", "not hot", "Hot", "p=hot", "h*t"])),
            FieldValue("label", chance.choice(["", "no", "h*"]), is_prefix=True),
            FieldValue("path", chance.choice(["ann", "/papers/annual", "papers/x"])),
        ]
    )


def random_term(chance):
    word = chance.choice(WORDS)
    phrase = f"{word} {chance.choice(WORDS)}"
    return chance.choice([Term(word), Term(phrase), Term(word[:2], is_prefix=True)])


def random_words(chance):
    """Return one term or two for a distance."""
    return tuple(random_term(chance) for _ in range(chance.randint(1, 2)))


def written(node):
    """Return a condition as a query."""
    match node:
        case Term():
            return str(node)
        case TitleTerm():
            return f"subject:{node.term}"
        case Near():
            left, right = (f"({' OR '.join(map(str, terms))})" for terms in (node.left, node.right))
            return f"{left} w/{node.distance} {right}"
        case FieldValue():
            value = f"{node.text}*" if node.is_prefix else f'"{node.text}"'
            return f"{node.field}:{value}"
        case DateRange():
            return f"date:2020-01-01..{'2020-01' if node.below else ''}"
        case Not():
            return f"NOT ({written(node.node)})"
    operator = " AND " if isinstance(node, And) else " OR "
    return f"({operator.join(map(written, node.nodes))})"


def holds(node, document):
    """Return whether a condition holds for a row, word by word."""
    match node:
        case Term():
            return any(starts(node, words) for words in texts_of(document))
        case TitleTerm():
            return bool(starts(node.term, texts_of(document)[0]))
        case Near():
            return any(is_near(node, words) for words in texts_of(document))
        case FieldValue():
            return has_value(node, document)
        case DateRange():
            return document.date is not None and (
                document.date >= JANUARY and document.date < (node.below or 1 << 60)
            )
        case Not():
            return not holds(node.node, document)
    return (all if isinstance(node, And) else any)(holds(each, document) for each in node.nodes)


def texts_of(document):
    return [re.findall(r"\w+", text.lower()) for text in (document.title, document.text)]


def starts(term, words):
    """Return where a term begins in the words of a text."""
    sought = term.text.split()
    return [
        start
        for start in range(len(words) - len(sought) + 1)
        if words[start : start + len(sought) - 1] == sought[:-1]
        and is_word(term, words[start + len(sought) - 1], sought[-1])
    ]


def is_word(term, word, sought):
    return word.startswith(sought) if term.is_prefix else word == sought


def is_near(near, words):
    left, right = (
        [(start, start + len(term.text.split())) for term in terms for start in starts(term, words)]
        for terms in (near.left, near.right)
    )
    return any(max(a[0], b[0]) - min(a[1], b[1]) < near.distance for a in left for b in right)


def has_value(value, document):
    if value.field == "type":
        return document.content_type.startswith(value.content_types)
    if value.field == "label":
        labels = document.labels
        return (
            any(label.startswith(value.text) or f"={value.text}" in label for label in labels)
            if value.is_prefix
            else any(label in (value.text, f"p={value.text}") for label in labels)
        )
    stored = document.path if value.field == "path" else document.metadata.get(value.field, "")
    boundary = "" if value.is_prefix else f"(?![{WORD_CHARACTERS}])"
    before = f"(?<![{WORD_CHARACTERS}])" if value.text[:1].isalnum() else ""
    return bool(stored) and bool(
        re.search(before + re.escape(value.text) + boundary * bool(value.text), stored, re.I)
    )


def found(store, text, **settings):
    return sorted(hit.id for hit in store.search(Query(text, join="all", **settings)).hits)


@pytest.mark.long
def test_any_condition_finds_what_python_finds(store):
    chance = random.Random(45)
    rows = list(random_rows(chance, 60))
    store.write(rows)
    store.refresh()
    for number in range(120):
        node = random_node(chance, depth=number % 4)
        text = written(node)
        expected = [each.id for each in rows if holds(node, each)]
        sort = chance.choice(("relevance", "path"))
        assert found(store, text, sort=sort) == expected, text


def test_the_deepest_query_is_within_the_bounds_of_every_store(store):
    store.write([row("a", text="ash", date=JANUARY), row("b", text="elm", date=JANUARY)])
    store.refresh()
    deepest = "(sent:2020 OR NOT date:2020)"
    for _ in range(4):
        deepest = f"(elm OR NOT {deepest})"
    with pytest.raises(UsageError, match="more than 10 conditions"):
        found(store, f"ash ({deepest} AND elm)")
    assert found(store, f"ash NOT elm|{deepest}") == ["a"]
    assert found(store, " OR ".join(f"sent:{2020 + number % 50}" for number in range(200))) == []


def test_dates_of_documents_sort_filter_and_count(store):
    dates = {"a": "2020-01-06", "b": "2019-12-31", "c": "2020-02-29", "d": None, "e": "1969-07-20"}
    spans = {name: day and span_of_days(day)[0] + 5 for name, day in dates.items()}
    store.write(
        [
            row(name, date=date, modified=5, custodian="" if name == "a" else "Smith, Ann")
            for name, date in spans.items()
            if name != "d"
        ]
        + [row("d", date=None, modified=None)]
    )
    store.refresh()
    assert "".join(ids(store, sort="newest")) == "cabed"
    assert "".join(ids(store, sort="oldest")) == "ebacd"
    between = ("date_from", "2019-12-31"), ("date_to", "2020-01-06")
    assert ids(store, filters=between) == ["a", "b"]
    assert ids(store, filters=(("year", "2020"),)) == ["a", "c"]
    assert ids(store, filters=(("custodian", "Smith, Ann"),)) == ["b", "c", "e"]
    facets = store.search(Query("", facets=("year", "custodian"))).facets
    assert {facet.value: facet.documents for facet in facets["year"]} == {
        "2020": 2, "2019": 1, "1969": 1,
    }  # fmt: skip
    assert [(facet.value, facet.documents) for facet in facets["custodian"]] == [("Smith, Ann", 3)]
    for field, wrong in (("year", "20"), ("date_from", "2020"), ("date_to", "2020-02-30")):
        with pytest.raises(UsageError, match=field):
            ids(store, filters=((field, wrong),))
    assert found(store, "sent:2020") == []
    assert found(store, "date:2019-12..2020-01") == ["a", "b"]
    assert found(store, "date:..2019") == ["b", "e"]


def ids(store, **settings):
    return [hit.id for hit in store.search(Query("", **settings)).hits]
