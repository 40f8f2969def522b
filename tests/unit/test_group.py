"""Families of a store compared with a brute-force reading of their definition."""

from dataclasses import replace

import pytest
from family_oracle import Oracle, clusters_of, expected, families_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sample_library import edited, library, rows, sentence

from indexer.comparing.criteria import Criteria
from indexer.defaults import PRINCIPAL
from indexer.errors import StoreBusy, UsageError
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import match
from indexer.recipe import DEFAULT, DEFAULT_V1, DEFAULT_V2, recipe_named
from indexer.stores import open_store
from indexer.stores.journal import Journal, journal_path

CUT = frozenset({"t", "u", "v"})
KINDS = ("original", "longest", "first", "central", "modified:desc", "size")
names = st.sampled_from("abcdefghijtuv")
contents = st.one_of(
    st.builds(edited, st.integers(0, 1).map(sentence), st.integers(0, 12), st.sampled_from("xy")),
    st.sampled_from(["", "12 34", "short"]),
)
texts = st.dictionaries(names, contents, min_size=1, max_size=12)


@pytest.mark.long
@given(
    texts,
    st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from(KINDS),
    st.sampled_from([2, 3, 1000]),
    st.sampled_from([("jaccard", DEFAULT_V1), ("jaccard", DEFAULT_V2), ("lcs", DEFAULT_V2)]),
    st.randoms(),
)
@settings(max_examples=60, deadline=None)
def test_families_are_those_of_the_definition_in_any_order(
    texts_by_id, threshold, kind, cap, measured, chance
):
    measure, recipe = measured
    documents = rows(texts_by_id, recipe, cut=CUT)
    shuffled = chance.sample(documents, len(documents))
    store = library(shuffled[: len(shuffled) // 2], recipe)
    for row in shuffled[len(shuffled) // 2 :]:
        store.write([row])
    group(store, GroupOptions(threshold, measure, kind, cap=cap))
    assert families_of(store) == expected(documents, threshold, kind, cap, None, measure, recipe)
    joined = {row.family for row in store.scan() if row.family != row.id}
    for row in store.scan():
        assert not row.provisional
        leads = row.status == "complete" or row.id in joined
        assert row.principal == (row.family == row.id and leads)
        assert (row.similarity is None) == (row.family == row.id)


@pytest.mark.long
@given(texts, st.sampled_from([(0.8, None), (0.8, 0.5), (0.5, 0.9)]), st.sampled_from([2, 1000]))
@settings(max_examples=60, deadline=None)
def test_clusters_are_chains(texts_by_id, thresholds, cap):
    documents = rows(texts_by_id, cut=CUT)
    store = library(documents)
    group(store, GroupOptions(threshold=thresholds[0], cluster_threshold=thresholds[1], cap=cap))
    assert (
        clusters_of(store)
        == Oracle(documents, thresholds[0], PRINCIPAL, cap, thresholds[1]).clusters()
    )


class History(RuleBasedStateMachine):
    """Documents come, change and go, groupings are cut short: the next grouping is that of the
    definition.
    """

    @initialize()
    def begin(self):
        self.texts, self.store, self.grouped = {}, library([]), False

    @rule(documents=texts)
    def write(self, documents):
        self.texts |= documents
        assert not any(self.store.write(self.stored(documents)))

    @rule(ids=st.lists(names, max_size=3))
    def remove(self, ids):
        before = families_of(self.store)
        result = delete(self.store, ids, threshold=0.8)
        assert (
            set(result.deleted) == set(ids) & self.texts.keys()
            and set(result.absent) == set(ids) - self.texts.keys()
        )
        for id in ids:
            self.texts.pop(id, None)
        after = families_of(self.store)
        changed = {id for id in after if after[id] != before[id]}
        assert changed <= {id for id in before if before[id] in ids}
        assert {repair.family for repair in result.repaired} == {
            before[id] for id in after if before[id] in ids
        }

    @rule(count=st.integers(0, 12))
    def group_and_crash(self, count):
        assign = self.store.families.assign
        self.store.families.assign = lambda assignments: assign(list(assignments)[:count])
        try:
            group(self.store, GroupOptions(threshold=0.8))
        finally:
            self.store.families.assign = assign

    @rule()
    def group_whole(self):
        group(self.store, GroupOptions(threshold=0.8))
        assert families_of(self.store) == expected(self.stored(self.texts), 0.8, PRINCIPAL, 1000)
        assert group(self.store, GroupOptions(threshold=0.8)).changed == 0

    @invariant()
    def every_family_is_in_the_store(self):
        if hasattr(self, "store"):
            assert set(families_of(self.store).values()) <= self.texts.keys()

    def stored(self, texts):
        """Return rows dated by their names, so that writing in parts changes nothing."""
        return rows(dict(sorted(texts.items())), cut=CUT)


History.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestHistory = pytest.mark.long(History.TestCase)


def test_the_account_adds_up():
    texts = {
        "a": sentence(1),
        "b": sentence(1),
        "c": edited(sentence(1), 2),
        "d": sentence(2),
        "e": "",
        "f": "12",
        "g": "12",
        "h": "",
    }
    store = library(rows(texts, labels={"a": ["privileged"], "d": ["x"]}))
    result = group(store)
    assert (
        result.documents,
        result.families,
        result.largest,
        result.singletons,
        result.clusters,
    ) == (
        8,
        3,
        3,
        1,
        3,
    )
    assert result.excluded == {} and result.provisional == 8 and result.moved == ()
    assert [[id for id, _ in copies.documents] for copies in result.same_text] == [
        ["a", "b"],
        ["f", "g"],
    ]
    assert [copies.documents[0] for copies in result.same_bytes] == [
        ("a", "/library/a.txt"),
        ("e", "/library/e.txt"),
        ("f", "/library/f.txt"),
    ]
    [conflict] = result.inconsistent
    assert (conflict.family, conflict.documents, conflict.labels, conflict.unlabelled) == (
        "a",
        3,
        {"privileged": 1},
        2,
    )


def test_copies_are_a_family_whatever_their_status():
    texts = {"a": "12 34", "b": "12  34", "c": "", "d": "", "e": "hi", "f": "Hi", "g": "ho"}
    store = library(rows(texts))
    result = group(store)
    assert families_of(store) == dict(zip("abcdefg", "aacceeg", strict=True))
    assert result.excluded == {"too_short": 1}
    assert [row.principal for row in store.scan()] == [True, False] * 3 + [False]
    pairs = {(pair.a, pair.b): pair.similarity for pair in match(store)}
    assert pairs == {("a", "b"): 1.0, ("c", "d"): 1.0, ("e", "f"): 1.0}


def test_texts_without_a_character_are_copies_if_their_bytes_are_equal():
    texts = rows({"a": "", "b": " ", "c": ""})
    empty = [replace(row, raw=raw) for row, raw in zip(texts, "xyx", strict=True)]
    unknown = [replace(row, raw="") for row in rows({"d": "", "e": ""})]
    store = library([*empty, *unknown])
    group(store)
    assert families_of(store) == {"a": "a", "b": "b", "c": "a", "d": "d", "e": "e"}


def test_a_truncated_document_leads_only_where_there_is_no_complete_one():
    longest = sentence(1, 60)
    store = library(rows({"t": longest, "a": edited(longest, 1)}, cut=CUT))
    group(store)
    assert families_of(store) == {"t": "a", "a": "a"}
    assert store.get(["t"])["t"].principal is False
    alone = library(rows({"t": longest, "u": longest}, cut=CUT))
    assert group(alone).families == 1
    assert families_of(alone) == {"t": "t", "u": "t"}


def test_a_mail_that_quotes_another_does_not_lead_it():
    mail = sentence(1, 80)
    replies = {"a": f"Yes.\n\n> {mail}", "b": f"No way.\n\n> {mail}\n> {sentence(2, 2)}", "m": mail}
    forwards = {"f": f"See.\n\nFrom: Ann\nSent: today\nTo: Bob\n\n{mail}"}
    store = library(rows(replies | forwards))
    group(store)
    assert families_of(store) == dict.fromkeys("abfm", "m")
    group(store, GroupOptions(principal="longest", criteria=Criteria(policy="loose")))
    assert families_of(store)["m"] == "f"


def test_a_light_edit_does_not_lead_where_there_are_several():
    text = sentence(1, 60)
    edits = {
        "a": edited(text, 2),
        "b": "x0 x1 x2 " + text,
        "c": " ".join([*text.split()[:30], "and", "more", *text.split()[32:]]),
    }
    store = library(rows({**edits, "o": text}))
    group(store)
    assert families_of(store) == dict.fromkeys("abco", "o")


def test_moves_since_the_last_grouping_are_reported():
    store = library(rows({"a": sentence(1), "b": edited(sentence(1), 2), "c": sentence(2)}))
    first = group(store, GroupOptions(principal="longest"))
    assert first.families == 1 and first.changed == first.provisional == 3
    store.write(rows({"0": sentence(1) + " and more"}))
    result = group(store, GroupOptions(principal="longest"))
    assert [(move.before, move.after, move.documents) for move in result.moved] == [
        ("a", "0", ("a", "b"))
    ]
    [move] = result.moved
    assert move.paths == ("/library/a.txt", "/library/b.txt")
    assert (move.before_path, move.after_path) == ("/library/a.txt", "/library/0.txt")
    assert (result.changed, result.provisional, result.provisional_families) == (3, 1, 1)


def test_the_first_grouping_moves_nothing():
    """Families on arrival are provisional: a family that becomes another one then is no move."""
    documents = rows({"a": sentence(1), "b": edited(sentence(1), 2), "c": sentence(1) + " more"})
    store = library([replace(row, family="c") for row in documents])
    result = group(store)
    assert families_of(store) == {"a": "a", "b": "a", "c": "a"}
    assert (result.moved, result.provisional, result.provisional_families) == ((), 3, 1)


def test_principals_follow_a_field():
    texts = {id: edited(sentence(1), place) for place, id in enumerate("abc")}
    documents = [
        replace(row, metadata={} if row.id == "a" else {"dc:date": f"2024-0{ord(row.id) - 96}"})
        for row in rows(texts)
    ]
    for principal, family in (
        ("path", "a"),
        ("path:desc", "c"),
        ("metadata.dc:date", "b"),
        ("metadata.dc:date:desc", "c"),
        ("modified:desc", "c"),
    ):
        store = library(documents)
        group(store, GroupOptions(principal=principal))
        assert set(families_of(store).values()) == {family}, principal
    store = library(documents)
    group(store, GroupOptions(principal="modified:desc"))
    [repair] = delete(store, ["c"], principal="modified:desc").repaired
    assert repair.into == {"b": 2}
    with pytest.raises(UsageError, match=r"no document has metadata\.absent"):
        group(store, GroupOptions(principal="metadata.absent:desc"))
    for wrong in ("newest", "modified:down", "metadata.", "text", ""):
        with pytest.raises(UsageError, match="longest, first, central"):
            GroupOptions(principal=wrong)


def test_nothing_is_written_on_a_dry_run():
    store = library(rows({"a": sentence(1), "b": sentence(1)}))
    assert group(store, write=False).families == 1
    assert families_of(store) == {"a": "a", "b": "b"}


@pytest.mark.long
def test_all_documents_in_one_hot_band_are_one_family_in_bounded_time():
    texts = {f"{place:04}": f"{sentence(1, 200)} number {place}" for place in range(600)}
    store = library(rows(texts))
    result = group(store, GroupOptions(cap=20))
    assert (result.families, result.largest) == (1, 600)
    assert result.capped.keys > 0 and result.capped.largest > 20


def test_lookalikes_in_a_hot_band_are_not_merged():
    form = sentence(1, 30)
    texts = {
        f"{kind}{place}": f"{form} {sentence(kind + 2, 60)} {place}"
        for kind in range(4)
        for place in range(10)
    }
    store = library(rows(texts))
    group(store, GroupOptions(threshold=0.8, cap=5))
    assert {id[0] == family[0] for id, family in families_of(store).items()} == {True}


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"cluster_threshold": 1.5}, {"cap": 1}])
def test_values_out_of_range(wrong):
    with pytest.raises(UsageError):
        group(library([]), GroupOptions(**wrong))


def test_a_recipe_of_bits_alone_groups_by_hamming():
    recipe = recipe_named("simhash-doc")
    assert group(library([], recipe)).families == 0
    with pytest.raises(UsageError, match="compared by hamming, not by overlap"):
        group(library([], recipe), GroupOptions(measure="overlap"))


def test_two_jobs_on_one_store(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    store.prepare(DEFAULT)
    with Journal(journal_path(store.address)):
        for job in (lambda: group(store), lambda: delete(store, ["a"])):
            with pytest.raises(StoreBusy):
                job()
    store.close()
