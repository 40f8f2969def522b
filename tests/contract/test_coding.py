"""Coding by fields: values that exclude each other in a field alone, rules, and files, on every
store.
"""

import csv
from concurrent.futures import ThreadPoolExecutor

import pytest
from sample_library import rows, sentence

from indexer.coding import NO_CODING, CodingField, CodingRule
from indexer.errors import UsageError
from indexer.grouping.consistency import consistency
from indexer.grouping.group import group
from indexer.jobs.label import LabelOptions, label, label_events_of, undo_labels
from indexer.jobs.label_from import LabelFileOptions, label_from
from indexer.jobs.review_file import ReviewFile, define_coding, review_file, stored_coding
from indexer.review.exports.export import export

FIELDS = (
    CodingField.parse("relevance=responsive,not responsive:required"),
    CodingField.parse("privilege=privileged,not privileged"),
    CodingField.parse("issues=price,delivery:many"),
)


@pytest.fixture
def coded_store(store):
    if store.url == "sqlite://:memory:":
        pytest.skip("the fields of a store in memory die with the job")
    texts = {"a": f"{sentence(1)} and so on", "b": sentence(1), "c": sentence(3)}
    assert store.write(rows(texts, labels={"a": ("hot", "privilege=not privileged")})) == [None] * 3
    group(store)
    define_coding(store, FIELDS)
    return store


def labels_of(store, id="a"):
    return set(store.get([id])[id].labels)


def code(store, *labels, ids=("a",), **options):
    return label(store, ids, LabelOptions(add=labels, **options))


def test_a_value_replaces_that_of_its_field_alone(coded_store):
    result = code(coded_store, "privilege=privileged", "issues=price")
    assert labels_of(coded_store) == {"hot", "privilege=privileged", "issues=price"}
    code(coded_store, "issues=delivery", "relevance=responsive", family=True)
    assert labels_of(coded_store) == {
        "hot",
        "privilege=privileged",
        "issues=price",
        "issues=delivery",
        "relevance=responsive",
    }
    assert labels_of(coded_store, "b") == {"issues=delivery", "relevance=responsive"}
    events = label_events_of(coded_store, "a")
    assert [set(event.after) - set(event.before) for event in events] == [
        {"issues=delivery", "relevance=responsive"},
        {"privilege=privileged", "issues=price"},
    ]
    undo_labels(coded_store, result.job + 1)
    undo_labels(coded_store, result.job)
    assert labels_of(coded_store) == {"hot", "privilege=not privileged"}


def test_fields_stay_with_the_store(coded_store):
    assert stored_coding(coded_store).fields == FIELDS
    changed = define_coding(
        coded_store, [CodingField.parse("privilege=yes,no"), CodingField("issues", ())]
    )
    assert changed == stored_coding(coded_store)
    assert [str(field) for field in changed.fields] == [
        "relevance=responsive,not responsive:required",
        "privilege=yes,no",
    ]
    code(coded_store, "privilege=yes", "issues=anything")
    assert labels_of(coded_store) == {"hot", "privilege=yes", "issues=anything"}


def test_fields_that_are_defined_at_once_are_all_there(tmp_path):
    files = [ReviewFile(tmp_path / "papers.review") for _ in range(8)]
    assert files[0].coding() == NO_CODING
    assert not list(tmp_path.iterdir())
    fields = [CodingField(f"field {number}", ("yes", "no")) for number in range(len(files))]
    with ThreadPoolExecutor(len(files)) as pool:
        list(pool.map(lambda file, field: file.define([field], []), files, fields))
    assert set(files[0].coding().fields) == set(fields)


def test_values_that_no_field_has_are_refused(coded_store):
    with pytest.raises(UsageError, match="its values are: privileged, not privileged"):
        code(coded_store, "privilege=perhaps")
    with pytest.raises(UsageError, match="one value of the field relevance"):
        code(coded_store, "relevance=responsive", "relevance=not responsive")
    label(coded_store, ["a"], LabelOptions(remove=["privilege=not privileged"]))
    assert labels_of(coded_store) == {"hot"}


