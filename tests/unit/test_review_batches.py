"""Review batches: whole groups, every document once, balanced work, no effect of the order."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from indexer.review.exports.batches import Batch, Group, Piece, batches

NAMES = st.sampled_from(["Ann", "Bo", "Cy", "left the firm"])


@st.composite
def groups(draw: st.DrawFn) -> list[Group]:
    groups = []
    for place, size in enumerate(draw(st.lists(st.integers(1, 9), max_size=12))):
        documents = tuple(f"{place}-{nth}" for nth in range(size))
        words = draw(st.integers(0, 500))
        history = tuple(draw(st.lists(NAMES, max_size=size))) if draw(st.booleans()) else ()
        groups.append(Group(f"g{place}", documents, words, history))
    return groups


@given(
    groups(),
    st.permutations(["Ann", "Bo", "Cy"]),
    st.integers(1, 6),
    st.sampled_from(["words", "documents"]),
)
def test_every_document_is_assigned_once_and_groups_stay_together(
    review_groups, reviewers, size, balance
) -> None:
    done = batches(review_groups, reviewers, size, balance)
    given_away = [id for batch in done for piece in batch.pieces for id in piece.documents]
    assert sorted(given_away) == sorted(id for group in review_groups for id in group.documents)
    assert all(0 < sum(len(piece.documents) for piece in batch.pieces) <= size for batch in done)
    assert [batch.number for batch in done] == list(range(1, len(done) + 1))
    for group in review_groups:
        holding = [
            (batch, piece) for batch in done for piece in batch.pieces if piece.group == group.id
        ]
        assert len({batch.reviewer for batch, _ in holding}) == 1
        assert len(holding) == max(1, -(-len(group.documents) // size))
        assert [
            piece.part
            for _, piece in sorted(holding, key=lambda holding_pair: holding_pair[1].part)
        ] == list(range(1, len(holding) + 1))
        assert {piece.parts for _, piece in holding} == {len(holding)}


@given(groups(), st.randoms())
def test_the_order_of_groups_is_no_matter(review_groups, random) -> None:
    shuffled = list(review_groups)
    random.shuffle(shuffled)
    assert batches(review_groups, ["Ann", "Bo"], 4) == batches(shuffled, ["Ann", "Bo"], 4)


@given(groups())
def test_a_group_goes_to_the_reviewer_who_has_read_most_of_it(review_groups) -> None:
    chosen = {
        piece.group: (batch.reviewer, piece.is_begun)
        for batch in batches(review_groups, ["Ann", "Bo"], 4)
        for piece in batch.pieces
    }
    for group in review_groups:
        counted = Counter(name for name in group.history if name in ("Ann", "Bo"))
        best = {name for name, number in counted.items() if number == max(counted.values())}
        reviewer, share = chosen[group.id]
        assert share == bool(best)
        assert reviewer in (best or {"Ann", "Bo"})


@given(st.lists(st.integers(0, 400), min_size=1, max_size=40), st.integers(1, 4))
def test_the_work_is_even(words, people) -> None:
    """Nobody has more than the others by more than the largest group: longest-first scheduling
    promises as much.
    """
    groups = [Group(f"g{place}", (f"d{place}",), number) for place, number in enumerate(words)]
    load = Counter({f"r{place}": 0 for place in range(people)})
    costs = {group.id: group.words + 1 for group in groups}
    for batch in batches(groups, list(load), 5):
        load[batch.reviewer] += sum(costs[piece.group] for piece in batch.pieces)
    assert max(load.values()) - min(load.values()) <= max(costs.values())


def test_reviewers_default_to_those_of_the_history() -> None:
    groups = [Group("a", ("a", "b"), 10, ("Bo",)), Group("c", ("c",), 5)]
    assert {batch.reviewer for batch in batches(groups, [], 10)} == {"Bo"}
    assert batches(groups[1:], [], 10) == [Batch(1, "", (Piece("c", ("c",), False),))]
    assert batches([], ["Ann"], 10) == []


def test_batches_are_as_few_as_best_fit_makes_them() -> None:
    groups = [
        Group(f"g{place}", tuple(f"{place}-{nth}" for nth in range(size)), 1)
        for place, size in enumerate((6, 5, 5, 4))
    ]
    assert len(batches(groups, [], 10)) == 2
