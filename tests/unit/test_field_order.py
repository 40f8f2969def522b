"""Orders by a field."""

import pytest
from sample_rows import row

from indexer.errors import UsageError
from indexer.grouping.group_options import FieldOrder, parse_order


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("path", FieldOrder("path")),
        ("modified:asc", FieldOrder("modified")),
        ("size:desc", FieldOrder("size", is_descending=True)),
        ("metadata.Author", FieldOrder("metadata.Author")),
        ("metadata.dc:title", FieldOrder("metadata.dc:title")),
        ("metadata.dc:title:desc", FieldOrder("metadata.dc:title", is_descending=True)),
    ],
)
def test_orders(text, order):
    assert parse_order(text) == order
    assert parse_order(str(order)) == order


@pytest.mark.parametrize(
    "text",
    ["", ":desc", "text", "near_family", "path:down", "path:desc:asc", "metadata", "metadata."],
)
def test_other_orders_are_refused_with_the_fields(text):
    with pytest.raises(UsageError, match=r"path, title, date, modified.*metadata\.NAME"):
        parse_order(text)


def test_values_come_from_fields_and_metadata():
    document = row("1", size=7, metadata={"dc:title": "T"})
    assert parse_order("size").value(document) == 7
    assert parse_order("metadata.dc:title").value(document) == "T"
    assert parse_order("metadata.absent").value(document) is None


def test_what_has_no_value_comes_last_and_ties_stay():
    values = ["b", None, "a", "b", "A", None]
    assert FieldOrder("path").ranks(values) == [4, 2, 0, 3, 1, 5]
    assert FieldOrder("path", is_descending=True).ranks(values) == [0, 3, 2, 4, 1, 5]