def test_a_rule_needs_a_note_or_another_field(coded_store):
    define_coding(
        coded_store,
        rules=[CodingRule("privilege=privileged", "note"), CodingRule("issues=price", "relevance")],
    )
    options = LabelOptions(add=["privilege=privileged"], family=True)
    planned = label(coded_store, ["a"], options, dry_run=True)
    assert [(rule.needs, rule.ids) for rule in planned.broken] == [("note", ("a", "b"))]
    with pytest.raises(UsageError, match="needs note, which 2 documents would not have"):
        label(coded_store, ["a"], options)
    code(coded_store, "privilege=privileged", note="advice of counsel", family=True)
    assert [note.text for note in review_file(coded_store).notes("b")] == ["advice of counsel"]
    code(coded_store, "hot", ids=["b"])  # b has its note
    with pytest.raises(UsageError, match="issues=price needs relevance"):
        code(coded_store, "issues=price")
    code(coded_store, "issues=price", "relevance=responsive")
    with pytest.raises(UsageError, match="issues=price needs relevance"):
        label(coded_store, ["a"], LabelOptions(remove=["relevance=responsive"]))
    with pytest.raises(UsageError, match="not defined"):
        define_coding(coded_store, [CodingField("relevance", ())])


def test_columns_of_fields_come_back(coded_store, tmp_path):
    code(coded_store, "relevance=responsive")
    file = tmp_path / "coding.csv"
    lines = ("id,Privilege,issues", "a,privileged,price;delivery", "b,perhaps,", "c,privileged,")
    file.write_text("\n".join(lines))
    result = label_from(coded_store, file)
    assert labels_of(coded_store) == {
        "hot",
        "relevance=responsive",
        "privilege=not privileged",  # a conflict
        "issues=price",
        "issues=delivery",
    }
    assert [item.kept for item in result.conflicts] == [("privilege=not privileged",)]
    assert labels_of(coded_store, "c") == {"privilege=privileged"}
    assert "'perhaps' is no value" in result.failed[0].error
    define_coding(coded_store, rules=[CodingRule("privilege=privileged", "note")])
    refused = label_from(coded_store, file, LabelFileOptions(replace=True))
    assert refused.failed[-1].error == "privilege=privileged needs note"
    define_coding(coded_store, rules=[CodingRule("privilege=privileged", "nothing")])
    label_from(coded_store, file, LabelFileOptions(replace=True))
    assert labels_of(coded_store) == {
        "hot",
        "relevance=responsive",
        "privilege=privileged",
        "issues=price",
        "issues=delivery",
    }


def test_groups_differ_by_field(coded_store):
    code(coded_store, "privilege=privileged", "issues=price", family=True)
    code(coded_store, "issues=delivery", ids=["b"])
    assert consistency(coded_store, "privilege") == ()
    [group] = consistency(coded_store, "issues")
    assert group.labels == {"issues=price": 2, "issues=delivery": 1}
    assert [member.labels for member in group.members] == [
        ("issues=price",),
        ("issues=price", "issues=delivery"),
    ]


def test_exports_have_a_column_for_each_field(coded_store, tmp_path):
    define_coding(coded_store, [CodingField.parse("status=read,unread")])
    code(coded_store, "relevance=responsive", "issues=price", "issues=delivery", "status=read")
    table = tmp_path / "coding.csv"
    export(coded_store, table)
    with table.open(newline="") as file:
        lines = {line["id"]: line for line in csv.DictReader(file)}
    expected = {
        "labels": "hot",
        "relevance": "responsive",
        "privilege": "not privileged",
        "issues": "price;delivery",
        "status (coding)": "read",
        "status": "complete",
    }
    assert expected.items() <= lines["a"].items()
    load_file = tmp_path / "coding.dat"
    export(coded_store, load_file, "dat")
    before = labels_of(coded_store)
    code(coded_store, "relevance=not responsive", "status=unread")
    label_from(coded_store, table, LabelFileOptions(replace=True))
    assert labels_of(coded_store) == before
    again = label_from(coded_store, load_file, LabelFileOptions(replace=True))
    assert (again.changes, again.failed) == ((), ())


@pytest.mark.parametrize(
    "text", ["a", "=x", "a=x:several", "note=x", "a;b=x", "a=x,,y", "a=x;y", "a\nb=x"]
)
def test_a_field_is_written_in_one_way(text):
    with pytest.raises(UsageError):
        CodingField.parse(text)
