"""Labels.

Propagation to families, exceptions for review, undo and disagreements, on every store.
"""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from sample_library import edited, rows, sentence
from sample_rows import row

from indexer.errors import StoreBusy, UsageError
from indexer.grouping.consistency import consistency
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.label import (
    LabelJournal,
    LabelOptions,
    label,
    label_events_of,
    label_history,
    undo_labels,
)
from indexer.jobs.label_from import LabelFileOptions, label_from
from indexer.model import Query
from indexer.stores.journal import journal_path

TEXTS = {
    "a": f"{sentence(1)} and so on",
    "b": sentence(1),
    "c": edited(sentence(1), 1),
    "d": f"{sentence(3)} and so on",
    "e": sentence(3),
    "f": sentence(5),
    "g": "12 34",
}
LABELS = {"a": ("known",), "e": ("responsive",)}


@pytest.fixture
def grouped_store(store):
    assert store.write(rows(TEXTS, labels=LABELS)) == [None] * len(TEXTS)
    group(store, GroupOptions(principal="longest"))
    assert {row.id: row.family for row in store.scan()} == dict(
        zip("abcdefg", "aaaddfg", strict=True)
    )
    return store


def labels_of(store):
    return {row.id: row.labels for row in store.scan() if row.labels}


def found_ids(store, *filters, text=""):
    ranking = store.search(Query(text, filters, "path"))
    hits = [hit.id for hit in ranking.hits]
    assert ranking.total == len(hits)
    return hits


def test_labels_are_carried_to_families(grouped_store):
    planned = label(
        grouped_store,
        ["c", "g", "nobody"],
        LabelOptions(add=["junk"], remove=["known"], family=True),
        dry_run=True,
    )
    assert (
        labels_of(grouped_store) == LABELS and planned.job is None and planned.absent == ("nobody",)
    )
    assert [(change.id, change.before, change.after) for change in planned.changes] == [
        ("a", ("known",), ("junk",)),
        ("b", (), ("junk",)),
        ("c", (), ("junk",)),
        ("g", (), ("junk",)),
    ]
    assert [change.similarity is None for change in planned.changes] == [False, False, True, True]
    result = label(
        grouped_store,
        ["c", "g", "nobody"],
        LabelOptions(add=["junk"], remove=["known"], family=True),
    )
    assert result.changes == planned.changes
    assert labels_of(grouped_store) == {**dict.fromkeys("abcg", ("junk",)), "e": ("responsive",)}
    assert found_ids(grouped_store, ("labels", "junk")) == list("abcg")
    again = label(grouped_store, ["c", "g"], LabelOptions(add=["junk"], family=True))
    assert (again.job, again.changes, again.unchanged) == (None, (), 4)


def test_the_others_of_a_family_are_labelled_alone(grouped_store):
    only = LabelOptions(add=["junk"], family=True, others=True)
    assert [change.id for change in label(grouped_store, ["c"], only).changes] == ["a", "b"]
    assert labels_of(grouped_store)["a"] == ("known", "junk")
    assert "c" not in labels_of(grouped_store)
    with pytest.raises(UsageError, match="selects members of a group"):
        LabelOptions(add=["junk"], others=True)


def test_one_document_and_no_other(grouped_store):
    label(grouped_store, ["a"], LabelOptions(add=["x", "known", "x"]))
    assert labels_of(grouped_store) == {"a": ("known", "x"), "e": ("responsive",)}


def test_families_of_a_label_for_review_are_listed_and_not_changed(grouped_store):
    """Near duplicates of what is not responsive are tagged; those of what is responsive are
    queued.
    """
    result = label(
        grouped_store,
        ["b", "d"],
        LabelOptions(add=["nonresponsive"], family=True, review=["responsive"]),
    )
    assert [item.id for item in result.changes] == ["a", "b", "c", "d"]
    assert result.review == ()  # e, the only other document of its family, was judged already
    later = label(
        grouped_store,
        ["f", "d"],
        LabelOptions(add=["responsive"], family=True, review=["responsive"]),
    )
    assert [item.id for item in later.changes] == ["d", "f"] and later.review == ()
    queued = label(
        grouped_store, ["a"], LabelOptions(add=["responsive"], family=True, review=["responsive"])
    )
    assert [item.id for item in queued.changes] == ["a"]
    assert [(item.id, item.labels, item.reason) for item in queued.review] == [
        ("b", ("nonresponsive",), "label"),
        ("c", ("nonresponsive",), "label"),
    ]


