"""Version trees: lowest cost, no step back in time, recovery of a synthetic history."""

from itertools import pairwise, product

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from indexer.comparing.compare import redline
from indexer.comparing.words import words
from indexer.jobs.versions import lineage

TIMES = st.one_of(st.none(), st.integers(0, 3))
WORDS = st.lists(
    st.sampled_from(["we", "may", "sell", "ten", "ships", "not", "today"]), max_size=40
)


@st.composite
def histories(draw: st.DrawFn, most: int = 6) -> tuple[np.ndarray, list[int | None], list[int]]:
    count = draw(st.integers(1, 5))
    differences = np.zeros((count, count), dtype=np.int64)
    for i in range(count):
        for j in range(i):
            differences[i, j] = differences[j, i] = draw(st.integers(0, most))
    return (
        differences,
        draw(st.lists(TIMES, min_size=count, max_size=count)),
        draw(st.permutations(range(count))),
    )


def trees(count: int, times: list[int | None]) -> list[tuple[int | None, ...]]:
    """Return every tree that does not go back in time, by brute force."""

    def rooted(parents: tuple[int | None, ...]) -> bool:
        for start in range(count):
            node, steps = start, 0
            while parents[node] is not None and steps <= count:
                node, steps = parents[node], steps + 1
            if steps > count:
                return False
        return True

    def forward(parent: int | None, node: int) -> bool:
        return (
            parent is None
            or times[parent] is None
            or times[node] is None
            or times[parent] <= times[node]
        )

    choices = [
        [None, *(candidate for candidate in range(count) if candidate != node)]
        for node in range(count)
    ]
    return [
        parents
        for parents in product(*choices)
        if parents.count(None) == 1 and all(map(forward, parents, range(count))) and rooted(parents)
    ]


def cost(differences: np.ndarray, parents: tuple[int | None, ...]) -> int:
    return sum(
        int(differences[parent, node]) for node, parent in enumerate(parents) if parent is not None
    )


@given(histories())
def test_the_tree_is_the_cheapest_one(history) -> None:
    differences, times, preferred = history
    tree = tuple(lineage(differences, times, preferred))
    possible = trees(len(times), times)
    assert tree in possible
    assert cost(differences, tree) == min(cost(differences, candidate) for candidate in possible)


@given(histories(1000), st.randoms())
def test_the_order_of_versions_is_no_matter(history, random) -> None:
    """Where no two differences are the same; of equally good trees one is taken by the order
    given.
    """
    differences, times, preferred = history
    above = differences[np.triu_indices(len(times), 1)].tolist()
    assume(len(set(above)) == len(above))
    order = list(range(len(times)))
    random.shuffle(order)
    place = {version: nth for nth, version in enumerate(order)}
    tree = lineage(
        differences[np.ix_(order, order)],
        [times[run] for run in order],
        [place[run] for run in preferred],
    )
    named = {
        (None if parent is None else order[parent], order[nth]) for nth, parent in enumerate(tree)
    }
    assert named == {
        (parent, nth) for nth, parent in enumerate(lineage(differences, times, preferred))
    }


def test_many_versions_without_differences_and_dates() -> None:
    tree = lineage(np.zeros((150, 150), dtype=np.int64), [None] * 150, list(range(150)))
    assert tree == [None, *range(149)]
    assert lineage(np.zeros((0, 0), dtype=np.int64), [], []) == []
    assert lineage(np.full((2, 2), 1 << 40), [5, 5], [1, 0]) == [1, None]


def test_a_synthetic_history_is_recovered() -> None:
    texts = [["first", "draft", "of", "a", "long", "enough", "text", "that", "says", "something"]]
    for place in range(6):
        text = list(texts[-1])
        text[place] = f"changed{place}"
        texts.append([*text, f"more{place}"])
    sets = [set(text) for text in texts]
    differences = np.array([[len(a ^ b) for b in sets] for a in sets])
    assert lineage(differences, [None] * 7, sorted(range(7), key=lambda nth: len(texts[nth]))) == [
        None,
        *range(6),
    ]
    assert lineage(differences, list(range(7, 0, -1)), list(range(6, -1, -1))) == [
        *range(1, 7),
        None,
    ]


@given(WORDS, WORDS)
def test_a_redline_holds_both_texts(a: list[str], b: list[str]) -> None:
    before, after = "“" + ", ".join(a) + ".", "  " + " ".join(b) + "!\n"
    runs = list(redline(before, after))
    if b:
        assert "".join(run.text for run in runs if run.change != "removed") == after
    before_words = [
        word for run in runs if run.change != "added" for word in words(run.text).folded
    ]
    assert before_words == a
    assert all(run.words == len(words(run.text)) > 0 for run in runs)
    assert all(run.change != following.change for run, following in pairwise(runs))


def test_a_redline_of_the_same_text_has_no_changes() -> None:
    assert [run.change for run in redline("To be, or not to be", "to be or NOT to be")] == ["same"]
    assert list(redline("", "")) == []
    assert [(run.change, run.text) for run in redline("", "new words")] == [("added", "new words")]
