"""The report: one self-contained file, deterministic, with valid links and no active content."""

import dataclasses
import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sample_library import edited, library, rows, sentence

from indexer.coding import CodingField
from indexer.errors import StoreError
from indexer.grouping.group import group
from indexer.jobs.review_file import define_coding, review_file
from indexer.recipe import DEFAULT
from indexer.review import charts
from indexer.review.exports.export import ExportOptions, export
from indexer.review.exports.report import report
from indexer.stores import open_store
from indexer.stores.base import Store

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(1)</script>",
    "<!--",
    "\u202eexe.txt\x1b[31m",
    "javascript:alert(1)",
)
ALLOWED = {
    "open", "href", "id", "class", "lang", "charset", "name", "content", "http-equiv", "role",
    "aria-label", "aria-hidden", "tabindex", "viewbox", "preserveaspectratio", "width", "height",
    "x", "y", "rx", "d", "scope", "fill", "stroke", "stroke-width", "stroke-dasharray",
    "stroke-miterlimit", "transform", "text-anchor", "font-family", "font-size", "font-weight",
    "opacity", "x2", "y2",
}  # fmt: skip


class Seen(HTMLParser):
    """Every element, attribute and piece of text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile() -> Store:
    texts = []
    for place, payload in enumerate(PAYLOADS):
        base = sentence(place, 60)
        plain = rows(
            {f"{payload}{nth}": edited(base, nth) for nth in range(3)},
            labels={f"{payload}1": (payload,)},
        )
        texts += [
            dataclasses.replace(
                row, title=payload, path=f"/{payload}/{row.id}", content_type=payload
            )
            for row in plain
        ]
    store = library(texts)
    group(store)
    return store


def test_nothing_of_a_document_acts() -> None:
    page = report(hostile(), f"2024-05-01 {PAYLOADS[0]}").html
    seen = Seen(page)
    assert {tag for tag, _ in seen.tags}.isdisjoint(
        {"script", "img", "iframe", "object", "link", "form", "base"}
    )
    assert {name for _, attributes in seen.tags for name in attributes} <= ALLOWED
    assert sum(tag == "style" for tag, _ in seen.tags) == 1
    assert PAYLOADS[0] in seen.text
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "default-src 'none'" in unescape(page)


def test_links_point_inside_the_report() -> None:
    tags = Seen(report(hostile(), "").html).tags
    targets = {attributes["href"] for tag, attributes in tags if tag == "a"}
    assert targets
    assert targets <= {f"#{attributes['id']}" for _, attributes in tags if "id" in attributes}
    assert not re.search(r"url\(|@import|https?:", report(hostile(), "").html)


def test_an_audited_report_states_the_missed_pairs(tmp_path: Path) -> None:
    texts = {f"a{place}": edited(sentence(place // 3, 60), place % 3 * 3) for place in range(12)}
    store = library(rows(texts))
    assert "--audit 300" in report(store, "2024-05-01").html
    options = ExportOptions(date="2024-05-01", audit=500)
    assert export(store, tmp_path / "r.html", "html", options=options).records == 12
    seen = Seen((tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert re.search(
        r"All 66 pairs of different texts are verified; "
        r"\d+ pairs? of texts (is|are) at 0.8 or above by \w+ and not list",
        seen,
    )
    assert "far apart by their sketches" in seen


@pytest.mark.long
def test_the_same_documents_and_date_give_the_same_report() -> None:
    assert report(hostile(), "2024-05-01") == report(hostile(), "2024-05-01")
    assert report(hostile(), "2024-05-01") != report(hostile(), "2024-05-02")


def test_numbers() -> None:
    text = sentence(0)
    store = library(
        rows(
            {"a": text, "b": text, "c": edited(text, 1), "d": sentence(5), "e": ""},
            cut=frozenset({"d"}),
        )
    )
    group(store)
    seen = Seen(report(store, "2024-05-01").html).text
    assert "Of 5 documents, 2 (40%) repeat another one" in seen
    assert "no text was found" in seen
    assert "cut at a limit" in seen
    assert "All files could be read" in seen


def test_a_store_without_duplicates_and_one_without_documents(tmp_path: Path) -> None:
    assert (
        "none of them repeats another"
        in report(library(rows({"a": sentence(0), "b": sentence(5)})), "").html
    )
    assert "0 documents were read" in report(library([]), "").html
    with pytest.raises(StoreError, match="no index"):
        report(open_store(f"sqlite:///{tmp_path}/new.db"))


def test_figures_are_plotted_and_their_numbers_are_in_tables() -> None:
    store = library(rows({"a": sentence(0), "b": sentence(0), "d": sentence(5)}))
    group(store)
    seen = Seen(report(store, "").html)
    images = [
        attributes["aria-label"]
        for tag, attributes in seen.tags
        if tag == "svg" and "role" in attributes
    ]
    assert images == [
        "Group sizes",
        "Similarity to the principal, in per cent",
        "Fraction of documents in a group, by threshold",
        "Number of groups, by threshold",
    ]
    assert sum(tag == "details" for tag, _ in seen.tags) == 3


def test_the_core_install_makes_the_report_without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    store = library(rows({"a": sentence(0), "b": sentence(0)}))
    group(store)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    seen = Seen(report(store, "").html)
    assert "pip install 'nearfold[figures]'" in seen.text
    assert not [tag for tag, attributes in seen.tags if tag == "svg" and "role" in attributes]
    assert [tag for tag, attributes in seen.tags if tag == "details" and "open" in attributes]


def test_axes_of_charts_have_plain_numbers() -> None:
    points = [(0.5, 412.0), (1.0, 100.0)]
    drawn = charts.lines("groups", [charts.Line("", points)], "threshold", charts.Scale())
    labels = re.findall(r">([^<>]+)</text>", drawn)
    assert labels[-5:] == ["0", "100", "200", "300", "400"]


def test_fields_of_coding_and_the_name_of_the_matter_are_reported(tmp_path: Path) -> None:
    texts = {"a": sentence(0), "b": sentence(0), "c": sentence(5)}
    labels = {"a": ("issues=price", "issues=delivery"), "b": ("issues=price",)}
    store = open_store(f"sqlite:///{tmp_path}/matter.db")
    store.prepare(DEFAULT)
    assert not any(store.write(rows(texts, labels=labels)))
    store.refresh()
    group(store)
    define_coding(store, [CodingField.parse("issues=price,delivery,term:many")])
    review_file(store).name_matter("Weber v. Lund")
    seen = Seen(report(store, "2024-05-01").html)
    assert "Weber v. Lund" in seen.text
    assert store.url not in seen.text.partition("Settings")[0]
    coding = seen.text.partition("Coding")[2]
    assert coding.startswith(" issues price 2 67% delivery 1 33% term 0 0% no value 1 33%")
    assert "documents have different values" in coding
    assert {"50%", "100%"} <= set(re.findall(r"\d+%", seen.text.partition("by threshold")[2]))