def test_members_that_are_less_similar_are_left_for_review(grouped_store):
    result = label(grouped_store, ["a"], LabelOptions(add=["junk"], family=True, threshold=0.999))
    assert [item.id for item in result.changes] == ["a"]
    assert [(item.id, item.reason) for item in result.review] == [
        ("b", "similarity"),
        ("c", "similarity"),
    ]
    assert all(0.8 <= item.similarity < 0.999 for item in result.review)


def test_documents_named_by_a_label(grouped_store):
    result = label(grouped_store, (), LabelOptions(add=["junk"], family=True), carrying="known")
    assert [change.id for change in result.changes] == ["a", "b", "c"]
    assert (
        label(grouped_store, (), LabelOptions(add=["junk"]), carrying="nobody carries it").changes
        == ()
    )


def undoable(store):
    if store.url == "sqlite://:memory:":
        pytest.skip("the journal of a store in memory dies with the job")
    return store


def test_what_was_labelled_is_undone(grouped_store):
    store = undoable(grouped_store)
    result = label(store, ["c"], LabelOptions(add=["junk"], remove=["known"], family=True))
    label(store, ["b"], LabelOptions(add=["later"]))
    planned = undo_labels(store, result.job, dry_run=True)
    undone = undo_labels(store, result.job)
    assert planned == undone
    assert [(change.id, change.before) for change in undone.restored] == [
        ("a", ("known",)),
        ("c", ()),
    ]
    assert [(change.id, change.before, change.after) for change in undone.changed_since] == [
        ("b", ("junk",), ("junk", "later"))
    ]
    assert labels_of(store) == {**LABELS, "b": ("junk", "later")}
    assert [(job.number, job.documents, job.restored) for job in label_history(store)] == [
        (2, 1, 0),
        (1, 3, 2),
    ]
    label(store, ["b"], LabelOptions(remove=["later"]))
    assert [change.id for change in undo_labels(store, result.job).restored] == ["b"]
    assert labels_of(store) == LABELS
    for job, sentence_part in ((result.job, "already"), (99, "no labelling 99")):
        with pytest.raises(UsageError, match=sentence_part):
            undo_labels(store, job)


def test_history_names_who_undid_each_part(grouped_store):
    store = undoable(grouped_store)
    result = label(store, ["c"], LabelOptions(add=["junk"], family=True), reviewer="anna")
    label(store, ["b"], LabelOptions(add=["later"]), reviewer="anna")
    undo_labels(store, result.job, reviewer="ben")
    label(store, ["b"], LabelOptions(remove=["later"]), reviewer="anna")
    undo_labels(store, result.job, reviewer="carl")
    of_job = [event for event in label_events_of(store) if event.number == result.job]
    assert {event.id: event.undone_by for event in of_job} == {"a": "ben", "b": "carl", "c": "ben"}
    assert all(event.undone and event.undone_at >= event.at for event in of_job)
    assert label_history(store)[-1].undone_by == ("ben", "carl")
    assert label_history(store)[0].undone_by == ()


def test_an_undo_of_an_earlier_nearfold_is_by_nobody_known(grouped_store):
    store = undoable(grouped_store)
    label(store, ["b"], LabelOptions(add=["hot"]))
    undo_labels(store, 1)
    path = journal_path(store.address)
    with closing(sqlite3.connect(path)) as earlier, earlier:
        earlier.execute("ALTER TABLE labelling DROP COLUMN undos")
        earlier.execute("UPDATE labelled SET restored = 1")
    [event] = label_events_of(store)
    assert (event.undone, event.undone_at, event.undone_by) == (True, "", "")
    assert label_history(store)[0].undone_by == ()
    label(store, ["b"], LabelOptions(add=["hot"]))
    undo_labels(store, 2, reviewer="ben")
    assert [event.undone_by for event in label_events_of(store)] == ["ben", ""]
    assert [job.restored for job in label_history(store)] == [1, 1]


