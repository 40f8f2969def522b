"""Facts that only moved are found by a look-up, as if each were held against each occurrence."""

from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing import differences, facts
from indexer.comparing.facts import RUN, Fact, FactSource, FactText
from indexer.comparing.words import words

PIECES = ("12", "7", "7 EUR", "May", "not", "<", "Acme", "paid", "the", ".\n", ", ", "2024")
texts = st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join)


def source(text: str) -> FactSource:
    return FactSource(text, words(text))


def facts_of(text: FactText) -> list[Fact]:
    every = (text.fact(number) for number in range(len(text.source.starts)))
    signs = (text.source.symbol_before(number) for number in range(len(text.source.starts) + 1))
    return [fact for fact in (*every, *signs) if fact and fact.kind != "address"]


def surroundings(fact: Fact, text: FactText) -> tuple[differences.Neighbour, differences.Neighbour]:
    """The definition: the next words, read one by one."""
    kind = fact.key[0]
    return neighbour(text, fact.start, -1, kind), neighbour(text, fact.end - 1, 1, kind)


def neighbour(text: FactText, position: int, step: int, kind: str) -> differences.Neighbour:
    for _ in range(differences._SKIPPED):
        between = text.source.between(min(position, position + step))
        position += step
        if between is None:
            return "", True
        fact = text.fact(position)
        if fact is None or fact.key[0] != kind or not differences._JOINED.fullmatch(between):
            return text.source.folded(position), bool(differences._BOUNDARY.search(between))
    return text.source.folded(position), False


def is_moved(fact: Fact, text: FactText, other: FactText) -> bool:
    """The definition: the other text states the fact between the same words."""
    word, is_sign = text.source.folded(fact.start), fact.kind == "sign"
    occurrences = [o for o in differences._occurrences(word, is_sign, other) if o.key == fact.key]
    own = surroundings(fact, text)
    return any(
        have_same_surroundings(own, surroundings(occurrence, other))
        or differences._run_length(text.source, fact.start, other.source, occurrence.start) >= RUN
        for occurrence in occurrences
    )


def have_same_surroundings(a, b) -> bool:
    if all(x[0] == y[0] or (x[1] and y[1]) for x, y in zip(a, b, strict=True)) and any(
        x[0] and x[0] == y[0] for x, y in zip(a, b, strict=True)
    ):
        return True
    return any(
        not (a[1 - side][0] and b[1 - side][0]) and a[side][0] and a[side][0] == b[side][0]
        for side in (0, 1)
    )


@given(texts, texts, texts)
def test_moved_facts_are_those_of_the_definition(before: str, passage: str, after: str) -> None:
    a, b = source(f"{before} {passage} {after}"), source(f"{passage} {after} {before}")
    for text, other in ((FactText(a, b), FactText(b, a)), (FactText(b, a), FactText(a, b))):
        facts = facts_of(text)
        expected = [fact for fact in facts if is_moved(fact, text, other)]
        assert list(differences._moved_facts(facts, text, other)) == expected


def test_the_work_grows_with_the_facts_and_not_with_their_product(monkeypatch) -> None:
    """Few values stated often, each between words of its own: no look-up ends early."""
    calls = 0
    surroundings = differences._Surroundings.of

    def counted(around, fact):
        nonlocal calls
        calls += 1
        return surroundings(around, fact)

    monkeypatch.setattr(differences._Surroundings, "of", counted)
    size = 1_000
    a = source(" ".join(f"a{chr(97 + n % 26)}{'x' * (n // 26)} {n % 5}" for n in range(size)))
    b = source(" ".join(f"b{chr(97 + n % 26)}{'y' * (n // 26)} {n % 5}" for n in range(size)))
    text, other = FactText(a, b), FactText(b, a)
    assert list(differences._moved_facts(facts_of(text), text, other)) == []
    assert size < calls <= 2 * size


def words_next_to(text: FactText, fact: Fact, step: int, above: bool) -> tuple[str, ...] | None:
    """The definition: word by word to the end of the sentence, or of the line above."""
    found: list[str] = []
    position = fact.start if step < 0 else fact.end - 1
    while (between := text.source.between(min(position, position + step))) is not None:
        if facts._BOUNDARY.search(between) and (found or not above):
            break
        position += step
        other = text.fact(position)
        if text.source.is_of_number(position):
            continue
        if other is None or other.key[0] != fact.key[0]:
            found.append(text.source.folded(position))
        elif text._is_listed(found, between):
            return None
        elif found[-1:] != ["#"] or fact.key[0] == "number":
            found.append("#")
        if len(found) == facts.MAX_NEXT and not above:
            break
    return tuple(found) if len(found) <= facts.MAX_NEXT and set(found) - {"#"} else ()


@given(st.lists(st.sampled_from((*PIECES, "/ Oslo", "a@b.org", "\n", "and")), max_size=60))
def test_words_next_to_facts_are_those_of_the_definition(pieces: list[str]) -> None:
    text = FactText(source(" ".join(pieces)), source("Oslo"))
    for fact in filter(None, map(text.whole, range(len(text.source.starts)))):
        for step, above in ((-1, False), (1, False), (-1, True)):
            expected = words_next_to(text, fact, step, above)
            assert text._next_to(fact, step, above) == expected


def test_words_next_to_facts_are_found_in_time_that_grows_with_the_text(monkeypatch) -> None:
    steps = []
    between = FactSource.between
    monkeypatch.setattr(FactSource, "between", lambda *a: steps.append(0) or between(*a))
    for piece in ("12 ", "Oslo/", "a@b.org "):
        steps.clear()
        text = FactText(source(f"{piece * 500}."), source(""))
        for fact in filter(None, map(text.whole, range(len(text.source.starts)))):
            text.surroundings(fact)
        assert len(steps) < 40 * len(text.source.starts)