def test_labels_lose_the_white_space_around_them(grouped_store):
    result = label(
        grouped_store, ["b"], LabelOptions(add=[" hot ", "hot", "\u3000later"], family=False)
    )
    assert [change.after for change in result.changes] == [("hot", "later")]
    assert [
        change.after
        for change in label(grouped_store, ["b"], LabelOptions(remove=["\thot "])).changes
    ] == [("later",)]
    grouped_store.labels.relabel({"b": [" old;label\n"]})
    assert [
        change.after
        for change in label(grouped_store, ["b"], LabelOptions(remove=["old;label"])).changes
    ] == [()]


def test_what_is_no_label(grouped_store):
    for name in [
        "",
        " \t",
        "a;b",
        "a\x00b",
        "two\nlines",
        "a\u202eb",
        "a\u200bb",
        "soft\u00adhyphen",
        "\ud800",
    ]:
        with pytest.raises(UsageError, match="label"):
            label(grouped_store, ["b"], LabelOptions(add=[name], family=True))
    assert labels_of(grouped_store) == LABELS


@pytest.mark.long
def test_history_is_read_without_keeping_a_job_out(grouped_store):
    store = undoable(grouped_store)
    assert label_history(store) == ()
    label(store, ["b"], LabelOptions(add=["hot"]))
    with LabelJournal(journal_path(store.address)), pytest.raises(StoreBusy):
        label_history(store)
    with ThreadPoolExecutor(2) as readers:
        reading = [readers.submit(label_history, store) for _ in range(100)]
        label(store, ["b"], LabelOptions(add=["later"]))
        assert {future.result()[-1].added for future in reading if future.exception() is None} == {
            ("hot",)
        }
    assert [job.added for job in label_history(store)] == [("later",), ("hot",)]


def test_a_labelling_cut_short_is_undone_too(grouped_store, monkeypatch):
    store = undoable(grouped_store)
    if hasattr(store, "_opened"):
        pytest.skip("a store that is opened for every call cannot fail in between")
    relabel = store.labels.relabel

    def cut(labels):
        relabel(dict(list(labels.items())[:1]))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(store.labels, "relabel", cut)
        label(store, ["c"], LabelOptions(add=["junk"], family=True))
    store.refresh()
    assert labels_of(store) == {**LABELS, "a": ("known", "junk")}
    undone = undo_labels(store, 1)
    assert [change.id for change in undone.restored] == ["a", "b", "c"] and labels_of(
        store
    ) == LABELS


def test_a_missing_document_is_reported(grouped_store):
    store = undoable(grouped_store)
    result = label(store, ["b"], LabelOptions(add=["junk"]))
    store.delete(["b"])
    store.refresh()
    assert undo_labels(store, result.job).absent == ("b",)


@pytest.mark.long
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"add": ["x"], "remove": ["x"]},
        {"add": [""]},
        {"add": ["x" * 40_000]},
        {"add": ["x"], "threshold": 2},
    ],
)
def test_what_makes_no_sense(grouped_store, wrong):
    with pytest.raises(UsageError):
        label(grouped_store, ["a"], LabelOptions(**wrong))
    assert labels_of(grouped_store) == LABELS


def test_nobody_is_named(grouped_store):
    with pytest.raises(UsageError, match="give documents"):
        label(grouped_store, (), LabelOptions(add=["x"]))


def test_families_whose_labels_disagree(grouped_store):
    assert found_ids(grouped_store, ("label_conflict", "true")) == list("abcde")
    assert found_ids(grouped_store, ("label_conflict", "false")) == ["f", "g"]
    assert found_ids(grouped_store, ("label_conflict", "true"), ("labels", "known")) == ["a"]
    first, second = consistency(grouped_store)
    assert (first.family, first.labels, first.unlabelled) == ("a", {"known": 1}, 2)
    assert [(member.id, member.labels, member.principal) for member in second.members] == [
        ("d", (), True),
        ("e", ("responsive",), False),
    ]
    label(grouped_store, ["b", "c"], LabelOptions(add=["known"]))
    grouped_store.labels.relabel({"d": ("x", "responsive"), "e": ("responsive", "x")})
    grouped_store.refresh()
    assert (
        found_ids(grouped_store, ("label_conflict", "true")) == []
        and consistency(grouped_store) == ()
    )
    grouped_store.labels.relabel({"a": ()})
    grouped_store.refresh()
    assert found_ids(
        grouped_store, ("label_conflict", "true"), text=sentence(1).split()[0]
    ) == list("abc")
    with pytest.raises(UsageError, match="true or false"):
        found_ids(grouped_store, ("label_conflict", "maybe"))


@pytest.mark.long
def test_many_families_disagree(store):
    documents = []
    for place in range(1_100):
        documents += [
            row(
                f"{place:04}a",
                family=f"{place:04}a",
                labels=("x",) if place % 2 else (),
                principal=True,
            )
        ]
        documents += [
            row(
                f"{place:04}b",
                family=f"{place:04}a",
                labels=("x", "y"),
                principal=False,
                similarity=0.9,
            )
        ]
        documents += [
            row(
                f"{place:04}c",
                family=f"{place:04}a",
                labels=("y", "x"),
                principal=False,
                similarity=0.9,
            )
        ]
    store.write(documents)
    store.labels.relabel({f"{place:04}a": ("y", "x") for place in range(0, 1_100, 10)})
    store.refresh()
    assert len(found_ids(store, ("label_conflict", "false"))) == 330
    assert len(found_ids(store, ("label_conflict", "true"))) == 2_970


def test_labels_come_back_from_a_file_without_overwriting(grouped_store, tmp_path):
    file = tmp_path / "coding.csv"
    file.write_text("id,labels\na,hot\nb,hot;cold\ne,responsive\nf,x\nf,y\n,hot\nnobody,hot\nc,\n")
    before = labels_of(grouped_store)
    planned = label_from(grouped_store, file, dry_run=True)
    assert (planned.job, labels_of(grouped_store)) == (None, before)
    result = label_from(grouped_store, file, reviewer="Ann")
    assert replace(result, job=None) == planned
    assert labels_of(grouped_store) == {
        "a": ("known", "hot"),
        "b": ("hot", "cold"),
        "e": ("responsive",),
    }
    assert [(item.id, item.kept) for item in result.conflicts] == [("a", ("known",))]
    assert [item.error[:8] for item in result.failed] == ["record 5", "record 6"]
    assert (result.unchanged, result.absent) == (2, ("nobody",))
    replaced = label_from(grouped_store, file, LabelFileOptions(replace=True))
    assert [change.lost for change in replaced.changes] == [("known",)]
    assert replaced.conflicts == ()
    assert labels_of(grouped_store)["a"] == ("hot",)
    if grouped_store.url == "sqlite://:memory:":
        pytest.skip("the journal of a store in memory dies with the job")
    jobs = [(job.added, job.removed, job.reviewer) for job in label_history(grouped_store)]
    assert jobs == [((), ("known",), ""), (("hot", "cold"), (), "Ann")]
    undo_labels(grouped_store, replaced.job)
    undo_labels(grouped_store, result.job)
    assert labels_of(grouped_store) == before


@pytest.mark.parametrize("mails", [1, 25])
def test_a_mail_and_its_attachments_are_one_unit(store, mails):
    texts = {}
    parents = {}
    for number in range(mails):
        texts |= {f"m{number}{end}": sentence(number) for end in ("", "-a", "-b")}
        parents |= {f"m{number}{end}": f"m{number}" for end in ("-a", "-b")}
    documents = [
        replace(row, metadata={"parent_id": parents[row.id]} if row.id in parents else {})
        for row in rows(texts)
    ]
    assert store.write(documents) == [None] * len(texts)
    named = [f"m{number}-a" for number in range(mails)]
    options = LabelOptions(add=["hot"], attachments=True)
    result = label(store, [*named, "m0-b"], options)
    assert {change.id for change in result.changes} == set(texts)
    followed = {change.id: change.attached_with for change in result.changes}
    assert (followed["m0"], followed["m0-a"], followed["m0-b"]) == ("m0-a", None, None)
    assert set(labels_of(store)) == set(texts)
    assert label(store, ["m0"], options).unchanged == 3
